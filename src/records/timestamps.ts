/** The timestamps that a record has, and those that a change moves. */
import { type Field, type FieldValue, type FieldValues, REPLICA_TIMESTAMP } from '../dictionary/index.ts';
import { memoizePerObject } from '../shared/memoize.ts';

/** Timestamps that an authority assigns itself. Input never sets them, and they are not part of a record's content. */
export function isAssignedTimestamp(field: Field): boolean {
  return (
    field.type.kind === 'timestamp' &&
    (field.name === 'ModificationTimestamp' ||
      field.name.endsWith('ChangeTimestamp') ||
      field.name === REPLICA_TIMESTAMP)
  );
}

/** The timestamps among the fields of a resource. */
const assignedTimestamps = memoizePerObject((fields: ReadonlyMap<string, Field>): readonly string[] =>
  [...fields.values()].filter(isAssignedTimestamp).map((field) => field.name),
);

/** The timestamp for a change of a listing's children; undefined for changes without a timestamp of their own. */
export type ChildChange = string | undefined;

interface FieldTimestamp {
  readonly stamp: string;
  readonly fields: readonly string[];
}

/** Fields of a listing or an organization whose change has its own timestamp. */
const FIELD_TIMESTAMPS: readonly FieldTimestamp[] = [
  { stamp: 'StatusChangeTimestamp', fields: ['StandardStatus', 'MlsStatus'] },
  { stamp: 'PriceChangeTimestamp', fields: ['ListPrice', 'ClosePrice'] },
  { stamp: 'MajorChangeTimestamp', fields: ['StandardStatus', 'MlsStatus', 'ListPrice', 'ClosePrice'] },
  { stamp: 'OrganizationStatusChangeTimestamp', fields: ['OrganizationStatus'] },
];

/** The field timestamps of a resource; most have none. */
const fieldTimestampsOf = memoizePerObject((fields: ReadonlyMap<string, Field>): readonly FieldTimestamp[] =>
  FIELD_TIMESTAMPS.filter(({ stamp }) => fields.has(stamp)),
);

/** Stored fields that are compared to decide which timestamps move. */
export const FIELDS_WITH_TIMESTAMPS: readonly string[] = [
  ...new Set(FIELD_TIMESTAMPS.flatMap(({ fields }) => fields)),
];

/**
 * The timestamps of a record after a change at `stamp`. Those that do not move keep their value.
 * @param before the stored record's values, at least its timestamps and `FIELDS_WITH_TIMESTAMPS`; undefined for a new record
 * @param after the new content; undefined if only children changed
 */
export function timestampsAfterChange(
  fields: ReadonlyMap<string, Field>,
  stamp: string,
  before: FieldValues | undefined,
  after: FieldValues | undefined,
  changes: ReadonlySet<ChildChange>,
): Record<string, FieldValue> {
  const stamps: Record<string, FieldValue> = {};
  for (const name of before === undefined ? [] : assignedTimestamps(fields)) {
    const kept = before?.[name];
    if (kept !== undefined && kept !== null) stamps[name] = kept;
  }
  const move = (name: string): void => {
    if (fields.has(name)) stamps[name] = stamp;
  };
  move('ModificationTimestamp');
  for (const change of changes) {
    if (change !== undefined) move(change);
  }
  if (after === undefined) return stamps;
  for (const { stamp: name, fields: watched } of fieldTimestampsOf(fields)) {
    const relevant = watched.filter((field) => before !== undefined || after[field] !== undefined);
    if (relevant.some((field) => (before?.[field] ?? null) !== (after[field] ?? null))) move(name);
  }
  return stamps;
}

/**
 * The timestamps that a new record with these values gets in addition to ModificationTimestamp.
 * @param fields the fields of its resource
 */
export const timestampsOfNewRecord = (
  fields: ReadonlyMap<string, Field>,
  values: FieldValues,
): readonly string[] =>
  fieldTimestampsOf(fields).flatMap(({ stamp, fields }) =>
    fields.some((field) => values[field] !== undefined) ? stamp : [],
  );
