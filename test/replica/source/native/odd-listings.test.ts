/** Native records with faulty members: everything valid is stored, and each faulty member is quarantined or ignored. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { testClock } from '../../../support/clock.ts';
import type { Json } from '../../../support/world.ts';
import { keyOf, keysUpTo, listings } from '../../support/feed.ts';
import { json } from '../../support/loopback.ts';
import { nativeServer } from '../../support/native-server.ts';
import { makeReplica, type TestReplica } from '../../support/replica.ts';

/** A replica of two listings; these members are added to the second. */
async function copyOf(t: TestContext, members: Json, accounts: readonly Json[] = []): Promise<TestReplica> {
  const clock = testClock();
  const server = await nativeServer(t, clock, listings(2, clock), accounts);
  server.listings[1] = { ...server.listings[1], ...members };
  const replica = await makeReplica(t, { from: server.root, interface: 'native', clock });
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(2));
  return replica;
}

const reasons = async (replica: TestReplica): Promise<string[]> =>
  (await replica.quarantine()).map(([resource, , reason]) => `${resource}: ${reason}`).toSorted();

for (const name of ['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__proto__']) {
  for (const [kind, value] of [
    ['list', [{ a: 1 }]],
    ['number', 5],
    ['object', { ListPrice: 7 }],
  ] as const) {
    test(`INCIDENT a member with the name of a property of every JavaScript object ended the run: ${name}, a ${kind}`, async (t) => {
      const member: Json = JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`);
      const replica = await copyOf(t, member);
      assert.equal((await replica.record('Property', keyOf(2)))?.ListPrice, 2000);
      assert.deepEqual(await replica.quarantine(), []);
    });
  }
}

test('custom fields with the name of the prototype, given several times, end no run', async (t) => {
  const named: Json = JSON.parse('{"__proto__":5}');
  const clock = testClock();
  const server = await nativeServer(t, clock, listings(1, clock));
  server.listings[0] = {
    ...server.listings[0],
    ...named,
    CustomFields: [{ Main: [{ Group: [{ A: 1 }, { B: 2 }] }] }],
  };
  server.customFields = ['A', 'B'].map((label) => ({ Group: { [label]: { FieldName: '__proto__' } } }));
  const replica = await makeReplica(t, { from: server.root, interface: 'native', clock });
  assert.equal(await replica.replicate({ customFields: true }), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(1));
});

test('phone types, user types and field types named like a property of every JavaScript object count as unknown', async (t) => {
  const clock = testClock();
  const server = await nativeServer(t, clock, listings(1, clock), [
    {
      Id: 'm1',
      UserType: 'Member',
      Name: 'A',
      Phones: [
        { Type: 'constructor', Number: '1' },
        { Type: 'Mobile', Number: '2' },
      ],
    },
    { Id: 'm2', UserType: 'constructor' },
  ]);
  server.customFields = [{ Group: { Field: { Type: 'toString', FieldName: 'GroupField' } } }];
  const replica = await makeReplica(t, { from: server.root, interface: 'native', clock });
  await replica.replicate({ customFields: true });
  assert.deepEqual(await replica.keys('Member'), ['m1']);
  assert.equal((await replica.record('Member', 'm1'))?.MemberMobilePhone, '2');
});

test('photos that are not JSON objects are quarantined one by one, and the others are stored', async (t) => {
  const replica = await copyOf(t, {
    Photos: ['x', null, 7, [], { Id: 'p1', UriLarge: 'https://media.example/1.jpeg' }],
  });
  assert.deepEqual(await replica.keys('Media'), ['p1']);
  assert.deepEqual(await reasons(replica), [
    'Media: Media[1] is not a JSON object',
    'Media: Media[2] is not a JSON object',
    'Media: Media[3] is not a JSON object',
    'Media: Media[4] is not a JSON object',
  ]);
});

test('rooms without a key are quarantined one by one', async (t) => {
  const rooms = ['Bedroom', 'Kitchen'].map((name) => ({ Fields: [{ 'Room Name': name }] }));
  const replica = await copyOf(t, { Rooms: rooms });
  assert.equal((await reasons(replica)).length, 2);
  for (const reason of await reasons(replica))
    assert.match(reason, /^PropertyRooms: Rooms\[\d\] has no RoomKey$/);
});

const DATES: readonly [unknown, string | undefined][] = [
  ['09/05/2026', '2026-09-05'],
  ['9/5/2026', '2026-09-05'],
  ['2026-09-05', '2026-09-05'],
  ['2020-13-45', undefined],
  ['13/45/2020', undefined],
  ['soon', undefined],
  [20260905, undefined],
];
for (const [given, expected] of DATES) {
  const what = expected === undefined ? 'is put aside' : `is ${expected}`;
  test(`the date of an open house: ${JSON.stringify(given)} ${what}`, async (t) => {
    const replica = await copyOf(t, { OpenHouses: [{ Id: 'o1', Date: given }] });
    if (expected === undefined) {
      assert.deepEqual(await replica.keys('OpenHouse'), []);
      const [reason = ''] = await reasons(replica);
      assert.match(reason, /^OpenHouse: OpenHouses\[0\]\.OpenHouseDate is /);
    } else {
      assert.equal((await replica.record('OpenHouse', 'o1'))?.OpenHouseDate, expected);
      assert.deepEqual(await reasons(replica), []);
    }
  });
}

test('a record with a __proto__ member changes nothing', async (t) => {
  const clock = testClock();
  const server = await nativeServer(t, clock, listings(1, clock));
  server.intercept = ({ path, query }) =>
    path === '/v1/listings' && query.get('_skiptoken') === ''
      ? {
          ...json({}),
          body: '{"D":{"Success":true,"Results":[{"Id":"1","StandardFields":{"ListingKey":"1","__proto__":{"ListPrice":7}}}]}}',
        }
      : undefined;
  const replica = await makeReplica(t, { from: server.root, interface: 'native', clock });
  await replica.replicate({ step: 'initial' });
  assert.equal((await replica.record('Property', '1'))?.ListPrice ?? null, null);
});
