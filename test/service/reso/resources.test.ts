/** Specification 2.1, 2.3 and 4.2: the resources, the named fields, and the paths to them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startTestService } from '../../support/service.ts';
import { pick } from '../../support/world.ts';
import { asker } from './asker.ts';
import { fillMarket, KEYS, MARKET, OTHER_SYSTEM, SYSTEM } from './market.ts';

const service = await startTestService({ after }, { fill: fillMarket });
const feed = asker(service, 'replication', await service.key('replication'));

test('2.1 Media refers to its listing by OriginatingSystemResourceRecordKey and …SystemID', async () => {
  const names = ['MediaKey', 'OriginatingSystemResourceRecordKey', 'OriginatingSystemResourceRecordSystemID'];
  const { rows } = await feed.page(`Media?$select=${names.join(',')}`);
  assert.deepEqual(
    rows,
    ['1001-F1', '1001-P1', '1001-P2'].map((key) => ({
      MediaKey: key,
      OriginatingSystemResourceRecordKey: '1001',
      OriginatingSystemResourceRecordSystemID: SYSTEM,
    })),
  );
});

test('2.1 every full Property record has the fields that the specification names', async () => {
  const { rows } = await feed.page('Property');
  const named = [
    'ListingKey',
    'ModificationTimestamp',
    'PhotosChangeTimestamp',
    'VideosChangeTimestamp',
    'DocumentsChangeTimestamp',
    'ListAgentKey',
    'ListAgentPreferredPhone',
  ];
  assert.equal(rows.length, MARKET.length);
  for (const row of rows)
    assert.deepEqual(
      named.filter((name) => !(name in row)),
      [],
    );
  assert.deepEqual(pick(rows[0], ...named), {
    ListingKey: '1001',
    ModificationTimestamp: '2026-06-01T12:00:00.900Z',
    PhotosChangeTimestamp: '2026-06-01T12:00:00.900Z',
    VideosChangeTimestamp: null,
    DocumentsChangeTimestamp: null,
    ListAgentKey: 'A3',
    ListAgentPreferredPhone: '555-0103',
  });
});

test('2.1 every full record of a resource has the same fields, including those that are null', async () => {
  for (const resource of ['Property', 'Member', 'Office', 'Media', 'PropertyRooms', 'Lookup', 'Field']) {
    const { rows } = await feed.page(`${resource}?$top=1000`);
    const names = rows.map((row) => Object.keys(row).toSorted().join());
    assert.equal(new Set(names).size, 1, resource);
  }
});

test('2.1 a record has the stored values, numbers as numbers and timestamps in UTC', async () => {
  const record = await feed.record("Property('1012')");
  const row = MARKET[11];
  assert.ok(row);
  assert.deepEqual(
    pick(
      record,
      'ListingKey',
      'ListPrice',
      'BedroomsTotal',
      'AccessibilityFeatures',
      'City',
      'StandardStatus',
    ),
    {
      ListingKey: '1012',
      ListPrice: row.price,
      BedroomsTotal: null,
      AccessibilityFeatures: ['Accessible Doors', 'Accessible Kitchen'],
      City: "Coeur d'Alene",
      StandardStatus: 'Pending',
    },
  );
  assert.deepEqual(pick(record, 'ListingContractDate', 'OriginalEntryTimestamp', 'ModificationTimestamp'), {
    ListingContractDate: '2026-02-12',
    OriginalEntryTimestamp: '2026-01-12T08:30:00.011Z',
    ModificationTimestamp: '2026-06-01T12:11:00.900Z',
  });
});

test('2.1 Member and Office are read by key; keys compare bytewise', async () => {
  assert.deepEqual(await feed.keys('Member'), ['A1', 'A2', 'A3']);
  assert.deepEqual(await feed.keys('Office'), ['O1', 'O2']);
  assert.equal((await feed.record("Member('A2')")).MemberPreferredPhone, '555-0102');
  assert.equal((await feed.record('Office/O2')).OfficePhone, '555-0202');
  assert.deepEqual(await feed.keys('Property'), KEYS);
});

test('2.1 Room, Unit and OpenHouse are sub-resources of Property and resources of their own', async () => {
  const expected = { Room: ['1001-R1', '1001-R2'], Unit: ['1001-U1'], OpenHouse: ['1001-H1'] };
  for (const [name, keys] of Object.entries(expected)) {
    assert.deepEqual(await feed.keys(`Property/1001/${name}`), keys);
    assert.deepEqual(await feed.keys(name), keys);
    assert.deepEqual(await feed.keys(`Property/1002/${name}`), []);
  }
});

test('2.3 @odata.count is present only with $count=true, and is the number of matches on every page', async () => {
  assert.equal((await feed.page('Property')).count, undefined);
  assert.equal((await feed.page('Property?$count=false')).count, undefined);
  assert.equal((await feed.page('Property?$count=true&$top=3')).count, 30);
  assert.equal((await feed.page('Property?$count=true&$top=3&$skip=29')).count, 30);
  assert.equal((await feed.page('Property?$count=true&$skiptoken=1020')).count, 30);
  const filtered = "Property?$count=true&$top=0&$filter=StandardStatus eq 'Pending'";
  assert.deepEqual(await feed.page(filtered).then(({ rows, count }) => [rows.length, count]), [0, 6]);
});

test('2.3 @odata.nextLink has $skiptoken (the key of the last record of the page) and $top', async () => {
  const first = await feed.page('Property?$top=4&$select=ListingKey');
  assert.equal(first.next, `${feed.root}Property?$select=ListingKey&$top=4&$skiptoken=1004`);
  const second = await feed.page(first.next ?? '');
  assert.deepEqual(
    second.rows,
    [1005, 1006, 1007, 1008].map((key) => ({ ListingKey: String(key) })),
  );
  assert.equal(second.next, `${feed.root}Property?$select=ListingKey&$top=4&$skiptoken=1008`);
});

test('2.3 @odata.nextLink is absent on the last page, even if that page is full', async () => {
  assert.equal((await feed.page('Property?$top=30')).next, undefined);
  assert.equal((await feed.page('Property?$top=10&$skiptoken=1020')).next, undefined);
  assert.match((await feed.page('Property?$top=29')).next ?? '', /skiptoken=5$/);
});

test('2.3 the order of members is @odata.context, @odata.count, value, @odata.nextLink', async () => {
  const { answer } = await feed.page('Property?$top=1&$count=true&$select=ListingKey');
  assert.equal(
    answer.text,
    `{"@odata.context":"${feed.root}$metadata#Property(ListingKey)","@odata.count":30,` +
      `"value":[{"ListingKey":"1001"}],` +
      `"@odata.nextLink":"${feed.root}Property?$count=true&$select=ListingKey&$top=1&$skiptoken=1001"}`,
  );
});

test('4.2 $expand returns Media, Unit, Room and OpenHouse under the requested names', async () => {
  const { rows, context } = await feed.page('Property?$top=1000&$expand=Media,Unit,Room,OpenHouse');
  assert.equal(context, `${feed.root}$metadata#Property(Media(),Unit(),Room(),OpenHouse())`);
  assert.equal(rows.length, 30);
  const parts = rows.map(({ Media, Unit, Room, OpenHouse }) =>
    [Media, Unit, Room, OpenHouse].map((list) => (Array.isArray(list) ? list.length : list)),
  );
  assert.deepEqual(parts, [[3, 1, 2, 1], ...Array.from({ length: 29 }, () => [0, 0, 0, 0])]);
});

test('4.2 $select limits the returned fields', async () => {
  const { rows } = await feed.page('Property?$top=2&$select=ListingKey,City');
  assert.deepEqual(rows, [
    { ListingKey: '1001', City: 'Bremen' },
    { ListingKey: '1002', City: 'Åland' },
  ]);
});

test('4.2 $filter supports eq, gt, lt and and, and parentheses', async () => {
  const window =
    '(ModificationTimestamp gt 2026-06-01T12:05:00.900Z and ModificationTimestamp lt 2026-06-01T12:09:00Z)';
  assert.deepEqual(await feed.keys(`Property?$top=1000&$filter=${window}`), ['1007', '1008', '1009']);
  const further = `${window} and (ListPrice gt 340000)`;
  assert.deepEqual(await feed.keys(`Property?$filter=${further}`), ['1009']);
  assert.deepEqual(await feed.keys(`Property?$filter=OriginatingSystemID eq '${OTHER_SYSTEM}'`), [
    '2',
    '3',
    '4',
    '5',
    '6',
  ]);
});
