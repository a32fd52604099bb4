/** Values of open lookups are in Lookup as long as they are in use, for readers who see a row with them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN_ACCESS } from '../../../src/access/index.ts';
import { findFaults, repairStore } from '../../../src/store/check/check-store.ts';
import { listing, member, office, room } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { type Engine, isLeftToSqlite } from '../../support/engine.ts';
import { faultsIn } from '../../support/faults.ts';
import { IDX, PRIVATE, type Viewer } from '../../support/views.ts';
import { makeWorld, operations, pick, type World } from '../../support/world.ts';

type Reader = Pick<World, 'store' | 'keys' | 'count'>;

/** The values of these lookups that a viewer gets, except for those of the dictionary. */
async function openValues(world: Reader, viewer: Viewer, ...lookups: readonly string[]): Promise<string[]> {
  const names = lookups.map((name) => `'${name}'`).join(',');
  const options = `$filter=LookupName in (${names}) and StandardLookupValue eq null&$select=LookupKey`;
  const keys = await world.keys('Lookup', options, { viewer });
  assert.equal(await world.count('Lookup', options, viewer), keys.length);
  assert.equal(await world.count('Lookup', '', viewer), (await world.keys('Lookup', '', { viewer })).length);
  return keys;
}

const none = async (world: Pick<World, 'store'>): Promise<void> => {
  const faults = await Array.fromAsync(findFaults(world.store));
  assert.deepEqual(faults, []);
};

export function valuesInUseContract(engine: Engine): void {
  test('a value is in Lookup from the first row that has it to the last', async (t) => {
    const world = await makeWorld(engine, t);
    const lookups = ['City', 'Appliances', 'CountyOrParish'] as const;
    await world.write(
      'Property',
      listing('A', { City: 'Ely', Appliances: ['Dishwasher', 'Samovar', 'Samovar'] }),
      listing('B', { City: 'Ely', CountyOrParish: 'Saint Louis' }),
      listing('C', { City: 'Duluth' }),
    );
    await world.write('Office', office('O', { OfficeCountyOrParish: 'Lake' }));
    const all = [
      'Appliances.Samovar',
      'City.Duluth',
      'City.Ely',
      'CountyOrParish.Lake',
      'CountyOrParish.Saint Louis',
    ];
    assert.deepEqual(await openValues(world, PRIVATE, ...lookups), all);
    const [entry] = await world.rows('Lookup', "$filter=LookupKey eq 'City.Ely'");
    assert.deepEqual(
      pick(entry ?? {}, 'LookupName', 'LookupValue', 'StandardLookupValue', 'LegacyODataValue'),
      {
        LookupName: 'City',
        LookupValue: 'Ely',
        StandardLookupValue: null,
        LegacyODataValue: null,
      },
    );
    await none(world);
    // Another value is added, and the entries of values that stay are not changed.
    world.clock.advance(60_000);
    await world.write('Property', listing('A', { City: 'Tower' }));
    assert.deepEqual(await openValues(world, PRIVATE, ...lookups), [
      ...['City.Duluth', 'City.Ely', 'City.Tower', 'CountyOrParish.Lake', 'CountyOrParish.Saint Louis'],
    ]);
    assert.deepEqual((await world.rows('Lookup', "$filter=LookupKey eq 'City.Ely'"))[0], entry);
    await world.store.remove('Property', ['B']);
    await world.store.remove('Office', ['O']);
    assert.deepEqual(await openValues(world, PRIVATE, ...lookups), ['City.Duluth', 'City.Tower']);
    await world.store.remove('Property', ['A', 'C']);
    assert.deepEqual(await openValues(world, PRIVATE, ...lookups), []);
    await none(world);
  });

  test('I4 by role: a value that occurs only in hidden rows, hidden fields or withheld addresses is shown to no other role', async (t) => {
    const world = await makeWorld(engine, t);
    const hidden = { StandardStatus: 'Withdrawn' };
    await world.write(
      'Property',
      listing('A', { City: 'Ely', StandardStatus: 'Active', ShowingDays: ['Any Day'] }),
      listing('B', {
        City: 'Duluth',
        HighSchool: 'East',
        ...hidden,
        Rooms: [room('R', { RoomType: 'Observatory' })],
      }),
      listing('C', {
        City: 'Tower',
        HighSchool: 'West',
        StandardStatus: 'Active',
        InternetAddressDisplayYN: false,
      }),
    );
    const lookups = ['City', 'HighSchool', 'ShowingDays', 'RoomType'] as const;
    const idx = (): Promise<string[]> => openValues(world, IDX, ...lookups);
    assert.deepEqual(await openValues(world, PRIVATE, ...lookups), [
      ...['City.Duluth', 'City.Ely', 'City.Tower', 'HighSchool.East', 'HighSchool.West'],
      ...['RoomType.Observatory', 'ShowingDays.Any Day'],
    ]);
    assert.deepEqual(await idx(), ['City.Ely', 'HighSchool.West']);
    await none(world);
    // A row that becomes visible adds its values and those of its children, and removes them when it is hidden again.
    await world.write(
      'Property',
      listing('B', { City: 'Duluth', HighSchool: 'East', StandardStatus: 'Active' }),
    );
    assert.deepEqual(await idx(), [
      ...['City.Duluth', 'City.Ely', 'HighSchool.East', 'HighSchool.West', 'RoomType.Observatory'],
    ]);
    await world.write(
      'Property',
      listing('A', { City: 'Ely', ...hidden }),
      listing('B', { City: 'Duluth', ...hidden }),
    );
    assert.deepEqual(await idx(), ['HighSchool.West']);
    await world.write('Property', listing('C', { City: 'Tower', StandardStatus: 'Active' }));
    assert.deepEqual(await idx(), ['City.Tower']);
    await none(world);
  });

  test('a key of one system gets the values of its rows, and those that belong to no system', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write(
      'Property',
      listing('A', { City: 'Ely', OriginatingSystemID: 'X' }),
      listing('B', { City: 'Duluth', OriginatingSystemID: 'Y' }),
      listing('C', { City: 'Tower' }),
    );
    await world.write('OUID', { OrganizationUniqueIdKey: 'O', OrganizationType: 'Guild' });
    const of = (...systems: string[]) =>
      openValues(world, { role: 'private', systems }, 'City', 'OrganizationType');
    assert.deepEqual(await of('X'), ['City.Ely', 'OrganizationType.Guild']);
    assert.deepEqual(await of('X', 'Y'), ['City.Duluth', 'City.Ely', 'OrganizationType.Guild']);
    assert.deepEqual(await openValues(world, PRIVATE, 'City'), ['City.Duluth', 'City.Ely', 'City.Tower']);
  });

  test('the values of a listing that leaves the view at midnight leave Lookup', async (t) => {
    const clock = testClock('2026-06-01T23:59:00Z');
    const world = await makeWorld(engine, t, { clock });
    await world.write(
      'Property',
      listing('A', { City: 'Ely', StandardStatus: 'Closed', CloseDate: '2023-06-01' }),
    );
    assert.deepEqual(await openValues(world, IDX, 'City'), ['City.Ely']);
    clock.advance(120_000);
    await world.write(
      'Property',
      listing('B', { City: 'Duluth', StandardStatus: 'Closed', CloseDate: '2026-06-01' }),
    );
    // The process that opens the store evaluates the new day.
    const store = await world.again();
    const morning = { store, ...operations(store, clock) };
    assert.deepEqual(await openValues(morning, IDX, 'City'), ['City.Duluth']);
    assert.deepEqual(await openValues(morning, PRIVATE, 'City'), ['City.Duluth', 'City.Ely']);
    await none(morning);
  });

  test('after a change of roles or lists values are counted again; a value that is added to a list counts as one of its values', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write(
      'Property',
      listing('A', { City: 'Ely', ShowingDays: ['Any Day'] }),
      listing('B', { City: 'Duluth' }),
    );
    await world.write('Member', member('M', { MemberAOR: 'North' }));
    assert.deepEqual(await openValues(world, IDX, 'City', 'ShowingDays', 'AOR'), ['City.Duluth', 'City.Ely']);
    await world.store.configure((settings) => ({
      ...settings,
      access: {
        ...BUILT_IN_ACCESS,
        roles: BUILT_IN_ACCESS.roles.map((role) =>
          role.name === 'idx' ? { ...role, classes: ['idx', 'private', 'facts'] } : role,
        ),
      },
    }));
    assert.deepEqual(await openValues(world, IDX, 'City', 'ShowingDays', 'AOR'), [
      'AOR.North',
      'ShowingDays.Any Day',
    ]);
    await none(world);
    await world.store.configure((settings) => ({
      ...settings,
      access: BUILT_IN_ACCESS,
      declarations: { lookups: [{ lookup: 'City', values: ['Ely', 'Aurora'] }] },
    }));
    assert.deepEqual(await openValues(world, IDX, 'City'), ['City.Aurora', 'City.Duluth', 'City.Ely']);
    await none(world);
    await world.store.remove('Property', ['A', 'B']);
    assert.deepEqual(await openValues(world, IDX, 'City'), ['City.Aurora', 'City.Ely']);
    await world.store.configure((settings) => ({ ...settings, declarations: {} }));
    assert.deepEqual(await openValues(world, IDX, 'City'), []);
    await none(world);
  });

  test('values of a store from before they were counted are counted once, when it is opened', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { City: 'Ely' }), listing('B', { City: 'Duluth' }));
    await world.damage(
      `DELETE FROM plat_meta WHERE name = 'counting_rules'`,
      `DELETE FROM plat_counters WHERE resource LIKE '%Duluth'`,
    );
    const [store, other] = await Promise.all([world.again(), world.again()]);
    for (const opened of [store, other]) await none({ store: opened });
    const reader = { store, ...operations(store, world.clock) };
    assert.deepEqual(await openValues(reader, IDX, 'City'), ['City.Duluth', 'City.Ely']);
  });

  test('counts of values that differ from the rows are reported, and recomputed with everything derived from them', async (t) => {
    if (isLeftToSqlite(engine, t)) return;
    const world = await makeWorld(engine, t);
    await world.write(
      'Property',
      listing('A', { City: 'Ely' }),
      listing('B', { City: 'Duluth', Appliances: ['Samovar'] }),
    );
    await world.damage(`DELETE FROM plat_counters WHERE resource LIKE '%Duluth'`);
    assert.deepEqual(await faultsIn(world.store), [
      ['Lookup', '(values)', 'the stored counts of values in use are wrong'],
    ]);
    await repairStore(world.store);
    await none(world);
    await world.damage(`UPDATE plat_counters SET visible = 1, rows = 7 WHERE resource LIKE '%Samovar'`);
    await world.damage(`DELETE FROM plat_counters WHERE resource LIKE '%Ely'`);
    await repairStore(world.store);
    await none(world);
    const all = ['Appliances.Samovar', 'City.Duluth', 'City.Ely'];
    for (const viewer of [IDX, PRIVATE]) {
      assert.deepEqual(await openValues(world, viewer, 'City', 'Appliances'), all);
    }
  });
}
