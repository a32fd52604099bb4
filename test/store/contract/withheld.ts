/** A withheld address reads as null, in every kind of read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing, openHouse } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { IDX, PRIVATE } from '../../support/views.ts';
import { makeWorld, pick, sharedWorld, type World } from '../../support/world.ts';

const ADDRESS = {
  City: 'Ely',
  UnparsedAddress: '1 Main St',
  PostalCode: '55731',
  Directions: 'North',
  ParcelNumber: '12-34',
  Latitude: 47.9,
  Longitude: -91.8,
};
const NAMES = Object.keys(ADDRESS);
const NULLS = Object.fromEntries(NAMES.map((name) => [name, null]));

async function populate(world: World): Promise<void> {
  const shown = [
    ['A', true],
    ['B', null],
    ['C', false],
  ] as const;
  await world.write(
    'Property',
    ...shown.map(([key, InternetAddressDisplayYN]) =>
      listing(key, {
        ...ADDRESS,
        InternetAddressDisplayYN,
        ListPrice: 1,
        OpenHouses: [openHouse(`O${key}`)],
      }),
    ),
  );
}

export function withheldContract(engine: Engine): void {
  const populated = sharedWorld(engine, populate);

  test('a withheld address is null in whole records, selections and the native interface', async () => {
    const world = await populated();
    for (const [viewer, ofC] of [
      [PRIVATE, ADDRESS],
      [IDX, NULLS],
    ] as const) {
      const expected = [ADDRESS, ADDRESS, ofC];
      const whole = await world.rows('Property', '', { viewer });
      assert.deepEqual(
        whole.map((record) => pick(record, ...NAMES)),
        expected,
      );
      assert.deepEqual(await world.rows('Property', `$select=${NAMES.join()}`, { viewer }), expected);
      const native = await world.listing('C', { viewer });
      assert.deepEqual(pick(Object(native?.StandardFields), ...NAMES), ofC);
      const selected = await world.listing('C', { viewer, select: NAMES });
      assert.deepEqual(pick(Object(selected?.StandardFields), ...NAMES), ofC);
    }
    const omitted = await world.record('Property', 'C', '', { viewer: IDX, omitNulls: true });
    assert.deepEqual(
      NAMES.filter((name) => name in (omitted ?? {})),
      [],
    );
    assert.equal(omitted?.ListPrice, 1);
  });

  test('a withheld address is null in filters, on either side of an operator', async () => {
    const world = await populated();
    // A comparison with null is false, and its negation true; a function of null is null, and so is its negation.
    const filters: readonly (readonly [string, readonly string[]])[] = [
      ["City eq 'Ely'", ['C']],
      ["City in ('Ely','Other')", ['C']],
      ["startswith(City,'E')", []],
      ["matchesPattern(City,'^E')", []],
      ["tolower(City) eq 'ely'", ['C']],
      ["City ge 'E'", ['C']],
      ['Latitude gt 40', ['C']],
      ["geo.distance(Coordinates,geography'SRID=4326;POINT(-91.8 47.9)') lt 5", ['C']],
      ["geo.intersects(Coordinates,geography'SRID=4326;POLYGON((-92 47,-91 47,-91 48,-92 48,-92 47))')", []],
      ['City ne null', ['C']],
      ["not (City ne 'Ely')", ['C']],
      ["concat(City,PostalCode) eq 'Ely55731'", ['C']],
      ['length(City) eq 3', ['C']],
    ];
    for (const [filter, otherwise] of filters) {
      const options = `$filter=${encodeURIComponent(filter)}`;
      const negated = `$filter=${encodeURIComponent(`not (${filter})`)}`;
      assert.deepEqual(await world.keys('Property', options), ['A', 'B', 'C'], filter);
      assert.deepEqual(await world.keys('Property', negated), [], filter);
      assert.deepEqual(await world.keys('Property', options, { viewer: IDX }), ['A', 'B'], filter);
      assert.deepEqual(await world.keys('Property', negated, { viewer: IDX }), otherwise, filter);
    }
    assert.deepEqual(await world.keys('Property', '$filter=City eq null', { viewer: IDX }), ['C']);
    assert.equal(await world.count('Property', "$filter=City eq 'Ely'", IDX), 2);
  });

  test('a withheld address is null in orders, computed values and navigations from other records', async (t) => {
    const world = await makeWorld(engine, t);
    await populate(world);
    await world.write('Property', listing('D', { City: 'Aurora' }));
    assert.deepEqual(await world.keys('Property', '$orderby=City'), ['D', 'A', 'B', 'C']);
    assert.deepEqual(await world.keys('Property', '$orderby=City', { viewer: IDX }), ['C', 'D', 'A', 'B']);
    assert.deepEqual(await world.keys('Property', '$orderby=City desc', { viewer: IDX }), [
      'A',
      'B',
      'D',
      'C',
    ]);
    const compute = "$select=ListingKey,Where&$compute=concat(City,'!') as Where&$filter=ListingKey ge 'B'";
    assert.deepEqual(await world.rows('Property', compute, { viewer: IDX }), [
      { ListingKey: 'B', Where: 'Ely!' },
      { ListingKey: 'C', Where: null },
      { ListingKey: 'D', Where: 'Aurora!' },
    ]);
    const through = "$filter=Listing/City eq 'Ely'&$select=OpenHouseKey&$expand=Listing($select=City)";
    assert.deepEqual(await world.keys('OpenHouse', through), ['OA', 'OB', 'OC']);
    assert.deepEqual(await world.rows('OpenHouse', through, { viewer: IDX }), [
      { OpenHouseKey: 'OA', Listing: { City: 'Ely' } },
      { OpenHouseKey: 'OB', Listing: { City: 'Ely' } },
    ]);
    const expand = "$filter=OpenHouseKey eq 'OC'&$select=OpenHouseKey&$expand=Listing";
    const [house] = await world.rows('OpenHouse', expand, { viewer: IDX });
    assert.deepEqual(pick(Object(house?.Listing), ...NAMES), NULLS);
  });

  test('an address is withheld until its seller changes that', async (t) => {
    const world = await makeWorld(engine, t);
    await populate(world);
    const fields = { ...ADDRESS, ListPrice: 1 };
    await world.write('Property', listing('C', { ...fields, InternetAddressDisplayYN: true }));
    assert.deepEqual(pick(await world.record('Property', 'C', '', { viewer: IDX }), ...NAMES), ADDRESS);
    await world.write('Property', listing('A', { ...fields, InternetAddressDisplayYN: false }));
    assert.deepEqual(pick(await world.record('Property', 'A', '', { viewer: IDX }), ...NAMES), NULLS);
  });
}
