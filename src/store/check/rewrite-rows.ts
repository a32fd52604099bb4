/**
 * Writes rows anew whose parts do not agree, from those of their columns, texts and hash that do. It knows nothing of
 * engines, and nothing of where a record came from.
 */

import type { Planner } from '../../compile/context.ts';
import { name, render, type Sql, sql } from '../../compile/fragment.ts';
import { isOneTable, PUBLISHED, type ResourceLayout } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { FieldValues, Resource } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { storedHash } from '../../records/content-hash.ts';
import type { RowToPut, StoredRow } from '../../records/rows.ts';
import { isStamp } from '../../records/stamps.ts';
import type { BatchWriter } from '../write/batches.ts';
import { WRITE_LIMITS } from '../write/in-time.ts';
import {
  entryOfValue,
  type PublishedEntry,
  publishedEntries,
  publishedHash,
} from '../write/publish-dictionary.ts';
import type { WriteTransaction } from '../write/transaction.ts';
import type { Asker } from './asker.ts';
import { hashOf, keyInTexts, NO_HASH, type RawRow, valuesInTexts } from './row-content.ts';
import {
  bareTextsStatement,
  isAmong,
  isWithoutTexts,
  readValues,
  rowOf,
  rowsStatement,
  textsAt,
} from './row-faults.ts';

/** Rows that one transaction writes anew at the most. */
const AT_ONCE = 200;

/** The timestamp of a record that gets one. */
type StampOf = (key: string) => string;

/** What rows are written with, and everything that follows from them. */
interface Rewriting {
  put(rows: readonly RowToPut[]): Promise<void> | void;
  remove(rows: readonly StoredRow[]): Promise<void> | void;
}

/**
 * Writes the rows of some keys anew, inside a write transaction.
 * @param stampOf timestamps of this transaction, by key
 * @returns the keys of those whose content is not known for sure: they have to come from their source again
 */
export async function rewriteRows<T>(
  asker: Asker<T>,
  layout: ResourceLayout,
  keys: readonly string[],
  stampOf: StampOf,
  { put, remove }: Rewriting,
): Promise<string[]> {
  const { planner } = asker;
  const read = (statement: Sql) => asker.rows(render(statement, planner.dialect.placeholder));
  const found = await read(rowsStatement(planner, layout, isAmong(planner, 'r', keys)));
  const { rows, bare } = isOneTable(layout)
    ? { rows: found, bare: [] }
    : await withBareTexts(planner, layout, keys, found, read);
  const textsOf = new Map(bare.map((raw) => [Number(raw._id), raw]));
  const whole = rows.map((raw) => {
    const texts = isWithout(raw) ? textsOf.get(Number(raw._id)) : undefined;
    if (texts === undefined) return { raw, told: keyInTexts(layout, raw) };
    textsOf.delete(Number(raw._id));
    const { _key, _id, _visible, ...rest } = texts;
    return { raw: { ...raw, ...rest }, told: String(_key) };
  });
  const others = whole.flatMap(({ raw, told }) => (told === undefined || told === raw._key ? [] : [told]));
  const taken = new Set(await storedKeys(planner, layout, others, read));
  const mended = [
    ...whole.map(({ raw, told }) => {
      const isOther = told !== undefined && told !== raw._key && !taken.has(told);
      // Two rows may tell the same key: the first has it.
      const result = mendUnder(asker, layout, raw, isOther ? told : undefined, stampOf);
      taken.add(result.row.key);
      return result;
    }),
    ...[...textsOf.values()].flatMap((raw) => rowOfTexts(planner.model, layout, raw) ?? []),
  ];
  await remove(mended.flatMap(({ renamed }) => renamed ?? []));
  await put(mended.map(({ row }) => row));
  return mended.flatMap(({ row, isSure }) => (isSure ? [] : [row.key]));
}

const isWithout = <T>(raw: RawRow<T>): boolean => raw.text__id === null;

/** Rows with the texts without columns that have their keys or numbers, and the rows without texts that have those of such texts. */
async function withBareTexts<T>(
  planner: Planner,
  layout: ResourceLayout,
  keys: readonly string[],
  found: readonly RawRow<T>[],
  read: (statement: Sql) => Promise<readonly RawRow<T>[]>,
): Promise<{ readonly rows: readonly RawRow<T>[]; readonly bare: readonly RawRow<T>[] }> {
  const idsOf = (raws: readonly RawRow<T>[]): number[] =>
    raws.map(({ _id }) => Number(_id)).filter(Number.isSafeInteger);
  const lacking = new Set(idsOf(found.filter(isWithout)));
  const bare = await read(bareTextsStatement(planner, layout, keys, [...lacking]));
  const ids = idsOf(bare).filter((id) => !lacking.has(id));
  if (ids.length === 0) return { rows: found, bare };
  const others = await read(rowsStatement(planner, layout, isWithoutTexts(layout, ids)));
  return { rows: [...found, ...others], bare };
}

/** Those of some keys that rows have. */
async function storedKeys<T>(
  planner: Planner,
  layout: ResourceLayout,
  keys: readonly string[],
  read: (statement: Sql) => Promise<readonly RawRow<T>[]>,
): Promise<string[]> {
  if (keys.length === 0) return [];
  const rows = await read(
    sql`SELECT r._key FROM ${name(layout.columnsTable)} r WHERE ${isAmong(planner, 'r', keys)}`,
  );
  return rows.map(({ _key }) => String(_key));
}

/**
 * A row whose texts lie under, or tell, another key than its columns have. The hash knows which of the two is right;
 * where it knows neither, that of the columns is.
 */
function mendUnder<T>(
  asker: Asker<T>,
  layout: ResourceLayout,
  raw: RawRow<T>,
  other: string | undefined,
  stampOf: StampOf,
): Mended {
  const own = mendRow(asker, layout, raw, stampOf);
  const isStored = ({ row }: Mended): boolean => row.hash === raw._hash;
  if (isStored(own) || other === undefined) return own;
  const renamed = mendRow(asker, layout, raw, stampOf, other);
  return isStored(renamed) ? { ...renamed, renamed: own.row.stored } : own;
}

/** A row as it is to be written, and whether its content is known for sure. */
interface Mended {
  readonly row: RowToPut;
  readonly isSure: boolean;
  /** The row in whose place it comes, which had a key that was not its own. */
  readonly renamed?: StoredRow | undefined;
}

/**
 * The row of a listing whose columns are gone, from its texts; undefined where they do not tell all of it: then they stay,
 * since nothing else is left of the record. Both interfaces have a text of their own, so they are witnesses of each other.
 */
function rowOfTexts<T>(model: StoreModel, layout: ResourceLayout, raw: RawRow<T>): Mended | undefined {
  const told = valuesInTexts(layout, raw, {});
  const { resource } = layout;
  const key = String(raw._key);
  if (told === undefined) return undefined;
  const values = { ...told, [resource.key]: key };
  const bare = { ...rowOf(layout, raw, values), system: textOf(values.OriginatingSystemID) };
  const texts = textsAt(model, layout, Number(raw._profile))(bare);
  const isSure = [...texts].every(([column, text]) => raw[column] === text);
  const hash = isSure ? storedHash(resource, values, model.settings) : NO_HASH;
  const { kind } = bare;
  const place = { key, id: Number(raw._id), parent: null, parentResource: null, system: bare.system, kind };
  const visible = Number(raw._visible);
  const stored = { ...place, hash, source: null, visible, values: {}, isTorn: true };
  return { row: { ...bare, hash, stored }, isSure };
}

function mendRow<T>(
  { planner: { model }, decode }: Asker<T>,
  layout: ResourceLayout,
  raw: RawRow<T>,
  stampOf: StampOf,
  key = String(raw._key),
): Mended {
  const { resource } = layout;
  const { values: columns, broken } = readValues(layout, raw, decode);
  const read = {
    values: { ...columns, ...(resource.key in columns ? { [resource.key]: key } : {}) },
    broken,
  };
  const published = PUBLISHED.has(resource.name)
    ? (publishedEntries(model, resource.name).get(key) ?? usedEntry(read.values, raw))
    : undefined;
  const content =
    published === undefined
      ? contentOf(model, layout, raw, read)
      : {
          values: {
            ModificationTimestamp: read.values.ModificationTimestamp ?? stampOf(key),
            ...published.values,
          },
          hash: publishedHash(model, resource.name, published),
        };
  const { hash } = content;
  const values = withSureStamps(layout, content.values, valuesInTexts(layout, raw, read.values), () =>
    stampOf(key),
  );
  const found = { ...rowOf(layout, raw, values), key };
  const bare = { ...found, ...parentIn(resource, values) };
  const isMoved = bare.parent !== found.parent || bare.parentResource !== found.parentResource;
  const isOrphan = resource.parent !== undefined && textOf(raw.parent_key) === null;
  const follows = resource.parent === undefined ? values.OriginatingSystemID : raw.parent_system;
  // Of the parent under which a row lies by mistake nothing follows.
  const system = isOrphan || isMoved ? bare.system : textOf(follows);
  const stored = {
    key: bare.key,
    id: idOf(raw),
    parent: found.parent,
    parentResource: found.parentResource,
    system: bare.system,
    kind: bare.kind,
    hash: String(raw._hash),
    source: textOf(raw._source),
    visible: Number(raw._visible),
    values: {},
    isTorn: !isOneTable(layout) && String(raw.text__id) !== String(raw._id),
  };
  const audience = published === undefined ? {} : { audience: published.audience };
  return { row: { ...bare, ...audience, system, hash, stored }, isSure: hash !== NO_HASH };
}

/** The entry of a value in use, as far as its row tells; from the counters of values all are published anew after a repair. */
function usedEntry<T>(values: FieldValues, raw: RawRow<T>): PublishedEntry | undefined {
  const [lookup, value] = [textOf(values.LookupName), textOf(values.LookupValue)];
  if (lookup === null || value === null) return undefined;
  return entryOfValue({ lookup, value, audience: Number(raw._audience) });
}

/** The parent that the values of a row name. */
function parentIn(
  { parent }: Resource,
  values: FieldValues,
): Partial<Pick<RowToPut, 'parent' | 'parentResource'>> {
  if (parent === undefined) return {};
  const key = textOf(values[parent.keyField]);
  const resource = parent.kind === 'named' ? textOf(values[parent.resourceField]) : null;
  return {
    ...(key === null ? {} : { parent: key }),
    ...(resource === null ? {} : { parentResource: resource }),
  };
}

/**
 * A timestamp is no part of an authority's hash, so where columns and texts differ in one neither is known to be right.
 * It is set anew, as after a change: consumers then read the record again.
 */
function withSureStamps(
  { fields }: ResourceLayout,
  values: FieldValues,
  told: FieldValues | undefined,
  newStamp: () => string,
): FieldValues {
  const unsure = fields.filter((field) => isStamp(field) && values[field.name] !== told?.[field.name]);
  if (told === undefined || unsure.length === 0) return values;
  const stamp = newStamp();
  return { ...values, ...Object.fromEntries(unsure.map(({ name }) => [name, stamp])) };
}

/** What two of three witnesses say, with the hash that goes with it. */
function contentOf<T>(
  model: StoreModel,
  layout: ResourceLayout,
  raw: RawRow<T>,
  { values, broken }: { readonly values: FieldValues; readonly broken: readonly string[] },
): { readonly values: FieldValues; readonly hash: string } {
  const stored = String(raw._hash);
  const isReadable = broken.length === 0;
  const hash = hashOf(model, layout, values, raw);
  if (isReadable && (hash === undefined || hash === stored)) return { values, hash: stored };
  const told = valuesInTexts(layout, raw, values);
  const toldHash = told === undefined ? undefined : hashOf(model, layout, told, raw);
  if (told !== undefined && toldHash === stored) return { values: told, hash: stored };
  if (isReadable && hash !== undefined && hash === toldHash) return { values, hash };
  return { values, hash: NO_HASH };
}

/** The number of a row, in whichever of its tables it is one that a writer gives. */
const idOf = <T>({ _id, text__id }: RawRow<T>): number =>
  [_id, text__id].map(Number).find((id) => Number.isSafeInteger(id)) ?? 0;

const textOf = (raw: unknown): string | null => (typeof raw === 'string' ? raw : null);

/** What a rewrite of any number of rows came to. */
export interface Rewritten {
  readonly model: StoreModel;
  /** Keys of records that have to come from their source again. */
  readonly unsure: readonly string[];
}

/** Writes any number of rows anew, in transactions of bounded size. */
export async function rewriteInBatches(
  writer: BatchWriter,
  current: StoreModel,
  resource: string,
  keys: readonly string[],
): Promise<Rewritten> {
  let model = current;
  const unsure: string[] = [];
  const waiting: (readonly string[])[] = [];
  for (let at = 0; at < keys.length; at += AT_ONCE) waiting.push(keys.slice(at, at + AT_ONCE));
  for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
    const some = batch;
    const work = (transaction: WriteTransaction) => transaction.rewrite(resource, some);
    const attempt = await writer.attempt(model, work, null, { ahead: 0, longest: WRITE_LIMITS.usual });
    switch (attempt.kind) {
      case 'done':
        unsure.push(...attempt.result);
        break;
      case 'outdated':
        model = await writer.readModel();
        waiting.unshift(batch);
        break;
      case 'too-long': {
        if (batch.length < 2)
          throw platError('failed', { reason: `To write ${batch[0]} anew takes too long.` });
        const middle = Math.ceil(batch.length / 2);
        waiting.unshift(batch.slice(0, middle), batch.slice(middle));
        break;
      }
    }
  }
  return { model, unsure };
}
