/** Originating systems: a key belongs to one, and a reader may be restricted to some. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repairStore } from '../../../src/store/check/check-store.ts';
import { floorPlan, listing, member, photo, photoOf, room } from '../../support/builders.ts';
import { SECOND } from '../../support/clock.ts';
import type { Engine } from '../../support/engine.ts';
import { faultsIn } from '../../support/faults.ts';
import { nonZero } from '../../support/reports.ts';
import { type Json, makeWorld } from '../../support/world.ts';

const OF_X = 'The key belongs to the originating system X; this record is of Y';

export function systemContract(engine: Engine): void {
  test('a record of another system cannot take over a key', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { OriginatingSystemID: 'X', City: 'Ely' }));
    const report = await world.write(
      'Property',
      listing('A', { OriginatingSystemID: 'Y', City: 'Duluth', Rooms: [room('R1')] }),
      listing('B', { OriginatingSystemID: 'Y' }),
    );
    assert.deepEqual(nonZero(report), {
      inserted: 1,
      rejected: [{ resource: 'Property', key: 'A', reason: OF_X }],
    });
    assert.deepEqual(await world.rows('Property', '$select=ListingKey,OriginatingSystemID,City'), [
      { ListingKey: 'A', OriginatingSystemID: 'X', City: 'Ely' },
      { ListingKey: 'B', OriginatingSystemID: 'Y', City: null },
    ]);
    assert.deepEqual(await world.keys('PropertyRooms'), []);
  });

  test('a child of one system does not move to a listing of another', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { OriginatingSystemID: 'X', Media: [photo('M1')] }));
    const nested = await world.write(
      'Property',
      listing('B', { OriginatingSystemID: 'Y', Media: [photo('M1')] }),
    );
    const rejected = [{ resource: 'Media', key: 'M1', reason: OF_X }];
    assert.deepEqual(nonZero(nested), { inserted: 1, rejected });
    assert.deepEqual(nonZero(await world.write('Media', photoOf('B', 'M1'))), { rejected });
    assert.deepEqual(await world.rows('Media', '$select=ResourceRecordKey'), [{ ResourceRecordKey: 'A' }]);
  });

  test("listings of two systems in one write do not take each other's children", async (t) => {
    const world = await makeWorld(engine, t);
    const children = { Media: [photo('M1')], Rooms: [room('R1')] };
    const report = await world.write(
      'Property',
      listing('A', { OriginatingSystemID: 'X', ...children }),
      listing('B', { OriginatingSystemID: 'Y', ...children }),
    );
    const rejected = [
      { resource: 'Media', key: 'M1', reason: OF_X },
      { resource: 'PropertyRooms', key: 'R1', reason: OF_X },
    ];
    assert.deepEqual(nonZero(report), { inserted: 2, children: { stored: 2 }, rejected });
    assert.deepEqual(await world.rows('Media', '$select=ResourceRecordKey'), [{ ResourceRecordKey: 'A' }]);
    assert.deepEqual(await world.rows('PropertyRooms', '$select=ListingKey'), [{ ListingKey: 'A' }]);
  });

  test('a record without a system may get one later, and its children with it', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { Media: [photo('M1')], Rooms: [room('R1')] }));
    const viewer = { role: 'idx', systems: ['X'] };
    assert.deepEqual(await world.keys('Media', '', { viewer }), []);
    await world.write('Property', listing('A', { OriginatingSystemID: 'X' }));
    assert.deepEqual(
      await world.rows('Media', '$select=OriginatingSystemResourceRecordSystemID', { viewer }),
      [{ OriginatingSystemResourceRecordSystemID: 'X' }],
    );
    assert.deepEqual(await world.keys('PropertyRooms', '', { viewer }), ['R1']);
  });

  test('a medium names the system of its listing, whatever it named before its listing was stored', async (t) => {
    const world = await makeWorld(engine, t);
    const named = 'OriginatingSystemResourceRecordSystemID';
    const systems = () => world.rows('Media', `$select=MediaKey,${named}`);
    await world.write('Media', photoOf('A', 'M1', { [named]: 'Y' }), photoOf('A', 'M2'));
    for (const system of ['X', null, 'Z']) {
      await world.write('Property', listing('A', { OriginatingSystemID: system }));
      assert.deepEqual(await systems(), [
        { MediaKey: 'M1', [named]: system },
        { MediaKey: 'M2', [named]: system },
      ]);
      assert.deepEqual(await faultsIn(world.store), []);
    }
    await world.write('Media', photoOf('B', 'M3', { [named]: 'Y' }));
    await world.write('Property', listing('B', { Rooms: [] }));
    await world.write('Media', photoOf('B', 'M4', { [named]: 'Y' }));
    assert.deepEqual(
      (await systems()).slice(2),
      ['M3', 'M4'].map((MediaKey) => ({ MediaKey, [named]: 'Y' })),
      'a listing without a system says nothing',
    );
  });

  test('a check finds a medium that names another system than its listing, and a repair corrects it as a change', async (t) => {
    const world = await makeWorld(engine, t);
    const named = 'OriginatingSystemResourceRecordSystemID';
    await world.write(
      'Property',
      listing('A', { OriginatingSystemID: 'X', Media: [photo('M1'), photo('M2'), floorPlan('M3')] }),
      listing('B', { Media: [photo('M4')] }),
      listing('C', { OriginatingSystemID: 'X', Media: [photo('M5')] }),
    );
    await world.write('Media', photoOf('none', 'M6', { [named]: 'Y' }));
    const seen = () => world.rows('Media', `$select=MediaKey,${named},ModificationTimestamp`);
    const changed = async (before: readonly Json[]): Promise<unknown[]> =>
      (await seen()).flatMap((row, at) => {
        const { ModificationTimestamp: was } = before[at] ?? {};
        return row.ModificationTimestamp === was ? [] : [row.MediaKey];
      });
    const listingsSince = (moment: string) =>
      world.keys('Property', `$filter=PhotosChangeTimestamp gt ${moment}`);
    const before = await seen();
    // As earlier versions of plat stored them: in columns and texts alike.
    await world.damage(
      `UPDATE media_records SET "${named}" = 'Y', idx_values = replace(idx_values, '"${named}":"X"', '"${named}":"Y"')
        WHERE _key IN ('M1', 'M3', 'M5')`,
    );
    assert.deepEqual(await world.keys('Media', `$filter=${named} eq 'Y'`), ['M1', 'M3', 'M5']);
    const faults = ['M1', 'M3', 'M5'].map((key) => ['Media', key, 'the originating system of its listing']);
    assert.deepEqual(await faultsIn(world.store), faults);
    world.clock.advance(60 * SECOND);
    const moment = world.clock.text();
    world.clock.advance(SECOND);
    await repairStore(world.store);
    assert.deepEqual(await faultsIn(world.store), []);
    assert.deepEqual(await world.keys('Media', `$filter=${named} eq 'X'`), ['M1', 'M2', 'M3', 'M5']);
    assert.deepEqual(await changed(before), ['M1', 'M3', 'M5']);
    assert.deepEqual(await listingsSince(moment), ['A', 'C']);
  });

  test('children of a listing belong to its system, whatever they say themselves', async (t) => {
    const world = await makeWorld(engine, t);
    const openHouse = (key: string, ListingKey: string) => ({
      OpenHouseKey: key,
      ListingKey,
      OriginatingSystemID: 'Y',
    });
    await world.write('Property', listing('A'), listing('B', { OriginatingSystemID: 'X' }));
    await world.write('OpenHouse', openHouse('1', 'A'), openHouse('2', 'B'));
    const seen = (...systems: string[]) =>
      world.keys('OpenHouse', '', { viewer: { role: 'private', systems } });
    assert.deepEqual(await seen('Y'), []);
    assert.deepEqual(await seen('X'), ['2']);
    assert.deepEqual(await world.keys('OpenHouse'), ['1', '2']);
  });

  test('a reader sees only records of its systems, and children with their parents', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Member', member('1', { OriginatingSystemID: 'X' }), member('2'));
    for (const system of ['X', 'Y', 'Z']) {
      const children = { Media: [photo(`M${system}`)], Rooms: [room(`R${system}`)] };
      await world.write('Property', listing(system, { OriginatingSystemID: system, ...children }));
    }
    await world.write('Property', listing('none', { Media: [photo('M0')], ListAgentKey: '1' }));
    for (const role of ['private', 'idx']) {
      const viewer = { role, systems: ['X', 'Z'] };
      assert.deepEqual(await world.keys('Property', '', { viewer }), ['X', 'Z']);
      assert.deepEqual(await world.keys('Property', '$filter=ListPrice eq null', { viewer }), ['X', 'Z']);
      assert.deepEqual(await world.keys('Media', '', { viewer }), ['MX', 'MZ']);
      assert.deepEqual(await world.keys('PropertyRooms', '', { viewer }), ['RX', 'RZ']);
      assert.deepEqual(await world.keys('Member', '', { viewer }), ['1']);
      assert.equal(await world.count('Property', '', viewer), 2);
      assert.equal(await world.record('Property', 'Y', '', { viewer }), undefined);
      // What a store publishes itself belongs to no system.
      assert.ok((await world.count('Field', '', viewer)) > 50);
    }
    assert.deepEqual(await world.keys('Property', '', { viewer: { role: 'idx', systems: ['W'] } }), []);
  });

  test('the floor plan interface returns only floor plans of listings', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Member', member('1', { Media: [floorPlan('PM')] }));
    const media = (id: string) => [photo(`${id}1`), floorPlan(`${id}2`), floorPlan(`${id}3`)];
    await world.write(
      'Property',
      listing('A', { OriginatingSystemID: 'X', Media: media('A') }),
      listing('B', { OriginatingSystemID: 'X', Media: media('B'), StandardStatus: 'Withdrawn' }),
      listing('C', { OriginatingSystemID: 'Y', Media: media('C') }),
    );
    const viewer = { role: 'idx', systems: ['X'], onlyFloorPlans: true };
    assert.deepEqual(await world.keys('Media', '', { viewer }), ['A2', 'A3']);
    assert.equal(await world.count('Media', '', viewer), 2);
    assert.equal(await world.count('Media', "$filter=MediaCategory eq 'Photo'", viewer), 0);
    assert.equal(await world.record('Media', 'A1', '', { viewer }), undefined);
    assert.equal((await world.record('Media', 'A2', '', { viewer }))?.MediaKey, 'A2');
    const everywhere = { role: 'private', onlyFloorPlans: true };
    assert.deepEqual(await world.keys('Media', '', { viewer: everywhere }), [
      'A2',
      'A3',
      'B2',
      'B3',
      'C2',
      'C3',
    ]);
  });
}
