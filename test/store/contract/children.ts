/** Nested collections: a collection that is present replaces the stored one, an absent one leaves it alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing, openHouse, photo, photoOf, room, unit } from '../../support/builders.ts';
import { SECOND } from '../../support/clock.ts';
import type { Engine } from '../../support/engine.ts';
import { nonZero } from '../../support/reports.ts';
import { type Json, makeWorld } from '../../support/world.ts';

export function childrenContract(engine: Engine): void {
  test('a nested collection that is present replaces all children of its kind', async (t) => {
    const world = await makeWorld(engine, t);
    const rooms = [room('R1', { RoomType: 'Kitchen' }), room('R2'), room('R3')];
    const report = await world.write('Property', listing('A', { Rooms: rooms }));
    assert.deepEqual(nonZero(report), { inserted: 1, children: { stored: 3 } });

    const next = [room('R1', { RoomType: 'Den' }), room('R2'), room('R4')];
    assert.deepEqual(nonZero(await world.write('Property', listing('A', { Rooms: next }))), {
      restamped: 1,
      children: { stored: 2, unchanged: 1, deleted: 1 },
    });
    assert.deepEqual(await world.rows('PropertyRooms', '$select=RoomKey,RoomType,ListingKey'), [
      { RoomKey: 'R1', RoomType: 'Den', ListingKey: 'A' },
      { RoomKey: 'R2', RoomType: null, ListingKey: 'A' },
      { RoomKey: 'R4', RoomType: null, ListingKey: 'A' },
    ]);
  });

  test('an absent or null collection leaves the children alone, an empty one removes them', async (t) => {
    const world = await makeWorld(engine, t);
    const children = { Media: [photo('M1')], Rooms: [room('R1')], UnitTypes: [unit('U1')] };
    await world.write('Property', listing('A', children));

    assert.deepEqual(nonZero(await world.write('Property', listing('A', { Rooms: null }))), { unchanged: 1 });
    assert.deepEqual(nonZero(await world.write('Property', listing('A', { City: 'Ely' }))), { changed: 1 });
    const expand =
      '$select=ListingKey&$expand=Media($select=MediaKey),Rooms($select=RoomKey),UnitTypes/$count';
    const before = { Media: [{ MediaKey: 'M1' }], Rooms: [{ RoomKey: 'R1' }], 'UnitTypes@odata.count': 1 };
    assert.deepEqual(await world.rows('Property', expand), [{ ListingKey: 'A', ...before }]);

    const emptied = listing('A', { City: 'Ely', Media: [], UnitTypes: [] });
    assert.deepEqual(nonZero(await world.write('Property', emptied)), {
      restamped: 1,
      children: { deleted: 2 },
    });
    const after = { Media: [], Rooms: [{ RoomKey: 'R1' }], 'UnitTypes@odata.count': 0 };
    assert.deepEqual(await world.rows('Property', expand), [{ ListingKey: 'A', ...after }]);
    assert.deepEqual(await world.keys('Media'), []);
  });

  test('grandchildren are written and deleted with their parents', async (t) => {
    const world = await makeWorld(engine, t);
    const media = [photo('OM1'), photo('OM2')];
    const given = listing('A', { OpenHouses: [openHouse('O1', { Media: media }), openHouse('O2')] });
    assert.deepEqual(nonZero(await world.write('Property', given)), {
      inserted: 1,
      children: { stored: 4 },
    });
    const expand =
      '$select=ListingKey&$expand=OpenHouses($select=OpenHouseKey;$expand=Media($select=MediaKey))';
    assert.deepEqual(await world.rows('Property', expand), [
      {
        ListingKey: 'A',
        OpenHouses: [
          { OpenHouseKey: 'O1', Media: [{ MediaKey: 'OM1' }, { MediaKey: 'OM2' }] },
          { OpenHouseKey: 'O2', Media: [] },
        ],
      },
    ]);
    assert.deepEqual(await world.rows('Media', '$select=MediaKey,ResourceName,ResourceRecordKey'), [
      { MediaKey: 'OM1', ResourceName: 'OpenHouse', ResourceRecordKey: 'O1' },
      { MediaKey: 'OM2', ResourceName: 'OpenHouse', ResourceRecordKey: 'O1' },
    ]);

    assert.deepEqual(nonZero(await world.write('Property', given)), {
      unchanged: 1,
      children: { unchanged: 4 },
    });
    const without = listing('A', { OpenHouses: [openHouse('O2')] });
    assert.deepEqual(nonZero(await world.write('Property', without)), {
      restamped: 1,
      children: { unchanged: 1, deleted: 3 },
    });
    assert.deepEqual(await world.keys('Media'), []);
    assert.equal(await world.count('Media'), 0);
  });

  test('a child written separately joins its parent, and can move to another one', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A'), listing('B'));
    assert.deepEqual(nonZero(await world.write('Media', photoOf('A', 'M1'))), { inserted: 1, restamped: 1 });
    world.clock.advance(SECOND);
    assert.deepEqual(nonZero(await world.write('Media', photoOf('B', 'M1'))), { changed: 1, restamped: 2 });
    assert.deepEqual(
      await world.rows('Media', '$select=ResourceRecordKey,OriginatingSystemResourceRecordKey'),
      [{ ResourceRecordKey: 'B', OriginatingSystemResourceRecordKey: 'B' }],
    );
    const expand = '$select=ListingKey&$expand=Media/$count';
    assert.deepEqual(await world.rows('Property', expand), [
      { ListingKey: 'A', 'Media@odata.count': 0 },
      { ListingKey: 'B', 'Media@odata.count': 1 },
    ]);
  });

  test('a child that another record contains leaves its old parent, in one batch or two', async (t) => {
    for (const batches of [1, 2]) {
      const world = await makeWorld(engine, t);
      await world.write('Property', listing('A', { Rooms: [room('R1'), room('R2')] }), listing('B'));
      const given = [listing('A', { Rooms: [room('R2')] }), listing('B', { Rooms: [room('R1')] })];
      if (batches === 1) await world.write('Property', ...given);
      else for (const one of given) await world.write('Property', one);
      assert.deepEqual(await world.rows('PropertyRooms', '$select=RoomKey,ListingKey'), [
        { RoomKey: 'R1', ListingKey: 'B' },
        { RoomKey: 'R2', ListingKey: 'A' },
      ]);
      assert.equal((await statusOf(world, 'PropertyRooms')).rows, 2);
    }
  });

  test('if two records of one batch have the same child, the later one keeps it', async (t) => {
    const world = await makeWorld(engine, t);
    const both = ['A', 'B'].map((key) => listing(key, { Rooms: [room('R1', { RoomType: key })] }));
    await world.write('Property', ...both);
    assert.deepEqual(await world.rows('PropertyRooms', '$select=RoomKey,ListingKey,RoomType'), [
      { RoomKey: 'R1', ListingKey: 'B', RoomType: 'B' },
    ]);
    assert.equal((await statusOf(world, 'PropertyRooms')).rows, 1);
  });

  test('a child that two records contain is reported with both, unless it has only moved; or the later record is rejected', async (t) => {
    const world = await makeWorld(engine, t);
    const rooms = (key: string, ...keys: readonly string[]): Json =>
      listing(key, { Rooms: keys.map((each) => room(each)) });
    await world.write('Property', rooms('A', 'R1', 'R2'), rooms('B'));
    const taken = async (...records: readonly Json[]) =>
      nonZero(await world.write('Property', ...records)).taken;
    assert.deepEqual(await taken(rooms('B', 'R1')), [['R1', 'A', 'B']]);
    assert.deepEqual(await taken(rooms('B'), rooms('A', 'R1', 'R2')), undefined, 'it has moved');
    assert.deepEqual(await taken(rooms('C', 'R9'), rooms('D', 'R9')), [['R9', 'C', 'D']]);
    // The later of the batch, although its own row is the one that is stored.
    assert.deepEqual(await taken(rooms('C', 'R9'), rooms('D', 'R9')), [['R9', 'C', 'D']]);

    const records = [rooms('B', 'R1'), rooms('C', 'R3'), rooms('E', 'R3'), rooms('D')];
    const parsed = await Promise.all(records.map((each) => world.parse('Property', each)));
    const { rejected, inserted, restamped } = await world.store.write('Property', parsed, {
      rejectsTaken: true,
    });
    assert.deepEqual(
      [inserted, restamped, rejected.map(({ key, reason }) => [key, reason]).toSorted()],
      [
        0,
        2,
        [
          ['B', 'PropertyRooms R1 is under Property A, and a record has one parent'],
          ['E', 'PropertyRooms R3 is under Property C, and a record has one parent'],
        ],
      ],
    );
    assert.deepEqual(await world.rows('PropertyRooms', '$select=RoomKey,ListingKey'), [
      { RoomKey: 'R1', ListingKey: 'A' },
      { RoomKey: 'R2', ListingKey: 'A' },
      { RoomKey: 'R3', ListingKey: 'C' },
    ]);
  });

  test('a record that is rejected because of its child is not named as the parent of others, which are stored if they have no other fault', async (t) => {
    const world = await makeWorld(engine, t);
    const rooms = (key: string, ...keys: readonly string[]) =>
      listing(key, { Rooms: keys.map((each) => room(each)) });
    await world.write('Property', rooms('A', 'R1'), rooms('B', 'R2'));
    const strictly = async (...records: readonly Json[]) => {
      const parsed = await Promise.all(records.map((each) => world.parse('Property', each)));
      const { inserted, rejected } = await world.store.write('Property', parsed, { rejectsTaken: true });
      return [inserted, rejected.map(({ key, reason }) => `${key}: ${reason.split(',')[0]}`).toSorted()];
    };
    // The first of several keeps the child, and all of them name it.
    assert.deepEqual(await strictly(rooms('C', 'R3'), rooms('D', 'R3'), rooms('E', 'R3')), [
      1,
      ['D: PropertyRooms R3 is under Property C', 'E: PropertyRooms R3 is under Property C'],
    ]);
    // F is rejected because of R1, so nothing contains R4 but G.
    assert.deepEqual(await strictly(rooms('F', 'R1', 'R4'), rooms('G', 'R4'), rooms('H', 'R4')), [
      1,
      ['F: PropertyRooms R1 is under Property A', 'H: PropertyRooms R4 is under Property G'],
    ]);
    // Both are rejected, and keep the children that they had.
    assert.deepEqual(await strictly(rooms('A', 'R1', 'R2'), rooms('B', 'R1', 'R2')), [
      0,
      ['A: PropertyRooms R2 is under Property B', 'B: PropertyRooms R1 is under Property A'],
    ]);
    assert.deepEqual(await world.rows('PropertyRooms', '$select=RoomKey,ListingKey'), [
      { RoomKey: 'R1', ListingKey: 'A' },
      { RoomKey: 'R2', ListingKey: 'B' },
      { RoomKey: 'R3', ListingKey: 'C' },
      { RoomKey: 'R4', ListingKey: 'G' },
    ]);
    // I is rejected because J still has R5; without I, nothing speaks against J and K, and then R5 is free, but not the others.
    await world.write('Property', rooms('J', 'R5'));
    assert.deepEqual(await strictly(rooms('I', 'R5', 'R6', 'R7'), rooms('J', 'R6'), rooms('K', 'R7')), [
      1,
      ['I: PropertyRooms R7 is under Property K'],
    ]);
    assert.deepEqual((await world.rows('PropertyRooms', '$select=RoomKey,ListingKey')).slice(4), [
      { RoomKey: 'R6', ListingKey: 'J' },
      { RoomKey: 'R7', ListingKey: 'K' },
    ]);
  });

  test('a record with a nested child that contradicts it, or comes twice, is rejected', async (t) => {
    const world = await makeWorld(engine, t);
    const wrong = listing('A', { Rooms: [room('R1', { ListingKey: 'B' }), room('R2'), room('R2')] });
    assert.deepEqual(await world.reasons('Property', wrong), [
      'Rooms[0].ListingKey is "B", but its parent has "A"',
      'Rooms has the key R2 twice',
    ]);
    assert.deepEqual(await world.reasons('Property', listing('A', { Rooms: {} })), ['Rooms is not a list']);
    for (const [given, reasons] of [
      [
        { Rooms: [room('R1')], Room: [room('R2')] },
        ['Room and Rooms are the same, but have different values'],
      ],
      [{ Room: [], Rooms: [room('R1')] }, ['Room and Rooms are the same, but have different values']],
      [{ Rooms: [room('R1')], Room: [room('R1')] }, []],
      [{ Rooms: null, Room: [room('R1')] }, []],
    ] as const) {
      assert.deepEqual(await world.reasons('Property', listing('A', given)), reasons);
    }
    assert.deepEqual(await world.reasons('Property', listing('A', { Rooms: [7, {}] })), [
      'Rooms[0] is not a JSON object',
      'Rooms[1] has no RoomKey',
    ]);
  });
}

async function statusOf(world: Awaited<ReturnType<typeof makeWorld>>, resource: string) {
  const { resources } = await world.store.status();
  const found = resources.find((each) => each.resource === resource);
  assert.ok(found, `no status of ${resource}`);
  return found;
}
