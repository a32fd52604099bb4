/** Counters are maintained as records are written, and equal the number of rows for every role and system. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FieldValue } from '../../../src/dictionary/index.ts';
import { contentHash } from '../../../src/records/content-hash.ts';
import { floorPlan, listing, photo } from '../../support/builders.ts';
import { SECOND } from '../../support/clock.ts';
import { contractRuns, type Engine } from '../../support/engine.ts';
import { faultsIn } from '../../support/faults.ts';
import { inScope } from '../../support/scope.ts';
import type { Viewer } from '../../support/views.ts';
import { type Json, makeWorld, type World } from '../../support/world.ts';
import { anyStep, take } from './random-market.ts';

const VIEWERS: readonly Viewer[] = [
  { role: 'private' },
  { role: 'idx' },
  { role: 'vow' },
  { role: 'private', systems: ['X'] },
  { role: 'idx', systems: ['Y', 'X'] },
  { role: 'idx', systems: ['Z'] },
];

const RESOURCES = ['Property', 'Media', 'PropertyRooms', 'OpenHouse'];

/** Every way of counting gives the same number, and no key occurs twice. */
async function assertCounted(world: World): Promise<void> {
  for (const viewer of VIEWERS) {
    for (const resource of RESOURCES) {
      const { key } = (await world.store.model()).resource(resource);
      const keys = await world.keys(resource, '', { viewer });
      assert.equal(new Set(keys).size, keys.length, `${resource} has ${keys.join()}`);
      assert.equal(await world.count(resource, '', viewer), keys.length, resource);
      assert.equal(await world.count(resource, `$filter=${key} ne null`, viewer), keys.length, resource);
    }
  }
  const { resources } = await world.store.status();
  for (const { resource, rows, orphans } of resources) {
    if (!RESOURCES.includes(resource)) continue;
    assert.equal(rows, (await world.count(resource)) + orphans, resource);
    assert.equal(rows, (await world.exported(resource)).length, resource);
  }
}

/** Gives all listings the hashes that an earlier plat stored, which cover the counts. */
async function hashAsBefore(world: World): Promise<void> {
  const { dictionary } = await world.store.model();
  const property = dictionary.resources.get('Property') ?? assert.fail();
  const former = (row: Json): string => {
    const values: Record<string, FieldValue> = {};
    for (const [name, value] of Object.entries(row))
      if (typeof value === 'string' || typeof value === 'number') values[name] = value;
    return contentHash(property, values, 'authority', null, '.'.repeat(22));
  };
  const hashes = (await world.exported('Property')).map((row) => [row.ListingKey, former(row)] as const);
  for (const [, hash] of hashes) assert.equal(hash.length, 22);
  await world.damage(
    ...hashes.map(([key, hash]) => `UPDATE property_records SET _hash = '${hash}' WHERE _key = '${key}'`),
  );
}

/** The visible children are those of visible parents. */
async function assertFamilies(world: World): Promise<void> {
  for (const viewer of VIEWERS) {
    const listings = new Set(await world.keys('Property', '', { viewer }));
    const houses = await world.rows('OpenHouse', '$select=OpenHouseKey,ListingKey', { viewer });
    const media = await world.rows('Media', '$select=ResourceName,ResourceRecordKey', { viewer });
    const rooms = await world.rows('PropertyRooms', '$select=ListingKey', { viewer });
    const houseKeys = new Set(houses.map(({ OpenHouseKey }) => OpenHouseKey));
    for (const { ListingKey } of [...houses, ...rooms]) assert.ok(listings.has(String(ListingKey)));
    for (const { ResourceName, ResourceRecordKey } of media) {
      const owners = ResourceName === 'Property' ? listings : houseKeys;
      assert.ok(owners.has(String(ResourceRecordKey)), `${ResourceName} ${ResourceRecordKey}`);
    }
  }
}

/** PhotosCount of a listing is the number of its photos that everyone may see. */
async function assertMediaCounted(world: World): Promise<void> {
  const media = await world.exported('Media');
  for (const { ListingKey, PhotosCount } of await world.exported('Property')) {
    const photos = media.filter(
      ({ ResourceName, ResourceRecordKey, Permission }) =>
        ResourceName === 'Property' &&
        ResourceRecordKey === ListingKey &&
        (!Array.isArray(Permission) || Permission.length === 0 || Permission.includes('Public')),
    );
    assert.equal(PhotosCount, photos.length, String(ListingKey));
  }
}

const ofKind = (key: string, category: string, fields: Json = {}): Json => ({
  MediaKey: key,
  MediaCategory: category,
  ...fields,
});

/** One of each kind; one of the photos is hidden. */
const MEDIA: readonly Json[] = [
  photo('P1', { Permission: ['IDX', 'Public'] }),
  photo('P2', { Permission: ['Private'] }),
  photo('P3'),
  floorPlan('F1'),
  ofKind('V1', 'Video'),
  ofKind('T1', 'Branded Virtual Tour'),
  ofKind('T2', 'Unbranded Virtual Tour'),
  ofKind('D1', 'Document'),
  ofKind('X1', 'Agent Photo'),
];

export function countContract(engine: Engine): void {
  test('a listing counts its media that everyone may see, whatever the import says, and moves when a count changes', async (t) => {
    const world = await makeWorld(engine, t);
    /** Photos, videos and documents of both listings, and the listings that moved since the last call. */
    let last = new Map<unknown, unknown>();
    const counted = async (): Promise<unknown> => {
      const rows = await world.rows('Property', '$orderby=ListingKey');
      // Texts and columns agree.
      const columns = await world.rows(
        'Property',
        '$orderby=ListingKey&$select=ListingKey,PhotosCount,VideosCount,DocumentsCount,ModificationTimestamp',
      );
      const counts = ({ PhotosCount, VideosCount, DocumentsCount }: Json): unknown[] => [
        PhotosCount,
        VideosCount,
        DocumentsCount,
      ];
      assert.deepEqual(rows.map(counts), columns.map(counts));
      const moved = rows.filter((row) => last.get(row.ListingKey) !== row.ModificationTimestamp);
      last = new Map(rows.map((row) => [row.ListingKey, row.ModificationTimestamp]));
      world.clock.advance(SECOND);
      return [...rows.map(counts), moved.map(({ ListingKey }) => ListingKey).join('')];
    };
    const alone = (record: Json, of: string): Promise<unknown> =>
      world.write('Media', { ...record, ResourceRecordKey: of });
    await alone(photo('P9'), 'B');
    const input = { PhotosCount: 99, DocumentsCount: null };
    await world.write('Property', listing('A', { ...input, Media: MEDIA }), listing('B', input));
    assert.deepEqual(await counted(), [[3, 3, 1], [1, 0, 0], 'AB']);
    assert.deepEqual(await world.keys('Property', '$filter=PhotosCount gt 1 and VideosCount eq 3'), ['A']);
    // Equal content is unchanged, even with another count.
    await world.write('Property', listing('A', { PhotosCount: 1, Media: MEDIA }), listing('B'));
    assert.deepEqual(await counted(), [[3, 3, 1], [1, 0, 0], '']);
    await alone(photo('P4'), 'A');
    assert.deepEqual(await counted(), [[4, 3, 1], [1, 0, 0], 'A']);
    // A medium that changes its kind, is hidden, or moves to the other listing.
    await alone(ofKind('P4', 'Document'), 'A');
    assert.deepEqual(await counted(), [[3, 3, 2], [1, 0, 0], 'A']);
    await alone(photo('P3', { Permission: ['VOW'] }), 'A');
    assert.deepEqual(await counted(), [[2, 3, 2], [1, 0, 0], 'A']);
    await alone(photo('P1'), 'B');
    assert.deepEqual(await counted(), [[1, 3, 2], [2, 0, 0], 'AB']);
    await world.write(
      'Property',
      listing('A', { Media: [photo('P1'), photo('P9')] }),
      listing('B', { ListPrice: 5 }),
    );
    assert.deepEqual(await counted(), [[2, 0, 0], [0, 0, 0], 'AB']);
    // A record without media keeps the stored ones; with an empty list it does not.
    await world.write('Property', listing('A', { ListPrice: 7 }));
    assert.deepEqual(await counted(), [[2, 0, 0], [0, 0, 0], 'A']);
    await world.store.remove('Media', ['P1']);
    assert.deepEqual(await counted(), [[1, 0, 0], [0, 0, 0], 'A']);
    await world.write('Property', listing('A', { ListPrice: 7, Media: [] }));
    assert.deepEqual(await counted(), [[0, 0, 0], [0, 0, 0], 'A']);
    assert.deepEqual(await world.keys('Property', '$filter=PhotosCount eq 0'), ['A', 'B']);
    assert.deepEqual(await faultsIn(world.store), []);
  });

  test('a listing that an earlier plat hashed with its counts is unchanged, and hashed anew when they move', async (t) => {
    const world = await makeWorld(engine, t);
    const records = ['A', 'B', 'C'].map((key) => listing(key, { City: 'Springfield', ListPrice: 5 }));
    await world.write('Property', ...records);
    await hashAsBefore(world);
    assert.deepEqual(await faultsIn(world.store), []);
    // A content that does not match its hash continues not to match.
    await world.damage(`UPDATE property_records SET "ListPrice" = 6 WHERE _key = 'C'`);
    const before = await world.rows('Property', '$orderby=ListingKey');
    await world.write('Property', ...records.slice(0, 2));
    assert.deepEqual(await world.rows('Property', '$orderby=ListingKey'), before);
    await world.write('Media', ...['A', 'C'].map((of) => photo(`P${of}`, { ResourceRecordKey: of })));
    assert.deepEqual(await world.keys('Property', '$filter=PhotosCount eq 1'), ['A', 'C']);
    const faults = await faultsIn(world.store);
    assert.deepEqual(
      faults.map(([, key]) => key).filter((key, at, keys) => keys.indexOf(key) === at),
      ['C'],
    );
    const moved = await world.rows('Property', '$orderby=ListingKey');
    await world.write('Property', ...records.slice(0, 2));
    assert.deepEqual(await world.rows('Property', '$orderby=ListingKey'), moved);
  });

  test('imported counts that an earlier plat hashed are no fault, and stay until media change', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write(
      'Property',
      listing('A', { ListPrice: 5, Media: [] }),
      listing('B', { Media: [photo('P')] }),
    );
    await world.write('Property', listing('A', { ListPrice: 6, Media: [] }));
    await world.damage(
      `UPDATE property_records SET "PhotosCount" = 90 WHERE _key = 'A'`,
      `UPDATE property_texts SET idx_values = replace(idx_values, '"PhotosCount":', '"PhotosCount":9') WHERE _key = 'A'`,
    );
    assert.deepEqual(await faultsIn(world.store), [['Property', 'A', 'its counts of media']]);
    await hashAsBefore(world);
    assert.deepEqual(await faultsIn(world.store), []);
    await world.write('Property', listing('A', { ListPrice: 7 }));
    assert.deepEqual(await world.keys('Property', '$filter=PhotosCount eq 90 and ListPrice eq 7'), ['A']);
    assert.deepEqual(await faultsIn(world.store), []);
    await world.write('Media', photo('P2', { ResourceRecordKey: 'A' }));
    assert.deepEqual(await world.keys('Property', '$filter=PhotosCount eq 1'), ['A', 'B']);
    assert.deepEqual(await faultsIn(world.store), []);
  });

  test('a replica returns the counts that its source sent', async (t) => {
    const world = await makeWorld(engine, t, { settings: { owner: 'replica' } });
    const sent = { PhotosCount: 12, Media: [photo('P1')], ModificationTimestamp: '2026-05-01T00:00:00Z' };
    await world.write('Property', listing('A', sent), listing('B', { Media: [photo('P2')] }));
    const rows = await world.rows('Property', '$orderby=ListingKey');
    assert.deepEqual(
      rows.map(({ PhotosCount }) => PhotosCount),
      [12, null],
    );
  });

  test('systems are distinguished by their exact names: none, one called null, one with an empty name', async (t) => {
    const world = await makeWorld(engine, t);
    const of = (key: string, system?: string) =>
      listing(key, system === undefined ? {} : { OriginatingSystemID: system });
    await world.write('Property', of('A'), of('B', ''), of('C', 'null'), of('D'), of('E', 'null'));
    assert.equal(await world.count('Property'), 5);
    assert.equal(await world.count('Property', '', { role: 'private', systems: ['null'] }), 2);
    await world.write('Property', of('D', ''), of('E'));
    assert.equal(await world.count('Property'), 5);
    assert.equal(await world.count('Property', '', { role: 'private', systems: ['null'] }), 1);
  });

  test('property: counts equal rows after any writes, moves and deletes', async () => {
    const property = fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 14 }), (steps) =>
      inScope(async (scope) => {
        const world = await makeWorld(engine, scope);
        for (const step of steps) {
          await take(world, step);
          world.clock.advance(SECOND);
        }
        await assertCounted(world);
        await assertFamilies(world);
        await assertMediaCounted(world);
        assert.deepEqual(await faultsIn(world.store), []);
      }),
    );
    await fc.assert(property, { seed: 20260602, numRuns: contractRuns(engine, 60) });
  });

  test('property: an export equals what was written, whatever came before', async () => {
    const property = fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 10 }), (steps) =>
      inScope(async (scope) => {
        const world = await makeWorld(engine, scope);
        for (const step of steps) await take(world, step);
        // A second store that gets the result in one import has the same content.
        const copy = await makeWorld(engine, scope);
        for (const resource of ['Property', 'OpenHouse', 'PropertyRooms', 'Media']) {
          const records = await world.exported(resource);
          const bare = records.map(({ ModificationTimestamp: _, ...record }) => record);
          await copy.write(resource, ...bare);
        }
        for (const resource of RESOURCES) {
          const stampless = async (from: World) =>
            (await from.exported(resource)).map((record) =>
              Object.fromEntries(Object.entries(record).filter(([name]) => !name.endsWith('Timestamp'))),
            );
          assert.deepEqual(await stampless(copy), await stampless(world));
          for (const viewer of VIEWERS) {
            assert.deepEqual(
              await copy.keys(resource, '', { viewer }),
              await world.keys(resource, '', { viewer }),
            );
          }
        }
      }),
    );
    await fc.assert(property, { seed: 20260603, numRuns: contractRuns(engine, 25) });
  });
}
