/** Compares records of the source with what a reader of the copy gets. It does not query the source. */

import { makeView, type View } from '../../access/index.ts';
import { isStored, type StoreModel } from '../../compile/model.ts';
import { type FileSigning, plainShape, type RecordQuery } from '../../compile/read.ts';
import { servedFile } from '../../compile/text/members.ts';
import { type FieldValues, REPLICA_TIMESTAMP, timestampFrom } from '../../dictionary/index.ts';
import { bindOptions, parseQueryOptions } from '../../query/odata/query.ts';
import { isDerived } from '../../records/content-hash.ts';
import { isAbsent, type ParsedRecord } from '../../records/parsed-record.ts';
import { returnsOwnTimestamps } from '../../records/settings.ts';
import { chunked } from '../../shared/chunked.ts';
import { isObject, type JsonObject, tryParseJson } from '../../shared/json.ts';
import type { Store } from '../../store/store.ts';
import type { Copy } from '../copy/copy.ts';
import { subjectOf } from '../copy/quarantine-entry.ts';

/** The number of records that are read from the copy at once, with their keys in one filter. */
const AT_ONCE = 50;

/** The result of comparing a record. */
export interface Compared {
  readonly record: ParsedRecord;
  /**
   * The fields, including those of its collections, in which the record differs from what a reader of the copy gets. A field of a
   * member of a collection is named `Media(key).Field`. Undefined if nothing is stored under the key.
   */
  readonly fields: readonly string[] | undefined;
  /** The number of members of its collections in the copy, by resource. */
  readonly members: ReadonlyMap<string, number>;
}

/**
 * Compares records with the copy. Fields of agents and offices in listings are compared with the records of Member and Office
 * instead.
 */
export async function compareRecords(copy: Copy, records: readonly ParsedRecord[]): Promise<Compared[]> {
  const compared: Compared[] = [];
  const groups = Map.groupBy(records, ({ resource, children }) =>
    JSON.stringify([resource.name, [...children.keys()].toSorted()]),
  );
  for (const group of groups.values()) {
    for (const some of chunked(group, AT_ONCE)) compared.push(...(await compareGroup(copy, some)));
  }
  return compared;
}

/** @param records of one resource, with the same collections */
async function compareGroup(
  { name, store, feed, environment }: Copy,
  records: readonly ParsedRecord[],
): Promise<Compared[]> {
  const [first] = records;
  if (first === undefined) return [];
  const { resource, children } = first;
  const keys = records.map(({ key }) => key);
  const served = await servedRecords(
    store,
    resource.name,
    keys,
    [...children.keys()],
    environment.clock.now(),
  );
  const elsewhere = new Set(await store.checkpoints.missing(name, resource.name, keys));
  const model = await store.model();
  const base = await feed.servedAt();
  const compared: Compared[] = [];
  for (const record of records) {
    const found = served.get(record.key) ?? (await readUnserved(store, record));
    const isLost = found !== undefined && elsewhere.has(record.key);
    const { fields: own, members, missing } = differences(model, record, found, base);
    const fields =
      own === undefined
        ? undefined
        : await Promise.all(
            own.map((field) => describeMissing(store, model, field, missing.get(field), record.key)),
          );
    compared.push({ record, fields: isLost ? [...(fields ?? []), 'its source'] : fields, members });
  }
  return compared;
}

/** A member of a collection that the copy lacks. */
interface Missing {
  readonly target: string;
  readonly key: string;
}

/**
 * Describes a missing member. A record has one parent, so a member that the source has under two parents is stored under one of
 * them.
 */
async function describeMissing(
  store: Store,
  model: StoreModel,
  field: string,
  missing: Missing | undefined,
  holder: string,
): Promise<string> {
  if (missing === undefined) return field;
  const { target, key } = missing;
  const [stored] = await store.contents(target, { key });
  const payload = JSON.stringify(stored ?? null);
  const { resource, key: parent } = subjectOf(model.dictionary, { resource: target, key, payload });
  return parent === undefined || parent === holder
    ? field
    : `${field}: it is stored under ${resource} ${parent}`;
}

/** Reads a record that no role sees from its columns. */
async function readUnserved(
  store: Store,
  { resource, key, children }: ParsedRecord,
): Promise<Served | undefined> {
  const [stored] = await store.contents(resource.name, { key });
  if (stored === undefined) return undefined;
  const json: Record<string, unknown> = { ...stored };
  for (const name of children.keys()) {
    const target = resource.navigations.get(name)?.target;
    const under = { parent: key, parentResource: resource.name };
    if (target !== undefined) json[name] = await store.contents(target, under);
  }
  return { kind: 'record', json };
}

function differences(
  model: StoreModel,
  record: ParsedRecord,
  found: Served | undefined,
  base: string,
): Pick<Compared, 'fields' | 'members'> & { readonly missing: ReadonlyMap<string, Missing> } {
  const members = new Map<string, number>();
  const missing = new Map<string, Missing>();
  if (found === undefined) return { fields: undefined, members, missing };
  if (found.kind === 'broken') return { fields: [found.why], members, missing };
  const fields = differingMembers(model, record, found.json, base);
  for (const [name, given] of record.children) {
    const target = record.resource.navigations.get(name)?.target;
    if (target === undefined) continue;
    const { key } = model.resource(target);
    const list = (Array.isArray(found.json[name]) ? found.json[name] : []).filter(isObject);
    const stored = new Map(list.map((json) => [String(json[key]), json]));
    members.set(target, (members.get(target) ?? 0) + list.length);
    for (const [given, group] of Map.groupBy(list, (json) => String(json[key]))) {
      if (group.length > 1) fields.push(`${name}(${given}) occurs ${group.length} times`);
    }
    for (const member of given) {
      const json = stored.get(member.key);
      stored.delete(member.key);
      if (json === undefined) {
        const field = `${name}(${member.key}) is missing`;
        fields.push(field);
        missing.set(field, { target, key: member.key });
      } else {
        fields.push(
          ...differingMembers(model, member, json, base).map((field) => `${name}(${member.key}).${field}`),
        );
      }
    }
    for (const extra of stored.keys()) fields.push(`${name}(${extra}) is not at the source`);
  }
  return { fields, members, missing };
}

/** The names of the fields whose values differ. */
function differingMembers(
  { settings }: StoreModel,
  { resource, values }: ParsedRecord,
  json: Readonly<Record<string, unknown>>,
  base: string,
): string[] {
  const ownStamp = returnsOwnTimestamps(settings) ? 'ModificationTimestamp' : REPLICA_TIMESTAMP;
  const names = new Set([...Object.keys(values), ...Object.keys(json)]);
  return [...names].filter((name) => {
    const field = resource.fields.get(name);
    if (field === undefined) return !name.includes('@') && !resource.navigations.has(name);
    if (name === ownStamp || !isStored(field, settings)) return false;
    // The replica adds the fields of a listing's originating system that a source does not return.
    if (isDerived(name) && isAbsent(values[name])) return false;
    if (field.resource === 'Media' && name === 'MediaURL') {
      return !isSameAddress(values[name], json[name], base);
    }
    return !isEqual(values, json, name);
  });
}

function isEqual(values: FieldValues, json: Readonly<Record<string, unknown>>, name: string): boolean {
  const [left, right] = [values[name], json[name]];
  if (isAbsent(left))
    return right === undefined || right === null || (Array.isArray(right) && right.length === 0);
  return JSON.stringify(left) === JSON.stringify(right);
}

/**
 * Compares two URLs of files. A plat source signs URLs anew for every request, so the files that they name are compared instead. A
 * URL is known to be served by the source by its base, which may differ from that of the stored URL. Any other URLs have to be
 * equal.
 */
function isSameAddress(given: unknown, stored: unknown, base: string): boolean {
  const [one, other] = [signedFile(given), signedFile(stored)];
  if (one === undefined || other === undefined) return given === stored;
  const isServed = one.base === other.base || other.base === '' || one.base === base;
  return isServed && one.file === other.file;
}

const SIGNED = /^([^?#]*?)\/media\/[^/?#]+\.\d+\.[0-9a-f]{32}(\/.*)$/s;

/** The path of a served file, and the base URL under which it is served; empty: by the copy itself. */
function signedFile(url: unknown): { readonly base: string; readonly file: string } | undefined {
  if (typeof url !== 'string') return undefined;
  const [, base, file] = SIGNED.exec(url) ?? [];
  if (base !== undefined && file !== undefined) return { base, file };
  const own = servedFile(url);
  return own === undefined ? undefined : { base: '', file: `/${encodeURI(own)}` };
}

/**
 * A view of a store for verification, which sees every record that any role sees, with all fields. It is not a role, and no request
 * uses it.
 */
export function verificationView({ dictionary, inUse, stores }: StoreModel): View {
  const role = {
    name: 'verify',
    bit: -1,
    seesWithheld: true,
    seesField: () => true,
    readsResource: () => true,
  };
  const scope = { bit: role.bit, withholds: false, onlyFloorPlans: false };
  return makeView({ dictionary, role, scope, inUse, holdsData: stores });
}

/** What a reader gets of a record. */
type Served =
  | { readonly kind: 'record'; readonly json: JsonObject }
  /** The text of the record is not JSON, or it differs when it is read by key instead of in a page. */
  | { readonly kind: 'broken'; readonly why: string };

/** The time limit of a read of the copy in milliseconds. It is long, because such a read delays nothing else. */
export const READ_LIMIT = { milliseconds: 600_000 };
/** URLs of served files are not requested. */
const FILES: FileSigning = { base: '', role: 'verify', expires: 0 };

/**
 * Reads records by their keys, with the given collections. Records that no role sees are omitted.
 * @param now milliseconds since 1970
 */
async function servedRecords(
  store: Store,
  resource: string,
  keys: readonly string[],
  collections: readonly string[],
  now: number,
): Promise<Map<string, Served>> {
  const found = new Map<string, Served>();
  if (keys.length === 0) return found;
  const model = await store.model();
  const view = verificationView(model);
  const { key: keyField } = model.resource(resource);
  const list = keys.map((key) => `'${key.replaceAll("'", "''")}'`).join(',');
  const options = [
    `$filter=${encodeURIComponent(`${keyField} in (${list})`)}`,
    ...(collections.length === 0 ? [] : [`$expand=${collections.join(',')}`]),
  ];
  const asked = bindOptions(
    'collection',
    parseQueryOptions(options.join('&')),
    view.schema.of(resource),
    view.schema,
  );
  const { filter, selection, expansions } = asked;
  const shape = { ...plainShape([], '/'), selection, expansions, omitNulls: true };
  const query: RecordQuery = { view, resource: model.resource(resource), order: [], now: timestampFrom(now) };
  const page = await store.page(
    {
      query: { ...query, filter },
      position: { kind: 'start' },
      limit: keys.length,
      shape,
      files: FILES,
    },
    READ_LIMIT,
  );
  const text = Buffer.from(page.body).toString();
  page.release?.();
  const records = tryParseJson(`[${text}]`);
  if (!Array.isArray(records)) {
    // A single text that is not valid JSON makes the whole page invalid, so each record is read separately.
    const [only] = keys;
    if (keys.length === 1 && only !== undefined)
      return found.set(only, { kind: 'broken', why: 'its text is not JSON' });
    for (const key of keys) {
      for (const [each, served] of await servedRecords(store, resource, [key], collections, now))
        found.set(each, served);
    }
    return found;
  }
  const single = { ...shape, expansions: [] };
  for (const json of records.filter(isObject)) {
    const key = String(json[keyField]);
    const own = Object.fromEntries(Object.entries(json).filter(([name]) => !collections.includes(name)));
    const byKey = await store.record({ query, key, shape: single, files: FILES }, READ_LIMIT);
    const other = byKey === undefined ? undefined : tryParseJson(Buffer.from(byKey).toString());
    const isSame = JSON.stringify(other) === JSON.stringify(own);
    found.set(
      key,
      isSame ? { kind: 'record', json } : { kind: 'broken', why: 'its text differs when it is read by key' },
    );
  }
  return found;
}
