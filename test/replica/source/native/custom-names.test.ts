/** The names of custom fields are requested beside a page. A failure of that request is not one of the page or its records. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SECOND, type TestClock, testClock } from '../../../support/clock.ts';
import type { Json } from '../../../support/world.ts';
import { change, keyOf, keysUpTo, listings } from '../../support/feed.ts';
import type { Reply, Seen } from '../../support/loopback.ts';
import { type NativeServer, nativeServer, success } from '../../support/native-server.ts';
import { makeReplica, type TestReplica } from '../../support/replica.ts';

const HOUR = 3600 * SECOND;
/** The description of the custom field with this label; its API name stays the same. */
const fieldCalled = (label: string): Json => ({
  Water: { [label]: { Type: 'Character', FieldName: 'HasSpa' } },
});
const withSpa = (value: string): Json => ({ CustomFields: [{ Main: [{ Water: [{ Spa: value }] }] }] });
const PREFIX = 'The names of custom fields could not be read: ';

interface Scene {
  readonly clock: TestClock;
  readonly server: NativeServer;
  readonly replica: TestReplica;
}

async function scene(t: TestContext, list: (clock: TestClock) => readonly Json[]): Promise<Scene> {
  const clock = testClock();
  const server = await nativeServer(t, clock, list(clock));
  server.customFields = [fieldCalled('Hot tub')];
  const options = { from: server.root, interface: 'native', resources: ['Property'] } as const;
  return { clock, server, replica: await makeReplica(t, { ...options, clock }) };
}

/** After the first request of a kind, the source refuses to describe its custom fields. */
function failFieldsAfter(server: NativeServer, isBefore: (seen: Seen) => boolean, reply: Reply): void {
  let fails = false;
  server.intercept = (seen) => {
    if (isBefore(seen)) fails = true;
    return fails && seen.path === '/v1/customfields' ? reply : undefined;
  };
}

function restoreFields(server: NativeServer): void {
  server.intercept = () => undefined;
  server.customFields = [fieldCalled('Spa')];
}

const isWindow = ({ query }: Seen): boolean => query.get('_filter')?.includes(' bt ') === true;
const tokenOf = ({ query }: Seen): string => query.get('_skiptoken') ?? '';
const filterOf = ({ query }: Seen): string => query.get('_filter') ?? '';
const askedOf = (seen: readonly Seen[], isWanted: (seen: Seen) => boolean): string[] =>
  seen.slice(seen.findIndex(isWanted)).map(({ path }) => path.replace('/v1/', ''));
const spaOf = async (replica: TestReplica, key: string): Promise<unknown> =>
  (await replica.record('Property', key))?.HasSpa;

const FAILURES: readonly [string, Reply, attempts: number, kind: string, message: RegExp][] = [
  ['are cut short', { body: '{"D":{"Success":true}}', cutAfter: 5 }, 8, 'transient', /./],
  ['fail', { status: 500, body: 'broken' }, 8, 'transient', /500: broken$/],
  ['are no JSON', { body: '<html>' }, 8, 'transient', /./],
  ['are rejected', { status: 400, body: 'odd' }, 1, 'rejected', /400: odd$/],
  ['are not there', { status: 404, body: 'gone' }, 1, 'rejected', /404: gone$/],
  ['are refused', { status: 403, body: 'not you' }, 1, 'refused', /403: not you$/],
];

for (const [what, reply, attempts, kind, message] of FAILURES) {
  test(`INCIDENT the first page of a window was requested twice: the names of custom fields ${what}`, async (t) => {
    const { clock, server, replica } = await scene(t, (now) => listings(3, now));
    assert.equal(await replica.replicate({ customFields: true }), 'done');
    clock.advance(HOUR);
    change(server.listings, keyOf(2), { ListPrice: 7, ...withSpa('yes') }, clock);
    clock.advance(HOUR);
    failFieldsAfter(server, isWindow, reply);
    const begun = server.seen.length;
    await assert.rejects(replica.replicate({ customFields: true }), (error: unknown) => {
      assert.ok(error instanceof Error && 'kind' in error);
      assert.deepEqual([error.name, error.kind], ['RequestFailure', kind]);
      assert.ok(error.message.startsWith(PREFIX), error.message);
      assert.match(error.message, message);
      return true;
    });
    const fields = Array.from({ length: attempts }, () => 'customfields');
    assert.deepEqual(askedOf(server.seen.slice(begun), isWindow), ['listings', ...fields]);
    assert.deepEqual(replica.reported('page-size'), []);
    assert.equal((await replica.record('Property', keyOf(2)))?.ListPrice, 2000);
    // The next run opens a new window.
    restoreFields(server);
    assert.equal(await replica.replicate({ customFields: true }), 'done');
    const pages = server.seen.slice(begun).filter(isWindow);
    assert.deepEqual(pages.map(tokenOf), ['', '', keyOf(2)]);
    const [first = '', ...later] = pages.map(filterOf);
    assert.ok(!later.includes(first), first);
    assert.equal(await spaOf(replica, keyOf(2)), 'yes');
    assert.deepEqual(await replica.quarantine(), []);
  });
}

for (const status of [404, 500]) {
  test(`a later page whose custom field names give ${status} does not end the window: the next run continues at that page`, async (t) => {
    const { clock, server, replica } = await scene(t, (now) => listings(4, now));
    assert.equal(await replica.replicate({ customFields: true }), 'done');
    clock.advance(HOUR);
    for (const key of keysUpTo(4)) change(server.listings, key, { ListPrice: 7 }, clock);
    change(server.listings, keyOf(3), withSpa('yes'), clock);
    clock.advance(HOUR);
    server.page = 2;
    failFieldsAfter(server, isWindow, { status, body: 'no' });
    const begun = server.seen.length;
    await assert.rejects(replica.replicate({ customFields: true }), {
      message: `${PREFIX}${status}: no`,
      status,
    });
    clock.advance(HOUR);
    restoreFields(server);
    assert.equal(await replica.replicate({ customFields: true }), 'done');
    // The window to its end, and then another one for changes since.
    const pages = server.seen.slice(begun).filter(isWindow);
    assert.deepEqual(pages.map(tokenOf), ['', keyOf(2), keyOf(2), keyOf(4), '']);
    const filters = pages.map(filterOf);
    assert.equal(new Set(filters.slice(0, 4)).size, 1);
    assert.notEqual(filters[4], filters[0]);
    assert.deepEqual(replica.reported('again'), []);
    assert.equal(await spaOf(replica, keyOf(3)), 'yes');
  });
}

test('INCIDENT listings were quarantined because the names of custom fields could not be read', async (t) => {
  const { server, replica } = await scene(t, (now) => listings(8, now, () => withSpa('yes')));
  const isWanted = ({ query }: Seen): boolean => query.get('_filter')?.startsWith('ListingKey Eq') === true;
  failFieldsAfter(server, isWanted, { status: 500, body: 'broken' });
  await assert.rejects(replica.replicate({ customFields: true }), {
    kind: 'transient',
    message: `${PREFIX}500: broken`,
  });
  const fields = Array.from({ length: 8 }, () => 'customfields');
  assert.deepEqual(askedOf(server.seen, isWanted), ['listings', ...fields]);
  assert.deepEqual(await replica.quarantine(), []);
  restoreFields(server);
  assert.equal(await replica.replicate({ customFields: true }), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(8));
  for (const key of keysUpTo(8)) assert.equal(await spaOf(replica, key), 'yes');
});

test('INCIDENT a listing requested by its path counted as deleted because the names of custom fields could not be read', async (t) => {
  // A filter cannot contain a backslash.
  const key = 'A\\B';
  const { clock, server, replica } = await scene(t, (now) =>
    listings(1, now, () => ({ ListingKey: key, ...withSpa('yes') })),
  );
  const isRecord = ({ path }: Seen): boolean => path === `/v1/listings/${key}`;
  const record = (): Reply => {
    const [{ CustomFields = [], ...StandardFields } = {}] = server.listings;
    return success([{ Id: key, StandardFields, CustomFields }]);
  };
  let fails = false;
  server.intercept = (seen) => {
    if (isRecord(seen)) fails = true;
    if (fails && seen.path === '/v1/customfields') return { status: 404, body: 'gone' };
    return isRecord(seen) ? record() : undefined;
  };
  await assert.rejects(replica.replicate({ customFields: true }), {
    kind: 'rejected',
    message: `${PREFIX}404: gone`,
  });
  server.customFields = [fieldCalled('Spa')];
  server.intercept = (seen) => (isRecord(seen) ? record() : undefined);
  clock.advance(SECOND);
  assert.equal(await replica.replicate({ customFields: true }), 'done');
  assert.deepEqual(await replica.keys('Property'), [key]);
  assert.equal(await spaOf(replica, key), 'yes');
});

test('a source without a list of its custom fields, which the specification does not have, is copied with them', async (t) => {
  const { server, replica } = await scene(t, (now) => listings(3, now, () => withSpa('yes')));
  server.intercept = ({ path }) => (path === '/v1/customfields' ? { status: 404, body: 'no' } : undefined);
  assert.equal(await replica.replicate({ customFields: true }), 'done');
  assert.equal((await replica.record('Property', keyOf(2)))?.WaterSpa, 'yes');
});
