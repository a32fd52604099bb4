/** The search table of listings: searches give the same results as whole records, whichever fields the table has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Declarations } from '../../../src/dictionary/index.ts';
import { listing, member, office, openHouse } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { faultsIn } from '../../support/faults.ts';
import { IDX } from '../../support/views.ts';
import { makeWorld, operations, TIME, type World } from '../../support/world.ts';

const declare = (world: World, declarations: Declarations) =>
  world.store.configure((settings) => ({ ...settings, declarations }));

/** Fields of the search table, fields that only whole records have, and both. */
const FOUND: readonly (readonly [string, readonly string[]])[] = [
  ['$filter=BedroomsTotal ge 2', ['B', 'C', 'D']],
  ['$filter=WaterfrontYN eq true', ['A', 'C']],
  ['$filter=BedroomsTotal ge 2 and WaterfrontYN eq true', ['C']],
  ["$filter=City eq 'Ely' or WaterfrontYN eq true", ['A', 'B', 'C']],
  ["$filter=not (City eq 'Ely' and contains(Directions,'north'))", ['B', 'C', 'D']],
  ['$orderby=ListPrice desc', ['D', 'C', 'B', 'A']],
  ['$orderby=Directions desc,ListPrice', ['C', 'A', 'B', 'D']],
  ['$filter=WaterfrontYN eq true&$orderby=ListPrice desc', ['C', 'A']],
  ["$filter=ListAgent/MemberCity eq 'Rome'", []],
  ["$filter=Appliances/any(a:a eq 'Oven') and BedroomsTotal eq 4", ['D']],
  // An index finds the candidates, which another field restricts or orders.
  ["$filter=City eq 'Ely' and WaterfrontYN eq true", ['A']],
  ["$filter=City eq 'Rome' and not (WaterfrontYN eq true and BedroomsTotal eq 3)", ['D']],
  ["$filter=City in ('Ely','Rome') and Directions ne 'east'&$orderby=Directions desc", ['C', 'A', 'D']],
  ["$filter=City eq 'Ely' and City eq 'Rome' and Directions ne null", []],
  ["$filter=2 le ListPrice and City ne 'Ely'&$orderby=Directions desc", ['C', 'D']],
  ['$filter=ListPrice gt 1 and ListPrice lt 4&$orderby=WaterfrontYN desc,ListPrice', ['C', 'B']],
  ["$filter=City in ('Ely',null) and WaterfrontYN eq true", ['A']],
];

async function market(engine: Engine, scope: Parameters<typeof makeWorld>[1]): Promise<World> {
  const world = await makeWorld(engine, scope);
  await world.write(
    'Property',
    listing('A', { City: 'Ely', ListPrice: 1, BedroomsTotal: 1, WaterfrontYN: true, Directions: 'north' }),
    listing('B', { City: 'Ely', ListPrice: 2, BedroomsTotal: 2, Directions: 'east' }),
    listing('C', { City: 'Rome', ListPrice: 3, BedroomsTotal: 3, WaterfrontYN: true, Directions: 'south' }),
    listing('D', { City: 'Rome', ListPrice: 4, BedroomsTotal: 4, Appliances: ['Oven'] }),
  );
  return world;
}

async function assertFound(world: World): Promise<void> {
  for (const [options, keys] of FOUND) {
    assert.deepEqual(await world.keys('Property', options), keys, options);
    const { query } = await world.request('Property', options);
    assert.equal(await world.store.count(query, TIME), keys.length, options);
    assert.equal((await world.store.ids(query, TIME)).length, keys.length, options);
  }
  assert.deepEqual(await faultsIn(world.store), []);
}

const searched = async ({ store }: World): Promise<boolean> =>
  (await store.model()).layout('Property').search?.columns.has('WaterfrontYN') === true;

export function searchTableContract(engine: Engine): void {
  test('adding and removing search fields changes which table is read, but no result and no record', async (t) => {
    const world = await market(engine, t);
    assert.equal(await searched(world), false);
    await assertFound(world);
    const other = operations(await world.again(), world.clock);
    const before = await world.exported('Property');
    const searchFields = ['Property.WaterfrontYN', 'Property.SubdivisionName'];
    await declare(world, { searchFields: ['Property.WaterfrontYN'] });
    assert.equal(await searched(world), true);
    await assertFound(world);
    await declare(world, {});
    await assertFound(world);
    // A record that is written while the field is not in the table is found when the field is added again.
    await world.write(
      'Property',
      listing('B', { City: 'Ely', ListPrice: 2, BedroomsTotal: 2, Directions: 'east', WaterfrontYN: true }),
    );
    await declare(world, { searchFields });
    assert.deepEqual(await world.keys('Property', '$filter=WaterfrontYN eq true'), ['A', 'B', 'C']);
    assert.deepEqual(await other.keys('Property', '$filter=WaterfrontYN eq true'), ['A', 'B', 'C']);
    await other.write(
      'Property',
      listing('B', { City: 'Ely', ListPrice: 2, BedroomsTotal: 2, Directions: 'east' }),
    );
    await assertFound(world);
    const now = await world.exported('Property');
    assert.deepEqual(
      now.filter(({ ListingKey }) => ListingKey !== 'B'),
      before.filter(({ ListingKey }) => ListingKey !== 'B'),
    );
  });

  test('a field that comes into use later can be searched from then on', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { City: 'Ely' }));
    await world.write('Property', listing('B', { City: 'Ely', YearBuilt: 1900, LivingArea: 70 }));
    assert.deepEqual(await world.keys('Property', '$filter=YearBuilt eq null'), ['A']);
    assert.deepEqual(await world.keys('Property', '$filter=LivingArea lt 80'), ['B']);
    assert.deepEqual(await faultsIn(world.store), []);
  });

  test('a listing whose tables disagree is found once after it is written again, whichever id it gets', async (t) => {
    const world = await market(engine, t);
    await world.damage(
      "DELETE FROM property_texts WHERE _key = 'B'",
      "UPDATE property_records SET _id = 5000 WHERE _key = 'B'",
    );
    await world.write(
      'Property',
      listing('B', { City: 'Ely', ListPrice: 2, BedroomsTotal: 2, Directions: 'east' }),
    );
    await assertFound(world);
  });

  test('children of a listing are found by its fields in either table', async (t) => {
    const world = await market(engine, t);
    await world.write(
      'OpenHouse',
      openHouse('HA', { ListingKey: 'A' }),
      openHouse('HC', { ListingKey: 'C' }),
    );
    assert.deepEqual(await world.keys('OpenHouse', "$filter=Listing/City eq 'Rome'"), ['HC']);
    assert.deepEqual(await world.keys('OpenHouse', "$filter=Listing/Directions eq 'north'"), ['HA']);
    const both = "$filter=Listing/Directions eq 'south' and Listing/City eq 'Ely'";
    assert.deepEqual(await world.keys('OpenHouse', both), []);
    assert.deepEqual(await world.keys('OpenHouse', '$orderby=Listing/ListPrice desc'), ['HC', 'HA']);
  });

  test('listings are found by what a function returns for their agents and offices', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Office', office('1', { OfficeName: 'Rome' }), office('2', { OfficeName: 'Ely' }));
    await world.write(
      'Member',
      member('1', { MemberFullName: 'Ann Lake', MemberEmail: 'Rome', OfficeKey: '1' }),
      member('2', { MemberFullName: 'Bo LAKE', OfficeKey: '2', MemberStatus: 'Inactive' }),
      member('3', { MemberFullName: 'Cy Hill', MemberEmail: 'Ely', OfficeKey: '9' }),
    );
    const active = { StandardStatus: 'Active' };
    await world.write(
      'Property',
      listing('A', { ...active, ListAgentKey: '1', ListPrice: 1 }),
      listing('B', { ...active, ListAgentKey: '2', ListPrice: 2 }),
      listing('C', { ...active, ListAgentKey: '3', ListPrice: 3 }),
      listing('D', { ...active, ListAgentKey: '8', ListPrice: 4 }),
      listing('E', { ...active, ListPrice: 5 }),
    );
    // The name in the listing is shown whatever the agent's status; a navigation leads only to agents that the role sees.
    const found: readonly (readonly [string, string, string])[] = [
      ["contains(ListAgentFullName,'LAKE')", 'B', 'B'],
      ["endswith(tolower(ListAgentFullName),'lake')", 'AB', 'AB'],
      ["endswith(tolower(ListAgent/MemberFullName),'lake')", 'AB', 'A'],
      ["contains(ListAgent/MemberFullName,' ') and ListPrice ge 2", 'BC', 'C'],
      ["startswith(ListAgent/Office/OfficeName,'E')", 'B', ''],
      ['length(ListAgent/MemberEmail) eq 4 or length(ListAgent/MemberEmail) eq 3', 'AC', 'AC'],
      ["not contains(ListAgentFullName,'a')", 'BC', 'BC'],
      ['length(ListAgentFullName) ne 8', 'BCDE', 'BCDE'],
      ["tolower(ListAgentFullName) in ('ann lake','cy hill') and ListPrice lt 3", 'A', 'A'],
      ["ListAgent/MemberEmail eq 'Ely' and contains(ListAgentFullName,'y')", 'C', 'C'],
      ["ListAgent/Office/OfficeName in ('Rome','Ely') and ListPrice gt 1", 'B', ''],
      ["concat(ListAgent/MemberEmail,ListAgent/MemberFullName) eq 'ElyCy Hill'", 'C', 'C'],
    ];
    for (const [filter, forPrivate, forIdx] of found) {
      const options = `$filter=${filter}`;
      assert.equal((await world.keys('Property', options)).join(''), forPrivate, filter);
      assert.equal((await world.keys('Property', options, { viewer: IDX })).join(''), forIdx, filter);
      const ordered = await world.keys('Property', `${options}&$orderby=ListPrice desc`);
      assert.equal(ordered.toReversed().join(''), forPrivate, filter);
    }
  });

  test('a withheld address is also withheld in the search table', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write(
      'Property',
      listing('A', { City: 'Ely', StandardStatus: 'Active', InternetAddressDisplayYN: false }),
      listing('B', { City: 'Ely', StandardStatus: 'Active' }),
    );
    const viewer = { viewer: IDX };
    assert.deepEqual(await world.keys('Property', "$filter=City eq 'Ely'", viewer), ['B']);
    const byAnother = "$filter=City eq 'Ely'&$orderby=ModificationTimestamp desc";
    assert.deepEqual(await world.keys('Property', byAnother, viewer), ['B']);
    assert.deepEqual(await world.keys('Property', byAnother), ['B', 'A']);
    assert.deepEqual(await world.keys('Property', '$orderby=City', viewer), ['A', 'B']);
    assert.deepEqual(await world.rows('Property', '$select=ListingKey,City', viewer), [
      { ListingKey: 'A', City: null },
      { ListingKey: 'B', City: 'Ely' },
    ]);
  });

  test('fields that a search table cannot have are rejected, and nothing is changed', async (t) => {
    const world = await makeWorld(engine, t);
    const { generation } = await world.store.model();
    const refusals = {
      'Property.Nothing': 'there is no field Property.Nothing',
      'Member.MemberCity':
        'Member.MemberCity is of a resource without a search table, which only Property has',
      'Property.PublicRemarks': 'Property.PublicRemarks may hold more than 255 characters',
      'Property.Appliances': 'Property.Appliances contains lists',
      'Property.ListAgentFullName': 'Property.ListAgentFullName is stored with Member',
    };
    for (const [field, reason] of Object.entries(refusals)) {
      await assert.rejects(declare(world, { searchFields: [field] }), {
        code: 'usage',
        message: `searchFields: ${reason}.`,
      });
    }
    assert.equal((await world.store.model()).generation, generation);
  });
}
