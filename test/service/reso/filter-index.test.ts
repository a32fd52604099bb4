/** Specification 8 and 7 rule 3; contract, The filter-index cache (I5). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { LIST_OVERHEAD } from '../../../src/service/paging/filter-index.ts';
import { listing, photo } from '../../support/builders.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { type Asker, asker, type Page } from './asker.ts';

const MINUTE = 60_000;
const KEYS = ['11', '12', '13', '14', '15', '16', '17', '18'];
const fill = async ({ write }: Pick<TestService, 'write'>): Promise<void> => {
  await write('Property', ...KEYS.map((key) => listing(key, { BedroomsTotal: 3, ListPrice: Number(key) })));
};

const start = (minutes = 10, megabytes = 64): Promise<TestService> =>
  startTestService(
    { after },
    { fill, service: { filterIndex: { ...SERVICE_DEFAULTS.filterIndex, minutes, megabytes } } },
  );

const stateOf = ({ answer }: Page): [unknown, unknown] => [
  answer.headers['x-plat-index'],
  answer.headers['x-plat-index-age'],
];
const keysOf = ({ rows }: Page): string[] => rows.map(({ ListingKey }) => String(ListingKey));

async function world(minutes?: number, megabytes?: number): Promise<{ service: TestService; feed: Asker }> {
  const service = await start(minutes, megabytes);
  return { service, feed: asker(service, 'replication', await service.key('replication')) };
}

const FILTER = 'Property?$select=ListingKey,ListPrice&$filter=BedroomsTotal eq 3';

test('8 the same filter sent twice within 10 minutes walks the list that the first request found', async () => {
  const { service, feed } = await world();
  assert.deepEqual(stateOf(await feed.page(FILTER)), ['fresh', '0']);
  await service.write('Property', listing('11', { BedroomsTotal: 9, ListPrice: 77 })); // no longer matches
  await service.write('Property', listing('10', { BedroomsTotal: 3 }), listing('19', { BedroomsTotal: 3 }));
  service.clock.advance(10 * MINUTE - 1);
  const again = await feed.page(`${FILTER}&$count=true`);
  assert.deepEqual(stateOf(again), ['cached', '599']);
  assert.deepEqual(
    keysOf(again),
    KEYS,
    'the list is frozen: new matches are not in it, former ones still are',
  );
  assert.equal(again.count, 8);
  assert.deepEqual(again.rows[0], { ListingKey: '11', ListPrice: 77 }, 'the record itself is live');
});

test('8 after 10 minutes the filter is evaluated again', async () => {
  const { service, feed } = await world();
  await feed.page(FILTER);
  await service.write('Property', listing('10', { BedroomsTotal: 3 }));
  service.clock.advance(10 * MINUTE);
  const fresh = await feed.page(FILTER);
  assert.deepEqual(stateOf(fresh), ['fresh', '0']);
  assert.deepEqual(keysOf(fresh), ['10', ...KEYS]);
});

test('8 each key has its own list', async () => {
  const { service, feed } = await world();
  await feed.page(FILTER);
  await service.write('Property', listing('19', { BedroomsTotal: 3 }));
  const other = asker(service, 'replication', await service.key('replication'));
  const fresh = await other.page(FILTER);
  assert.deepEqual(stateOf(fresh), ['fresh', '0']);
  assert.deepEqual(keysOf(fresh), [...KEYS, '19']);
  assert.deepEqual(keysOf(await feed.page(FILTER)), KEYS);
});

test('8 a list is identified by resource and parsed filter; other options do not matter', async () => {
  const { feed } = await world();
  await feed.page(FILTER);
  const same = [
    'Property?$filter=(BedroomsTotal%20eq%203)',
    'Property?$filter=BedroomsTotal+eq++3&$top=2&$skip=1',
    'Property?filter=BedroomsTotal eq 3&$orderby=ListPrice desc',
    'Property?$filter=BedroomsTotal eq @n&@n=3&$expand=Media&$count=true',
    'Property/$count?$filter=BedroomsTotal eq 3',
  ];
  for (const path of same) {
    assert.equal((await feed.get(path)).headers['x-plat-index'], 'cached', path);
  }
  const others = [
    'Property?$filter=BedroomsTotal eq 3 and true',
    'Property?$filter=BedroomsTotal eq 2',
    'Property?$filter=3 eq BedroomsTotal',
    'Property?$search=3',
    "Property/11/Media?$filter=MediaKey eq '1'",
    "Property/12/Media?$filter=MediaKey eq '1'",
    "Media?$filter=MediaKey eq '1'",
  ];
  for (const path of others) {
    assert.equal((await feed.get(path)).headers['x-plat-index'], 'fresh', path);
  }
});

test('8 a request without a filter uses no list', async () => {
  const { feed } = await world();
  for (const path of ['Property', 'Property?$orderby=ListPrice', 'Property/11/Media', 'Property?$skip=2']) {
    assert.deepEqual(stateOf(await feed.page(path)), ['none', undefined], path);
  }
});

test('I5 a deleted record is left out, and the walk continues after it', async () => {
  const { service, feed } = await world();
  const first = await feed.page(`${FILTER}&$top=3&$count=true`);
  assert.deepEqual(keysOf(first), ['11', '12', '13']);
  await service.store.remove('Property', ['13', '14', '17']);
  const second = await feed.page(first.next ?? '');
  const rest = await feed.walk(first.next ?? '');
  assert.deepEqual(keysOf(second), ['15', '16', '18']);
  assert.deepEqual(rest, [['15', '16', '18']]);
  assert.equal(second.count, 8, 'the count is that of the list');
  assert.deepEqual(await feed.walk(`${FILTER}&$top=2`), [['11', '12'], ['15', '16'], ['18']]);
  assert.deepEqual(await feed.walk(`${FILTER}&$top=2&$orderby=ListPrice desc`), [
    ['18', '16'],
    ['15', '12'],
    ['11'],
  ]);
});

test('I5 a record that becomes invisible is left out, and reappears when it is visible again', async () => {
  const { service } = await world();
  const idx = asker(service, 'api', await service.key('api', { role: 'idx' }));
  assert.deepEqual(keysOf(await idx.page(FILTER)), KEYS);
  const withdraw = (status: string) =>
    service.write('Property', listing('12', { StandardStatus: status, BedroomsTotal: 3, ListPrice: 12 }));
  await withdraw('Withdrawn');
  assert.deepEqual(
    keysOf(await idx.page(FILTER)),
    KEYS.filter((key) => key !== '12'),
  );
  await withdraw('Active');
  assert.deepEqual(keysOf(await idx.page(FILTER)), KEYS);
});

test('I5 an ordered walk keeps its order, and after deletions neither repeats nor skips records', async () => {
  const { service, feed } = await world();
  const path = `${FILTER}&$orderby=ListPrice desc&$top=3`;
  const first = await feed.page(path);
  assert.deepEqual(keysOf(first), ['18', '17', '16']);
  await service.store.remove('Property', ['16', '15']);
  await service.write('Property', listing('11', { BedroomsTotal: 3, ListPrice: 999 }));
  assert.deepEqual(await feed.walk(first.next ?? ''), [['14', '13', '12'], ['11']]);
});

test('I5 $skip counts positions in the list, so stepping repeats at most as many records as were deleted', async () => {
  const { service, feed } = await world();
  assert.deepEqual(await feed.keys(`${FILTER}&$top=2&$skip=0`), ['11', '12']);
  await service.store.remove('Property', ['12', '14']);
  assert.deepEqual(await feed.keys(`${FILTER}&$top=2&$skip=2`), ['13', '15']);
  assert.deepEqual(await feed.keys(`${FILTER}&$top=2&$skip=4`), ['15', '16']);
  assert.deepEqual(await feed.keys(`${FILTER}&$top=2&$skip=6`), ['17', '18']);
  assert.deepEqual(await feed.keys(`${FILTER}&$top=2&$skip=8`), []);
});

test('7.3 a repeated window with only a lower bound misses changes in between; one with both bounds does not', async () => {
  const { service, feed } = await world();
  const from = service.clock.text();
  service.clock.advance(MINUTE);
  await service.write('Property', listing('13', { BedroomsTotal: 3, ListPrice: 1 }));
  service.clock.advance(1000);
  const lower = `Property?$filter=ModificationTimestamp gt ${from}`;
  assert.deepEqual(await feed.keys(lower), ['13']);
  await service.write('Property', listing('15', { BedroomsTotal: 3, ListPrice: 1 }));
  service.clock.advance(1000);
  assert.deepEqual(await feed.keys(lower), ['13'], 'the list of the first request');
  const both = `Property?$filter=(ModificationTimestamp gt ${from} and ModificationTimestamp lt ${service.clock.text()})`;
  assert.deepEqual(await feed.keys(both), ['13', '15']);
});

test('with filterIndex.minutes 0, no list is kept', async () => {
  const { service, feed } = await world(0);
  const first = await feed.page(`${FILTER}&$top=3`);
  assert.deepEqual(stateOf(first), ['fresh', '0']);
  await service.write('Property', listing('105', { BedroomsTotal: 3 }), listing('131', { BedroomsTotal: 3 }));
  const second = await feed.page(first.next ?? '');
  assert.deepEqual(stateOf(second), ['fresh', '0']);
  assert.deepEqual(keysOf(second), ['131', '14', '15']);
  const ordered = await feed.page(`${FILTER}&$top=3&$orderby=ListPrice desc`);
  await service.store.remove('Property', ['16']);
  assert.deepEqual(await feed.walk(ordered.next ?? ''), [['15', '14', '13'], ['12', '11', '105'], ['131']]);
});

const BYTES = 1 / (1024 * 1024);

test('a list larger than the memory limit is not kept', async () => {
  const { feed } = await world(10, (LIST_OVERHEAD + 31) * BYTES); // eight ids of four bytes need 32
  assert.deepEqual(stateOf(await feed.page(FILTER)), ['fresh', '0']);
  assert.deepEqual(stateOf(await feed.page(FILTER)), ['fresh', '0']);
  const few = 'Property?$filter=ListPrice lt 14';
  assert.deepEqual(stateOf(await feed.page(few)), ['fresh', '0']);
  assert.deepEqual(stateOf(await feed.page(few)), ['cached', '0']);
});

test('when memory is full, the least recently used list is removed, and built again on request', async () => {
  const { feed } = await world(10, (3 * LIST_OVERHEAD + 30) * BYTES);
  const lists = ['ListPrice le 13', 'ListPrice le 12', 'ListPrice ge 17'].map(
    (filter) => `Property?$filter=${filter}`,
  );
  const states = async (...which: readonly number[]): Promise<unknown[]> => {
    const found: unknown[] = [];
    for (const index of which) found.push(stateOf(await feed.page(lists[index] ?? ''))[0]);
    return found;
  };
  assert.deepEqual(await states(0, 1, 0, 2), ['fresh', 'fresh', 'cached', 'fresh']); // 12 + 8 + 8 bytes
  await feed.page('Property?$filter=ListPrice eq 14'); // 4 more bytes: list 1 is removed
  assert.deepEqual(await states(0, 2), ['cached', 'cached']);
  assert.deepEqual(await states(1), ['fresh']);
});

test('two concurrent requests share one search', async () => {
  const { feed } = await world();
  const states = (await Promise.all([feed.page(FILTER), feed.page(FILTER)])).map((page) => stateOf(page)[0]);
  assert.deepEqual(states.toSorted(), ['cached', 'fresh']);
});

test('when the clock is set back, a list is built again', async () => {
  const { service, feed } = await world();
  await feed.page(FILTER);
  service.clock.advance(-MINUTE);
  assert.deepEqual(stateOf(await feed.page(FILTER)), ['fresh', '0']);
});

test('the same filter on the children of different parents uses different lists', async () => {
  const { service, feed } = await world();
  await service.write(
    'Property',
    listing('11', { Media: [photo('P1'), photo('P2')] }),
    listing('12', { Media: [photo('P3')] }),
  );
  const photos = (key: string): string => `Property/${key}/Media?$filter=MediaCategory eq 'Photo'`;
  assert.deepEqual(await feed.keys(photos('11')), ['P1', 'P2']);
  assert.deepEqual(await feed.keys(photos('12')), ['P3']);
  assert.deepEqual(await feed.keys(photos('11')), ['P1', 'P2']);
});
