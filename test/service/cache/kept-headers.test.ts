/** Kept responses contain nothing of an individual request or client: all headers and bytes, for random combinations of headers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { startService } from '../../../src/service/service.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeRandom } from '../../oracle/random.ts';
import { listing, member, photo } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { encoded, startTestService } from '../../support/service.ts';

const SEED = 11;
const ASKED = process.env.PLAT_FULL === '1' ? 3000 : 300;
const ANY_PORT = { api: 0, replication: 0, floorplans: 0, admin: 0 };
const MUCH = { requests: 1_000_000, seconds: 300 };
const options = { trustProxy: true, limits: { ...SERVICE_DEFAULTS.limits, api: MUCH, replication: MUCH } };

const PATHS = [
  "/Reso/OData/Property('L1')",
  "/Reso/OData/Property('L1')?$format=application/json;odata.metadata=full",
  "/Reso/OData/Member('A1')",
  '/Reso/OData/Property?$select=ListingKey&$top=2',
  '/Reso/OData/Property?$select=ListingKey&$top=2&$skiptoken=L2',
  "/Reso/OData/Property('L1')?$expand=Media,ListAgent",
  '/Reso/OData/Property?$orderby=ListPrice desc&$top=2',
  '/v1/listings/L1',
  '/v1/listings?_select=ListingKey&_limit=2',
];

/** The values of a header that a client may send; an empty one is not sent. */
const WISHES: Readonly<Record<string, readonly string[]>> = {
  accept: ['', '*/*', 'application/json;odata.metadata=none', 'application/json', 'application/xml'],
  'accept-encoding': ['', 'gzip', 'br, gzip;q=0.5', 'identity'],
  prefer: ['', 'omit-values=nulls', 'odata.maxpagesize=1', 'odata.include-annotations="*"', 'respond-async'],
  'odata-version': ['', '4.01'],
  'odata-maxversion': ['4.0', '4.0', '4.01'],
  origin: ['', 'https://one.example', 'https://two.example'],
  'x-request-id': ['', 'mine', 'yours'],
  'x-forwarded-host': ['feed.example', 'other.example'],
  'if-none-match': ['', '', '*', 'W/"other"', 'its own'],
};

function unpacked(bytes: Buffer, encoding: string | undefined): Buffer {
  if (bytes.length === 0) return bytes;
  switch (encoding) {
    case undefined:
      return bytes;
    case 'br':
      return brotliDecompressSync(bytes);
    default:
      return gunzipSync(bytes);
  }
}

/** Headers that differ between two responses to the same request. */
const OWN = new Set(['server-timing', 'ratelimit', 'connection', 'keep-alive']);

test(`a kept response has the headers and bytes that the request would get without caches (seed ${SEED})`, async (t) => {
  let reads = 0;
  const counted = (store: Store): Store =>
    Object.assign(Object.create(store), {
      record: (...given: Parameters<Store['record']>) => {
        reads++;
        return store.record(...given);
      },
      page: (...given: Parameters<Store['page']>) => {
        reads++;
        return store.page(...given);
      },
    });
  const keeping = await startTestService(t, {
    clock: testClock('2026-05-30T12:00:00Z'),
    service: (store) => ({ ...options, store: counted(store) }),
  });
  await keeping.write('Member', member('A1'));
  await keeping.write(
    'Property',
    ...['L1', 'L2', 'L3'].map((key) => listing(key, { ListAgentKey: 'A1', Media: [photo(`M${key}`)] })),
  );
  const other = await keeping.again();
  const blind: Store = Object.assign(Object.create(other), {
    look: async (token: string) => ({ ...(await other.look(token)), commit: undefined }),
    assume: undefined,
  });
  const plain = await startService(
    { ...SERVICE_DEFAULTS, ...options, store: blind, clock: keeping.clock, log: pino({ level: 'silent' }) },
    { host: '127.0.0.1', adminHost: '127.0.0.1', ports: ANY_PORT },
  );
  t.after(() => plain.close());
  const random = makeRandom(SEED);
  const keys = await Promise.all(
    ['private', 'private', 'idx', 'vow'].map((role) => keeping.key('replication', { role })),
  );
  const apiKeys = await Promise.all(['private', 'idx'].map((role) => keeping.key('api', { role })));
  const tags = new Map<string, string>();
  let kept = 0;
  for (let time = 0; time < ASKED; time++) {
    const surface = random.pick(['api', 'replication'] as const);
    const token = random.pick(surface === 'api' ? apiKeys : keys);
    const path = random.pick(PATHS);
    const method = random.pick(['GET', 'GET', 'HEAD'] as const);
    // Both services build their links from the same host.
    const headers: Record<string, string> = { 'x-forwarded-host': 'feed.example' };
    // Few headers at a time, so that requests repeat.
    for (const [name, values] of Object.entries(WISHES)) {
      const value = random.chance(0.25) ? random.pick(values) : '';
      const own = `${surface} ${token} ${path}`;
      if (value !== '') headers[name] = value === 'its own' ? (tags.get(own) ?? 'W/"none"') : value;
    }
    const asked = { token, headers, method };
    const before = reads;
    const given = await keeping.get(surface, path, asked);
    if (reads === before && given.status === 200) kept++;
    const made = await keeping.get(surface, plain.addresses[surface] + encoded(path), asked);
    const shown = ({ status, headers: all, bytes }: typeof given) => {
      const { 'content-encoding': encoding } = all;
      // The same content may be compressed in different pieces.
      const isOwn = (name: string): boolean =>
        OWN.has(name) || (name === 'content-length' && encoding !== undefined);
      const names = Object.entries(all).filter(([name]) => !isOwn(name));
      const id = headers['x-request-id'];
      if (id !== undefined) assert.equal(all['x-request-id'], id);
      return {
        status,
        headers: { ...Object.fromEntries(names), 'x-request-id': id },
        body: unpacked(bytes, encoding).toString(),
      };
    };
    assert.deepEqual(shown(given), shown(made), `${method} ${surface} ${path} ${JSON.stringify(headers)}`);
    if (typeof given.headers.etag === 'string') tags.set(`${surface} ${token} ${path}`, given.headers.etag);
  }
  assert.ok(kept > ASKED / 10, `${kept} of ${ASKED} responses were kept ones`);
});
