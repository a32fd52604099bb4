/**
 * Tracks which values of open lookups are in use, and for which roles. Writes maintain counters, so that the Lookup
 * resource lists values without reading records. A value counts for a role if the role sees a row with it, and the
 * field in that row (I4). This module knows no engine and no SQL.
 */
import { hash } from 'node:crypto';
import type { Role } from '../access/index.ts';
import type { Field, FieldValue } from '../dictionary/index.ts';
import { memoizePerObject } from '../shared/memoize.ts';
import { decodeOrUndefined, encode } from './column-value.ts';
import { PUBLISHED_RESOURCES, type ResourceLayout, typedFields } from './layout/index.ts';
import type { StoreModel } from './model.ts';

/** A field whose values are counted. Values that the dictionary or an operator lists are in Lookup anyway. */
export interface CountedField {
  readonly field: Field;
  readonly lookup: string;
  readonly listed: ReadonlySet<string>;
  /** The bits of the roles that see the field. */
  readonly audience: number;
  /** The bits of the conditions under which the field is not withheld. */
  readonly withheld: number;
  /** The bits of the roles that see withheld fields. */
  readonly unhindered: number;
}

/** The maximum length of a listed value, because its key in Lookup is limited. */
export const LONGEST_VALUE = 255;

const known = new WeakMap<ResourceLayout, readonly CountedField[]>();

export const countedFields = (model: StoreModel, layout: ResourceLayout): readonly CountedField[] =>
  known.getOrInsertComputed(layout, () =>
    PUBLISHED_RESOURCES.has(layout.resource.name)
      ? []
      : typedFields(layout).flatMap(countedField(model, layout)),
  );

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

/** Who sees a row, which of its withheld fields are shown, and which system it comes from. */
interface RowVisibility {
  readonly visible: number;
  readonly shown: number;
  readonly system: string | null;
}

interface CountedRow extends RowVisibility {
  /** @param index of the field among the counted fields */
  readonly read: (field: Field, index: number) => FieldValue | undefined;
}

/** Receives counts. */
interface CounterSink {
  add(counter: string, visible: number, system: string | null, rows: number): void;
}

export interface StoredCountedRow extends CountedRow {
  /** The value of a field's column as it is stored. */
  readonly cell: (field: Field) => unknown;
}

/** Counts the values of a row that replaces another one. Fields whose values stay need no counting. */
export function countReplaced(
  model: StoreModel,
  layout: ResourceLayout,
  before: StoredCountedRow,
  after: CountedRow,
  counters: CounterSink,
): void {
  const { visible, shown, system } = before;
  const isUnchanged = visible === after.visible && shown === after.shown && system === after.system;
  const fields = countedFields(model, layout).map(({ field }, index) => ({ field, index }));
  const changed = fields.filter(
    ({ field, index }) => !isUnchanged || before.cell(field) !== encode(field, after.read(field, index)),
  );
  if (changed.length === 0) return;
  const indexes = new Set(changed.map(({ index }) => index));
  countValues(model, layout, before, counters, -1, indexes);
  countValues(model, layout, after, counters, 1, indexes);
}

/**
 * Counts the values of a row that is added or removed.
 * @param only the indexes of the counted fields to look at; by default all
 */
export function countValues(
  model: StoreModel,
  layout: ResourceLayout,
  { visible, shown, system, read }: CountedRow,
  counters: CounterSink,
  rows: 1 | -1,
  only?: ReadonlySet<number>,
): void {
  const owner = layout.systemSource === 'none' ? ANY_SYSTEM : system;
  const count = ({ lookup, audience, withheld, unhindered }: CountedField, text: string): void => {
    const bits = visible & audience & ((shown & withheld) === withheld ? -1 : unhindered);
    if (bits !== 0 && text !== '' && isShort(text))
      counters.add(valueCounterName(lookup, text), bits, owner, rows);
  };
  // This loop runs for every field of every row, and nearly all values are listed.
  const fields = countedFields(model, layout);
  for (let index = 0; index < fields.length; index++) {
    if (only?.has(index) === false) continue;
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

/** Counts a stored row whose visibility changed. The row comes from a statement with `countedColumns`. */
export function countVisibilityChange(
  model: StoreModel,
  layout: ResourceLayout,
  raw: Readonly<Record<string, unknown>>,
  counters: CounterSink,
): void {
  const read = (field: Field, index: number): FieldValue | undefined =>
    decodeOrUndefined(field, raw[countedColumn(index)]);
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

/** Replaces the system for resources whose rows have none: keys of every system see them. */
export const ANY_SYSTEM = '*';

/** The prefix of counters of values, which share a table with counters of resources. No resource has such a name. */
export const VALUE_COUNTER_PREFIX = 'Lookup\n';
/** Sorts after all counters of values. */
export const VALUE_COUNTER_END = 'Lookup\v';

export const valueCounterName = (lookup: string, value: string): string =>
  `${VALUE_COUNTER_PREFIX}${lookup}\n${value}`;

export const isValueCounter = (counter: string): boolean => counter.startsWith(VALUE_COUNTER_PREFIX);

export interface LookupValue {
  readonly lookup: string;
  readonly value: string;
}

/** A value in use, and the bits of the roles that may see it; 0 if it is no longer in use. */
export interface ValueInUse extends LookupValue {
  readonly audience: number;
  /** Whether it came into use for the first time, so that it is not in Lookup yet. */
  readonly isNew?: boolean;
}

/**
 * The values that counters refer to, with their audiences.
 * @param rows counters that are not zero
 * @param known audiences that are already known, which are extended
 * @param isNew whether the value of a counter came into use for the first time
 */
export function valuesOfCounters(
  rows: Iterable<{ readonly resource?: unknown; readonly visible?: unknown }>,
  known: Iterable<readonly [counter: string, audience: number]> = [],
  isNew: (counter: string) => boolean = () => false,
): ValueInUse[] {
  const audiences = new Map(known);
  for (const { resource, visible } of rows) {
    const counter = String(resource);
    audiences.set(counter, (audiences.get(counter) ?? 0) | Number(visible));
  }
  return [...audiences].map(([counter, audience]) => {
    const lookup = counter.slice(VALUE_COUNTER_PREFIX.length).split('\n', 1).join();
    const value = counter.slice(VALUE_COUNTER_PREFIX.length + lookup.length + 1);
    return { lookup, value, audience, isNew: isNew(counter) };
  });
}

/**
 * Whether an access rule contains `has`. Earlier versions of plat evaluated it to false instead of null, so rows must be evaluated
 * again.
 */
export const rulesUseHas = ({ settings }: Pick<StoreModel, 'settings'>): boolean =>
  /\bhas\b/.test(JSON.stringify(settings.access));

/** A hash of the rules that the counters depend on, apart from the rows. If it changes, the counters are rebuilt. */
export const countingRules = memoizePerObject((model: StoreModel): string => {
  const { dictionary, settings } = model;
  const lists = [...dictionary.lookups.values()].map(({ name, closed, values }) => [
    name,
    closed,
    [...values.keys()],
  ]);
  const rules = JSON.stringify([
    2,
    lists,
    settings.access,
    ...(rulesUseHas(model) ? ['has may be null'] : []),
  ]);
  return hash('sha256', rules, 'base64url').slice(0, 22);
});
