/** Specification 2.3, 4.2, 4.4 and 8 on the replication surface, where `$top` is the page size. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { asker } from './asker.ts';

const LISTINGS = 2003;
/** In bytewise order, since all have the same length. */
const KEYS = Array.from({ length: LISTINGS }, (_, index) => String(20_000 + index));

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      await write('Property', ...KEYS.map((key, index) => listing(key, { BedroomsTotal: index % 3 })));
    },
  },
);
const feed = asker(service, 'replication', await service.key('replication'));
const sizes = (pages: readonly (readonly string[])[]): number[] => pages.map((page) => page.length);

test('4.2 $top is the page size: 1000 by default and at most', async () => {
  assert.equal((await feed.keys('Property?$select=ListingKey')).length, 1000);
  assert.equal((await feed.keys('Property?$select=ListingKey&$top=1000')).length, 1000);
  for (const top of ['1001', '9223372036854775807']) {
    const { rows, answer } = await feed.page(`Property?$select=ListingKey&$top=${top}`);
    assert.equal(rows.length, 1000);
    assert.equal(answer.headers['preference-applied'], 'odata.maxpagesize=1000');
  }
  assert.equal((await feed.page('Property?$top=1000')).answer.headers['preference-applied'], undefined);
});

test('4.2 the initial download ?$top=1000&$count=true returns every record once, in key order, by nextLink', async () => {
  const pages = await feed.walk('Property?$top=1000&$count=true&$select=ListingKey');
  assert.deepEqual(sizes(pages), [1000, 1000, 3]);
  assert.deepEqual(pages.flat(), KEYS);
  const { count } = await feed.page('Property?$top=1000&$count=true');
  assert.equal(count, LISTINGS);
});

test('4.2 every nextLink has $skiptoken and $top, even if the request had no $top', async () => {
  const first = await feed.page('Property?$select=ListingKey&$count=true');
  const link = (token: string): string =>
    `${feed.root}Property?$select=ListingKey&$count=true&$top=1000&$skiptoken=${token}`;
  assert.equal(first.next, link('20999'));
  const second = await feed.page(first.next ?? '');
  assert.equal(second.next, link('21999'));
  const third = await feed.page(second.next ?? '');
  assert.equal(third.next, undefined);
  assert.deepEqual([first.count, second.count, third.count], [LISTINGS, LISTINGS, LISTINGS]);
});

test('4.2 incrementing $skip by $top per page returns every record once', async () => {
  const found: string[] = [];
  for (let skip = 0; ; skip += 700) {
    const page = await feed.keys(`Property?$select=ListingKey&$top=700&$skip=${skip}`);
    if (page.length === 0) break;
    found.push(...page);
  }
  assert.deepEqual(found, KEYS);
});

test('4.2 $top=5&$skip=15 returns rows 16 to 20', async () => {
  assert.deepEqual(await feed.keys('Property?$top=5&$skip=15'), KEYS.slice(15, 20));
});

test('4.2 $skip beyond the end returns an empty page without a nextLink', async () => {
  for (const skip of [LISTINGS, '9223372036854775807']) {
    const { rows, next } = await feed.page(`Property?$top=5&$skip=${skip}`);
    assert.deepEqual([rows, next], [[], undefined]);
  }
});

test('4.2 after a page with $skip, nextLink continues by $skiptoken without $skip', async () => {
  const { next } = await feed.page('Property?$select=ListingKey&$skip=10&$top=5');
  assert.equal(next, `${feed.root}Property?$select=ListingKey&$top=5&$skiptoken=20014`);
});

test('$top above 1000 together with $skip is refused, since stepping by $top would skip rows', async () => {
  for (const skip of [0, 1000]) {
    assert.deepEqual(await feed.error(`Property?$top=1001&$skip=${skip}`), [
      400,
      'optionsConflict',
      '$top and $skip cannot be combined: a page has at most 1000 rows, so steps of 1001 would skip rows.',
    ]);
  }
  assert.equal((await feed.keys('Property?$top=1000&$skip=1000&$select=ListingKey')).length, 1000);
});

test('4.2 $skiptoken skips every record up to that key, whether its record exists or not', async () => {
  assert.deepEqual(await feed.keys('Property?$top=2&$skiptoken=20009'), ['20010', '20011']);
  assert.deepEqual(await feed.keys('Property?$top=2&$skiptoken=200095'), ['20010', '20011']);
  assert.deepEqual(await feed.keys('Property?$top=2&$skiptoken=1'), ['20000', '20001']);
  assert.deepEqual(await feed.keys('Property?$top=2&$skiptoken=9'), []);
});

test('4.2 an empty $skiptoken returns the first page, and can be combined with $skip', async () => {
  assert.deepEqual(await feed.keys('Property?$top=2&$skiptoken='), ['20000', '20001']);
  assert.deepEqual(await feed.keys('Property?$top=2&$skiptoken=&$skip=3'), ['20003', '20004']);
});

test('$skiptoken and $skip cannot be combined', async () => {
  assert.deepEqual(await feed.error('Property?$skiptoken=20009&$skip=5'), [
    400,
    'optionsConflict',
    '$skiptoken and $skip cannot be combined: both set where the page begins.',
  ]);
});

test('$top=1 pages record by record; $top=0 returns neither rows nor a nextLink', async () => {
  const { rows, next } = await feed.page('Property?$top=1&$select=ListingKey');
  assert.deepEqual(rows, [{ ListingKey: '20000' }]);
  assert.equal(next, `${feed.root}Property?$select=ListingKey&$top=1&$skiptoken=20000`);
  const none = await feed.page('Property?$top=0&$count=true');
  assert.deepEqual([none.rows, none.next, none.count], [[], undefined, LISTINGS]);
  const filtered = await feed.page('Property?$top=0&$count=true&$filter=BedroomsTotal eq 1');
  assert.deepEqual([filtered.rows, filtered.next, filtered.count], [[], undefined, 668]);
});

test('Prefer: odata.maxpagesize lowers the page size for the whole walk, but never raises it', async () => {
  const lowered = { prefer: 'odata.maxpagesize=600' };
  const first = await feed.page('Property?$select=ListingKey&$top=900', lowered);
  assert.equal(first.rows.length, 600);
  assert.equal(first.answer.headers['preference-applied'], 'odata.maxpagesize=600');
  assert.equal(first.next, `${feed.root}Property?$select=ListingKey&$top=600&$skiptoken=20599`);
  assert.deepEqual((await feed.walk('Property?$select=ListingKey', lowered)).flat(), KEYS);
  const raised = { prefer: 'odata.maxpagesize=5000' };
  assert.equal((await feed.keys('Property?$select=ListingKey', raised)).length, 1000);
  assert.equal((await feed.keys('Property?$select=ListingKey&$top=10', raised)).length, 10);
});

test('7.2 a page can be requested with a lower $top from the same position', async () => {
  const path = 'Property?$select=ListingKey&$skiptoken=20999';
  const whole = await feed.keys(`${path}&$top=1000`);
  const lower = await feed.walk(`${path}&$top=250`);
  assert.deepEqual(lower.flat().slice(0, 1000), whole);
  assert.deepEqual(sizes(lower), [250, 250, 250, 250, 3]);
});

test('a filtered walk is paged by key, and nextLink repeats the filter as it was written', async () => {
  const expected = KEYS.filter((_, index) => index % 3 === 2);
  const filter = '$filter=BedroomsTotal+eq%202';
  const first = await feed.page(`Property?${filter}&$select=ListingKey&$top=300`);
  assert.equal(
    first.next,
    `${feed.root}Property?${filter}&$select=ListingKey&$top=300&$skiptoken=${expected[299]}`,
  );
  const pages = await feed.walk(`Property?${filter}&$select=ListingKey&$top=300&$count=true`);
  assert.deepEqual(pages.flat(), expected);
  assert.deepEqual(sizes(pages), [300, 300, 67]);
});

test('a filtered walk supports $skip, and $skiptoken with a key that does not match the filter', async () => {
  const expected = KEYS.filter((_, index) => index % 3 === 2);
  const path = 'Property?$filter=BedroomsTotal eq 2&$select=ListingKey&$top=5';
  assert.deepEqual(await feed.keys(`${path}&$skip=15`), expected.slice(15, 20));
  assert.deepEqual(await feed.keys(`${path}&$skiptoken=20003`), expected.slice(1, 6));
  assert.deepEqual(await feed.keys(`${path}&$skiptoken=zz`), []);
});

test('options are case-insensitive and may omit the dollar sign (OData 4.01), and nextLink repeats them as written', async () => {
  const { rows, next } = await feed.page('Property?top=2&SELECT=ListingKey&skip=1');
  assert.deepEqual(rows, [{ ListingKey: '20001' }, { ListingKey: '20002' }]);
  assert.equal(next, `${feed.root}Property?SELECT=ListingKey&$top=2&$skiptoken=20002`);
});

test('invalid, unknown and repeated options are refused by name', async () => {
  const expected: readonly [string, string, string][] = [
    ['$top=-1', 'optionInvalid', '$top is "-1", but takes a whole number, 0 or more.'],
    ['$top=abc', 'optionInvalid', '$top is "abc", but takes a whole number, 0 or more.'],
    ['$top=', 'optionInvalid', '$top is "", but takes a whole number, 0 or more.'],
    ['$skip=x', 'optionInvalid', '$skip is "x", but takes a whole number, 0 or more.'],
    ['$count=maybe', 'optionInvalid', '$count is "maybe", but takes true or false.'],
    ['$tpo=5', 'optionUnknown', 'The query option $tpo is not known. Did you mean $top?'],
    ['$top=1&$top=2', 'optionRepeated', 'The query option $top is given more than once.'],
    ['$top=1&top=2', 'optionRepeated', 'The query option $top is given more than once.'],
  ];
  for (const [query, code, message] of expected) {
    assert.deepEqual(await feed.error(`Property?${query}`), [400, code, message]);
  }
});

test('a custom option is ignored and repeated in nextLink', async () => {
  const { next } = await feed.page('Property?$top=1&trace=a%20b&$select=ListingKey');
  assert.equal(next, `${feed.root}Property?trace=a%20b&$select=ListingKey&$top=1&$skiptoken=20000`);
});
