/** The native interface rule by rule (specification 2.4, 4.3, 4.4). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listing, photo } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { asker } from '../reso/asker.ts';
import { type NativeAsker, nativeAsker } from './asker.ts';
import { FIRST, fillMarket, KEYS, MODIFIED } from './market.ts';

const service = await startTestService({ after }, { fill: fillMarket });
const feedToken = await service.key('replication', { role: 'idx' });
const feed = nativeAsker(service, 'replication', feedToken);
const own = (): Promise<string> => service.key('replication', { role: 'idx' });
const modified = (index: number): string => MODIFIED.get(KEYS[index] ?? '') ?? '';

/** Reads all pages by the token of each response, beginning with an empty token. */
async function walk(asks: NativeAsker, path: string): Promise<string[]> {
  return (await asks.walk(path, '')).flat();
}

test('4.3.1 initial download: ?_limit=1000&_skiptoken=, then the token of each response, with _select or without', async () => {
  assert.deepEqual(await walk(feed, 'listings?_limit=1000'), KEYS);
  assert.deepEqual(await walk(feed, 'listings?_limit=5'), KEYS);
  assert.deepEqual(await walk(feed, 'listings?_limit=5&_select=ListingKey,ListPrice'), KEYS);
});

test('4.3.2 results are in the order of ListingKey, even while listings are added and deleted', async () => {
  const place = await startTestService({ after }, { fill: fillMarket });
  const asks = nativeAsker(place, 'replication', await place.key('replication', { role: 'idx' }));
  const first = await asks.page('listings?_limit=4&_skiptoken=');
  await place.write('Property', listing('0-before'), listing(`${KEYS[4]}-between`));
  await place.store.remove('Property', [KEYS[3]]);
  const second = await asks.page(`listings?_limit=3&_skiptoken=${String(first.token)}`);
  assert.deepEqual(
    [first.keys, second.keys],
    [KEYS.slice(0, 4), [KEYS[4], `${KEYS[4]}-between`, KEYS[5]]],
    'no repetition and no gap, although the record of the token was deleted',
  );
});

test('4.3.3 an update window with Bt includes both ends, and equals one with Gt and Lt next to it', async () => {
  const [from, to] = [modified(2), modified(5)];
  const asks = nativeAsker(service, 'replication', await own());
  const window = `listings?_filter=ModificationTimestamp bt ${from},${to}&_limit=1000`;
  assert.deepEqual(await walk(asks, window), KEYS.slice(2, 6));
  const inside = `listings?_filter=ModificationTimestamp gt ${from} And ModificationTimestamp lt ${to}&_limit=2`;
  assert.deepEqual(await walk(asks, inside), KEYS.slice(3, 5));
});

test('4.3.3 a purge requests only ListingKey and gets every accessible key', async () => {
  const { rows } = await feed.page('listings?_limit=1000&_select=ListingKey&_skiptoken=');
  assert.deepEqual(
    rows.map(({ StandardFields }) => StandardFields),
    KEYS.map((ListingKey) => ({ ListingKey })),
  );
});

test('4.3.4 custom fields are returned only with _expand=CustomFields', async () => {
  const [without, expanded] = [
    await feed.one(`listings/${FIRST}`),
    await feed.one(`listings/${FIRST}?_expand=CustomFields`),
  ];
  assert.equal('CustomFields' in without, false);
  assert.ok(Array.isArray(expanded.CustomFields));
});

test('4.3 _expand accepts the eight expansions of the specification', async () => {
  const names = ['Photos', 'Videos', 'VirtualTours', 'Rooms', 'Units', 'OpenHouses', 'Documents'];
  const { StandardFields, CustomFields } = await feed.one(
    `listings/${FIRST}?_expand=${[...names, 'CustomFields'].join(',')}`,
  );
  assert.ok(typeof StandardFields === 'object' && StandardFields !== null);
  const lists = Object.entries(StandardFields).filter(([name]) => names.includes(name));
  assert.deepEqual(lists.map(([name, list]) => [name, Array.isArray(list) ? list.length : list]).toSorted(), [
    ['Documents', 1],
    ['OpenHouses', 1],
    ['Photos', 3],
    ['Rooms', 2],
    ['Units', 1],
    ['Videos', 1],
    ['VirtualTours', 2],
  ]);
  assert.equal(Array.isArray(CustomFields), true);
});

test('4.3 /listings/<ListingKey>/photos and the other sub-resources return the same as the expansion', async () => {
  const { StandardFields } = await feed.one(
    `listings/${FIRST}?_expand=Photos,Videos,VirtualTours,Rooms,Units,OpenHouses,Documents`,
  );
  assert.ok(typeof StandardFields === 'object' && StandardFields !== null);
  for (const [name, rows] of Object.entries(StandardFields)) {
    if (!Array.isArray(rows) || name === 'Appliances') continue;
    const part = name.toLowerCase();
    const { rows: alone } = await feed.page(`listings/${FIRST}/${part}`);
    assert.deepEqual(alone, rows, name);
    for (const row of rows) {
      assert.equal(row.ResourceUri, `/v1/listings/${FIRST}/${part}/${row.Id}`);
      assert.deepEqual(await feed.one(`listings/${FIRST}/${part}/${row.Id}`), row);
    }
  }
  const [photo] = (await feed.page(`listings/${FIRST}/photos`)).rows;
  assert.deepEqual(
    [photo?.Id, photo?.Primary, photo?.Uri300, photo?.UriLarge],
    ['P1', true, 'https://images.example/P1.jpg', 'https://images.example/P1.jpg'],
  );
  const [plan] = (await feed.page(`listings/${FIRST}/floorplans`)).rows;
  assert.deepEqual([plan?.Id, plan?.MediaKey, plan?.GroupId, plan?.MediaType], ['F1', 'F1', '2355', 'svg']);
});

test('4.3 sub-resources of a missing or hidden listing get the same 404', async () => {
  for (const part of ['photos', 'rooms', 'customfields', 'floorplans']) {
    const missing = await feed.fault(`listings/none/${part}`);
    assert.deepEqual(missing, [404, 404, 'There is no such listing record.']);
    assert.deepEqual(await feed.fault(`listings/20260101000000000000000002x/${part}`), missing);
  }
});

test('4.3 /accounts returns agents and offices, and is walked by _skip', async () => {
  const found: string[] = [];
  for (let skip = 0; ; skip += 2) {
    const { rows } = await feed.page(`accounts?_limit=2&_skip=${skip}`);
    if (rows.length === 0) break;
    found.push(...rows.map(({ Id, UserType }) => `${Id} ${UserType}`));
  }
  assert.deepEqual(found, ['B2 Member', 'K1 Member', 'K1 Office', 'O1 Office']);
  const [status, code] = await feed.fault('accounts?_skiptoken=');
  assert.deepEqual([status, code], [400, 1053], '_skiptoken does not apply to accounts');
});

test('4.3 _$skip is another spelling of _skip', async () => {
  const skipped = (await feed.page('listings?_limit=3&_skip=4')).keys;
  assert.deepEqual(skipped, KEYS.slice(4, 7));
  assert.deepEqual((await feed.page('listings?_limit=3&_$skip=4')).keys, skipped);
});

test('4.3 /accounts/<key> returns one account; if a Member and an Office have the key, the Member', async () => {
  const { Emails: _, ...account } = await feed.one('accounts/K1');
  assert.deepEqual(account, {
    Id: 'K1',
    ResourceUri: '/v1/accounts/K1',
    Name: 'John Miller',
    FirstName: 'John',
    LastName: 'Miller',
    UserType: 'Member',
    Status: 'Active',
    Office: 'Lake Homes',
    OfficeId: 'O1',
    Company: null,
    CompanyId: 'O1',
    Mls: null,
    MlsId: 'M00000571',
    LicenseNumber: 'L-1',
    ModificationTimestamp: '2026-06-01T12:00:00.501Z',
    Phones: [{ Id: '1', Type: 'Preferred', Name: 'Preferred', Number: '555-0101', Primary: true }],
    Addresses: [],
    Websites: [],
    Images: [{ Id: 'K1P', Type: 'Photo', Name: null, Uri: 'https://images.example/john.jpg' }],
  });
  const office = await feed.one('accounts/O1');
  assert.deepEqual([office.Name, office.UserType], ['Lake Homes', 'Office']);
  for (const key of ['none', 'M3', 'O9']) {
    assert.deepEqual(await feed.fault(`accounts/${key}`), [404, 404, 'There is no such account record.']);
  }
});

test('4.3 accounts are filtered by their native members', async () => {
  const asks = nativeAsker(service, 'replication', await own());
  const keys = async (filter: string) => (await asks.page(`accounts?_filter=${filter}`)).keys;
  assert.deepEqual(await keys("UserType Eq 'Member' And Name Eq 'John*'"), ['K1']);
  assert.deepEqual(await keys("UserType Eq 'Office'"), ['K1', 'O1']);
});

test('2.4.1 a change of an agent shows in the next response with its listing, whose timestamp does not move', async () => {
  const place = await startTestService({ after }, { fill: fillMarket });
  const asks = nativeAsker(place, 'replication', await place.key('replication', { role: 'idx' }));
  const read = async (): Promise<unknown[]> => {
    const fields = await asks.fields(`listings/${FIRST}`);
    return [fields.ListAgentId, fields.ListAgentPreferredPhone, fields.ModificationTimestamp];
  };
  assert.deepEqual(await read(), ['K1', '555-0101', modified(0)]);
  await place.write('Member', { MemberKey: 'K1', MemberPreferredPhone: '555-9999' });
  assert.deepEqual(await read(), ['K1', '555-9999', modified(0)]);
  const account = await asks.one('accounts/K1');
  assert.match(JSON.stringify(account.Phones), /555-9999/);
});

test('4.4.3 a change of photos, videos, documents or open houses moves the corresponding timestamp', async () => {
  const place = await startTestService({ after }, { fill: fillMarket });
  const asks = nativeAsker(place, 'replication', await place.key('replication', { role: 'idx' }));
  const names = [
    'ModificationTimestamp',
    'PhotosChangeTimestamp',
    'VideosChangeTimestamp',
    'OpenHousesChangeTimestamp',
    'DocumentsChangeTimestamp',
  ];
  const read = (): Promise<Record<string, unknown>> =>
    asks.fields(`listings/${KEYS[1]}?_select=${names.join(',')}`);
  const moved: string[][] = [];
  const of = { ResourceName: 'Property', ResourceRecordKey: KEYS[1] };
  const changes: readonly (readonly [resource: string, record: Record<string, unknown>])[] = [
    ['Media', photo('N1', of)],
    ['Media', photo('N2', { ...of, MediaCategory: 'Video' })],
    ['OpenHouse', { OpenHouseKey: 'N3', ListingKey: KEYS[1], OpenHouseDate: '2026-07-01' }],
    ['Media', photo('N4', { ...of, MediaCategory: 'Document' })],
  ];
  for (const [resource, record] of changes) {
    const before = await read();
    place.clock.advance(60_000);
    await place.write(resource, record);
    const now = await read();
    moved.push(names.filter((name) => now[name] !== before[name]));
  }
  const [stamp, ...kinds] = names;
  assert.deepEqual(
    moved,
    kinds.map((kind) => [stamp, kind]),
  );
});

test('4.4.4 the purge shows what is no longer accessible: a withdrawn or deleted listing is not among the keys', async () => {
  const place = await startTestService({ after }, { fill: fillMarket });
  const token = await place.key('replication', { role: 'idx' });
  const native = nativeAsker(place, 'replication', token);
  const reso = asker(place, 'replication', token);
  const seen = async (): Promise<string[][]> => [
    await walk(native, 'listings?_limit=5&_select=ListingKey'),
    (await reso.walk('Property?$top=5&$select=ListingKey')).flat(),
  ];
  assert.deepEqual(await seen(), [KEYS, KEYS]);
  await place.write('Property', listing(KEYS[4], { StandardStatus: 'Canceled' }));
  await place.store.remove('Property', [KEYS[7]]);
  const left = KEYS.filter((_, index) => index !== 4 && index !== 7);
  assert.deepEqual(await seen(), [left, left]);
});

test('4.4.5 agents and offices are the same at /Member(key) and at /accounts/<key>', async () => {
  const reso = asker(service, 'replication', feedToken);
  const { ListAgentKey } = await reso.record(`Property('${FIRST}')?$select=ListAgentKey`);
  const { ListAgentId } = await feed.fields(`listings/${FIRST}?_select=ListAgentId`);
  assert.deepEqual([ListAgentKey, ListAgentId], ['K1', 'K1']);
  const member = await reso.record(`Member('${String(ListAgentKey)}')`);
  const account = await feed.one(`accounts/${String(ListAgentId)}`);
  assert.deepEqual([member.MemberFullName, account.Name], ['John Miller', 'John Miller']);
  assert.deepEqual((await reso.walk('Office?$top=1')).flat(), ['K1', 'O1']);
  assert.deepEqual((await reso.walk('Member?$top=1')).flat(), ['B2', 'K1']);
});

test('4.4.6 $select and _select return the named fields and no others', async () => {
  const reso = asker(service, 'replication', feedToken);
  const { rows } = await reso.page('Property?$top=3&$select=ListPrice,ListingKey');
  for (const row of rows) assert.deepEqual(Object.keys(row).toSorted(), ['ListPrice', 'ListingKey']);
  const selections = [
    ['ListPrice', 'ListingKey'],
    ['City', 'ListPrice'],
    ['Rooms'],
    ['Photos', 'PublicRemarks'],
    [],
  ];
  for (const names of selections) {
    const page = await feed.page(`listings?_limit=3&_select=${['Id', ...names].join(',')}`);
    assert.equal(page.rows.length, 3);
    for (const { Id, StandardFields } of page.rows) {
      assert.ok(Id);
      assert.deepEqual(Object.keys(StandardFields ?? {}).toSorted(), names);
    }
  }
});

test('8 the same filter sent again within 10 minutes walks the first list, in the native interface, too', async () => {
  const place = await startTestService({ after }, { fill: fillMarket });
  const asks = nativeAsker(place, 'replication', await place.key('replication', { role: 'idx' }));
  const other = nativeAsker(place, 'replication', await place.key('replication', { role: 'idx' }));
  const path = "listings?_filter=City Eq 'Fargo'&_limit=1000";
  const before = await asks.keys(path);
  await place.write('Property', listing('NEW', { City: 'Fargo' }));
  assert.deepEqual(await asks.keys(path), before);
  assert.deepEqual(
    (await other.keys(path)).toSorted(),
    [...before, 'NEW'].toSorted(),
    'each key has a list of its own',
  );
  place.clock.advance(10 * 60_000 + 1);
  assert.deepEqual(
    (await asks.keys(path)).toSorted(),
    [...before, 'NEW'].toSorted(),
    'the list expires after ten minutes',
  );
});

test('/standardfields and /system describe the fields and limits of the key', async () => {
  const standard = await feed.one('standardfields');
  assert.ok('ListPrice' in standard && 'ListAgentId' in standard && !('PrivateRemarks' in standard));
  const { ListPrice } = await feed.one('standardfields/ListPrice');
  assert.deepEqual(ListPrice, standard.ListPrice);
  for (const name of ['PrivateRemarks', 'Nothing']) {
    const message = `There is nothing at /v1/standardfields/${name}.`;
    assert.deepEqual(await feed.fault(`standardfields/${name}`), [404, 404, message]);
  }
  const system = await feed.one('system');
  assert.deepEqual(
    [system.Role, system.KeyType, system.Surface, system.Version, system.MaximumLimit],
    ['idx', 'replication', 'replication', 'v1', 1000],
  );
});
