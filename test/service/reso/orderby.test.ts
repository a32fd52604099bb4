/** Contract, Paging: an ordered walk neither repeats nor skips records. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { startTestService } from '../../support/service.ts';
import { asker } from './asker.ts';
import { fillMarket, KEYS, MARKET, type MarketRow, marketListing } from './market.ts';

const service = await startTestService({ after }, { fill: fillMarket });
const token = await service.key('replication');
const feed = asker(service, 'replication', token);

type Value = string | number | null;

/** The terms to order by, with their value in a row. */
const TERMS: Readonly<Record<string, (row: MarketRow) => Value>> = {
  BedroomsTotal: (row) => row.bedrooms,
  ListPrice: (row) => row.price,
  City: (row) => row.city,
  StandardStatus: (row) => row.status,
  ListingContractDate: (row) => row.contractDate,
  OriginalEntryTimestamp: (row) => row.entered,
  ModificationTimestamp: (row) => row.modified,
  ListAgentPreferredPhone: (row) => `555-010${1 + (Number(row.key) % 3)}`,
  'length(City)': (row) => row.city.length,
  'BedroomsTotal mul 2': (row) => (row.bedrooms === null ? null : row.bedrooms * 2),
  'AccessibilityFeatures/$count': (row) => row.features.length,
};

/** Null is lowest, and texts compare as bytes. */
function compare(left: Value, right: Value): number {
  if (left === right) return 0;
  if (left === null) return -1;
  if (right === null) return 1;
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right)));
}

interface Term {
  readonly name: string;
  readonly descending: boolean;
}

function sorted(rows: readonly MarketRow[], terms: readonly Term[]): string[] {
  const order = (left: MarketRow, right: MarketRow): number => {
    for (const { name, descending } of terms) {
      const given = TERMS[name] ?? (() => null);
      const compared = compare(given(left), given(right));
      if (compared !== 0) return descending ? -compared : compared;
    }
    return compare(left.key, right.key);
  };
  return rows.toSorted(order).map(({ key }) => key);
}

const text = (terms: readonly Term[]): string =>
  terms.map(({ name, descending }) => `${name} ${descending ? 'desc' : 'asc'}`).join(',');

const arbitraryTerms = fc.uniqueArray(
  fc.record({ name: fc.constantFrom(...Object.keys(TERMS)), descending: fc.boolean() }),
  { minLength: 1, maxLength: 3, selector: ({ name }) => name },
);

test('a walk in any order returns every record once, with any page size, ordered by key last', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryTerms, fc.integer({ min: 4, max: 31 }), async (terms, size) => {
      const path = `Property?$orderby=${text(terms)}&$top=${size}&$select=ListingKey`;
      const pages = await feed.walk(path);
      assert.deepEqual(pages.flat(), sorted(MARKET, terms));
      assert.ok(pages.slice(0, -1).every((page) => page.length === size));
    }),
    { seed: 20260601, numRuns: 60 },
  );
});

test('a filtered walk in any order returns every match once, by nextLink and by $skip', async () => {
  const rows = MARKET.filter(({ price }) => price > 180_000);
  await fc.assert(
    fc.asyncProperty(arbitraryTerms, fc.integer({ min: 1, max: 20 }), async (terms, size) => {
      const path = `Property?$filter=ListPrice gt 180000&$orderby=${text(terms)}&$select=ListingKey`;
      const expected = sorted(rows, terms);
      assert.deepEqual((await feed.walk(`${path}&$top=${size}`)).flat(), expected);
      assert.deepEqual(await feed.keys(`${path}&$top=5&$skip=${size}`), expected.slice(size, size + 5));
    }),
    { seed: 20260602, numRuns: 40 },
  );
});

test('the default direction of $orderby is ascending, and null is lowest', async () => {
  const path = 'Property?$select=ListingKey,BedroomsTotal&$top=1000&$orderby=BedroomsTotal';
  const nulls = ['1006', '1012', '1018', '1024', '6'];
  assert.deepEqual((await feed.keys(path)).slice(0, 5), nulls);
  assert.deepEqual((await feed.keys(`${path} desc`)).slice(-5), nulls);
});

for (const filter of ['', '&$filter=ListPrice gt 0']) {
  const kind = filter === '' ? 'unfiltered' : 'filtered';
  test(`4.4 an ordered ${kind} walk returns unchanged records once while others are added, deleted and changed`, async () => {
    const world = await startTestService({ after }, { fill: fillMarket });
    const walker = asker(world, 'replication', await world.key('replication'));
    const touched = new Set<string>();
    const seen: string[] = [];
    let next: string | undefined = `Property?$orderby=ListPrice desc&$top=3&$select=ListingKey${filter}`;
    for (let step = 0; next !== undefined; step++) {
      const page = await walker.page(next);
      const keys = page.rows.map(({ ListingKey }) => String(ListingKey));
      seen.push(...keys);
      next = page.next;
      const [first = '', last = ''] = [keys[0], keys.at(-1)];
      const row = MARKET.find(({ key }) => key === first);
      touched.add(step % 2 === 0 || row === undefined ? last : first);
      if (step % 2 === 0 || row === undefined) {
        await world.store.remove('Property', [last]); // the record of the token
      } else {
        await world.write('Property', marketListing({ ...row, price: 1 + step })); // to the end of the order
        await world.write('Property', marketListing({ ...row, key: `new${step}`, price: 250_000 }));
      }
    }
    const steady = KEYS.filter((key) => !touched.has(key));
    assert.ok(touched.size >= 8 && steady.length >= 15);
    assert.deepEqual(seen.filter((key) => steady.includes(key)).toSorted(), steady.toSorted());
  });
}

test('the skip token of an order is opaque, and a token of another order or filter is refused', async () => {
  const { next } = await feed.page('Property?$orderby=ListPrice&$top=2');
  const made = /skiptoken=([^&]+)$/.exec(next ?? '')?.[1] ?? '';
  assert.match(made, /^[\w-]+$/);
  const message = 'The skip token was not made by this service for this request.';
  const wrong = [
    `Property?$orderby=ListPrice,City&$skiptoken=${made}`,
    'Property?$orderby=ListPrice&$skiptoken=1001',
    'Property?$orderby=ListPrice&$skiptoken=e30',
    `Property?$orderby=ListPrice&$skiptoken=${made.slice(0, -3)}`,
    `Property?$orderby=ListPrice,City&$filter=ListPrice gt 0&$skiptoken=${made}`,
  ];
  for (const path of wrong)
    assert.deepEqual(await feed.error(path), [400, 'skipTokenInvalid', message], path);
  assert.equal((await feed.keys('Property?$orderby=ListPrice&$skiptoken=')).length, 30);
});

test('an ordered filtered walk continues correctly after its list has expired', async () => {
  const world = await startTestService({ after }, { fill: fillMarket });
  const walker = asker(world, 'replication', await world.key('replication'));
  const path = 'Property?$orderby=City desc,ListPrice&$filter=ListPrice gt 0&$top=7&$select=ListingKey';
  const expected = sorted(MARKET, [
    { name: 'City', descending: true },
    { name: 'ListPrice', descending: false },
  ]);
  const first = await walker.page(path);
  world.clock.advance(11 * 60_000);
  const rest = await walker.walk(first.next ?? '');
  assert.deepEqual(rest.flat(), expected.slice(7));
});
