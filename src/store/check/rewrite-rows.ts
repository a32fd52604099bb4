/** Rewrites inconsistent rows: columns, texts and hash are copies of a record; if two agree, the third is wrong. */
import { boundValueOf, columnKind, textOrNull } from '../../compile/column-value.ts';
import type { Planner } from '../../compile/context.ts';
import { column, integer, join, name, type Sql, sql } from '../../compile/fragment.ts';
import {
  isOneTable,
  ownColumn,
  PUBLISHED_RESOURCES,
  type ResourceLayout,
} from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import { URL_MARK } from '../../compile/text/members.ts';
import { textColumns } from '../../compile/text/text-columns.ts';
import type { Field, FieldValue, FieldValues, Resource } from '../../dictionary/index.ts';
import { ASSIGNED_TIMESTAMP, hashOfStoredContent, isFormerHash } from '../../records/content-hash.ts';
import {
  COUNTED_RESOURCE,
  countChildren,
  isMediaOfListing,
  systemFieldsOfMedia,
} from '../../records/media.ts';
import type { RowToPut, StoredRow } from '../../records/rows.ts';
import { isAssignedTimestamp } from '../../records/timestamps.ts';
import { isObject, tryParseJson } from '../../shared/json.ts';
import { storedRows } from '../rows/stored-rows.ts';
import type { Row } from '../session.ts';
import { derivedCounts } from '../write/prepare.ts';
import {
  entryOfValue,
  type PublishedEntry,
  publishedEntries,
  publishedHash,
} from '../write/publish-dictionary.ts';
import type { CheckSession } from './checks.ts';
import {
  hasOneOfKeys,
  type ReadValues,
  readValues,
  recomputeHash,
  rowToPutOf,
  selectCheckedRows,
  textsAt,
} from './row-faults.ts';

/** Replaces the hash of a content that may be wrong: the next record from the source then replaces it. */
const NO_HASH = '';

/** The operations of a transaction that a rewrite needs. */
interface Rewriting {
  /** The timestamp for a record that needs a new one. */
  stampOf(key: string): string;
  /** Stores rows, with everything that is derived from them. */
  put(rows: readonly RowToPut[]): Promise<void>;
  remove(rows: readonly StoredRow[]): Promise<void>;
  /** Gives new timestamps to the parents of rows whose content has changed (I3). */
  restampParents(rows: readonly StoredRow[]): Promise<void>;
}

/**
 * Rewrites the rows with the given keys, inside a write transaction.
 * @returns the keys of records whose content is uncertain: they have to be read from their source again
 */
export async function rewriteRows(
  session: CheckSession,
  layout: ResourceLayout,
  keys: readonly string[],
  { stampOf, put, remove, restampParents }: Rewriting,
): Promise<string[]> {
  const { rows, bare } = await readTorn(session, layout, keys);
  const textsOf = new Map(bare.map((raw) => [Number(raw._id), raw]));
  const whole = rows.map((raw) => {
    const texts = lacksTexts(raw) ? textsOf.get(Number(raw._id)) : undefined;
    if (texts === undefined) return { raw, textKey: keyInTexts(layout, raw) };
    textsOf.delete(Number(raw._id));
    const { _key, _id, _visible, ...rest } = texts;
    return { raw: { ...raw, ...rest }, textKey: String(_key) };
  });
  const others = whole.flatMap(({ raw, textKey }) => (textKey === raw._key ? [] : (textKey ?? [])));
  const taken = new Set(await storedKeys(session, layout, others));
  const { owner } = session.model.settings;
  const isCounted = ({ raw }: (typeof whole)[number]): boolean =>
    !isFormerHash(layout.resource, owner, String(raw._hash));
  const counts = await readDerivedCounts(
    session,
    layout,
    whole.filter(isCounted).map(({ raw }) => String(raw._key)),
  );
  const derived: DerivedValueSource = { stampOf, derivedCountsOf: (key) => counts.get(key) };
  const rewritten: RowToPut[] = [];
  const renamed: StoredRow[] = [];
  const changed: StoredRow[] = [];
  for (const { raw, textKey } of whole) {
    let { row, isNew } = rewrittenRow(session.model, layout, raw, derived);
    // If the texts have a different key than the columns, the key that matches the stored hash is right; if neither does, that of
    // the columns. If two rows claim the same key, the first one gets it.
    if (row.hash !== raw._hash && textKey !== undefined && textKey !== raw._key && !taken.has(textKey)) {
      const other = rewrittenRow(session.model, layout, raw, derived, textKey);
      if (other.row.hash === raw._hash) {
        if (row.stored !== undefined) renamed.push(row.stored);
        ({ row, isNew } = other);
      }
    }
    taken.add(row.key);
    rewritten.push(row);
    if (isNew && row.stored !== undefined) changed.push(row.stored);
  }
  rewritten.push(...[...textsOf.values()].flatMap((raw) => rowOfTexts(session.model, layout, raw) ?? []));
  await remove(renamed);
  await put(rewritten);
  await restampParents(changed);
  return rewritten.filter(({ hash }) => hash === NO_HASH).map(({ key }) => key);
}

const lacksTexts = (raw: Row): boolean => raw.text__id === null;

/**
 * Reads the rows with the given keys. If texts have a table of their own, it also reads the texts without columns that have one of
 * these keys or the number of one of these rows, and the rows without texts that have the number of such a text.
 */
async function readTorn(
  session: CheckSession,
  layout: ResourceLayout,
  keys: readonly string[],
): Promise<{ readonly rows: readonly Row[]; readonly bare: readonly Row[] }> {
  const found = await session.rows(selectCheckedRows(session, layout, hasOneOfKeys(session, 'r', keys)));
  if (isOneTable(layout)) return { rows: found, bare: [] };
  const idsOf = (raws: readonly Row[]): number[] =>
    raws.map(({ _id }) => Number(_id)).filter(Number.isSafeInteger);
  const lacking = new Set(idsOf(found.filter(lacksTexts)));
  const bare = await session.rows(orphanedTexts(session, layout, keys, [...lacking]));
  const ids = idsOf(bare).filter((id) => !lacking.has(id));
  if (ids.length === 0) return { rows: found, bare };
  const isWithoutTexts = sql`NOT EXISTS (SELECT 1 FROM ${name(layout.textsTable)} n WHERE n._key = r._key)`;
  const others = sql`${hasId('r', ids)} AND ${isWithoutTexts}`;
  return { rows: [...found, ...(await session.rows(selectCheckedRows(session, layout, others)))], bare };
}

const hasId = (alias: string, ids: readonly number[]): Sql =>
  sql`${column(alias, '_id')} IN (${join(ids.map(integer), ', ')})`;

/** Selects the texts with the given keys or numbers that no longer have columns. */
function orphanedTexts(
  planner: Planner,
  layout: ResourceLayout,
  keys: readonly string[],
  ids: readonly number[],
): Sql {
  const columns = ['_key', '_id', '_visible', ...textColumns(planner.model, layout).columns];
  const list = join(
    columns.map((each) => column('t', each)),
    ', ',
  );
  const found = [hasOneOfKeys(planner, 't', keys), ...(ids.length === 0 ? [] : [hasId('t', ids)])];
  return sql`SELECT ${list} FROM ${name(layout.textsTable)} t WHERE (${join(found, ' OR ')})
    AND NOT EXISTS (SELECT 1 FROM ${name(layout.columnsTable)} r WHERE r._key = t._key) ORDER BY t._key`;
}

/** Returns those of the given keys that have rows. */
async function storedKeys(
  session: CheckSession,
  { columnsTable }: ResourceLayout,
  keys: readonly string[],
): Promise<string[]> {
  if (keys.length === 0) return [];
  const rows = await session.rows(
    sql`SELECT r._key FROM ${name(columnsTable)} r WHERE ${hasOneOfKeys(session, 'r', keys)}`,
  );
  return rows.map(({ _key }) => String(_key));
}

/**
 * Restores the row of a listing whose columns are lost from its texts; undefined if the texts do not contain the whole row. Such
 * texts stay, since they are all that is left of the record. Each interface has its own text, so each can confirm the other.
 */
function rowOfTexts(model: StoreModel, layout: ResourceLayout, raw: Row): RowToPut | undefined {
  const inTexts = valuesInTexts(layout, raw, {});
  if (inTexts === undefined) return undefined;
  const { resource } = layout;
  const key = String(raw._key);
  const values = { ...inTexts, [resource.key]: key };
  const row = { ...rowToPutOf(layout, raw, values), system: textOrNull(values.OriginatingSystemID) };
  const texts = textsAt(model, layout, Number(raw._profile))(row);
  const isSure = [...texts].every(([each, text]) => raw[each] === text);
  const hash = isSure ? hashOfStoredContent(resource, values, model.settings) : NO_HASH;
  const stored = {
    ...{ key, id: Number(raw._id), parent: null, parentResource: null, system: row.system, kind: row.kind },
    ...{ hash, source: null, visible: Number(raw._visible), values: {}, isTorn: true },
  };
  return { ...row, hash, stored };
}

/**
 * Provides the values that an authority's hash does not cover: if columns and texts differ in one of them, neither is known to be
 * right.
 */
interface DerivedValueSource extends Pick<Rewriting, 'stampOf'> {
  /** The counts of a record's stored children; undefined if the store does not derive counts, or if the hash covers them. */
  derivedCountsOf(key: string): FieldValues | undefined;
}

/** The counts that a store derives for some records, by key. */
async function readDerivedCounts(
  session: CheckSession,
  { resource }: ResourceLayout,
  keys: readonly string[],
): Promise<ReadonlyMap<string, FieldValues>> {
  const fields = derivedCounts(session.model, resource.name);
  if (fields.length === 0 || !session.model.stores(COUNTED_RESOURCE)) return new Map();
  const children = await storedRows(session, session.model.layout(COUNTED_RESOURCE)).countedChildren(
    resource.name,
    keys,
  );
  return new Map(keys.map((key) => [key, countChildren(children.get(key) ?? [], fields)]));
}

/**
 * @param key the key in the columns, or a different one in the texts
 * @returns also whether readers have seen another content so far
 */
function rewrittenRow(
  model: StoreModel,
  layout: ResourceLayout,
  raw: Row,
  derived: DerivedValueSource,
  key = String(raw._key),
): { readonly row: RowToPut; readonly isNew: boolean } {
  const { stampOf } = derived;
  const { resource } = layout;
  const read = readValues(layout, raw);
  const columns = resource.key in read.values ? { ...read.values, [resource.key]: key } : read.values;
  const published = PUBLISHED_RESOURCES.has(resource.name)
    ? (publishedEntries(model, resource.name).get(key) ?? entryOfValueInUse(columns, raw))
    : undefined;
  const content =
    published === undefined
      ? agreedContent(model, layout, raw, { ...read, values: columns })
      : {
          values: {
            ModificationTimestamp: columns.ModificationTimestamp ?? stampOf(key),
            ...published.values,
          },
          hash: publishedHash(model, resource.name, published),
        };
  const inTexts = valuesInTexts(layout, raw, columns);
  const corrected = correctDerivedValues(layout, key, content.values, inTexts, derived);
  const found = { ...rowToPutOf(layout, raw, corrected), key };
  const placed = { ...found, ...parentInValues(resource, corrected) };
  const isMoved = placed.parent !== found.parent || placed.parentResource !== found.parentResource;
  const isOrphan = resource.parent !== undefined && textOrNull(raw.parent_key) === null;
  const isPlaced = !isMoved && !isOrphan;
  const shown = inTexts ?? content.values;
  const fromParent =
    model.settings.owner === 'authority'
      ? valuesFromParent(resource, raw, content.values, shown, isPlaced)
      : {};
  // Consumers have read a value that columns and texts have alike, so they have to read the right one.
  const isNew = Object.keys(fromParent).some((name) => content.values[name] === shown[name]);
  const stamps: FieldValues = isNew ? { [ASSIGNED_TIMESTAMP]: stampOf(key) } : {};
  const follows = resource.parent === undefined ? corrected.OriginatingSystemID : raw.parent_system;
  const stored = {
    key,
    id: [raw._id, raw.text__id].map(Number).find(Number.isSafeInteger) ?? 0,
    parent: found.parent,
    parentResource: found.parentResource,
    system: found.system,
    kind: found.kind,
    hash: String(raw._hash),
    source: textOrNull(raw._source),
    visible: Number(raw._visible),
    values: {},
    isTorn: !isOneTable(layout) && String(raw.text__id) !== String(raw._id),
  };
  const row = {
    ...placed,
    values: { ...corrected, ...fromParent, ...stamps },
    ...(published === undefined ? {} : { audience: published.audience }),
    // A parent to which the row is wrongly assigned says nothing about its system.
    system: isPlaced ? textOrNull(follows) : found.system,
    hash: content.hash,
    stored,
  };
  return { row, isNew };
}

/** The entry of a value in use as its row has it; after a repair, all are published from the counters of values. */
function entryOfValueInUse(values: FieldValues, raw: Row): PublishedEntry | undefined {
  const [lookup, value] = [textOrNull(values.LookupName), textOrNull(values.LookupValue)];
  if (lookup === null || value === null) return undefined;
  return entryOfValue({ lookup, value, audience: Number(raw._audience) });
}

function parentInValues(
  { parent }: Resource,
  values: FieldValues,
): Partial<Pick<RowToPut, 'parent' | 'parentResource'>> {
  if (parent === undefined) return {};
  const key = textOrNull(values[parent.keyField]);
  const resource = parent.kind === 'named' ? textOrNull(values[parent.resourceField]) : null;
  return {
    ...(key === null ? {} : { parent: key }),
    ...(resource === null ? {} : { parentResource: resource }),
  };
}

/**
 * Corrects timestamps and counts. A timestamp in which columns and texts differ is assigned again, as after a change, so that
 * consumers read the record again. If a count is wrong in one of them, both get the count of the children.
 */
function correctDerivedValues(
  { fields }: ResourceLayout,
  key: string,
  values: FieldValues,
  inTexts: FieldValues | undefined,
  { stampOf, derivedCountsOf: countsOf }: DerivedValueSource,
): FieldValues {
  const isUnsure = ({ name }: Field): boolean => values[name] !== inTexts?.[name];
  const differing =
    inTexts === undefined ? [] : fields.filter((field) => isAssignedTimestamp(field) && isUnsure(field));
  const counts = countsOf(key) ?? {};
  const isWrong = (name: string): boolean =>
    [values, inTexts].some((copy) => (copy?.[name] ?? 0) !== counts[name]);
  const areRight = !Object.keys(counts).some(isWrong);
  if (differing.length === 0 && areRight) return values;
  const stamps = Object.fromEntries(differing.map(({ name }) => [name, stampOf(key)]));
  return { ...values, ...stamps, ...(areRight ? {} : counts) };
}

/**
 * The values that follow from the parent of a row, where columns and texts differ in them or both differ from the parent. The hash
 * of the row does not cover these values.
 * @param isPlaced whether the row is known to belong to its parent
 */
function valuesFromParent(
  resource: Resource,
  raw: Row,
  values: FieldValues,
  inTexts: FieldValues,
  isPlaced: boolean,
): FieldValues {
  if (!isMediaOfListing(resource, values)) return {};
  const [key, system] = [values.ResourceRecordKey, raw.parent_system].map(
    (each) => textOrNull(each) ?? undefined,
  );
  const derived = systemFieldsOfMedia(key, system);
  return Object.fromEntries(
    derived.filter(([name, value]) => values[name] !== inTexts[name] || (isPlaced && values[name] !== value)),
  );
}

/** The content on which two of the three copies agree, with its hash. */
function agreedContent(
  model: StoreModel,
  layout: ResourceLayout,
  raw: Row,
  { values, broken }: ReadValues,
): { readonly values: FieldValues; readonly hash: string } {
  const stored = String(raw._hash);
  const isReadable = broken.length === 0;
  const hash = recomputeHash(model, layout, values, raw);
  if (isReadable && (hash === undefined || hash === stored)) return { values, hash: stored };
  const inTexts = valuesInTexts(layout, raw, values);
  const textHash = inTexts && recomputeHash(model, layout, inTexts, raw);
  if (inTexts !== undefined && textHash === stored) return { values: inTexts, hash: stored };
  if (isReadable && hash !== undefined && hash === textHash) return { values, hash };
  return { values, hash: NO_HASH };
}

/**
 * Reads the values in a row's ready texts, including the names of its parent: the columns that assign a row to its parent may be
 * wrong like any other. The key is that of the row.
 * @param columns the values of its columns, for fields that texts omit
 * @returns undefined if a text is not what plat writes
 */
function valuesInTexts(layout: ResourceLayout, raw: Row, columns: FieldValues): FieldValues | undefined {
  const values: Record<string, FieldValue> = {};
  for (const field of layout.fields) {
    const kept = columns[field.name];
    if (ownColumn(layout.resource, field) !== undefined && kept !== undefined) values[field.name] = kept;
  }
  for (const { naming, fields, valuesColumn } of layout.pieces) {
    if (naming === 'native') continue;
    const members = parseMembers(raw[valuesColumn]);
    if (members === undefined) return undefined;
    const known = new Map(fields.map((field) => [field.name, field]));
    for (const [name, member] of Object.entries(members)) {
      const field = known.get(name);
      const value = member === URL_MARK ? columns[name] : fieldValue(field, member);
      if (field === undefined || value === undefined) return undefined;
      if (ownColumn(layout.resource, field) !== '_key') values[name] = value;
    }
  }
  return values;
}

/** The key in the ready texts of a row; undefined if they contain none. */
function keyInTexts({ resource, pieces }: ResourceLayout, raw: Row): string | undefined {
  const piece = pieces.find(
    ({ naming, fields }) => naming !== 'native' && fields.some(({ name }) => name === resource.key),
  );
  const members = piece && parseMembers(raw[piece.valuesColumn]);
  const [, key] = Object.entries(members ?? {}).find(([name]) => name === resource.key) ?? [];
  return typeof key === 'string' && key !== '' ? key : undefined;
}

function parseMembers(text: unknown): object | undefined {
  if (typeof text !== 'string') return undefined;
  const members = tryParseJson(`{${text.replace(/^,/, '').replaceAll(URL_MARK, '\\u0001')}}`);
  return isObject(members) ? members : undefined;
}

/** Parses a member of a text as a value of its field; undefined if it is not a valid one. */
function fieldValue(field: Field | undefined, value: unknown): FieldValue | undefined {
  if (field === undefined) return undefined;
  if (field.collection) {
    return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined;
  }
  const cell = boundValueOf(value);
  return cell !== null && typeof cell === JSON_TYPES[columnKind(field)] ? cell : undefined;
}

const JSON_TYPES = { text: 'string', number: 'number', boolean: 'boolean' } as const;
