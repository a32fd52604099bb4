/** I3: which timestamps of a listing move when its children change, and which do not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  floorPlan,
  listing,
  member,
  office,
  openHouse,
  photo,
  photoOf,
  room,
  unit,
} from '../../support/builders.ts';
import { SECOND } from '../../support/clock.ts';
import type { Engine } from '../../support/engine.ts';
import { type Json, makeWorld, type World } from '../../support/world.ts';

const STAMPS = [
  'ModificationTimestamp',
  'PhotosChangeTimestamp',
  'VideosChangeTimestamp',
  'DocumentsChangeTimestamp',
  'OpenHousesChangeTimestamp',
  'StatusChangeTimestamp',
  'PriceChangeTimestamp',
  'MajorChangeTimestamp',
];

/** Brings every timestamp into use, so that each record has it. */
const settings = { declarations: { fieldsInUse: STAMPS.map((name) => `Property.${name}`) } };

/** The timestamps of listing A that a piece of work moves. */
async function movedBy(world: World, work: () => Promise<unknown>): Promise<string[]> {
  const select = `$select=${STAMPS.join()}`;
  const before = await world.record('Property', 'A', select);
  world.clock.advance(SECOND);
  await work();
  const after = await world.record('Property', 'A', select);
  const moved = STAMPS.filter((name) => before?.[name] !== after?.[name]);
  for (const name of moved) {
    assert.equal(after?.[name], after?.ModificationTimestamp, name);
    const before = world.clock.now() - Date.parse(String(after?.[name]));
    assert.ok(before === 0 || before === 1, `${name} ${after?.[name]}`);
  }
  // Texts and columns agree.
  const whole = await world.record('Property', 'A');
  for (const name of STAMPS) assert.equal(whole?.[name], after?.[name], name);
  return moved.map((name) => name.replace('Timestamp', ''));
}

const document = (key: string, fields: Json = {}): Json => ({
  MediaKey: key,
  MediaCategory: 'Document',
  ...fields,
});
const video = (key: string): Json => ({ MediaKey: key, MediaCategory: 'Video' });
const tour = (key: string): Json => ({ MediaKey: key, MediaCategory: 'Branded Virtual Tour' });

/** Each kind of child: the collection, a child, and the timestamps that it moves. */
const KINDS: readonly (readonly [string, string, Json, readonly string[]])[] = [
  ['photo', 'Media', photo('C'), ['Modification', 'PhotosChange']],
  ['photo without a category', 'Media', { MediaKey: 'C' }, ['Modification', 'PhotosChange']],
  ['floor plan', 'Media', floorPlan('C'), ['Modification', 'PhotosChange']],
  ['video', 'Media', video('C'), ['Modification', 'VideosChange']],
  ['virtual tour', 'Media', tour('C'), ['Modification', 'VideosChange']],
  ['document', 'Media', document('C'), ['Modification', 'DocumentsChange']],
  ['medium of another kind', 'Media', { MediaKey: 'C', MediaCategory: 'Agent Photo' }, ['Modification']],
  ['room', 'Rooms', room('C'), ['Modification']],
  ['unit', 'UnitTypes', unit('C'), ['Modification']],
  ['open house', 'OpenHouses', openHouse('C'), ['Modification', 'OpenHousesChange']],
];

const CHANGE: Readonly<Record<string, Json>> = {
  Media: { ShortDescription: 'Changed' },
  Rooms: { RoomDescription: 'Changed' },
  UnitTypes: { UnitTypeDescription: 'Changed' },
  OpenHouses: { OpenHouseRemarks: 'Changed' },
};

const RESOURCE: Readonly<Record<string, string>> = {
  Media: 'Media',
  Rooms: 'PropertyRooms',
  UnitTypes: 'PropertyUnitTypes',
  OpenHouses: 'OpenHouse',
};

export function parentContract(engine: Engine): void {
  for (const [kind, collection, child, expected] of KINDS) {
    test(`a ${kind} that is added, changed or deleted moves its listing`, async (t) => {
      const world = await makeWorld(engine, t, { settings });
      const resource = RESOURCE[collection] ?? '';
      const write = (...children: readonly Json[]) =>
        world.write('Property', listing('A', { [collection]: children }));
      const own = { ListingKey: 'A' };
      const alone = { ...child, ...(collection === 'Media' ? { ResourceRecordKey: 'A' } : own) };
      await write();
      assert.deepEqual(await movedBy(world, () => write(child)), expected);
      assert.deepEqual(await movedBy(world, () => write(child)), []);
      assert.deepEqual(await movedBy(world, () => write({ ...child, ...CHANGE[collection] })), expected);
      assert.deepEqual(await movedBy(world, () => write()), expected);
      assert.deepEqual(await movedBy(world, () => world.write(resource, alone)), expected);
      assert.deepEqual(await movedBy(world, () => world.write(resource, alone)), []);
      assert.deepEqual(
        await movedBy(world, () => world.write(resource, { ...alone, ...CHANGE[collection] })),
        expected,
      );
      assert.deepEqual(await movedBy(world, () => world.store.remove(resource, ['C'])), expected);
    });
  }

  test('a medium that changes its kind moves the timestamps of both kinds', async (t) => {
    const world = await makeWorld(engine, t, { settings });
    await world.write('Property', listing('A', { Media: [photo('C')] }));
    const nested = () => world.write('Property', listing('A', { Media: [video('C')] }));
    assert.deepEqual(await movedBy(world, nested), ['Modification', 'PhotosChange', 'VideosChange']);
    const alone = () => world.write('Media', { ...document('C'), ResourceRecordKey: 'A' });
    assert.deepEqual(await movedBy(world, alone), ['Modification', 'VideosChange', 'DocumentsChange']);
  });

  test('a listing that loses a child to another one moves as well', async (t) => {
    const world = await makeWorld(engine, t, { settings });
    await world.write('Property', listing('A', { Media: [photo('C')] }), listing('B'));
    const taken = () => world.write('Property', listing('B', { Media: [photo('C')] }));
    assert.deepEqual(await movedBy(world, taken), ['Modification', 'PhotosChange']);
    const back = () => world.write('Media', photoOf('A', 'C'));
    assert.deepEqual(await movedBy(world, back), ['Modification', 'PhotosChange']);
  });

  test('media of an open house move the open house and its listing', async (t) => {
    const world = await makeWorld(engine, t, { settings });
    await world.write('Property', listing('A', { OpenHouses: [openHouse('O', { Media: [photo('C')] })] }));
    const changed = { ...photo('C'), ShortDescription: 'Changed' };
    const nested = () =>
      world.write('Property', listing('A', { OpenHouses: [openHouse('O', { Media: [changed] })] }));
    assert.deepEqual(await movedBy(world, nested), ['Modification', 'OpenHousesChange']);
    assert.deepEqual(await world.rows('OpenHouse', '$select=ModificationTimestamp'), [
      { ModificationTimestamp: world.clock.text() },
    ]);
    assert.deepEqual(await movedBy(world, () => world.store.remove('Media', ['C'])), [
      'Modification',
      'OpenHousesChange',
    ]);
  });

  test('changed fields of a listing move the timestamps that belong to them', async (t) => {
    const world = await makeWorld(engine, t, { settings });
    const base = { ListPrice: 100, StandardStatus: 'Active', MlsStatus: 'Active' };
    const write = (fields: Json) => () => world.write('Property', listing('A', { ...base, ...fields }));
    await write({})();
    assert.deepEqual(await movedBy(world, write({ City: 'Ely' })), ['Modification']);
    assert.deepEqual(await movedBy(world, write({ ListPrice: 90 })), [
      'Modification',
      'PriceChange',
      'MajorChange',
    ]);
    assert.deepEqual(await movedBy(world, write({ ListPrice: 90, MlsStatus: 'A1' })), [
      'Modification',
      'StatusChange',
      'MajorChange',
    ]);
    const sold = { ListPrice: 90, StandardStatus: 'Closed', ClosePrice: 80 };
    assert.deepEqual(await movedBy(world, write(sold)), [
      'Modification',
      'StatusChange',
      'PriceChange',
      'MajorChange',
    ]);
    assert.deepEqual(await movedBy(world, write({ ...sold, ListPrice: null })), [
      'Modification',
      'PriceChange',
      'MajorChange',
    ]);
  });

  test('a change of an agent or office moves no listing, and is returned by the next read', async (t) => {
    const world = await makeWorld(engine, t, { settings });
    await world.write('Office', office('10'));
    await world.write('Member', member('1', { OfficeKey: '10' }));
    const links = { ListAgentKey: '1', CoListAgentKey: '2', ListOfficeKey: '10', BuyerOfficeKey: '11' };
    await world.write('Property', listing('A', links));
    const names = 'ListAgentFullName,CoListAgentFullName,BuyerAgentFullName,ListOfficeName,BuyerOfficeName';
    const shown = async (): Promise<unknown[]> => {
      const selected = await world.record('Property', 'A', `$select=${names}`);
      const whole = await world.record('Property', 'A');
      const native = await world.listing('A');
      const fields = native?.StandardFields;
      assert.ok(typeof fields === 'object' && fields !== null);
      const shown = names.split(',').map((name) => selected?.[name]);
      assert.deepEqual(
        names.split(',').map((name) => whole?.[name]),
        shown,
      );
      assert.deepEqual(
        names.split(',').map((name) => Object.entries(fields).find(([key]) => key === name)?.[1]),
        shown,
      );
      for (const [index, name] of names.split(',').entries()) {
        const text = shown[index] === null ? 'null' : `'${shown[index]}'`;
        assert.deepEqual(await world.keys('Property', `$filter=${name} eq ${text}`), ['A'], name);
      }
      return shown;
    };
    assert.deepEqual(await shown(), ['Agent 1', null, null, 'Office 10', null]);
    const changed = await movedBy(world, async () => {
      await world.write('Member', member('1', { MemberFullName: 'New Name' }), member('2'));
      await world.write('Office', office('10', { OfficeName: 'New Office' }), office('11'));
    });
    assert.deepEqual(changed, []);
    assert.deepEqual(await shown(), ['New Name', 'Agent 2', null, 'New Office', 'Office 11']);
    const gone = await movedBy(world, async () => {
      await world.store.remove('Member', ['1']);
      await world.write('Member', member('2', { MemberFullName: null }));
    });
    assert.deepEqual(gone, []);
    assert.deepEqual(await shown(), [null, null, null, 'New Office', 'Office 11']);
  });
}
