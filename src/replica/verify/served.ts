/**
 * Reads the copy as a client of a service over it does: pages, and records by their key, as ready texts. It knows nothing
 * of the source.
 */
import { makeView, type View } from '../../access/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { FileSigning, RecordQuery, ResoShape } from '../../compile/read.ts';
import { timestampFrom } from '../../dictionary/index.ts';
import { bindOptions, parseQueryOptions } from '../../query/odata/query.ts';
import { isObject, type JsonObject, tryParseJson } from '../../shared/json.ts';
import type { Store } from '../../store/store.ts';

/** A view of a store for verification: every record that any role sees, complete. It is not a role, and no request has it. */
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
  /** Its text is not JSON, or it differs when it is read by its key instead of in a page. */
  | { readonly kind: 'broken'; readonly why: string };

/** Time limit for a read of the copy in milliseconds, which delays nothing else. */
export const READ_LIMIT = { milliseconds: 600_000 };
/** URLs of served files are not requested. */
const FILES: FileSigning = { base: '', role: 'verify', expires: 0 };

/**
 * Records by their keys, with some of their collections. What no role sees is not among them.
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
    // One text that is not valid JSON makes the page invalid: each is read separately.
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
