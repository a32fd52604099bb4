/**
 * Reads the copy in the same way as a service does for its clients: pages, and records by key, as ready texts. This module knows
 * nothing about the source.
 */
import { makeView, type View } from '../../access/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { FileSigning, RecordQuery, ResoShape } from '../../compile/read.ts';
import { timestampFrom } from '../../dictionary/index.ts';
import { bindOptions, parseQueryOptions } from '../../query/odata/query.ts';
import { isObject, type JsonObject, tryParseJson } from '../../shared/json.ts';
import type { Store } from '../../store/store.ts';

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
export type Served =
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
export async function servedRecords(
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
  const shape: ResoShape = {
    kind: 'reso',
    selection: asked.selection,
    computed: [],
    expansions: asked.expansions,
    omitNulls: true,
    annotateHidden: false,
    root: '/',
  };
  const query: RecordQuery = { view, resource: model.resource(resource), order: [], now: timestampFrom(now) };
  const { filter } = asked;
  const page = await store.page(
    {
      query: { ...query, ...(filter === undefined ? {} : { filter }) },
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
    found.set(key, isSame ? { kind: 'record', json } : { kind: 'broken', why: 'by its key it is another' });
  }
  return found;
}
