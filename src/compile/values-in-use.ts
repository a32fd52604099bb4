/**
 * Which values of open lookups are in use, and for whom: they are counted as rows come and go, so that the Lookup resource
 * lists them without a look at the records. A value counts for a role where a row that the role sees shows it the field
 * (I4). It knows no engine and no SQL.
 */
import { hash } from 'node:crypto';
import type { Role } from '../access/index.ts';
import type { Field, FieldValue } from '../dictionary/index.ts';
import { decode } from './column-value.ts';
import { PUBLISHED, type ResourceLayout, typedFields } from './layout/index.ts';
import type { StoreModel } from './model.ts';

/** A field whose values are counted; those that the dictionary or an operator lists stand in Lookup anyway. */
export interface CountedField {
  readonly field: Field;
  readonly lookup: string;
  readonly listed: ReadonlySet<string>;
  /** Bits of the roles that see the field. */
  readonly audience: number;
  /** Bits of the conditions without which it is withheld. */
  readonly withheld: number;
  /** Bits of the roles that see what is withheld. */
  readonly unhindered: number;
}

/** Characters of a value that can be listed: the key of its entry is no longer than keys are. */
export const LONGEST_VALUE = 255;

const known = new WeakMap<ResourceLayout, readonly CountedField[]>();

export function countedFields(model: StoreModel, layout: ResourceLayout): readonly CountedField[] {
  const found = known.get(layout);
  if (found !== undefined) return found;
  const made = PUBLISHED.has(layout.resource.name)
    ? []
    : typedFields(layout).flatMap(countedField(model, layout));
  known.set(layout, made);
  return made;
}

function countedField({ dictionary, rules }: StoreModel, { withheldRules }: ResourceLayout) {
  const bitsOf = (holds: (role: Role) => boolean): number =>
    [...rules.roles.values()].reduce((bits, role) => (holds(role) ? bits | role.bit : bits), 0);
  return (field: Field): CountedField[] => {
    if (field.lookup === undefined) return [];
    const lookup = dictionary.lookups.get(field.lookup);
    if (lookup?.closed === true) return [];
    const withheld = withheldRules.filter(({ classes }) => classes.has(field.class));
    return [
      {
        field,
        lookup: field.lookup,
        listed: new Set(lookup?.values.keys()),
        audience: bitsOf((role) => role.readsResource(field.resource) && role.seesField(field)),
        withheld: withheld.reduce((bits, { bit }) => bits | bit, 0),
        unhindered: bitsOf(({ seesWithheld }) => seesWithheld),
      },
    ];
  };
}

/** Where a row stands: who sees it, what of it is shown, and whose it is. */
export interface Standing {
  readonly visible: number;
  readonly shown: number;
  readonly system: string | null;
}

/** A row as it is counted. */
export interface CountedRow extends Standing {
  /** @param index of the field among those that are counted */
  readonly read: (field: Field, index: number) => FieldValue | undefined;
}

/** What counts. */
interface Counting {
  add(counter: string, visible: number, system: string | null, rows: number): void;
}

/** Counts the values of a row that comes or goes. */
export function countValues(
  model: StoreModel,
  layout: ResourceLayout,
  { visible, shown, system, read }: CountedRow,
  counters: Counting,
  rows: 1 | -1,
): void {
  const owner = layout.systemSource === 'none' ? ANY_SYSTEM : system;
  const count = ({ lookup, audience, withheld, unhindered }: CountedField, text: string): void => {
    const bits = visible & audience & ((shown & withheld) === withheld ? -1 : unhindered);
    if (bits !== 0 && text !== '' && isShort(text)) counters.add(counterOf(lookup, text), bits, owner, rows);
  };
  // Of every row each field is looked at, and nearly all values are listed.
  const fields = countedFields(model, layout);
  for (let index = 0; index < fields.length; index++) {
    const counted = fields[index];
    const value = counted && read(counted.field, index);
    if (counted === undefined || value === undefined || value === null) continue;
    const { listed } = counted;
    if (Array.isArray(value)) {
      const others = value.map(String).filter((each) => !listed.has(each));
      for (const each of others.length > 1 ? new Set(others) : others) count(counted, each);
    } else {
      const text = String(value);
      if (!listed.has(text)) count(counted, text);
    }
  }
}

/** The same for a stored row whose visibility changed, as a statement with `countedColumns` gives it. */
export function countMoved(
  model: StoreModel,
  layout: ResourceLayout,
  raw: Readonly<Record<string, unknown>>,
  counters: Counting,
): void {
  const read = (field: Field, index: number): FieldValue => decode(field, raw[countedColumn(index)]);
  const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const was = {
    visible: Number(raw.was_visible),
    shown: Number(raw.was_shown),
    system: textOf(raw.was_system),
  };
  const is = { visible: Number(raw.visible), shown: Number(raw.shown), system: textOf(raw.system) };
  countValues(model, layout, { ...was, read }, counters, -1);
  countValues(model, layout, { ...is, read }, counters, 1);
}

export const countedColumn = (index: number): string => `value_${index}`;

const isShort = (text: string): boolean => text.length <= LONGEST_VALUE || [...text].length <= LONGEST_VALUE;

/** Stands in place of the system for rows of resources that have none, which keys of every system see. */
export const ANY_SYSTEM = '*';

/** Begins the counters of values, which stand among those of resources: no resource has such a name. */
export const VALUES = 'Lookup\n';
/** Behind all of them. */
export const AFTER_VALUES = 'Lookup\v';

export const counterOf = (lookup: string, value: string): string => `${VALUES}${lookup}\n${value}`;

export const isOfValue = (counter: string): boolean => counter.startsWith(VALUES);

/** A value that is in use, and the bits of the roles to which it is; none of them when it is no more. */
export interface ValueInUse {
  readonly lookup: string;
  readonly value: string;
  readonly audience: number;
}

/** Values by their counters. @param rows of the counters that are not at zero */
export function valuesOf(
  rows: Iterable<{ readonly resource?: unknown; readonly visible?: unknown }>,
  asked: Iterable<string> = [],
): ValueInUse[] {
  const audiences = new Map<string, number>([...asked].map((counter) => [counter, 0]));
  for (const { resource, visible } of rows) {
    const counter = String(resource);
    audiences.set(counter, (audiences.get(counter) ?? 0) | Number(visible));
  }
  return [...audiences].map(([counter, audience]) => {
    const [lookup = '', value = ''] = counter.slice(VALUES.length).split(/\n(.*)/s, 2);
    return { lookup, value, audience };
  });
}

const marks = new WeakMap<StoreModel, string>();

/** What the counters of values follow from, beside the rows: after a change of it they are made anew. */
export function countingRules(model: StoreModel): string {
  const made = marks.get(model);
  if (made !== undefined) return made;
  const lists = [...model.dictionary.lookups.values()].map(({ name, closed, values }) => [
    name,
    closed,
    [...values.keys()],
  ]);
  const rules = JSON.stringify([1, lists, model.settings.access]);
  const mark = hash('sha256', rules, 'base64url').slice(0, 22);
  marks.set(model, mark);
  return mark;
}
