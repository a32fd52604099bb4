/** A store with helpers to write to it and to read from it, for tests. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { StoreModel } from '../../src/compile/model.ts';
import type {
  FileSigning,
  NativeListingShape,
  Page,
  PageRequest,
  Position,
  RecordQuery,
  ResoShape,
} from '../../src/compile/read.ts';
import type { NativeExpansion, SelectedMembers } from '../../src/query/native/selection.ts';
import { bindOptions, parseFilter, parseQueryOptions } from '../../src/query/odata/query.ts';
import { type CollectionQuery, SELECT_ALL } from '../../src/query/request.ts';
import { makeSchema } from '../../src/query/schema.ts';
import { parseRecord } from '../../src/records/parse-record.ts';
import type { ParsedRecord } from '../../src/records/parsed-record.ts';
import { DEFAULT_SETTINGS, type StoreSettings } from '../../src/records/settings.ts';
import type { Store } from '../../src/store/store.ts';
import type { Machine } from '../../src/store/time/store-clock.ts';
import type { WriteReport } from '../../src/store/write/report.ts';
import type { WriteLimits } from '../../src/store/write/time-limits.ts';
import { type TestClock, testClock } from './clock.ts';
import type { Engine, OpenedStore, Scope } from './engine.ts';
import { PRIVATE, type Viewer, viewOf } from './views.ts';

export type Json = Readonly<Record<string, unknown>>;

export const TIME = { milliseconds: 30_000 };
export const FILES: FileSigning = { base: 'https://feed.example', role: 'idx', expires: 1_800_000_000 };
export const ROOT = 'https://feed.example/Reso/OData/';

/** How a page is requested, besides the OData options. */
export interface WorldRequest extends Pick<ResoShape, 'control'> {
  readonly viewer?: Viewer;
  readonly position?: Position;
  /** Absent: all rows. */
  readonly limit?: number;
  readonly omitNulls?: boolean;
  readonly annotateHidden?: boolean;
  readonly under?: RecordQuery['under'];
}

export interface World extends OpenedStore {
  readonly clock: TestClock;
  /** Stores records; a test that expects an invalid one uses `parse`. */
  write(resource: string, ...records: readonly Json[]): Promise<WriteReport>;
  parse(resource: string, record: Json): Promise<ParsedRecord>;
  /** The reasons for which a record is rejected. */
  reasons(resource: string, record: Json): Promise<readonly string[]>;
  /** The request for a page of a collection. @param options an OData query string, such as `$top=5` */
  request(resource: string, options?: string, wanted?: WorldRequest): Promise<PageRequest>;
  page(resource: string, options?: string, wanted?: WorldRequest): Promise<ReadPage>;
  /** All records that a viewer sees, in the requested order. */
  rows(resource: string, options?: string, wanted?: WorldRequest): Promise<Json[]>;
  /** The keys of these records. */
  keys(resource: string, options?: string, wanted?: WorldRequest): Promise<string[]>;
  count(resource: string, options?: string, viewer?: Viewer): Promise<number>;
  record(resource: string, key: string, options?: string, wanted?: WorldRequest): Promise<Json | undefined>;
  listing(key: string, wanted?: NativeOptions): Promise<Json | undefined>;
  exported(resource: string): Promise<Json[]>;
}

export interface NativeOptions {
  readonly viewer?: Viewer;
  readonly expansions?: readonly NativeExpansion[];
  readonly members?: SelectedMembers;
  /** Names of fields in the native interface. */
  readonly select?: readonly string[] | undefined;
}

export interface ReadPage extends Omit<Page, 'body' | 'rest' | 'release'> {
  readonly records: Json[];
}

export interface WorldOptions {
  readonly settings?: Partial<StoreSettings>;
  readonly clock?: TestClock;
  readonly limits?: WriteLimits;
  readonly machine?: Machine;
}

export async function makeWorld(engine: Engine, scope: Scope, options: WorldOptions = {}): Promise<World> {
  const clock = options.clock ?? testClock();
  const settings = { ...DEFAULT_SETTINGS, ...options.settings };
  const opened = await engine.open(scope, {
    settings,
    clock,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.machine === undefined ? {} : { machine: options.machine }),
  });
  return { ...opened, clock, ...operations(opened.store, clock) };
}

/**
 * A world for the tests of a suite that only read, called in the suite: the first of them creates and fills it, and it is removed
 * after the last test of the suite.
 */
export function sharedWorld(
  engine: Engine,
  fill: (world: World) => Promise<void>,
  options: WorldOptions = {},
): () => Promise<World> {
  const endings: (() => Promise<void> | void)[] = [];
  after(async () => {
    for (const end of endings) await end();
  });
  const make = async (): Promise<World> => {
    const world = await makeWorld(engine, { after: (end) => void endings.push(end) }, options);
    await fill(world);
    return world;
  };
  let made: Promise<World> | undefined;
  return () => (made ??= make());
}

/** The same helpers for another store, such as a second one on the same data. */
export function operations(
  store: Store,
  clock: Pick<TestClock, 'text'>,
): Omit<World, keyof OpenedStore | 'clock'> {
  return {
    async write(resource, ...records) {
      const model = await store.model();
      return store.write(
        resource,
        records.map((record) => parsed(model, resource, record)),
      );
    },
    parse: async (resource, record) => parsed(await store.model(), resource, record),
    async reasons(resource, record) {
      const model = await store.model();
      const result = parseRecord(model.resource(resource), record, model);
      return result.ok ? [] : result.invalid.reasons;
    },
    request,
    page,
    rows: async (...given) => (await page(...given)).records,
    async keys(resource, options = '', wanted = {}) {
      const { key } = (await store.model()).resource(resource);
      const { records } = await page(resource, options, wanted);
      return records.map((record) => String(record[key]));
    },
    async count(resource, options = '', viewer = PRIVATE) {
      const { query } = await request(resource, options, { viewer });
      return store.count(query, TIME);
    },
    async record(resource, key, options = '', wanted = {}) {
      const { query, shape, files } = await request(resource, options, wanted);
      const body = await store.record({ query, key, shape, files }, TIME);
      return body === undefined ? undefined : objectOf(decode(body));
    },
    async listing(key, wanted = {}) {
      const { query, files } = await request('Property', '', { viewer: wanted.viewer ?? PRIVATE });
      const shape = nativeShape(query, wanted);
      const body = await store.record({ query, key, shape, files }, TIME);
      return body === undefined ? undefined : objectOf(decode(body));
    },
    async exported(resource) {
      const lines: Json[] = [];
      for await (const line of store.export(resource)) lines.push(objectOf(line));
      return lines;
    },
  };

  async function request(resource: string, options = '', wanted: WorldRequest = {}): Promise<PageRequest> {
    const model = await store.model();
    const view = viewOf(model, wanted.viewer ?? PRIVATE);
    const asked = bindOptions(
      'collection',
      parseQueryOptions(options),
      view.schema.of(resource),
      view.schema,
    );
    const query: RecordQuery = {
      view,
      resource: model.resource(resource),
      ...(asked.filter === undefined ? {} : { filter: asked.filter }),
      ...(wanted.under === undefined ? {} : { under: wanted.under }),
      order: asked.order,
      now: clock.text(),
    };
    const position =
      wanted.position ??
      (asked.skip === undefined ? { kind: 'start' } : { kind: 'offset', skip: asked.skip });
    const limit = wanted.limit ?? asked.top ?? 100_000;
    return { query, position, limit, shape: resoShape(asked, wanted), files: FILES };
  }

  async function page(resource: string, options = '', wanted: WorldRequest = {}): Promise<ReadPage> {
    return readPage(await store.page(await request(resource, options, wanted), TIME));
  }
}

function parsed(model: StoreModel, resource: string, json: Json): ParsedRecord {
  const result = parseRecord(model.resource(resource), json, model);
  assert.ok(result.ok, result.ok ? '' : result.invalid.reasons.join('; '));
  return result.record;
}

export function resoShape(asked: CollectionQuery, wanted: WorldRequest = {}): ResoShape {
  return {
    kind: 'reso',
    selection: asked.selection,
    computed: asked.computed,
    expansions: asked.expansions,
    omitNulls: wanted.omitNulls ?? false,
    annotateHidden: wanted.annotateHidden ?? false,
    control: wanted.control,
    root: ROOT,
  };
}

export function nativeShape(
  { view, resource }: Pick<RecordQuery, 'view' | 'resource'>,
  { select, expansions = [], members = {} }: NativeOptions,
): NativeListingShape {
  const schema = view.schema.of(resource);
  const found = (select ?? []).map((name) => schema.findNativeField(name));
  const selection = {
    all: false,
    fields: found.flatMap((each) => (each.kind === 'visible' ? [each.field] : [])),
    hidden: found.flatMap((each) => (each.kind === 'hidden' ? [each.field] : [])),
  };
  const kind = 'native-listing';
  return { kind, display: 'Detail', selection: select ? selection : SELECT_ALL, expansions, members };
}

/** The parsed records of a page. Every test that reads thereby verifies that they are strict JSON. */
export function readPage({ body, release, ...page }: Page): ReadPage {
  const records: unknown = JSON.parse(`[${decode(Buffer.from(body))}]`);
  release?.();
  assert.ok(Array.isArray(records));
  const objects = records.map((record: unknown) => {
    assert.ok(isJson(record));
    return record;
  });
  assert.equal(objects.length, page.rows);
  return { ...page, records: objects };
}

const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function objectOf(text: string): Json {
  const value: unknown = JSON.parse(text);
  assert.ok(isJson(value));
  return value;
}

/** Some members of a record. */
export const pick = (record: Json | undefined, ...names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, record?.[name]]));

/** A row filter over the whole dictionary of a store. */
export async function filterOf(store: Store, resource: string, text: string) {
  const schema = makeSchema((await store.model()).dictionary);
  return parseFilter(text, schema.of(resource), schema);
}
