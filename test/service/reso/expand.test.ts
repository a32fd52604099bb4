/** `$expand`: names, nested options, and expansions without records (specification 4.2; C21 2.5.10). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startTestService } from '../../support/service.ts';
import { asker } from './asker.ts';
import { fillMarket, MARKET, marketListing } from './market.ts';

const service = await startTestService({ after }, { fill: fillMarket });
const feed = asker(service, 'api', await service.key('api'));

/** The expanded members of listing 1001. */
async function expanded(expand: string): Promise<unknown> {
  const { ListingKey: _, ...rest } = await feed.record(
    `Property('1001')?$select=ListingKey&$expand=${expand}`,
  );
  return rest;
}

test('an expansion is returned under the requested name, standard or alternative', async () => {
  assert.deepEqual(await expanded('Rooms($select=RoomKey)'), {
    Rooms: [{ RoomKey: '1001-R1' }, { RoomKey: '1001-R2' }],
  });
  assert.deepEqual(await expanded('Room($select=RoomKey)'), {
    Room: [{ RoomKey: '1001-R1' }, { RoomKey: '1001-R2' }],
  });
  assert.deepEqual(await expanded('UnitTypes($select=UnitTypeKey),Unit($select=UnitTypeKey)'), {
    UnitTypes: [{ UnitTypeKey: '1001-U1' }],
    Unit: [{ UnitTypeKey: '1001-U1' }],
  });
  assert.deepEqual(await expanded('OpenHouses($select=OpenHouseKey)'), {
    OpenHouses: [{ OpenHouseKey: '1001-H1' }],
  });
  assert.deepEqual(await expanded('OpenHouse($select=OpenHouseKey)'), {
    OpenHouse: [{ OpenHouseKey: '1001-H1' }],
  });
});

test('an expanded record equals the record read from its own resource', async () => {
  const { Media, ListAgent, ListOffice } = await feed.record(
    "Property('1001')?$expand=Media,ListAgent,ListOffice",
  );
  const photos = (await feed.page('Property/1001/Media')).rows;
  assert.deepEqual(Media, photos);
  assert.deepEqual(ListAgent, await feed.record("Member('A3')"));
  assert.deepEqual(ListOffice, await feed.record("Office('O2')"));
});

test('an expansion without records is an empty list or null', async () => {
  const record = await feed.record("Property('1002')?$expand=Media,Rooms,BuyerAgent&$select=ListingKey");
  assert.deepEqual(record, { ListingKey: '1002', Media: [], Rooms: [], BuyerAgent: null });
});

test('an expansion supports $filter, $orderby, $top, $skip, $count, $select and $compute', async () => {
  const keys = (...list: readonly string[]) => list.map((key) => ({ MediaKey: key }));
  const expected: Readonly<Record<string, unknown>> = {
    "Media($select=MediaKey;$filter=MediaCategory eq 'Photo')": { Media: keys('1001-P1', '1001-P2') },
    'Media($select=MediaKey;$orderby=Order)': { Media: keys('1001-P1', '1001-P2', '1001-F1') },
    'Media($select=MediaKey;$orderby=Order desc;$top=2)': { Media: keys('1001-F1', '1001-P2') },
    'Media($select=MediaKey;$orderby=Order desc;$skip=1)': { Media: keys('1001-P2', '1001-P1') },
    'Media($select=MediaKey;$top=1;$skip=1;$count=true)': { 'Media@odata.count': 3, Media: keys('1001-P1') },
    'Media($top=0;$count=true)': { 'Media@odata.count': 3, Media: [] },
    'Media/$count': { 'Media@odata.count': 3 },
    "Media/$count($filter=MediaCategory eq 'Photo')": { 'Media@odata.count': 2 },
    'Media(select=MediaKey;top=1)': { Media: keys('1001-F1') },
    'Media($compute=Order mul 2 as Twice;$select=Twice;$filter=Twice gt 4)': {
      Media: [{ MediaKey: '1001-F1', Twice: 6 }],
    },
  };
  for (const [expand, result] of Object.entries(expected))
    assert.deepEqual(await expanded(expand), result, expand);
});

test('expansions can be nested, with $levels, too', async () => {
  assert.deepEqual(
    await expanded(
      'ListAgent($select=MemberKey;$expand=Office($select=OfficeKey;$expand=MainOffice($select=OfficeName)))',
    ),
    { ListAgent: { MemberKey: 'A3', Office: { OfficeKey: 'O2', MainOffice: { OfficeName: 'Office O1' } } } },
  );
  assert.deepEqual(
    await expanded('Rooms($top=1;$select=RoomKey;$expand=Listing($select=City;$expand=Media/$count))'),
    {
      Rooms: [{ RoomKey: '1001-R1', Listing: { City: 'Bremen', 'Media@odata.count': 3 } }],
    },
  );
  const office = await feed.record(
    "Office('O2')?$select=OfficeKey&$expand=MainOffice($select=OfficeKey;$levels=max)",
  );
  assert.deepEqual(office, { OfficeKey: 'O2', MainOffice: { OfficeKey: 'O1', MainOffice: null } });
});

test('$ref returns URLs, which lead to the records', async () => {
  const found = await expanded('Rooms/$ref');
  assert.deepEqual(found, {
    Rooms: ['1001-R1', '1001-R2'].map((key) => ({ '@odata.id': `${feed.root}PropertyRooms('${key}')` })),
  });
  assert.equal((await feed.record(`${feed.root}PropertyRooms('1001-R1')`)).RoomType, 'Kitchen');
  assert.deepEqual(await expanded('ListAgent/$ref'), {
    ListAgent: { '@odata.id': `${feed.root}Member('A3')` },
  });
});

test('$expand=* returns every declared expansion', async () => {
  const record = await feed.record("Property('1001')?$select=ListingKey&$expand=*");
  const { text } = await feed.get('$metadata');
  const [, body = ''] = /<EntityType Name="Property">(.*?)<\/EntityType>/s.exec(text) ?? [];
  const declared = [...body.matchAll(/<NavigationProperty Name="(\w+)"/g)].map(([, name]) => name);
  assert.deepEqual(
    Object.keys(record)
      .filter((name) => name !== 'ListingKey')
      .toSorted(),
    declared.toSorted(),
  );
});

test('$select with a path selects fields of an expansion', async () => {
  const record = await feed.record("Property('1001')?$select=City,ListAgent/MemberKey&$expand=ListAgent");
  assert.deepEqual(record, { City: 'Bremen', ListAgent: { MemberKey: 'A3' } });
});

test('an expansion works with a filter, order, token, search, key and navigation', async () => {
  const wanted = '$select=ListingKey&$expand=Room($select=RoomKey)';
  const first = { ListingKey: '1001', Room: [{ RoomKey: '1001-R1' }, { RoomKey: '1001-R2' }] };
  const paths = [
    `Property?${wanted}&$top=1`,
    `Property?${wanted}&$top=1&$filter=ListingKey eq '1001'`,
    `Property?${wanted}&$top=1&$orderby=ListPrice`,
    `Property?${wanted}&$top=1&$skiptoken=1000`,
    `Property?${wanted}&$top=1&$search=Bremen&$orderby=ListingKey`,
  ];
  for (const path of paths) assert.deepEqual((await feed.page(path)).rows, [first], path);
  assert.deepEqual(await feed.record(`Property/1001?${wanted}`), first);
  assert.deepEqual(await feed.record(`Room/1001-R1/Listing?${wanted}`), first);
});

test('an unknown expansion is refused with the nearest name; repeated and inapplicable options are refused', async () => {
  assert.deepEqual(await feed.error('Property?$expand=Medai'), [
    400,
    'fieldUnknown',
    '$expand: Property has no field Medai at position 1. Did you mean Media?',
  ]);
  assert.deepEqual((await feed.error('Property?$expand=Media,Media')).slice(0, 2), [400, 'optionRepeated']);
  assert.deepEqual((await feed.error('Property?$expand=ListAgent($top=1)')).slice(0, 2), [
    400,
    'optionsConflict',
  ]);
});

test('the context URL lists selected fields and expansions', async () => {
  const context = async (path: string) => (await feed.page(path)).context.slice(feed.root.length);
  assert.equal(await context('Property'), '$metadata#Property');
  assert.equal(await context('Property?$select=City,ListPrice'), '$metadata#Property(City,ListPrice)');
  assert.equal(await context('Property?$expand=Media'), '$metadata#Property(Media())');
  assert.equal(
    await context(
      'Property?$select=City&$expand=Media($select=Order;$expand=ChangedByMember),ListAgent/$ref',
    ),
    '$metadata#Property(City,Media(Order,ChangedByMember()))',
  );
  assert.equal(await context('Property?$select=*&$expand=Room'), '$metadata#Property(Room())');
  assert.equal(
    await context('Property?$compute=1 add 1 as Two&$select=Two'),
    '$metadata#Property(ListingKey,Two)',
  );
});

test('an expansion of a resource without any records is empty with any options, and is not declared', async () => {
  const path = "Property('1001')?$select=ListingKey&$expand=";
  for (const [asked, members] of [
    ['GreenBuildingVerifications', { GreenBuildingVerifications: [] }],
    ['GreenBuildingVerification', { GreenBuildingVerification: [] }],
    [
      'GreenBuildingVerifications($filter=GreenVerificationYear gt 2000;$top=1;$orderby=GreenVerificationYear)',
      { GreenBuildingVerifications: [] },
    ],
    [
      'GreenBuildingVerifications($count=true)',
      { 'GreenBuildingVerifications@odata.count': 0, GreenBuildingVerifications: [] },
    ],
    ['GreenBuildingVerifications/$count', { 'GreenBuildingVerifications@odata.count': 0 }],
    ['ListTeam', { ListTeam: null }],
    ['ListTeam($select=TeamName)', { ListTeam: null }],
    ['SocialMedia', { SocialMedia: [] }],
    [
      'ListAgent($select=MemberKey;$expand=MemberSocialMedia)',
      { ListAgent: { MemberKey: 'A3', MemberSocialMedia: [] } },
    ],
  ] as const) {
    assert.deepEqual(await feed.record(`${path}${asked}`), { ListingKey: '1001', ...members }, asked);
  }
  assert.deepEqual((await feed.page('Property?$top=1&$select=ListingKey&$expand=SocialMedia')).rows, [
    { ListingKey: '1001', SocialMedia: [] },
  ]);
  const at = "Property('1001')";
  for (const [path, expected] of Object.entries({
    [`${at}/SocialMedia`]: { value: [] },
    [`${at}/GreenBuildingVerification?$count=true&$filter=GreenVerificationYear gt 2000&$orderby=GreenVerificationYear`]:
      { '@odata.count': 0, value: [] },
    [`${at}/ListAgent/MemberSocialMedia?$select=SocialMediaKey&$top=1&$skip=1`]: { value: [] },
  })) {
    assert.deepEqual(await feed.record(path), expected, path);
  }
  assert.equal((await feed.get(`${at}/SocialMedia/$count`)).text, '0');
  assert.equal((await feed.get(`${at}/SocialMedia/$count?$filter=SocialMediaType eq 'Blog'`)).text, '0');
  for (const path of ['ListTeam', 'ListTeam/TeamName']) {
    const { status, text } = await feed.get(`${at}/${path}`);
    assert.deepEqual([status, text], [204, ''], path);
  }
  const absent: Record<string, readonly [number, string]> = {
    "Property('0')/SocialMedia": [404, 'There is no such Property record.'],
    "Property('0')/ListTeam": [404, 'There is no such Property record.'],
    [`${at}/SocialMedia('1')`]: [404, 'There is no such SocialMedia record.'],
    [`${at}/SocialMedia?$filter=Nothing eq 1`]: [
      400,
      '$filter: SocialMedia has no field Nothing at position 1.',
    ],
    'SocialMedia?$top=1': [404, 'There is no resource SocialMedia.'],
  };
  for (const [path, expected] of Object.entries(absent)) {
    const [status, , message] = await feed.error(path);
    assert.deepEqual([status, message], expected, path);
  }
  const wrong = 'Property?$expand=GreenBuildingVerifications($filter=Nothing eq 1)';
  assert.deepEqual((await feed.error(wrong)).slice(0, 2), [400, 'fieldUnknown']);
  assert.equal((await feed.get('$metadata')).text.includes('GreenBuildingVerifications'), false);
  // A resource that the role may not read does not exist for it.
  const history = { ListingKey: '1001', HistoryTransactional: [] };
  assert.deepEqual(await feed.record(`${path}HistoryTransactional`), history);
  const idx = asker(service, 'api', await service.key('api', { role: 'idx' }));
  assert.deepEqual((await idx.error('Property?$expand=HistoryTransactional')).slice(0, 2), [
    400,
    'fieldUnknown',
  ]);
  assert.equal((await feed.get("Property('1001')/HistoryTransactional")).text.includes('"value":[]'), true);
  assert.equal((await idx.error("Property('1001')/HistoryTransactional"))[1], 'pathNotFound');
});

test('the expansion of a resource works as soon as its first record is written', async () => {
  const row = MARKET[1];
  assert.ok(row);
  const proof = {
    GreenBuildingVerificationKey: 'G1',
    GreenBuildingVerificationType: 'ENERGY STAR Certified Homes',
  };
  await service.write('Property', marketListing(row, { GreenBuildingVerifications: [proof] }));
  for (const name of ['GreenBuildingVerifications', 'GreenBuildingVerification']) {
    const wanted = `$select=ListingKey&$top=2&$expand=${name}($select=GreenBuildingVerificationKey)`;
    assert.deepEqual((await feed.page(`Property?${wanted}`)).rows, [
      { ListingKey: '1001', [name]: [] },
      { ListingKey: '1002', [name]: [{ GreenBuildingVerificationKey: 'G1' }] },
    ]);
    assert.equal((await feed.page(`Property/1002/${name}`)).rows.length, 1);
  }
});
