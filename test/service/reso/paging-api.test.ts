/** Contract, Paging, on the api surface: `$top` is the total number of rows, as in OData. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { asker } from './asker.ts';

const LISTINGS = 2210;
const KEYS = Array.from({ length: LISTINGS }, (_, index) => String(20_000 + index));

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      await write('Property', ...KEYS.map((key, index) => listing(key, { BedroomsTotal: index % 3 })));
    },
  },
);
const api = asker(service, 'api', await service.key('api'));
const sizes = (pages: readonly (readonly string[])[]): number[] => pages.map((page) => page.length);

test('without $top a page has 200 rows, and a walk returns every record once', async () => {
  const { next } = await api.page('Property?$select=ListingKey');
  assert.equal(next, `${api.root}Property?$select=ListingKey&$skiptoken=20199`);
  const pages = await api.walk('Property?$select=ListingKey');
  assert.deepEqual(sizes(pages), [...Array.from({ length: 11 }, () => 200), 10]);
  assert.deepEqual(pages.flat(), KEYS);
});

test('$top is the total: a page has up to 1000 rows, and nextLink leads to the rest', async () => {
  for (const [top, expected] of [
    [1, [1]],
    [200, [200]],
    [201, [201]],
    [1000, [1000]],
    [1001, [1000, 1]],
    [2100, [1000, 1000, 100]],
    [5000, [1000, 1000, 210]],
    ['9223372036854775807', [1000, 1000, 210]],
  ] as const) {
    const pages = await api.walk(`Property?$select=ListingKey&$top=${top}`);
    assert.deepEqual(sizes(pages), expected, `$top=${top}`);
    assert.deepEqual(pages.flat(), KEYS.slice(0, Number(top)));
  }
});

test('$top in nextLink is the number of remaining rows', async () => {
  const first = await api.page('Property?$select=ListingKey&$top=2100&$count=true');
  assert.equal(first.next, `${api.root}Property?$select=ListingKey&$count=true&$top=1100&$skiptoken=20999`);
  const second = await api.page(first.next ?? '');
  assert.equal(second.next, `${api.root}Property?$select=ListingKey&$count=true&$top=100&$skiptoken=21999`);
  assert.deepEqual([first.count, second.count], [LISTINGS, LISTINGS]);
});

test('$top=1 returns no nextLink, $top=0 neither rows nor a nextLink', async () => {
  assert.equal((await api.page('Property?$top=1')).next, undefined);
  assert.equal((await api.page('Property?$top=1&$filter=BedroomsTotal eq 1')).next, undefined);
  assert.equal((await api.page('Property?$top=1&$orderby=BedroomsTotal')).next, undefined);
  const { rows, next, count } = await api.page('Property?$top=0&$count=true');
  assert.deepEqual([rows, next, count], [[], undefined, LISTINGS]);
});

test('$top=5&$skip=15 returns rows 16 to 20 without a nextLink', async () => {
  const { rows, next } = await api.page('Property?$top=5&$skip=15&$select=ListingKey');
  assert.deepEqual(
    rows.map(({ ListingKey }) => ListingKey),
    KEYS.slice(15, 20),
  );
  assert.equal(next, undefined);
  const beyond = await api.walk('Property?$top=1500&$skip=100&$select=ListingKey');
  assert.deepEqual(beyond.flat(), KEYS.slice(100, 1600));
});

test('$top above 1000 may be combined with $skip, and remains the total', async () => {
  const pages = await api.walk('Property?$top=1200&$skip=1100&$select=ListingKey');
  assert.deepEqual(sizes(pages), [1000, 110]);
  assert.deepEqual(pages.flat(), KEYS.slice(1100));
});

test('Prefer: odata.maxpagesize lowers the page size for the whole walk, but never raises it', async () => {
  const lowered = { prefer: 'odata.maxpagesize=90' };
  const first = await api.page('Property?$select=ListingKey&$top=250', lowered);
  assert.equal(first.answer.headers['preference-applied'], 'odata.maxpagesize=90');
  const pages: number[] = [first.rows.length];
  for (let next = first.next; next !== undefined; ) {
    const page = await api.page(next); // without the header
    pages.push(page.rows.length);
    next = page.next;
  }
  assert.deepEqual(pages, [90, 90, 70]);
  const raised = { prefer: 'maxpagesize=900' };
  const page = await api.page('Property?$select=ListingKey', raised);
  assert.equal(page.rows.length, 200);
  assert.equal(page.answer.headers['preference-applied'], undefined);
});

test('a filtered walk returns every match once, with the same $count on every page', async () => {
  const expected = KEYS.filter((_, index) => index % 3 === 1);
  const path = 'Property?$filter=BedroomsTotal eq 1&$select=ListingKey';
  assert.deepEqual((await api.walk(path)).flat(), expected);
  assert.deepEqual((await api.walk(`${path}&$top=450&$skip=50`)).flat(), expected.slice(50, 500));
  const first = await api.page(`${path}&$count=true`);
  const second = await api.page(first.next ?? '');
  assert.deepEqual([first.count, second.count], [expected.length, expected.length]);
});

test('a child collection is paged in the same way', async () => {
  const photos = Array.from({ length: 205 }, (_, index) => ({
    MediaKey: `P${String(index).padStart(3, '0')}`,
    MediaCategory: 'Photo',
    MediaURL: 'https://images.example/p.jpg',
  }));
  await service.write('Property', listing('20000', { BedroomsTotal: 0, Media: photos }));
  const keys = photos.map(({ MediaKey }) => MediaKey);
  const pages = await api.walk("Property('20000')/Media?$select=MediaKey");
  assert.deepEqual(sizes(pages), [200, 5]);
  assert.deepEqual(pages.flat(), keys);
  assert.deepEqual(await api.keys('Property/20000/Media?$top=5&$skip=15'), keys.slice(15, 20));
  const { next } = await api.page('Property/20000/Media?$select=MediaKey');
  assert.equal(next, `${api.root}Property/20000/Media?$select=MediaKey&$skiptoken=P199`);
});
