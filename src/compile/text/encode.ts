import type { Field, FieldValue, FieldValues } from '../../dictionary/index.ts';
import { isAbsent } from '../../records/parsed-record.ts';

/** The members of a JSON object: those with values, and those that are null. */
export interface Members {
  readonly values: string;
  readonly nulls: string;
}

/** A field with its name as it stands in the text, `"City":`, and how its value is written. */
export interface NamedField {
  readonly field: Field;
  readonly label: string;
  readonly write: (value: FieldValue) => string;
}

export const label = (name: string): string => `${JSON.stringify(name)}:`;

/** A collection is never null: without values it is []. */
export const absentText = (field: Field): string => (field.collection ? '[]' : 'null');

/** Writes the fields as members, each with a leading comma. */
export function writeMembers(fields: readonly NamedField[], values: FieldValues): Members {
  let present = '';
  let absent = '';
  for (const { field, label: name, write } of fields) {
    const value = values[field.name];
    if (value === undefined || isAbsent(value)) absent += `,${name}${absentText(field)}`;
    else present += `,${name}${write(value)}`;
  }
  return { values: present, nulls: absent };
}
