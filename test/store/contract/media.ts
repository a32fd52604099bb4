/** Media name their parent in two ways, those of the dictionary and of the specification; the second follows from the first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing, member, photo, room } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { faultsIn } from '../../support/faults.ts';
import { nonZero } from '../../support/reports.ts';
import { makeWorld } from '../../support/world.ts';

const PLACE =
  '$select=ResourceName,ResourceRecordKey,OriginatingSystemResourceRecordKey,OriginatingSystemResourceRecordSystemID';

export function mediaContract(engine: Engine): void {
  test('the media of a listing get its key and system, in every form of input', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { OriginatingSystemID: 'X', Media: [photo('M1')] }));
    const forms = [
      { MediaKey: 'M2', ResourceName: 'Property', ResourceRecordKey: 'A' },
      { MediaKey: 'M3', ResourceRecordKey: 'A' },
      { MediaKey: 'M4', OriginatingSystemResourceRecordKey: 'A' },
      {
        MediaKey: 'M5',
        OriginatingSystemResourceRecordKey: 'A',
        OriginatingSystemResourceRecordSystemId: 'X',
      },
    ];
    assert.deepEqual(nonZero(await world.write('Media', ...forms)), { inserted: 4, restamped: 1 });
    const placed = {
      ResourceName: 'Property',
      ResourceRecordKey: 'A',
      OriginatingSystemResourceRecordKey: 'A',
      OriginatingSystemResourceRecordSystemID: 'X',
    };
    assert.deepEqual(await world.rows('Media', PLACE), Array(5).fill(placed));
    assert.deepEqual(nonZero(await world.write('Media', ...forms)), { unchanged: 4 });
  });

  test('input that spells out what follows from the parent changes nothing', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { OriginatingSystemID: 'X', Media: [photo('M1')] }));
    const spelled = photo('M1', {
      ResourceName: 'Property',
      ResourceRecordKey: 'A',
      OriginatingSystemResourceRecordKey: 'A',
      OriginatingSystemResourceRecordSystemID: 'X',
    });
    const again = await world.write('Property', listing('A', { OriginatingSystemID: 'X', Media: [spelled] }));
    assert.deepEqual(nonZero(again), { unchanged: 1, children: { unchanged: 1 } });
  });

  test('media that contradict their listing are rejected', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { OriginatingSystemID: 'X' }));
    const other = { MediaKey: 'M1', ResourceRecordKey: 'A', OriginatingSystemResourceRecordKey: 'B' };
    assert.deepEqual(await world.reasons('Media', other), [
      'OriginatingSystemResourceRecordKey is "B", but its parent has "A"',
    ]);
    const nested = listing('A', {
      OriginatingSystemID: 'X',
      Media: [photo('M1', { OriginatingSystemResourceRecordSystemID: 'Y' })],
    });
    assert.deepEqual(await world.reasons('Property', nested), [
      'Media[0].OriginatingSystemResourceRecordSystemID is "Y", but its parent has "X"',
    ]);
    const twice = photo('M1', {
      OriginatingSystemResourceRecordSystemId: 'X',
      OriginatingSystemResourceRecordSystemID: 'Y',
    });
    const names = ['OriginatingSystemResourceRecordSystemId', 'OriginatingSystemResourceRecordSystemID'];
    assert.deepEqual(await world.reasons('Media', twice), [
      `${names.join(' and ')} are the same, but have different values`,
    ]);
    const alone = { MediaKey: 'M1', ResourceRecordKey: 'A', OriginatingSystemResourceRecordSystemID: 'Y' };
    assert.deepEqual(nonZero(await world.write('Media', alone)), {
      rejected: [
        {
          resource: 'Media',
          key: 'M1',
          reason: 'OriginatingSystemResourceRecordSystemID is "Y", but its parent has "X"',
        },
      ],
    });
    assert.deepEqual(await world.keys('Media'), []);
  });

  test('a replica keeps what its source says about a listing in the media', async (t) => {
    const world = await makeWorld(engine, t, { settings: { owner: 'replica' } });
    const foreign = { OriginatingSystemResourceRecordSystemID: 'Y' };
    const nested = listing('A', {
      OriginatingSystemID: 'X',
      Media: [
        photo('M1', foreign),
        photo('M2', { ResourceName: 'Member', ResourceRecordKey: 'B' }),
        photo('M3'),
      ],
      Rooms: [room('R1', { ListingKey: 'B' })],
    });
    const alone = {
      MediaKey: 'M4',
      ResourceRecordKey: 'A',
      OriginatingSystemResourceRecordKey: 'B',
      ...foreign,
    };
    for (const wanted of [
      { inserted: 1, children: { stored: 4 } },
      { unchanged: 1, children: { unchanged: 4 } },
    ]) {
      assert.deepEqual(nonZero(await world.write('Property', nested)), wanted);
    }
    assert.deepEqual(nonZero(await world.write('Media', alone)), { inserted: 1, restamped: 1 });
    const keys = (key: string, system: string) => ({
      ResourceName: 'Property',
      ResourceRecordKey: 'A',
      OriginatingSystemResourceRecordKey: key,
      OriginatingSystemResourceRecordSystemID: system,
    });
    assert.deepEqual(await world.rows('Media', PLACE), [
      keys('A', 'Y'),
      keys('A', 'X'),
      keys('A', 'X'),
      keys('B', 'Y'),
    ]);
    assert.deepEqual(await world.rows('PropertyRooms', '$select=ListingKey'), [{ ListingKey: 'A' }]);
    // These values are content, so that another value is a change. A listing may move to another system.
    const other = { ...nested, Media: [photo('M1', { OriginatingSystemResourceRecordSystemID: 'Z' })] };
    assert.deepEqual(nonZero(await world.write('Property', other)), {
      restamped: 1,
      children: { stored: 1, deleted: 3, unchanged: 1 },
    });
    const moved = nonZero(await world.write('Property', { ...other, OriginatingSystemID: 'W' }));
    assert.deepEqual(moved, { changed: 1, children: { stored: 2 } });
    assert.deepEqual(await world.keys('Media', '', { viewer: { role: 'private', systems: ['W'] } }), ['M1']);
    // The same, except that these records come from no source.
    const faults = (await faultsIn(world.store)).map(([resource, key, ...what]) => [
      resource,
      key,
      what.join(),
    ]);
    assert.deepEqual(
      faults.filter(([, , what]) => what !== '_source'),
      [],
    );
  });

  test('media of an agent belong to the agent only', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Member', member('A', { Media: [photo('M1')] }));
    await world.write('Property', listing('A', { Media: [photo('M2')] }));
    assert.deepEqual(await world.rows('Media', PLACE), [
      {
        ResourceName: 'Member',
        ResourceRecordKey: 'A',
        OriginatingSystemResourceRecordKey: null,
        OriginatingSystemResourceRecordSystemID: null,
      },
      {
        ResourceName: 'Property',
        ResourceRecordKey: 'A',
        OriginatingSystemResourceRecordKey: 'A',
        OriginatingSystemResourceRecordSystemID: null,
      },
    ]);
    assert.deepEqual(await world.rows('Member', '$select=MemberKey&$expand=Media($select=MediaKey)'), [
      { MemberKey: 'A', Media: [{ MediaKey: 'M1' }] },
    ]);
  });
}
