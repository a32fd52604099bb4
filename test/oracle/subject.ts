/** The subject under test: a store with all records, and its query languages, used as the service uses them. */
import type { View } from '../../src/access/index.ts';
import type { StoreModel } from '../../src/compile/model.ts';
import type { PageRequest, RecordQuery } from '../../src/compile/read.ts';
import type { Resource } from '../../src/dictionary/index.ts';
import { bindFilter } from '../../src/query/native/filter.ts';
import { resourceNames } from '../../src/query/native/names.ts';
import { bindOrder } from '../../src/query/native/request.ts';
import { bindOptions, parseQueryOptions } from '../../src/query/odata/query.ts';
import type { Expression, OrderTerm } from '../../src/query/tree.ts';
import { parseRecord } from '../../src/records/parse-record.ts';
import type { ParsedRecord } from '../../src/records/parsed-record.ts';
import { DEFAULT_SETTINGS } from '../../src/records/settings.ts';
import type { Store } from '../../src/store/store.ts';
import { testClock } from '../support/clock.ts';
import type { Engine, Scope } from '../support/engine.ts';
import { viewOf } from '../support/views.ts';
import { DECLARATIONS, NOW, type Records } from './data/records.ts';
import { differingWalk, readingsOf } from './lists.ts';
import { makeRandom } from './random.ts';
import { timestampText } from './values.ts';
import type { Viewer } from './world.ts';

/** The filter and order of a query, bound. */
export interface Asked {
  readonly filter?: Expression | undefined;
  readonly order: readonly OrderTerm[];
}

export interface Subject {
  bindOData(query: string, resource: string, viewer: Viewer): Asked;
  bindNative(filter: string, order: string, viewer: Viewer): Asked;
  /** The keys that match, in order. */
  keys(asked: Asked, resource: string, viewer: Viewer): Promise<readonly string[]>;
  /** The same, page by page, up to about `most` keys. */
  walk(
    asked: Asked,
    resource: string,
    viewer: Viewer,
    limit: number,
    most: number,
  ): Promise<readonly string[]>;
  /** How walks over the list of the filter differ from `keys`; undefined if they do not. */
  lists(asked: Asked, resource: string, viewer: Viewer, seed: number): Promise<string | undefined>;
}

const PATIENCE = { milliseconds: 20_000 };

/** A replica keeps timestamps and spellings as received, so that both can be tested; agents are joined nevertheless. */
const SETTINGS = { ...DEFAULT_SETTINGS, owner: 'replica', declarations: DECLARATIONS } as const;

/** A store of the engine with all records. */
export async function openSubject(engine: Engine, scope: Scope, records: Records): Promise<Subject> {
  const opened = await engine.open(scope, { settings: SETTINGS, clock: testClock(timestampText(NOW)) });
  const { store } = opened;
  const model = await store.model();
  for (const [name, list] of records.byResource) {
    const resource = model.resource(name);
    const report = await store.write(
      name,
      list.map((json) => parse(resource, json, model)),
    );
    if (report.rejected.length > 0) throw new Error(JSON.stringify(report.rejected[0]));
  }
  return makeSubject(store, await opened.again(), await store.model());
}

function parse(resource: Resource, json: unknown, { dictionary, settings }: StoreModel): ParsedRecord {
  const result = parseRecord(resource, json, { dictionary, settings });
  if (result.ok) return result.record;
  throw new Error(`${result.invalid.key}: ${result.invalid.reasons.join('; ')}`);
}

/** @param other the same store, opened as by another process */
function makeSubject(store: Store, other: Store, model: StoreModel): Subject {
  const readings = readingsOf([store, other]);
  const views = new Map<string, View>();
  const viewFor = ({ role, system }: Viewer): View => {
    const id = `${role} ${system}`;
    const view =
      views.get(id) ?? viewOf(model, { role, ...(system === undefined ? {} : { systems: [system] }) });
    views.set(id, view);
    return view;
  };
  const queryOf = ({ filter, order }: Asked, resource: string, viewer: Viewer): RecordQuery => ({
    view: viewFor(viewer),
    resource: model.resource(resource),
    ...(filter === undefined ? {} : { filter }),
    order,
    now: timestampText(NOW),
  });
  const pageOf = (query: RecordQuery, position: PageRequest['position'], limit: number) =>
    store.page({ query, position, limit, shape: keyOnly(query.resource), files: FILES }, PATIENCE);
  const keysOf = keysByIds(
    store,
    (resource) => queryOf({ order: [] }, resource, { role: 'private' }),
    pageOf,
  );

  const keysFor = async (query: RecordQuery): Promise<readonly string[]> => {
    const ids = await store.ids(query, PATIENCE);
    const known = await keysOf(query.resource.name);
    return [...ids].map((id) => known.get(id) ?? `? ${id}`);
  };

  return {
    bindOData: (query, resource, viewer) => {
      const { schema } = viewFor(viewer);
      return bindOptions('collection', parseQueryOptions(query), schema.of(resource), schema);
    },
    bindNative: (filter, order, viewer) => {
      const { schema } = viewFor(viewer);
      const names = resourceNames('listings', schema.of('Property'), schema);
      return { filter: bindFilter(filter, names, { now: new Date(NOW) }), order: bindOrder(order, names) };
    },
    keys: (asked, resource, viewer) => keysFor(queryOf(asked, resource, viewer)),
    lists: (asked, resource, viewer, seed) => {
      const query = queryOf(asked, resource, viewer);
      return differingWalk({
        readings,
        common: {
          keyId: `K${seed}`,
          query,
          shape: keyOnly(query.resource),
          files: FILES,
          model,
          gzip: false,
        },
        random: makeRandom(seed),
        expected: keysFor,
        keysIn: (body) => keysIn(body, query.resource),
      });
    },
    walk: async (asked, resource, viewer, limit, most) => {
      const query = queryOf(asked, resource, viewer);
      const found: string[] = [];
      let position: PageRequest['position'] = { kind: 'start' };
      for (;;) {
        const page = await pageOf(query, position, limit);
        found.push(...keysIn(page.body, query.resource));
        if (!page.more || page.last === undefined || found.length > most) return found;
        position = { kind: 'after-row', ...page.last };
      }
    },
  };
}

const FILES = { base: 'http://localhost', role: 'private', expires: 0 };

function keyOnly({ fields, key }: Resource): PageRequest['shape'] {
  const field = fields.get(key);
  return {
    kind: 'reso',
    selection: { all: false, fields: field === undefined ? [] : [field], hidden: [] },
    computed: [],
    expansions: [],
    omitNulls: false,
    annotateHidden: false,
    root: 'http://localhost/',
  };
}

function keysIn(body: Uint8Array, { key }: Resource): readonly string[] {
  const rows: unknown = JSON.parse(`[${Buffer.from(body).toString()}]`);
  if (!Array.isArray(rows)) throw new Error('a page is a list');
  return rows.map((row: unknown) => {
    if (typeof row !== 'object' || row === null || !(key in row)) throw new Error(`a row without ${key}`);
    return String(Object.entries(row).find(([name]) => name === key)?.[1]);
  });
}

/** Maps the ids of a store to keys, from one page of all records. */
function keysByIds(
  store: Store,
  all: (resource: string) => RecordQuery,
  pageOf: (query: RecordQuery, position: PageRequest['position'], limit: number) => ReturnType<Store['page']>,
): (resource: string) => Promise<ReadonlyMap<number, string>> {
  const kept = new Map<string, Promise<ReadonlyMap<number, string>>>();
  const read = async (resource: string): Promise<ReadonlyMap<number, string>> => {
    const query = all(resource);
    const ids = await store.ids(query, PATIENCE);
    const { body } = await pageOf(query, { kind: 'start' }, ids.length);
    const keys = keysIn(body, query.resource);
    return new Map([...ids].map((id, index) => [id, keys[index] ?? '']));
  };
  return (resource) => {
    const made = kept.get(resource) ?? read(resource);
    kept.set(resource, made);
    return made;
  };
}
