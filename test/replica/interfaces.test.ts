/** Copies of one market over both interfaces: the same keys and values; docs/replication.md lists what the native interface omits. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS, marketRecords } from 'plat-demo';
import { REPLICA_TIMESTAMP } from '../../src/dictionary/index.ts';
import type { Json } from '../support/world.ts';
import { platFeed } from './support/plat-source.ts';

/** Enough that some listings have fields that others lack. */
const LISTINGS = process.env.PLAT_FULL === '1' ? 300 : 200;
const KEYS = {
  Property: 'ListingKey',
  Media: 'MediaKey',
  PropertyRooms: 'RoomKey',
  PropertyUnitTypes: 'UnitTypeKey',
  OpenHouse: 'OpenHouseKey',
  Member: 'MemberKey',
  Office: 'OfficeKey',
} as const;

/** Fields of a resource that the native copy lacks. */
interface Lack {
  /** In every record. */
  readonly never: readonly string[];
  /** In some records. */
  readonly sometimes: readonly string[];
}

/** The rows of the table in docs/replication.md, by resource. */
function tableOfDocs(): Map<string, Lack> {
  const text = readFileSync(new URL('../../docs/replication.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split('\n## Differences between the interfaces\n');
  const names = (cell = ''): string[] =>
    cell.split(',').flatMap((name) => name.trim().match(/^\w+/)?.[0] ?? []);
  const rows = section.split('\n').filter((line) => /^\| [A-Z]\w+ \|/.test(line));
  return new Map(
    rows.map((row) => {
      const [, resource = '', never, sometimes] = row.split('|');
      return [resource.trim(), { never: names(never).toSorted(), sometimes: names(sometimes).toSorted() }];
    }),
  );
}

const byKey = (records: readonly Json[], key: string): Map<unknown, Json> =>
  new Map(records.map((record) => [record[key], record]));

const isNull = (value: unknown): boolean => value === undefined || value === null;

/** A value without the signatures of served files, which differ for each request. */
const comparable = (value: unknown): string => JSON.stringify(value).replace(/\/media\/[^/"]+\//, '/media/');

function compare(reso: ReadonlyMap<unknown, Json>, native: ReadonlyMap<unknown, Json>): Lack {
  const lacking = new Set<string>();
  const equal = new Set<string>();
  for (const [key, left] of reso) {
    const right = native.get(key) ?? {};
    for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const [one, other] = [left[name], right[name]];
      // The native interface sends no numbers for the order of media; the order itself is compared below.
      if (name === REPLICA_TIMESTAMP || name === 'Order' || (isNull(one) && isNull(other))) continue;
      if (isNull(other)) lacking.add(name);
      else {
        assert.equal(comparable(other), comparable(one), `${name} of ${key}`);
        equal.add(name);
      }
    }
  }
  const names = [...lacking].toSorted();
  return {
    never: names.filter((name) => !equal.has(name)),
    sometimes: names.filter((name) => equal.has(name)),
  };
}

/** Keys of each listing's photos in their order. */
function photosInOrder(media: ReadonlyMap<unknown, Json>): Map<unknown, unknown[]> {
  const photos = [...media.values()]
    .filter(({ MediaCategory }) => MediaCategory === 'Photo')
    .toSorted((left, right) => Number(left.Order) - Number(right.Order));
  const listings = [...Map.groupBy(photos, ({ ResourceRecordKey }) => ResourceRecordKey)];
  return new Map(
    listings
      .map(([listing, own]) => [listing, own.map(({ MediaKey }) => MediaKey)] as const)
      .toSorted(([left], [right]) => (String(left) < String(right) ? -1 : 1)),
  );
}

test('both interfaces give the same keys, and equal values of every field that both have; the docs name the other fields', async (t) => {
  const feed = await platFeed(t);
  await feed.store.configure((settings) => ({
    ...settings,
    timeZone: 'America/Denver',
    declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS },
  }));
  const records = Map.groupBy(marketRecords({ seed: 7, listings: LISTINGS }), ({ resource }) => resource);
  for (const [resource, list] of records) {
    feed.clock.advance(60_000);
    await feed.write(resource, ...list.map(({ record }): Json => record));
  }
  feed.clock.advance(3_600_000);
  const reso = await feed.replica(t, 'reso');
  const native = await feed.replica(t, 'native');
  assert.equal(await reso.replicate(), 'done');
  assert.equal(await native.replicate({ customFields: true }), 'done');
  const lacks = new Map<string, Lack>();
  for (const [resource, key] of Object.entries(KEYS)) {
    const [left, right, source] = await Promise.all(
      [reso, native, feed].map(async (each) => byKey(await each.exported(resource), key)),
    );
    assert.ok(left !== undefined && right !== undefined && source !== undefined);
    assert.deepEqual([...left.keys()], [...source.keys()], resource);
    assert.deepEqual([...right.keys()], [...source.keys()], resource);
    assert.ok(source.size > 5, resource);
    lacks.set(resource, compare(left, right));
    if (resource === 'Media') assert.deepEqual(photosInOrder(right), photosInOrder(left));
  }
  assert.deepEqual(lacks.get('Property'), { never: [], sometimes: [] });
  lacks.delete('Property');
  assert.deepEqual(tableOfDocs(), lacks);
  for (const replica of [reso, native]) assert.deepEqual(await replica.quarantine(), []);
  assert.deepEqual(
    (await reso.verify()).flatMap(({ differences }) => differences),
    [],
  );
  assert.deepEqual(
    (await native.verify({ customFields: true })).flatMap(({ differences }) => differences),
    [],
  );
});
