/** Contract, RESO interface: paths of every kind. Specification 4.2. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startTestService } from '../../support/service.ts';
import { asker } from './asker.ts';
import { fillMarket, KEYS, MARKET, marketListing } from './market.ts';

const service = await startTestService({ after }, { fill: fillMarket });
const feed = asker(service, 'replication', await service.key('replication'));

test('{root}/ returns the service document, with or without the trailing slash', async () => {
  const names =
    'Property Member Office Media PropertyRooms PropertyUnitTypes OpenHouse Lookup Field EntityEvent';
  const expected = {
    '@odata.context': `${feed.root}$metadata`,
    value: names.split(' ').map((name) => ({ name, kind: 'EntitySet', url: name })),
  };
  assert.deepEqual((await feed.get('')).json, expected);
  const bare = await service.get('replication', '/Reso/OData', { token: await service.key('replication') });
  assert.deepEqual(bare.json, expected);
});

test('every entity set of the service document can be read', async () => {
  const { value } = (await feed.get('')).json;
  assert.ok(Array.isArray(value));
  for (const { url } of value) assert.ok((await feed.page(`${url}?$top=1000`)).rows.length > 0, url);
});

test("Resource('key') and Resource/key are the same record, not wrapped in value", async () => {
  const byParentheses = await feed.get("Property('1003')");
  const bySegment = await feed.get('Property/1003');
  assert.equal(byParentheses.status, 200);
  assert.equal(byParentheses.json['@odata.context'], `${feed.root}$metadata#Property/$entity`);
  assert.equal(byParentheses.json.ListingKey, '1003');
  assert.equal('value' in byParentheses.json, false);
  assert.equal(bySegment.text, byParentheses.text);
  assert.equal((await feed.get("Property(ListingKey='1003')")).text, byParentheses.text);
  assert.equal((await feed.get('Property(1003)')).text, byParentheses.text);
  assert.equal((await feed.get("Property(@k)?@k='1003'")).text, byParentheses.text);
});

test('keys are percent-decoded, and a quote in a literal is doubled', async () => {
  const row = MARKET[0];
  assert.ok(row);
  const keys = ["O'Neil 1", 'a/b', "a//'b'/c", 'Å%'];
  for (const key of keys) await service.write('Property', marketListing({ ...row, key }));
  const keyOf = async (path: string) => (await feed.record(`${path}?$select=ListingKey`)).ListingKey;
  assert.equal(await keyOf("Property('O''Neil%201')"), "O'Neil 1");
  assert.equal(await keyOf("Property/O'Neil%201"), "O'Neil 1");
  assert.equal(await keyOf("Property('a%2Fb')"), 'a/b');
  assert.equal(await keyOf('Property/a%2Fb'), 'a/b');
  // A slash within quotes is part of the key, even if a client or a proxy has not encoded it.
  for (const path of [
    "Property('a/b')",
    'Property(%27a/b%27)',
    '/Property%28%27a/b%27%29/',
    "Property(ListingKey='a/b')",
  ])
    assert.equal(await keyOf(path), 'a/b', path);
  for (const path of ["Property('a//''b''/c')", 'Property(%27a//%27%27b%27%27/c%27)'])
    assert.equal(await keyOf(path), "a//'b'/c", path);
  assert.deepEqual((await feed.page("Property('a/b')/Media?$count=true")).rows, []);
  assert.deepEqual((await feed.record("Property('a/b')/ListingKey")).value, 'a/b');
  assert.equal((await feed.get("Property('a/b'/Media")).status, 400);
  assert.equal(await keyOf("Property('%C3%85%25')"), 'Å%');
  const next = (await feed.page("Property?$top=1&$skiptoken=O'&$select=ListingKey")).next ?? '';
  assert.match(next, /skiptoken=O'Neil%201$/);
  assert.deepEqual(await feed.keys(next), ["a//'b'/c"]);
  assert.deepEqual(await feed.keys('Property?$skiptoken=a/b'), ['Å%']);
  await service.store.remove('Property', keys);
});

test("Resource('key')/Child and Resource/key/Child return the children, under all their names", async () => {
  const names = {
    Media: ['1001-F1', '1001-P1', '1001-P2'],
    Rooms: ['1001-R1', '1001-R2'],
    Room: ['1001-R1', '1001-R2'],
    UnitTypes: ['1001-U1'],
    Unit: ['1001-U1'],
    OpenHouses: ['1001-H1'],
    OpenHouse: ['1001-H1'],
  };
  for (const [name, keys] of Object.entries(names)) {
    assert.deepEqual(await feed.keys(`Property('1001')/${name}`), keys);
    assert.deepEqual(await feed.keys(`Property/1001/${name}`), keys);
    assert.equal((await feed.get(`Property/1001/${name}/$count`)).text, String(keys.length));
  }
});

test('a child collection supports all options of a collection', async () => {
  const path = 'Property/1001/Media';
  assert.deepEqual(await feed.keys(`${path}?$filter=MediaCategory eq 'Photo'&$orderby=Order desc`), [
    '1001-P2',
    '1001-P1',
  ]);
  const { rows, count, next, context } = await feed.page(`${path}?$top=1&$count=true&$select=MediaKey`);
  assert.deepEqual([rows, count], [[{ MediaKey: '1001-F1' }], 3]);
  assert.equal(next, `${feed.root}${path}?$count=true&$select=MediaKey&$top=1&$skiptoken=1001-F1`);
  assert.equal(context, `${feed.root}$metadata#Media(MediaKey)`);
  assert.deepEqual(await feed.keys(`${path}?$skiptoken=1001-F1`), ['1001-P1', '1001-P2']);
  const rooms = await feed.page('Property/1001/Rooms?$expand=Listing($select=City)&$select=RoomKey');
  assert.deepEqual(rooms.rows[1], { RoomKey: '1001-R2', Listing: { City: 'Bremen' } });
});

test('the children of a record may be an empty list; those of a missing record are 404', async () => {
  assert.deepEqual((await feed.page("Property('1002')/Media")).rows, []);
  assert.deepEqual(await feed.error("Property('nobody')/Media"), [
    404,
    'recordNotFound',
    'There is no such Property record.',
  ]);
});

test('a child is found by key only under its own parent', async () => {
  const name = "Property('1001')/Media('1001-P1')";
  assert.equal((await feed.record(`${name}?$select=MediaKey`)).MediaKey, '1001-P1');
  assert.equal((await feed.record('Property/1001/Media/1001-P1')).MediaKey, '1001-P1');
  assert.equal((await feed.get(`${name}/MediaKey/$value`)).text, '1001-P1');
  assert.deepEqual((await feed.error("Property('1002')/Media('1001-P1')")).slice(0, 2), [
    404,
    'recordNotFound',
  ]);
});

test('a navigation to a single record returns it, or 204 if there is none', async () => {
  assert.equal((await feed.record("Property('1001')/ListAgent")).MemberKey, 'A3');
  assert.equal((await feed.record("Property('1001')/ListAgent/Office/MainOffice")).OfficeKey, 'O1');
  assert.equal((await feed.record('Room/1001-R1/Listing?$select=ListingKey')).ListingKey, '1001');
  const nowhere = await feed.get("Property('1001')/BuyerAgent");
  assert.deepEqual([nowhere.status, nowhere.text, nowhere.headers['odata-version']], [204, '', '4.01']);
  const [status, , message] = await feed.error("Property('1001')/BuyerAgent/Office");
  assert.deepEqual([status, message], [404, 'There is no such Member record.'], 'the listing exists');
});

test("Resource('key')/Field returns the value, /$value its text, and null is 204", async () => {
  const price = await feed.get("Property('1002')/ListPrice");
  assert.equal(
    price.text,
    `{"@odata.context":"${feed.root}$metadata#Property('1002')/ListPrice","value":187503.5}`,
  );
  const text = await feed.get("Property('1002')/ListPrice/$value");
  assert.deepEqual([text.text, text.headers['content-type']], ['187503.5', 'text/plain; charset=utf-8']);
  assert.deepEqual((await feed.get('Property/1004/AccessibilityFeatures')).json.value, [
    'Accessible Doors',
    'Accessible Kitchen',
  ]);
  assert.equal((await feed.get('Property/1004/AccessibilityFeatures/$count')).text, '2');
  assert.equal((await feed.get('Property/1001/AccessibilityFeatures/$count')).text, '0');
  assert.equal((await feed.get('Property/1002/ListAgentPreferredPhone/$value')).text, '555-0101');
  for (const path of ['Property/1006/BedroomsTotal', 'Property/1006/BedroomsTotal/$value']) {
    const empty = await feed.get(path);
    assert.deepEqual([empty.status, empty.text], [204, '']);
  }
  assert.deepEqual((await feed.get('Property/1001/AccessibilityFeatures')).json.value, []);
});

test('Resource/$count is a plain number, and supports $filter and $search', async () => {
  const all = await feed.get('Property/$count');
  assert.deepEqual([all.text, all.headers['content-type']], ['30', 'text/plain; charset=utf-8']);
  assert.equal((await feed.get("Property/$count?$filter=City eq 'Zug'")).text, '7');
  assert.equal((await feed.get('Property/$count?$search=Zug')).text, '7');
  assert.deepEqual((await feed.error('Property/$count?$top=2')).slice(0, 2), [400, 'requestMalformed']);
});

test('alternative names of an entity set return the same records, but are not in the service document', async () => {
  const { value: rooms } = (await feed.get('PropertyRooms')).json;
  assert.deepEqual((await feed.get('Room')).json.value, rooms);
  assert.equal((await feed.record("Unit('1001-U1')")).UnitTypeKey, '1001-U1');
  assert.equal((await feed.page('Room')).context, `${feed.root}$metadata#PropertyRooms`);
  const { '@odata.context': context } = (await feed.get("Unit('1001-U1')?$select=UnitTypeKey")).json;
  assert.equal(context, `${feed.root}$metadata#PropertyUnitTypes(UnitTypeKey)/$entity`);
  const { value: sets } = (await feed.get('')).json;
  const names = Object(sets).map(({ name }: { name: string }) => name);
  assert.equal(names.includes('PropertyRooms') && names.includes('PropertyUnitTypes'), true);
  assert.equal(names.includes('Room') || names.includes('Unit'), false);
  assert.equal((await feed.error('Roam'))[2], 'There is no resource Roam. Did you mean Room?');
});

test('+ and %20 are both a space in a query, %2B is a plus', async () => {
  const zug = KEYS.filter((_, index) => index % 4 === 2);
  assert.deepEqual(await feed.keys("Property?$filter=City+eq+'Zug'&$top=1000"), zug);
  assert.deepEqual(await feed.keys('Property?%24filter=City%20eq%20%27Zug%27'), zug);
  assert.deepEqual(await feed.keys("Property?$filter=concat(City,'%2B')+eq+'Zug%2B'"), zug);
  assert.deepEqual(await feed.keys("Property?$filter=concat(City,'%2B')+eq+'Zug+'"), []);
});

test('an unknown path gets 404 with a message that names it, and the nearest name', async () => {
  const missing: readonly [string, string, string][] = [
    ['Proprety', 'resourceUnknown', 'There is no resource Proprety. Did you mean Property?'],
    ["Property('nobody')", 'recordNotFound', 'There is no such Property record.'],
    ['Property/1001/Nothing', 'pathNotFound', 'There is nothing at Property/1001/Nothing.'],
    ['Property/1001/City/Zug', 'pathNotFound', 'There is nothing at Property/1001/City/Zug.'],
    ['Property/1001/Media/$value', 'pathNotFound', 'There is nothing at Property/1001/Media/$value.'],
    ['$nothing', 'pathNotFound', 'There is nothing at $nothing.'],
    ['$metadata/Property', 'pathNotFound', 'There is nothing at $metadata/Property.'],
    ['Property/1001/$nothing', 'pathNotFound', 'There is nothing at Property/1001/$nothing.'],
    ['Teams', 'resourceUnknown', 'There is no resource Teams.'],
  ];
  for (const [path, code, message] of missing) assert.deepEqual(await feed.error(path), [404, code, message]);
});

test('paths and options of OData that this service does not implement get 501', async () => {
  for (const path of [
    '$batch',
    '$all',
    '$entity?$id=Property/1001',
    '$crossjoin(Property,Member)',
    'Property/$ref',
    'Property?$apply=aggregate($count as n)',
  ]) {
    assert.deepEqual((await feed.error(path)).slice(0, 2), [501, 'notImplemented'], path);
  }
});

test('a field or a record refuses the options of a collection', async () => {
  for (const path of [
    'Property/1001/City?$top=1',
    "Property/1001/City?$filter=City eq 'Zug'",
    'Property/1001?$top=1',
  ]) {
    assert.deepEqual((await feed.error(path)).slice(0, 2), [400, 'requestMalformed'], path);
  }
});
