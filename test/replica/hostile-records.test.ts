/** Records that are made to hurt whoever copies them: each goes to the quarantine alone, and nothing behind it is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testClock } from '../support/clock.ts';
import type { Scope } from '../support/engine.ts';
import type { Json } from '../support/world.ts';
import { json } from './support/loopback.ts';
import { nativeServer, success } from './support/native-server.ts';
import { odataServer } from './support/odata-server.ts';
import { makeReplica } from './support/replica.ts';

/** A value of so many levels; JSON.parse makes them without recursion, as a source's answer is read. */
const deep = (levels: number, open = '[', close = ']'): unknown =>
  JSON.parse(`${open.repeat(levels)}1${close.repeat(levels)}`);

const STAMP = '2026-05-01T12:00:00Z';
const record = (key: string, fields: Json = {}): Json => ({
  ListingKey: key,
  StandardStatus: 'Active',
  ModificationTimestamp: STAMP,
  ...fields,
});

const RECORDS: readonly Json[] = [
  record('10'),
  record('20', { City: deep(1000) }),
  record('21', { Unknown: deep(1000, '{"a":', '}') }),
  record('22', { Others: deep(500, '[{"a":', '}]') }),
  record('23', { City: 'a\0b' }),
  record('24', { City: 'a\ud800b' }),
  record('30', Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`Own${at}`, at]))),
  record('31', { PublicRemarks: `${'é😀 '.repeat(400_000)}`, City: 'c'.repeat(20_000) }),
  record('90'),
];
const REFUSED = ['20', '21', '22', '23', '24'];

async function copied(t: Scope, kind: 'reso' | 'native') {
  const clock = testClock('2026-06-01T12:00:00Z');
  const server =
    kind === 'reso'
      ? await odataServer(t, clock, { Property: [...RECORDS] })
      : await nativeServer(t, clock, RECORDS);
  const replica = await makeReplica(t, {
    from: server.root,
    interface: kind,
    clock,
    resources: ['Property'],
  });
  return { replica, result: await replica.replicate() };
}

for (const kind of ['reso', 'native'] as const) {
  test(`${kind}: each is refused alone, all others are stored, and a retry changes nothing`, async (t) => {
    const { replica, result } = await copied(t, kind);
    assert.equal(result, 'done');
    assert.deepEqual(await replica.keys('Property'), ['10', '30', '31', '90']);
    const quarantine = await replica.quarantine();
    assert.deepEqual(
      quarantine.map(([, key]) => key),
      REFUSED,
    );
    for (const [, , reason] of quarantine) assert.ok(reason.length < 500, reason);
    const [, first] = quarantine;
    assert.match(first?.[2] ?? '', /nested more than 64 levels deep/);
    assert.equal(
      (await replica.record('Property', '31', '$select=PublicRemarks'))?.PublicRemarks,
      RECORDS[7]?.PublicRemarks,
    );
    assert.equal(await replica.replicate({ refresh: true }), 'done');
    assert.deepEqual(await replica.keys('Property'), ['10', '30', '31', '90']);
  });
}

/** More than is read of one answer, 32 MB. */
const HUGE = 'x'.repeat(36_000_000);
const media = (key: string): Json => ({
  MediaKey: `M${key}`,
  ResourceName: 'Property',
  ResourceRecordKey: key,
});

test('reso: answers of discovery that are too large to be read show that their ways work', async (t) => {
  const clock = testClock('2026-06-01T12:00:00Z');
  const records = ['1', '2'].map((key) => record(key, { Media: [media(key)] }));
  const server = await odataServer(t, clock, { Property: records }, { expands: ['Media'], top: 'total' });
  const asked: string[] = [];
  server.intercept = ({ url, query }) => {
    const isProbe = ['1', '5'].includes(query.get('$top') ?? '') && !query.has('$select');
    if (!isProbe || query.has('$count')) return undefined;
    asked.push(decodeURIComponent(url.replace('/odata/Property', '')));
    const expand = query.get('$expand');
    // Also an error may say more than is read.
    const status = expand === null || expand === 'Media' ? 200 : 400;
    return json({ value: [{ ListingKey: '1', PublicRemarks: HUGE }] }, { status });
  };
  const from = { from: server.root, clock, resources: ['Property'] };
  const replica = await makeReplica(t, { ...from, interface: 'reso' });
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(asked, [
    '?$top=1',
    '?$top=1&$expand=Media,Unit,Room,OpenHouse',
    '?$top=1&$expand=Media',
    '?$top=1&$expand=Unit',
    '?$top=1&$expand=Room',
    '?$top=1&$expand=OpenHouse',
    '?$top=5',
  ]);
  assert.deepEqual(await replica.keys('Property'), ['1', '2']);
  assert.deepEqual(await replica.keys('Media'), ['M1', 'M2']);
});

test('native: nor does a first listing that is too large to be read hide whose server it is', async (t) => {
  const clock = testClock('2026-06-01T12:00:00Z');
  const server = await nativeServer(t, clock, [record('1'), record('2')]);
  server.intercept = ({ query, path }) => {
    const isProbe = query.get('_limit') === '1' && !query.has('_select');
    return isProbe || path.endsWith('fields') ? success([{ PublicRemarks: HUGE }]) : undefined;
  };
  const from = { from: server.root, clock, resources: ['Property'] };
  const replica = await makeReplica(t, { ...from, interface: 'native' });
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), ['1', '2']);
});
