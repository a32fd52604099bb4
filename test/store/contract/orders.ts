/** Orders: null is lowest, the key decides between equal rows, and a walk by the values of the last row loses nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Position } from '../../../src/compile/read.ts';
import { listing, member } from '../../support/builders.ts';
import { contractRuns, type Engine } from '../../support/engine.ts';
import { type Json, makeWorld, readPage, TIME, type World } from '../../support/world.ts';

type Value = string | number | boolean | null;

/** Fields to order by, with values that tie, and null among them. */
const DOMAINS: Readonly<Record<string, readonly Value[]>> = {
  ListPrice: [null, -1, 0, 0.5, 100, 450000, 1e9],
  BedroomsTotal: [null, 0, 2, 10],
  City: [null, '', 'Ely', 'ely', 'Élan', 'Z', '中', '\uffee', '😀'],
  PoolPrivateYN: [null, false, true],
  CloseDate: [null, '2024-02-29', '2026-06-01'],
  OffMarketTimestamp: [null, '2026-06-01T12:00:00Z', '2026-06-01T12:00:00.001Z', '2026-06-01T12:00:00.12Z'],
  ListAgentKey: [null, '1', '2', '3'],
};

/** Expressions to order by. */
const EXPRESSIONS: Readonly<Record<string, (record: Json) => Value>> = {
  ...Object.fromEntries(Object.keys(DOMAINS).map((name) => [name, (record: Json) => plain(record[name])])),
  ListingKey: ({ ListingKey }) => plain(ListingKey),
  'length(City)': ({ City }) => (typeof City === 'string' ? [...City].length : null),
  'ListPrice mul -2': ({ ListPrice }) => (typeof ListPrice === 'number' ? ListPrice * -2 : null),
  'ListPrice divby 3': ({ ListPrice }) => (typeof ListPrice === 'number' ? ListPrice / 3 : null),
  ListAgentFullName: ({ ListAgentKey }) =>
    ListAgentKey === '1' ? 'Zoe' : ListAgentKey === '2' ? 'Ann' : null,
};

const plain = (value: unknown): Value =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;

function compare(left: Value, right: Value): number {
  if (left === null || right === null) return Number(left !== null) - Number(right !== null);
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right);
  return Number(left) - Number(right);
}

/** Compares texts by their bytes, and timestamps without their Z, since a fraction may follow. */
function compareTexts(left: string, right: string): number {
  const bare = (text: string) => Buffer.from(text.replace(/(?<=\d\d:\d\d[.\d]*)Z$/, ''));
  return Buffer.compare(bare(left), bare(right));
}

interface Term {
  readonly by: string;
  readonly descending: boolean;
}

const term: fc.Arbitrary<Term> = fc.record({
  by: fc.constantFrom(...Object.keys(EXPRESSIONS)),
  descending: fc.boolean(),
});

const record = fc
  .record(
    Object.fromEntries(Object.entries(DOMAINS).map(([name, values]) => [name, fc.constantFrom(...values)])),
  )
  .map((fields): Json => fields);

function sorted(records: readonly Json[], terms: readonly Term[]): string[] {
  const all = records.toSorted((left, right) => {
    for (const { by, descending } of terms) {
      const order = compare(EXPRESSIONS[by]?.(left) ?? null, EXPRESSIONS[by]?.(right) ?? null);
      if (order !== 0) return descending ? -order : order;
    }
    return compareTexts(String(left.ListingKey), String(right.ListingKey));
  });
  return all.map(({ ListingKey }) => String(ListingKey));
}

const orderBy = (terms: readonly Term[]): string =>
  `$orderby=${terms.map(({ by, descending }) => `${by}${descending ? ' desc' : ''}`).join()}`;

/** All keys, page by page; each page begins after the last row of the one before. */
async function walk(world: World, options: string, limit: number): Promise<string[]> {
  const keys: string[] = [];
  let position: Position = { kind: 'start' };
  for (;;) {
    const page = await world.page('Property', options, { position, limit });
    keys.push(...page.records.map(({ ListingKey }) => String(ListingKey)));
    assert.ok(keys.length < 100, `a walk without end: ${keys.slice(0, 20).join()}`);
    const { last, more } = page;
    if (!more || last === undefined) return keys;
    position = { kind: 'after-row', ...last };
  }
}

/** The keys of the list of ids. */
async function listed(world: World, options: string): Promise<string[]> {
  const { query, shape, files } = await world.request('Property', options);
  const ids = await world.store.ids(query, TIME);
  const page = await world.store.listPage({ query, ids, limit: ids.length, shape, files }, TIME);
  return (await readPage(page)).records.map(({ ListingKey }) => String(ListingKey));
}

export function orderContract(engine: Engine): void {
  test('null is lowest: first ascending, last descending; the key is always the last term', async (t) => {
    const world = await makeWorld(engine, t);
    const prices = { A: 2, B: null, C: 1, D: 2, E: null };
    await world.write(
      'Property',
      ...Object.entries(prices).map(([key, ListPrice]) => listing(key, { ListPrice })),
    );
    assert.deepEqual(await world.keys('Property', '$orderby=ListPrice'), ['B', 'E', 'C', 'A', 'D']);
    assert.deepEqual(await world.keys('Property', '$orderby=ListPrice desc'), ['A', 'D', 'C', 'B', 'E']);
    assert.deepEqual(await world.keys('Property', '$orderby=ListPrice desc,ListingKey desc'), [
      'D',
      'A',
      'C',
      'E',
      'B',
    ]);
    for (const limit of [1, 2, 3, 4]) {
      assert.deepEqual(await walk(world, '$orderby=ListPrice', limit), ['B', 'E', 'C', 'A', 'D']);
      assert.deepEqual(await walk(world, '$orderby=ListPrice desc', limit), ['A', 'D', 'C', 'B', 'E']);
    }
  });

  test('a walk continues after its last row was deleted or moved', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write(
      'Property',
      ...['A', 'B', 'C', 'D'].map((key, ListPrice) => listing(key, { ListPrice })),
    );
    const { last } = await world.page('Property', '$orderby=ListPrice', { limit: 2 });
    assert.deepEqual(last, { key: 'B', values: [1] });
    await world.store.remove('Property', ['B']);
    await world.write('Property', listing('C', { ListPrice: 0 }), listing('E', { ListPrice: 1 }));
    assert.ok(last);
    const position = { kind: 'after-row', ...last } as const;
    assert.deepEqual(await world.keys('Property', '$orderby=ListPrice', { position }), ['E', 'D']);
  });

  test('property: the joined pages of an order, and the list of its ids, equal all rows sorted', async (t) => {
    const given = fc.record({
      records: fc.array(record, { minLength: 1, maxLength: 14 }),
      terms: fc.array(term, { minLength: 1, maxLength: 3 }),
      limit: fc.integer({ min: 1, max: 5 }),
      filtered: fc.boolean(),
    });
    const world = await makeWorld(engine, t);
    await world.write(
      'Member',
      member('1', { MemberFullName: 'Zoe' }),
      member('2', { MemberFullName: 'Ann' }),
    );
    const property = fc.asyncProperty(given, async ({ records, terms, limit, filtered }) => {
      await world.store.remove('Property', await world.keys('Property'));
      const listings = records.map((fields, index) => listing(`K${String.fromCharCode(65 + index)}`, fields));
      await world.write('Property', ...listings);
      const options = `$select=ListingKey&${orderBy(terms)}${filtered ? '&$filter=ListingKey ne null' : ''}`;
      const expected = sorted(listings, terms);
      assert.deepEqual(await world.keys('Property', options), expected);
      assert.deepEqual(await walk(world, options, limit), expected);
      assert.deepEqual(await listed(world, options), expected);
    });
    await fc.assert(property, { seed: 20260605, numRuns: contractRuns(engine, 80) });
  });
}
