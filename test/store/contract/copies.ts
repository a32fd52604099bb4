/** Complete content of a store: exports, backups, contents; and its status. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS, makeMarket, marketRecords } from 'plat-demo';
import { listing, member, openHouse, photo, photoOf, room } from '../../support/builders.ts';
import { SECOND } from '../../support/clock.ts';
import { type Engine, isLeftToSqlite } from '../../support/engine.ts';
import { nonZero } from '../../support/reports.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { type Json, makeWorld, operations, type World } from '../../support/world.ts';

const MARKET = { seed: 7, listings: 60 };
const settings = { declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS } };
const RESOURCES = [
  'OUID',
  'Office',
  'Member',
  'Property',
  'OpenHouse',
  'PropertyRooms',
  'PropertyUnitTypes',
  'Media',
];

async function writeMarket(world: World): Promise<void> {
  for (const [resource, records] of Map.groupBy(marketRecords(MARKET), (each) => each.resource)) {
    await world.write(resource, ...records.map(({ record }) => record));
  }
}

export function copyContract(engine: Engine): void {
  test('a market that is exported and imported is the same, and importing it again changes nothing', async (t) => {
    if (isLeftToSqlite(engine, t)) return;
    const world = await makeWorld(engine, t, { settings });
    await writeMarket(world);
    assert.equal(await world.count('Property'), makeMarket(MARKET).listings);
    const copy = await makeWorld(engine, t, { settings });
    for (const resource of RESOURCES) {
      const records = await world.exported(resource);
      assert.equal(records.length, await world.count(resource));
      assert.deepEqual(nonZero(await copy.write(resource, ...records)).inserted, records.length, resource);
    }
    for (const resource of RESOURCES) {
      const records = await world.exported(resource);
      const bare = (record: Json) => ({
        ...record,
        ModificationTimestamp: 0,
        ...('MajorChangeTimestamp' in record ? { MajorChangeTimestamp: 0 } : {}),
        ...('StatusChangeTimestamp' in record ? { StatusChangeTimestamp: 0 } : {}),
        ...('PriceChangeTimestamp' in record ? { PriceChangeTimestamp: 0 } : {}),
        PhotosChangeTimestamp: 0,
        VideosChangeTimestamp: 0,
        DocumentsChangeTimestamp: 0,
        OpenHousesChangeTimestamp: 0,
      });
      assert.deepEqual((await copy.exported(resource)).map(bare), records.map(bare), resource);
      assert.deepEqual(
        nonZero(await copy.write(resource, ...records)),
        { unchanged: records.length },
        resource,
      );
      assert.deepEqual(
        nonZero(await world.write(resource, ...records)),
        { unchanged: records.length },
        resource,
      );
    }
    for (const role of ['private', 'idx']) {
      for (const resource of RESOURCES) {
        const keys = await world.keys(resource, '', { viewer: { role } });
        assert.deepEqual(await copy.keys(resource, '', { viewer: { role } }), keys, resource);
      }
    }
  });

  test('an export has the parent of each child, and only what is stored', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Member', member('1'));
    await world.write(
      'Property',
      listing('A', { ListAgentKey: '1', OriginatingSystemID: 'X', Media: [photo('M')], Rooms: [room('R')] }),
    );
    await world.write('Media', photoOf('gone', 'N'));
    const at = (ModificationTimestamp: string) => ({ ModificationTimestamp });
    const stamp = at('2026-06-01T12:00:00.500Z');
    assert.deepEqual(await world.exported('PropertyRooms'), [{ RoomKey: 'R', ListingKey: 'A', ...stamp }]);
    const place = { ResourceName: 'Property', MediaCategory: 'Photo', ...stamp };
    assert.deepEqual(await world.exported('Media'), [
      {
        MediaKey: 'M',
        ResourceRecordKey: 'A',
        OriginatingSystemResourceRecordKey: 'A',
        OriginatingSystemResourceRecordSystemID: 'X',
        MediaURL: 'https://images.example/M.jpg',
        ...place,
      },
      {
        MediaKey: 'N',
        ResourceRecordKey: 'gone',
        OriginatingSystemResourceRecordKey: 'gone',
        MediaURL: 'https://images.example/N.jpg',
        ...place,
        ...at('2026-06-01T12:00:00.5001Z'),
      },
    ]);
    const [property] = await world.exported('Property');
    assert.equal('ListAgentFullName' in (property ?? {}), false);
    assert.deepEqual(await world.exported('Teams'), []);
  });

  test('an export is a snapshot, whatever is written while it is read', async (t) => {
    const world = await makeWorld(engine, t);
    const keys = ['A', 'B', 'C', 'D'];
    await world.write('Property', ...keys.map((key) => listing(key, { ListPrice: 1 })));
    const lines: string[] = [];
    for await (const line of world.store.export('Property')) {
      lines.push(line);
      if (lines.length > 1) continue;
      await world.write('Property', listing('C', { ListPrice: 2 }), listing('E'));
      await world.store.remove('Property', ['D']);
      // Other reads of the same process see the current state.
      assert.deepEqual(await world.keys('Property'), ['A', 'B', 'C', 'E']);
    }
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)).map(({ ListingKey, ListPrice }) => [ListingKey, ListPrice]),
      keys.map((key) => [key, 1]),
    );
  });

  test('contents() returns whole records by key, and the children of a record', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write(
      'Property',
      listing('A', { City: 'Ely', OpenHouses: [openHouse('O')], Media: [photo('M')] }),
    );
    await world.write('Member', member('A', { Media: [photo('N')] }));
    const [record] = await world.store.contents('Property', { key: 'A' });
    assert.equal(record?.City, 'Ely');
    const media = await world.store.contents('Media', { parent: 'A', parentResource: 'Property' });
    assert.deepEqual(
      media.map(({ MediaKey }) => MediaKey),
      ['M'],
    );
    assert.deepEqual(await world.store.contents('Property', { key: 'none' }), []);
    assert.deepEqual(await world.store.contents('Teams', { key: 'none' }), []);
  });

  test('a backup of a store in use is complete, opens, and is independent of the original', async (t) => {
    const world = await makeWorld(engine, t, { settings });
    await writeMarket(world);
    await world.store.keys.add(
      {
        id: 'k',
        name: 'n',
        kind: 'api',
        role: 'idx',
        systems: [],
        createdAt: 't',
        expiresAt: null,
        revokedAt: null,
      },
      'hash',
    );
    const file = temporaryFile();
    await world.store.backup(file);
    await assert.rejects(world.store.backup(file), { code: 'usage', message: `${file} already exists.` });
    const store = await world.copy(file);
    const copy = operations(store, world.clock);
    for (const resource of RESOURCES) {
      assert.deepEqual(await copy.exported(resource), await world.exported(resource), resource);
      assert.deepEqual(await copy.rows(resource), await world.rows(resource), resource);
    }
    assert.equal(store.secret, world.store.secret);
    assert.equal((await store.look('hash')).key?.id, 'k');
    const status = await store.status();
    const own = { store: '', engine: '', layout: 0, bytes: 0, partitions: undefined };
    assert.deepEqual({ ...status, ...own }, { ...(await world.store.status()), ...own });
    await copy.write('Property', listing('new'));
    assert.equal(await world.record('Property', 'new'), undefined);
  });

  test('the status counts records, tombstones, orphans and dangling links', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Member', member('1'));
    await world.write(
      'Property',
      listing('A', { ListAgentKey: '1', CoListAgentKey: '2', ListOfficeKey: '9' }),
      listing('B', { ListAgentKey: '3', ListOfficeKey: '9' }),
      listing('C', { ListAgentKey: '3' }),
    );
    world.clock.advance(SECOND);
    await world.write('Media', photoOf('none', 'M1'), photoOf('A', 'M2'));
    await world.store.remove('Property', ['C']);
    const status = await world.store.status();
    assert.deepEqual(status.danglingLinks, [
      { link: 'CoListAgentKey', keys: 1, listings: 1 },
      { link: 'ListAgentKey', keys: 1, listings: 1 },
      { link: 'ListOfficeKey', keys: 1, listings: 2 },
    ]);
    assert.deepEqual(
      status.resources.filter(({ resource }) => ['Property', 'Member', 'Office', 'Media'].includes(resource)),
      [
        {
          resource: 'Property',
          rows: 2,
          lastModification: '2026-06-01T12:00:01.500Z',
          deleted: 1,
          orphans: 0,
        },
        { resource: 'Member', rows: 1, lastModification: '2026-06-01T12:00:00.500Z', deleted: 0, orphans: 0 },
        { resource: 'Office', rows: 0, lastModification: null, deleted: 0, orphans: 0 },
        { resource: 'Media', rows: 2, lastModification: '2026-06-01T12:00:01.500Z', deleted: 0, orphans: 1 },
      ],
    );
    const { owner, lastStamp, generation, layout, bytes } = status;
    assert.deepEqual([owner, lastStamp, layout], ['authority', '2026-06-01T12:00:01.5001Z', engine.layout]);
    assert.equal(generation, (await world.store.model()).generation);
    assert.ok(bytes > 0);
  });
}
