/** Fields that come into use after records were written: every text still has all fields in use. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { listing, member, office, openHouse, photo } from '../../support/builders.ts';
import { contractRuns, type Engine } from '../../support/engine.ts';
import { inScope } from '../../support/scope.ts';
import type { Viewer } from '../../support/views.ts';
import { type Json, makeWorld, nativeShape, objectOf, pick, TIME, type World } from '../../support/world.ts';

/** Fields of a listing, one or two of each type and class, in the order in which they may come into use. */
const VALUES: Json = {
  City: 'Ely',
  PostalCode: '55731',
  Directions: 'North, then "left"',
  Township: 'T1',
  ListPrice: 450000.5,
  BedroomsTotal: 3,
  PoolPrivateYN: false,
  Heating: ['Forced Air', 'Other'],
  CloseDate: '2026-05-01',
  OffMarketTimestamp: '2026-05-01T10:00:00.5Z',
  PrivateRemarks: 'Key under the mat',
  ShowingInstructions: 'Call',
  OriginatingSystemKey: 'o-1',
  ListAgentURL: 'https://agent.example',
  Winter_HeatingCost: 120.25,
  Winter_Plow: 'City',
};
const NAMES = Object.keys(VALUES);

const declarations = {
  customFields: [
    {
      resource: 'Property',
      name: 'Winter_Plow',
      group: 'Winter',
      label: 'Plow',
      type: 'string(20)',
      class: 'idx',
    },
    {
      resource: 'Property',
      name: 'Winter_HeatingCost',
      group: 'Winter',
      label: 'Cost',
      type: 'decimal(10,2)',
    },
  ],
};

const VIEWERS: readonly Viewer[] = [
  { role: 'private' },
  { role: 'idx' },
  { role: 'vow' },
  { role: 'portal' },
];

/** Whole records equal the selection of all their fields, in both interfaces. */
async function assertComplete(world: World, viewer: Viewer): Promise<void> {
  for (const omitNulls of [false, true]) {
    const { query } = await world.request('Property', '', { viewer });
    const fields = query.view.fieldsOf(query.resource).map(({ name }) => name);
    const options = { viewer, omitNulls };
    const whole = await world.rows('Property', '', options);
    const selected = await world.rows('Property', `$select=${fields.join()}`, options);
    assert.deepEqual(whole, selected);
    if (omitNulls) continue;
    for (const record of whole) assert.deepEqual(Object.keys(record).toSorted(), fields.toSorted());
  }
  await assertNativeComplete(world, viewer);
}

async function assertNativeComplete(world: World, viewer: Viewer): Promise<void> {
  const { query, files } = await world.request('Property', '', { viewer });
  const names = [...query.view.fieldsOf(query.resource), ...query.view.hiddenOf(query.resource)]
    .filter(({ custom }) => custom === undefined)
    .map(({ nativeName }) => nativeName);
  const page = async (select: readonly string[] | undefined) => {
    const shape = nativeShape(query, select === undefined ? {} : { select });
    const request = { query, position: { kind: 'start' }, limit: 100, shape, files } as const;
    const { body } = await world.store.page(request, TIME);
    return objectOf(`{"value":[${new TextDecoder().decode(body)}]}`);
  };
  assert.deepEqual(await page(undefined), await page(names));
}

export function fieldsInUseContract(engine: Engine): void {
  test('a record written before a field came into use returns it as null', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A'));
    const before = Object.keys((await world.record('Property', 'A')) ?? {});
    assert.ok(!before.includes('City') && !before.includes('Heating'));
    await world.write('Property', listing('B', { City: 'Ely', Heating: ['Forced Air'], Latitude: 1.5 }));
    const [first, second] = await world.rows('Property');
    assert.deepEqual(pick(first, 'City', 'Heating', 'Latitude'), { City: null, Heating: [], Latitude: null });
    assert.deepEqual(Object.keys(first ?? {}).toSorted(), Object.keys(second ?? {}).toSorted());
    assert.equal(Object.keys(first ?? {}).length, before.length + 3);
  });

  test('a declared field is in every record from the beginning', async (t) => {
    const fieldsInUse = ['Property.City', 'Property.Heating', 'Member.MemberCity'];
    const world = await makeWorld(engine, t, { settings: { declarations: { fieldsInUse } } });
    await world.write('Property', listing('A'));
    assert.deepEqual(pick(await world.record('Property', 'A'), 'City', 'Heating'), {
      City: null,
      Heating: [],
    });
    const model = await world.store.model();
    const city = model.resource('Member').fields.get('MemberCity');
    assert.ok(city !== undefined && model.inUse(city));
  });

  test('a field that is not in use is null everywhere, but its name is valid', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A'));
    assert.deepEqual(await world.rows('Property', '$select=ListingKey,City,Heating,ListAgentURL'), [
      { ListingKey: 'A', City: null, Heating: [], ListAgentURL: null },
    ]);
    assert.deepEqual(await world.keys('Property', '$filter=City eq null and not Heating/any()'), ['A']);
    assert.deepEqual(await world.keys('Property', "$filter=City eq 'Ely'"), []);
    assert.deepEqual(await world.keys('Property', "$filter=City ne 'Ely'&$orderby=City desc"), ['A']);
  });

  test('fields of agents and offices come into use in listings as well', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { ListAgentKey: '1', ListOfficeKey: '10' }), listing('B'));
    const names = ['ListAgentFullName', 'ListAgentEmail', 'ListAgentCity', 'ListOfficeName'];
    const shown = async () => {
      const whole = await world.rows('Property');
      assert.deepEqual(whole, await world.rows('Property', `$select=${Object.keys(whole[0] ?? {}).join()}`));
      return whole.map((record) => names.map((name) => record[name]));
    };
    assert.deepEqual(await shown(), Array(2).fill([undefined, undefined, undefined, undefined]));
    await world.write('Member', { MemberKey: '1', MemberFullName: 'Ann' });
    assert.deepEqual(await shown(), [
      ['Ann', undefined, undefined, undefined],
      [null, undefined, undefined, undefined],
    ]);
    await world.write('Member', { MemberKey: '2', MemberEmail: 'b@example.com' });
    await world.write('Office', office('10'));
    assert.deepEqual(await shown(), [
      ['Ann', null, undefined, 'Office 10'],
      [null, null, undefined, null],
    ]);
  });

  test('a listing that is restamped by its children has all fields', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A'));
    // A link is among the fields whose text is rewritten with each timestamp.
    await world.write('Property', listing('B', { SourceSystemKey: 's', Media: [photo('M1')] }));
    await world.write('Media', photo('M2', { ResourceRecordKey: 'A' }));
    await world.write('Property', listing('A', { OpenHouses: [openHouse('O')] }));
    for (const viewer of VIEWERS) await assertComplete(world, viewer);
  });

  test('property: whole records equal the selection of all their fields', async () => {
    const step = fc.record({
      key: fc.constantFrom('A', 'B', 'C'),
      fields: fc.subarray(NAMES),
      address: fc.constantFrom(true, false, undefined),
      agent: fc.option(fc.subarray(['MemberFullName', 'MemberEmail', 'MemberCity', 'MemberMlsId']), {
        nil: undefined,
      }),
      photo: fc.boolean(),
    });
    const property = fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 7 }), (steps) =>
      inScope(async (scope) => {
        const world = await makeWorld(engine, scope, { settings: { declarations } });
        for (const { key, fields, address, agent, photo: adds } of steps) {
          if (agent !== undefined) {
            const values = Object.fromEntries(agent.map((name) => [name, `${name} ${key}`]));
            await world.write('Member', { ...member('1'), MemberFullName: undefined, ...values });
          }
          const values = Object.fromEntries(fields.map((name) => [name, VALUES[name]]));
          const shown = address === undefined ? {} : { InternetAddressDisplayYN: address };
          const media = adds ? { Media: [photo(`M${key}`)] } : {};
          await world.write('Property', listing(key, { ListAgentKey: '1', ...values, ...shown, ...media }));
        }
        for (const viewer of VIEWERS) await assertComplete(world, viewer);
      }),
    );
    await fc.assert(property, { seed: 20260601, numRuns: contractRuns(engine, 25) });
  });
}
