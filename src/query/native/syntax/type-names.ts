/** Types and values as messages name them. */
import type { Value, ValueType } from './nodes.ts';

const NAMES: Readonly<Record<ValueType | 'field' | 'all', string>> = {
  integer: 'a whole number',
  decimal: 'a decimal number',
  character: 'a text',
  date: 'a date',
  datetime: 'a timestamp',
  time: 'a time of day',
  boolean: 'true or false',
  null: 'NULL',
  shape: 'a shape',
  field: 'a field',
  all: 'all()',
};

export type SeenType = keyof typeof NAMES;

export const typeName = (type: SeenType): string => NAMES[type];

/** What of a value a fault points at. */
export function tokenOf(value: Value): string {
  switch (value.kind) {
    case 'scalar':
      return value.text;
    case 'clock':
    case 'shape':
      return value.function;
    case 'pattern':
      return value.form;
    case 'range':
      return 'range';
  }
}
