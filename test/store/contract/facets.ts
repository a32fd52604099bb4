/** How often fields have each value for each viewer: the counts must equal those of the viewer's rows, which are counted here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Facets } from '../../../src/compile/read.ts';
import { listing } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { IDX, PRIVATE, type Viewer, viewOf } from '../../support/views.ts';
import { type Json, makeWorld, TIME, type World } from '../../support/world.ts';

const CITIES = ['Ely', 'Åland', 'Zug', '', 'say "hi"'];
const EDGES = [100, 200.5, 300];

/** Forty listings whose values repeat in different steps; some have none, some are withheld, some hidden. */
const LISTINGS: readonly Json[] = Array.from({ length: 40 }, (_, at) =>
  listing(`L${at}`, {
    StandardStatus: at % 4 === 0 ? 'Closed' : 'Active',
    OriginatingSystemID: at % 3 === 0 ? 'Y' : 'X',
    InternetAddressDisplayYN: at % 5 === 0 ? false : null,
    InternetEntireListingDisplayYN: at % 7 !== 0,
    City: CITIES[at % 6] ?? null,
    BedroomsTotal: at % 9 === 0 ? null : at % 5,
    WaterfrontYN: at % 2 === 0,
    Appliances: at % 8 === 0 ? [] : at % 3 === 0 ? ['Oven', 'Dishwasher'] : ['Oven'],
    // Not in the search table; the other fields are.
    LotSizeArea: (at % 10) / 4,
    ListPrice: at % 11 === 0 ? null : at * 10 + 0.5,
    OnMarketTimestamp: at % 2 === 0 ? '2026-05-01T00:00:00Z' : null,
  }),
);

const FIELDS = [
  'StandardStatus',
  'City',
  'BedroomsTotal',
  'WaterfrontYN',
  'Appliances',
  'LotSizeArea',
  'OnMarketTimestamp',
  'CountyOrParish',
];

async function counted(
  world: World,
  options: string,
  {
    viewer = PRIVATE,
    fields = FIELDS,
    most = 50,
  }: { viewer?: Viewer; fields?: readonly string[]; most?: number } = {},
): Promise<Facets> {
  const { query } = await world.request('Property', options, { viewer });
  const fieldOf = (name: string) => query.resource.fields.get(name) ?? assert.fail(name);
  const histogram = { field: fieldOf('ListPrice'), edges: EDGES };
  return world.store.facets({ query, fields: fields.map(fieldOf), most, histogram }, TIME);
}

type Value = string | number | boolean;
type Counts = [value: Value, records: number][];

const isValue = (value: unknown): value is Value => value !== null && value !== undefined;

/** The same counts, from the rows that the viewer gets. */
function recount(
  rows: readonly Json[],
  seen: readonly string[],
): Omit<Facets, 'fields'> & { fields: [Counts, number][] } {
  const fields = seen.map((name): [Counts, number] => {
    const counts = new Map<Value, number>();
    let none = 0;
    for (const row of rows) {
      const given: unknown = row[name];
      const values: Value[] = (Array.isArray(given) ? given : [given]).filter(isValue);
      if (values.length === 0) none++;
      for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return [[...counts].sort(([one], [other]) => (one < other ? -1 : 1)), none];
  });
  const prices = rows.map(({ ListPrice }) => ListPrice).filter((each) => typeof each === 'number');
  const between = (low: number, high: number) =>
    prices.filter((price) => price >= low && price < high).length;
  const bounds = [Number.NEGATIVE_INFINITY, ...EDGES, Number.POSITIVE_INFINITY];
  return {
    records: rows.length,
    fields,
    histogram: {
      records: bounds.slice(1).map((high, index) => between(bounds[index] ?? high, high)),
      none: rows.length - prices.length,
      least: prices.length === 0 ? null : Math.min(...prices),
      greatest: prices.length === 0 ? null : Math.max(...prices),
    },
  };
}

/** The counts with the values of each field in order; their counts must have been in descending order. */
function inOrder({ fields, ...rest }: Facets) {
  const sorted = fields.map(({ values, more, none }): [Counts, number] => {
    assert.equal(more, 0);
    const records = values.map((each) => each.records);
    assert.deepEqual(
      records,
      records.toSorted((one, other) => other - one),
    );
    const counts = values.map(({ value, records }): [Value, number] => [value, records]);
    return [counts.sort(([one], [other]) => (one < other ? -1 : 1)), none];
  });
  return { ...rest, fields: sorted };
}

const VIEWERS: readonly Viewer[] = [
  PRIVATE,
  IDX,
  { role: 'idx', systems: ['Y'] },
  { role: 'private', systems: ['none'] },
];

export function facetContract(engine: Engine): void {
  test('values, ranges and missing values are counted as in the rows of each viewer', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', ...LISTINGS);
    const numbers = new Set<number>();
    const model = await world.store.model();
    for (const viewer of VIEWERS) {
      const schema = viewOf(model, viewer).schema.of('Property');
      const seen = FIELDS.filter((name) => schema.findField(name).kind === 'visible');
      for (const options of ['', "$filter=Appliances/any(a:a eq 'Dishwasher') or LotSizeArea gt 2"]) {
        const rows = await world.rows('Property', options, { viewer });
        numbers.add(rows.length);
        assert.deepEqual(
          inOrder(await counted(world, options, { viewer, fields: seen })),
          recount(rows, seen),
        );
        assert.equal(rows.length, await world.count('Property', options, viewer));
      }
    }
    assert.equal(numbers.size, 6);
  });

  test('a withheld value counts as missing for viewers from whom it is withheld, and only for them', async (t) => {
    const world = await makeWorld(engine, t);
    const at = (key: string, InternetAddressDisplayYN: boolean) =>
      listing(key, { City: 'Ely', InternetAddressDisplayYN });
    await world.write('Property', at('A', true), at('B', false), at('C', false));
    const city = async (viewer: Viewer) => (await counted(world, '', { viewer, fields: ['City'] })).fields;
    assert.deepEqual(await city(PRIVATE), [{ values: [{ value: 'Ely', records: 3 }], more: 0, none: 0 }]);
    assert.deepEqual(await city(IDX), [{ values: [{ value: 'Ely', records: 1 }], more: 0, none: 2 }]);
  });

  test('the most frequent values come first, and the number of the others is reported', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write(
      'Property',
      ...['B', 'A', 'C', 'C', 'D', 'E'].map((City, at) =>
        listing(`${at}`, { City, Appliances: ['Oven', City] }),
      ),
    );
    const { fields } = await counted(world, '', { fields: ['City', 'Appliances'], most: 3 });
    const [c, a, b] = [
      { value: 'C', records: 2 },
      { value: 'A', records: 1 },
      { value: 'B', records: 1 },
    ];
    assert.deepEqual(fields, [
      { values: [c, a, b], more: 2, none: 0 },
      { values: [{ value: 'Oven', records: 6 }, c, a], more: 3, none: 0 },
    ]);
  });
}
