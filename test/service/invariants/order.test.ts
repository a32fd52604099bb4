/** I1: keys are compared byte-wise everywhere, and a token remains valid when its record is deleted. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { listing } from '../../support/builders.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { nativeAsker } from '../native/asker.ts';
import { asker } from '../reso/asker.ts';

const bytes = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));

/** Texts that sort differently by UTF-16 units, by a language's collation, as numbers, or percent-encoded. */
const LETTERS = [
  '1',
  '9',
  '10',
  'a',
  'A',
  'Z',
  'é',
  'ß',
  '\uFF5E',
  '\u{1F3E0}',
  "'",
  '%',
  '+',
  '/',
  ' x',
  '&',
  '日',
];
const key = fc
  .array(fc.constantFrom(...LETTERS), { minLength: 1, maxLength: 4 })
  .map((parts) => `k${parts.join('')}`);
const market = fc.record({
  keys: fc.uniqueArray(key, { minLength: 3, maxLength: 14 }),
  size: fc.integer({ min: 1, max: 4 }),
  /** By number of the page: whether its last record is deleted before the next page is requested. */
  removed: fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }),
});

type Read = (path: string) => Promise<{ keys: readonly string[]; next: string | undefined }>;

/** Reads all pages, and calls `afterPage` with the last key of each. */
async function walk(
  first: string,
  read: Read,
  afterPage: (last: string, page: number) => Promise<void>,
): Promise<string[]> {
  const found: string[] = [];
  let page = 0;
  for (let next: string | undefined = first; next !== undefined; page++) {
    const answer: Awaited<ReturnType<Read>> = await read(next);
    found.push(...answer.keys);
    const last = answer.keys.at(-1);
    if (last !== undefined) await afterPage(last, page);
    next = answer.next;
    assert.ok(page < 100, 'the walk ends');
  }
  return found;
}

async function checkWalks(
  service: TestService,
  keys: readonly string[],
  size: number,
  removed: readonly boolean[],
) {
  await service.write('Property', ...keys.map((each) => listing(each, { City: 'A', ListPrice: 1 })));
  const token = await service.key('replication');
  const reso = asker(service, 'replication', token);
  const native = nativeAsker(service, 'replication', token);
  const readReso: Read = async (path) => {
    const { rows, next } = await reso.page(path);
    return { keys: rows.map(({ ListingKey }) => String(ListingKey)), next };
  };
  const readNative: Read = async (path) => {
    const page = await native.page(path);
    const rest = path.replace(/&_skiptoken=.*/, '');
    return {
      keys: page.keys,
      next:
        page.keys.length === 0 ? undefined : `${rest}&_skiptoken=${encodeURIComponent(String(page.token))}`,
    };
  };
  const ways: [string, Read][] = [
    [`Property?$top=${size}&$select=ListingKey`, readReso],
    [`Property?$top=${size}&$select=ListingKey&$filter=City eq 'A'`, readReso],
    [`Property?$top=${size}&$select=ListingKey&$orderby=ListPrice`, readReso],
    [`listings?_limit=${size}&_select=ListingKey`, readNative],
    [`listings?_limit=${size}&_select=ListingKey&_filter=City Eq 'A'`, readNative],
  ];
  for (const [path, read] of ways) {
    const found = await walk(path, read, async (last, page) => {
      if (removed[page]) await service.store.remove('Property', [last]);
    });
    assert.deepEqual(found, keys.toSorted(bytes), path);
    await service.write('Property', ...keys.map((each) => listing(each, { City: 'A', ListPrice: 1 })));
    service.clock.advance(11 * 60_000);
  }
  const [middle = ''] = keys;
  const filter = `ListingKey gt '${middle.replaceAll("'", "''").replaceAll('%', '%25').replaceAll('+', '%2B').replaceAll('&', '%26')}'`;
  assert.deepEqual(
    (await readReso(`Property?$filter=${filter}`)).keys,
    keys.filter((each) => bytes(each, middle) > 0).toSorted(bytes),
    'filters compare bytewise, too',
  );
  await service.store.remove('Property', keys);
}

test('I1 every walk is in bytewise order and complete, even if the record of a token has been deleted', async () => {
  const service = await startTestService({ after });
  await fc.assert(
    fc.asyncProperty(market, ({ keys, size, removed }) => checkWalks(service, keys, size, removed)),
    { seed: 20260604, numRuns: 12 },
  );
});
