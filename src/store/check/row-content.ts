/**
 * Whether the content of a stored row is what was stored: its hash is a witness beside its columns and its texts, so of
 * the three the one that two others contradict is the wrong one. It knows nothing of engines.
 */

import { ownColumn, PUBLISHED, type ResourceLayout } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import { URL_MARK } from '../../compile/text/members.ts';
import type { Field, FieldValue, FieldValues } from '../../dictionary/index.ts';
import { contentHash, storedHash } from '../../records/content-hash.ts';

/** A stored row as a check reads it; `T` is a value as the driver gives it. */
export type RawRow<T> = Readonly<Record<string, T>>;

/** Says that no content is known to be right: what comes from the source next replaces the record. */
export const NO_HASH = '';

/**
 * The hash that values come to, as the writer of the row would have it.
 * @returns undefined where values of fields that are not declared any more are part of the hash
 */
export function hashOf<T>(
  { settings }: StoreModel,
  { resource }: ResourceLayout,
  values: FieldValues,
  raw: RawRow<T>,
): string | undefined {
  if (Number(raw.dormant) === 1) return undefined;
  if (PUBLISHED.has(resource.name)) {
    const { ModificationTimestamp: _, ...published } = values;
    return `${contentHash(resource, published, 'authority')}.${Number(raw._audience)}`;
  }
  // Of a parent that is not stored nothing follows.
  const hasParent = typeof raw.parent_key === 'string';
  const { parent_system: system } = raw;
  return hasParent
    ? storedHash(resource, values, settings, typeof system === 'string' ? system : null)
    : storedHash(resource, values, settings);
}

/**
 * The values that the ready texts of a row tell, the names of its parent included: the columns by which a row lies in its
 * place may be wrong like any other. Its key is that of the row.
 * @param columns values of its columns, for what texts do not hold
 * @returns undefined when a text is not what plat writes
 */
export function valuesInTexts<T>(
  layout: ResourceLayout,
  raw: RawRow<T>,
  columns: FieldValues,
): FieldValues | undefined {
  const values: Record<string, FieldValue> = {};
  for (const field of layout.fields) {
    const kept = columns[field.name];
    if (ownColumn(layout.resource, field) !== undefined && kept !== undefined) values[field.name] = kept;
  }
  for (const { naming, fields, valuesColumn } of layout.pieces) {
    if (naming === 'native') continue;
    const members = membersOf(raw[valuesColumn]);
    if (members === undefined) return undefined;
    const known = new Map(fields.map((field) => [field.name, field]));
    for (const [name, value] of Object.entries(members)) {
      const field = known.get(name);
      const told = value === URL_MARK ? columns[name] : fieldValue(field, value);
      if (field === undefined || told === undefined) return undefined;
      if (ownColumn(layout.resource, field) !== '_key') values[name] = told;
    }
  }
  return values;
}

/** The key that the ready texts of a row tell; undefined where they tell none. */
export function keyInTexts<T>({ resource, pieces }: ResourceLayout, raw: RawRow<T>): string | undefined {
  const piece = pieces.find(
    ({ naming, fields }) => naming !== 'native' && fields.some(({ name }) => name === resource.key),
  );
  const members = piece === undefined ? undefined : membersOf(raw[piece.valuesColumn]);
  const [, key] = Object.entries(members ?? {}).find(([name]) => name === resource.key) ?? [];
  return typeof key === 'string' && key !== '' ? key : undefined;
}

function membersOf(text: unknown): object | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const members: unknown = JSON.parse(`{${text.replace(/^,/, '').replaceAll(URL_MARK, '\\u0001')}}`);
    return typeof members === 'object' && members !== null ? members : undefined;
  } catch {
    return undefined;
  }
}

/** A member of a text as a value of its field; undefined when it is none. */
function fieldValue(field: Field | undefined, value: unknown): FieldValue | undefined {
  if (field === undefined) return undefined;
  if (field.collection) {
    return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined;
  }
  switch (field.type.kind) {
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'integer':
    case 'decimal':
      return typeof value === 'number' ? value : undefined;
    case 'string':
    case 'date':
    case 'timestamp':
      return typeof value === 'string' ? value : undefined;
  }
}
