/** Keys whose record or sub-data the source refuses: only that key goes to the quarantine, and the run continues. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LongNumber } from '../../src/shared/json.ts';
import { listing } from '../support/builders.ts';
import { DAY, testClock } from '../support/clock.ts';
import type { Scope } from '../support/engine.ts';
import { change, keyOf, keysUpTo, listings, take, withPhotos } from './support/feed.ts';
import { json, type Reply, type Seen } from './support/loopback.ts';
import { nativeServer } from './support/native-server.ts';
import { type ODataServer, odataServer, PROBES } from './support/odata-server.ts';
import { makeReplica, type TestReplica } from './support/replica.ts';

interface Scene {
  readonly server: ODataServer;
  readonly replica: TestReplica;
  readonly clock: ReturnType<typeof testClock>;
}

/** Thirty listings whose photos have to be requested listing by listing. */
async function scene(scope: Scope): Promise<Scene> {
  const clock = testClock();
  const server = await odataServer(
    scope,
    clock,
    { Property: listings(30, clock, withPhotos) },
    { paths: true },
  );
  const resources = ['Property'];
  const replica = await makeReplica(scope, { from: server.root, interface: 'reso', clock, resources });
  return { server, replica, clock };
}

/** Refuses the photos of some listings. */
function withoutPhotosOf(server: ODataServer, numbers: readonly number[], reply: Reply): void {
  const paths = new Set(numbers.map((number) => `/odata/Property('${keyOf(number)}')/Media`));
  server.intercept = ({ path }) => (paths.has(path) ? reply : undefined);
}

const no = (status: number) => ({ status, body: 'no', reason: `${status}: no` });
const sets: readonly (readonly [string, readonly number[], Reply & { readonly reason: string }])[] = [
  ['one listing gives 400', [17], no(400)],
  ['one listing gives 403', [17], no(403)],
  ['three neighbours give 500', [17, 18, 19], no(500)],
  ['seven neighbours give 403', [14, 15, 16, 17, 18, 19, 20], no(403)],
  ['the last five give 400', [26, 27, 28, 29, 30], no(400)],
  [
    'one listing gives no list',
    [17],
    { ...json({ value: {} }), reason: 'responded without a list of records' },
  ],
];
for (const [what, numbers, { reason, ...reply }] of sets) {
  test(`sub-data of ${what}: it is quarantined, the rest is copied, and the purge still runs`, async (t) => {
    const { server, replica, clock } = await scene(t);
    withoutPhotosOf(server, numbers, reply);
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(
      (await replica.quarantine()).map(([resource, key, why]) => [
        resource,
        key,
        why.replace(/ http:\S+/, ''),
      ]),
      numbers.map((number) => [
        'Property',
        `${keyOf(number)}/Media`,
        `The source cannot return its sub-resources: ${reason}`,
      ]),
    );
    const whole = keysUpTo(30).filter((_, at) => !numbers.includes(at + 1));
    assert.deepEqual(
      await replica.keys('Media'),
      whole.flatMap((key) => Array.from({ length: (Number(key) - 1000) % 3 }, (_, at) => `${key}-${at}`)),
    );
    take(server.records.get('Property') ?? [], keyOf(1));
    clock.advance(DAY);
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.keys('Property'), keysUpTo(29, 2));
  });
}

test('a key found by the sweep whose record gives 400 is quarantined and does not end the run', async (t) => {
  const { server, replica, clock } = await scene(t);
  await replica.replicate();
  const key = keyOf(31);
  server.records.get('Property')?.push(listing(key, { ModificationTimestamp: '2020-01-01T00:00:00Z' }));
  server.intercept = ({ path }) =>
    path === `/odata/Property('${key}')` ? { status: 400, body: 'odd key' } : undefined;
  clock.advance(DAY);
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.quarantine(), [
    ['Property', key, 'The source cannot return the record: 400: odd key'],
  ]);
});

test('a key that is too long is quarantined and never requested', async (t) => {
  const { server, replica, clock } = await scene(t);
  await replica.replicate();
  const key = 'k'.repeat(5000);
  server.records.get('Property')?.push(listing(key, { ModificationTimestamp: '2020-01-01T00:00:00Z' }));
  clock.advance(DAY);
  const before = server.seen.length;
  assert.equal(await replica.replicate(), 'done');
  const [[resource, name, reason] = [], ...others] = await replica.quarantine();
  assert.deepEqual(
    [resource, reason, others],
    ['Property', 'ListingKey takes at most 255 characters and no control characters', []],
  );
  assert.match(String(name), /^#[\w-]{16}$/);
  assert.equal(
    server.seen.slice(before).some(({ path }) => path.includes(key)),
    false,
  );
});

test('a token that may not read any sub-data ends the run after a few requests and quarantines nothing', async (t) => {
  const { server, replica } = await scene(t);
  let asked = 0;
  server.intercept = ({ path }) => {
    if (!path.endsWith('/Media') || ++asked === 1) return undefined;
    return { status: 403, body: 'not you' };
  };
  await assert.rejects(replica.replicate(), {
    name: 'RequestFailure',
    kind: 'refused',
    message: '403: not you',
  });
  assert.ok(asked <= 5, `${asked} requests`);
  assert.deepEqual(await replica.quarantine(), []);
});

for (const kind of ['reso', 'native'] as const) {
  test(`${kind}: keys and texts that a source gives as numbers keep all digits; a number field rounds only a fraction`, async (t) => {
    const clock = testClock();
    const long = (digits: string): LongNumber => new LongNumber(digits);
    const records = [
      ...listings(1, clock),
      listing(keyOf(2), { ListingId: long('12345678901234567890'), X_Id: long('98765432109876543210') }),
      // Exact in a double, whose shortest text has other digits.
      listing(keyOf(3), { ListingId: long('12345678901234567168'), X_Id: long('1000000000000000000000') }),
      listing(keyOf(4), {
        Latitude: long('39.12345678901234567890'),
        LotSizeSquareFeet: long('0.1000000000000000055'),
      }),
      listing(keyOf(5), { LotSizeSquareFeet: long('1152921504606846976') }),
      { ...listing('', {}), ListingKey: long('20180506000000000000000001') },
      { ...listing('', {}), ListingKey: long('20180506000000000000000002') },
    ];
    const server =
      kind === 'reso'
        ? await odataServer(t, clock, { Property: records })
        : await nativeServer(t, clock, records);
    const resources = ['Property'];
    const replica = await makeReplica(t, { from: server.root, interface: kind, clock, resources });
    assert.equal(await replica.replicate(), 'done');
    const keys = [...keysUpTo(4), '20180506000000000000000001', '20180506000000000000000002'];
    assert.deepEqual(await replica.keys('Property'), keys);
    const stored = async (number: number, ...fields: string[]) => {
      const record = await replica.record('Property', keyOf(number), `$select=${fields}`);
      return fields.map((name) => record?.[name]);
    };
    assert.deepEqual(await stored(2, 'ListingId', 'X_Id'), ['12345678901234567890', '98765432109876543210']);
    assert.deepEqual(await stored(3, 'ListingId', 'X_Id'), [
      '12345678901234567168',
      '1000000000000000000000',
    ]);
    assert.deepEqual(await stored(4, 'Latitude', 'LotSizeSquareFeet'), [
      Number('39.12345678901234567890'),
      0.1,
    ]);
    const reason = 'LotSizeSquareFeet is 1152921504606846976, which is beyond the precision of a number';
    assert.deepEqual(await replica.quarantine(), [['Property', keyOf(5), reason]]);
    const [{ differences } = { differences: [] }] = await replica.verify();
    assert.deepEqual(
      differences.map(({ key, kind }) => [key, kind]),
      [[keyOf(5), 'quarantined']],
    );
    clock.advance(DAY);
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.keys('Property'), keys, 'a purge finds them under the same keys');
  });
}

test('a record whose key is a fraction, true or an object is quarantined, and stored under no text of it', async (t) => {
  const { server, replica } = await scene(t);
  const list = server.records.get('Property') ?? [];
  const odd = [1.5, true, { a: 1 }, new LongNumber('1.00000000000000000001')];
  list.push(...odd.map((key) => ({ ListingKey: key, ModificationTimestamp: '2026-05-01T00:00:00Z' })));
  assert.equal(await replica.replicate(), 'unsure', 'no sweep knows which records these are');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(30));
  assert.deepEqual(
    (await replica.quarantine()).map(([, , reason]) => reason).toSorted(),
    ['1.00000000000000000001', '1.5', 'true', '{"a":1}'].map(
      (key) => `ListingKey is ${key}, which is not a key`,
    ),
  );
});

test('a quarantined record keeps the digits of its numbers', async (t) => {
  const { server, replica } = await scene(t);
  const list = server.records.get('Property') ?? [];
  const record = listing(keyOf(31), { ListingId: new LongNumber('12345678901234567890') });
  list.push({ ...record, ListPrice: {} });
  await replica.replicate();
  const [entry] = await replica.store.checkpoints.quarantined('feed');
  assert.match(entry?.payload ?? '', /"ListingId":12345678901234567890,/);
  list.splice(-1, 1, record);
  assert.equal((await replica.retry()).stored, 1);
  assert.equal((await replica.record('Property', keyOf(31)))?.ListingId, '12345678901234567890');
});

const faults: readonly (readonly [string, Reply, string])[] = [
  ['fails', { status: 500, body: 'no' }, '500: no'],
  ['returns an error as a success', json({ error: { message: 'no' } }), 'responded with an error: no'],
  [
    'returns invalid JSON',
    { headers: { 'content-type': 'application/json' }, body: '{"ListPrice":NaN}' },
    `responded with invalid JSON: Unexpected token 'N', "{"ListPrice":NaN}" is not valid JSON`,
  ],
];
for (const [what, fault, why] of faults) {
  test(`a record at which the source ${what} does not keep the records after it from being copied`, async (t) => {
    const { server, replica, clock } = await scene(t);
    Object.assign(server.traits, { page: 10 });
    const isBad = (path: string) => path === `/odata/Property('${keyOf(17)}')`;
    server.intercept = ({ path, query }) => {
      const from = Number(query.get('$skiptoken') ?? query.get('$skip') ?? 0);
      const isPage = path === '/odata/Property' && !query.has('$select') && !query.has('$filter');
      const has = isPage && from <= 16 && 16 < from + Math.min(10, Number(query.get('$top') ?? 10));
      return has || isBad(path) ? fault : undefined;
    };
    const quarantine = async () =>
      (await replica.quarantine()).map(([resource, key, reason]) => [
        resource,
        key,
        reason.replace(/ http:\S+/, ''),
      ]);
    assert.equal(await replica.replicate(), 'done');
    const others = keysUpTo(30).filter((key) => key !== keyOf(17));
    assert.deepEqual(await replica.keys('Property'), others);
    const entry = ['Property', keyOf(17), `The source cannot return the record: ${why}`];
    assert.deepEqual(await quarantine(), [entry]);
    const [{ differences } = { differences: [] }] = await replica.verify();
    assert.deepEqual(
      differences.map(({ key, kind }) => [key, kind]),
      [[keyOf(17), 'quarantined']],
    );
    clock.advance(DAY);
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await quarantine(), [entry]);
    server.intercept = () => undefined;
    clock.advance(DAY);
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual([await replica.keys('Property'), await quarantine()], [keysUpTo(30), []]);
  });
}

test('a source that fails at every record is at fault, and not its records', async (t) => {
  const { server, replica } = await scene(t);
  server.intercept = ({ path, query }) =>
    path.startsWith('/odata/Property') && !query.has('$select') && !PROBES.has(query.get('$top'))
      ? { status: 500, body: 'no' }
      : undefined;
  await assert.rejects(replica.replicate(), { name: 'RequestFailure', kind: 'transient', status: 500 });
  assert.deepEqual(await replica.quarantine(), []);
});

test('a source that fails at every second reading ends a verification, and no record differs', async (t) => {
  const { server, replica } = await scene(t);
  assert.equal(await replica.replicate(), 'done');
  // Without a new timestamp, so that they differ from the copy.
  const records = server.records.get('Property') ?? [];
  server.records.set(
    'Property',
    records.map((record, at) => (at < 2 ? { ...record, City: 'Elsewhere' } : record)),
  );
  let fails = true;
  let hasWalked = false;
  server.intercept = ({ path, query }) => {
    // The probes of a first contact come before the walk.
    const isPage = path === '/odata/Property' && !query.has('$select') && !query.has('$filter');
    hasWalked ||= isPage && !PROBES.has(query.get('$top'));
    const isAgain = /^\/odata\/Property\('[^']*'\)$/.test(path) || query.has('$filter');
    return hasWalked && isAgain && fails ? { status: 500, body: 'no' } : undefined;
  };
  await assert.rejects(replica.verify(), { name: 'RequestFailure', kind: 'transient', status: 500 });
  fails = false;
  const [{ differences } = { differences: [] }] = await replica.verify();
  assert.deepEqual(
    differences.map(({ key, fields }) => [key, fields]),
    [keyOf(1), keyOf(2)].map((key) => [key, ['City']]),
  );
});

test('the only record of a page at which the source fails is quarantined if the source still returns earlier ones', async (t) => {
  const { server, replica, clock } = await scene(t);
  Object.assign(server.traits, { page: 29 });
  const last = keyOf(30);
  const isLastPage = ({ path, query }: Seen): boolean => {
    const from = Number(query.get('$skiptoken') ?? query.get('$skip') ?? 0);
    return path === '/odata/Property' && !query.has('$select') && !query.has('$filter') && from === 29;
  };
  let breaks = true;
  let isBroken = false;
  server.intercept = (seen) => {
    if (isLastPage(seen)) isBroken = breaks;
    const isRecord = seen.path.startsWith("/odata/Property('") && !seen.path.endsWith('/Media');
    const fails =
      isLastPage(seen) || seen.path === `/odata/Property('${last}')` || (breaks && isBroken && isRecord);
    return fails ? { status: 500, body: 'no' } : undefined;
  };
  await assert.rejects(replica.replicate(), { name: 'RequestFailure', kind: 'transient', status: 500 });
  assert.deepEqual(await replica.quarantine(), [], 'it returns no record at all');
  breaks = false;
  clock.advance(DAY);
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(29));
  const entry = ['Property', last, 'The source cannot return the record: 500: no'];
  assert.deepEqual(await replica.quarantine(), [entry]);
});

for (const kind of ['reso', 'native'] as const) {
  test(`${kind}: a window whose only record fails is passed, and its record is quarantined`, async (t) => {
    const clock = testClock();
    const records = listings(3, clock);
    const server =
      kind === 'reso'
        ? await odataServer(t, clock, { Property: records })
        : await nativeServer(t, clock, records);
    const resources = ['Property'];
    const replica = await makeReplica(t, { from: server.root, interface: kind, clock, resources });
    assert.equal(await replica.replicate(), 'done');
    clock.advance(DAY / 24);
    const own = 'records' in server ? (server.records.get('Property') ?? []) : server.listings;
    change(own, keyOf(3), { ListPrice: 1 }, clock);
    clock.advance(DAY / 24);
    server.intercept = ({ url }) => {
      const isWindow = /filter=\(?ModificationTimestamp/.test(url) && !/_?select=ListingKey/.test(url);
      const isRecord = url.includes(`'${keyOf(3)}'`) && !url.endsWith('/Media');
      return isWindow || isRecord ? { status: 500, body: 'no' } : undefined;
    };
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.quarantine(), [
      ['Property', keyOf(3), 'The source cannot return the record: 500: no'],
    ]);
  });
}
