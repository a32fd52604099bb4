/**
 * RESO's own replicator (reso-certification-utils, `replicate`) with its four strategies, as of commit c2c15bd. By timestamp it
 * orders every request, begins ascending at 1970 with `ge` or descending at its own clock with `lt`, uses the largest or smallest
 * timestamp of each page, truncated to milliseconds, as the bound of the next, sends no request twice, and ends with an empty
 * page. A page with a single timestamp ends the ascending strategy with an error. The replicator must get every record of a
 * market that was imported into an empty store.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS, marketRecords } from 'plat-demo';
import { listing, photo } from '../support/builders.ts';
import { SECOND } from '../support/clock.ts';
import { startTestService } from '../support/service.ts';
import type { Json, World } from '../support/world.ts';

const FULL = process.env.PLAT_FULL === '1';
/** Records per write, as in an import. */
const BATCH = FULL ? 1000 : 250;
const LISTINGS = FULL ? 10_000 : 1000;
const PHOTOS = 3;
const PAGES = [100, 500, 1000];
const KEYS: Readonly<Record<string, string>> = { Property: 'ListingKey', Media: 'MediaKey' };

type Strategy = 'TopAndSkip' | 'TimestampAsc' | 'TimestampDesc' | 'NextLink';
const STRATEGIES: readonly Strategy[] = ['TopAndSkip', 'TimestampAsc', 'TimestampDesc', 'NextLink'];

/** Listings with photos, or those of the demo market with some of theirs. */
function* listings(): Iterable<Json> {
  if (!FULL) {
    for (let number = 0; number < LISTINGS; number++) {
      const Media = Array.from({ length: PHOTOS }, (_, at) => photo(`${number}-${at}`));
      yield listing(String(number), { ListPrice: number, Media });
    }
    return;
  }
  for (const { resource, record } of marketRecords({ seed: 4, listings: LISTINGS })) {
    // Only a few fields, to keep pages small, and four media.
    const { ListingKey, ListPrice, Media } = record;
    const few = Array.isArray(Media) ? Media.slice(0, 4) : [];
    if (resource === 'Property') yield listing(String(ListingKey), { ListPrice, Media: few });
  }
}

async function importAll({ write }: World): Promise<void> {
  let batch: Json[] = [];
  for (const record of listings()) {
    batch.push(record);
    if (batch.length < BATCH) continue;
    await write('Property', ...batch);
    batch = [];
  }
  if (batch.length > 0) await write('Property', ...batch);
}

/** The state of the replicator between two requests. */
interface State {
  readonly url: string;
  readonly fetched: number;
  readonly bound: string | undefined;
  readonly next: string | undefined;
}

/** The next request. The first descending one begins at the replicator's clock. */
function requestOf(strategy: Strategy, root: string, size: number, { bound, fetched, next }: State): string {
  switch (strategy) {
    case 'TopAndSkip':
      return `${root}?$top=${size}&$skip=${fetched}`;
    case 'TimestampAsc':
      return `${root}?$top=${size}&$filter=ModificationTimestamp ge ${bound ?? new Date(0).toISOString()}&$orderby=ModificationTimestamp asc`;
    case 'TimestampDesc':
      return `${root}?$top=${size}&$filter=ModificationTimestamp lt ${bound ?? started}&$orderby=ModificationTimestamp desc`;
    case 'NextLink':
      return next ?? root;
  }
}

/** The bound of the next request, or `ends`: a page with a single timestamp ends the ascending walk. */
function boundAfter(strategy: Strategy, rows: readonly Json[], bound: string | undefined): string | 'ends' {
  const moments = rows.map(({ ModificationTimestamp }) => Date.parse(String(ModificationTimestamp)));
  const isAscending = strategy === 'TimestampAsc';
  const edge = moments.reduce((one, other) => (isAscending ? Math.max(one, other) : Math.min(one, other)));
  const text = new Date(edge).toISOString();
  if (text !== bound) return text;
  return isAscending ? 'ends' : new Date(edge - 1).toISOString();
}

/** Runs the replicator. @returns the keys that it gets, and the number of its requests */
async function replicate(
  surface: 'api' | 'replication',
  token: string,
  { resource, strategy, size }: { resource: string; strategy: Strategy; size: number },
): Promise<{ keys: ReadonlySet<string>; requests: number }> {
  const keys = new Set<string>();
  const root = `/Reso/OData/${resource}`;
  const headers: Record<string, string> =
    strategy === 'NextLink' ? { Prefer: `odata.maxpagesize=${size}` } : {};
  let state: State = { url: '', fetched: 0, bound: undefined, next: undefined };
  for (let requests = 1; ; requests++) {
    const url = requestOf(strategy, root, size, state);
    if (url === state.url) return { keys, requests };
    const answer = await service.get(surface, url, { token, headers });
    assert.equal(answer.status, 200, answer.text.slice(0, 300));
    const { value, '@odata.nextLink': link } = answer.json;
    assert.ok(Array.isArray(value));
    const rows: Json[] = value;
    if (rows.length === 0) return { keys, requests };
    const isByTime = strategy === 'TimestampAsc' || strategy === 'TimestampDesc';
    const bound = isByTime ? boundAfter(strategy, rows, state.bound) : undefined;
    // The replicator discards the page that ends it.
    if (bound === 'ends') return { keys, requests };
    for (const row of rows) keys.add(String(row[KEYS[resource] ?? '']));
    const next = typeof link === 'string' ? link : undefined;
    if (strategy === 'NextLink' && next === undefined) return { keys, requests };
    state = { url, fetched: state.fetched + rows.length, bound, next };
  }
}

const service = await startTestService(
  { after },
  { fill: importAll, settings: { declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS } } },
);
service.clock.advance(SECOND);
const started = new Date(service.clock.now()).toISOString();

test('imported records have distinct timestamps in milliseconds, none a whole second or in the future', async () => {
  for (const resource of Object.keys(KEYS)) {
    const rows = await service.exported(resource);
    const moments = rows.map(({ ModificationTimestamp }) => String(ModificationTimestamp));
    assert.ok(moments.length >= LISTINGS, `${moments.length}`);
    assert.equal(new Set(moments).size, moments.length);
    for (const moment of moments) assert.match(moment, /\.(?!000)\d{3}Z$/);
    assert.ok(moments.every((moment) => Date.parse(moment) <= service.clock.now()));
  }
});

for (const resource of Object.keys(KEYS)) {
  for (const strategy of STRATEGIES) {
    test(`RESO's replicator gets every ${resource} record by ${strategy}, with pages of ${PAGES.join(', ')}`, async () => {
      const exported = await service.exported(resource);
      const expected = new Set(exported.map((record) => String(record[KEYS[resource] ?? ''])));
      for (const surface of ['replication', 'api'] as const) {
        const token = await service.key(surface, { role: 'private' });
        for (const size of surface === 'api' ? [1000] : PAGES) {
          const { keys } = await replicate(surface, token, { resource, strategy, size });
          assert.equal(keys.size, expected.size, `${surface}, ${size}: ${keys.size} of ${expected.size}`);
          assert.deepEqual(keys.symmetricDifference(expected), new Set());
        }
      }
    });
  }
}
