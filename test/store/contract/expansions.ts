/** Expanded navigations: to children, to agents and offices, nested, restricted, counted and as references. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorCode } from '../../../src/errors/index.ts';
import { listing, member, office, openHouse, photo, room } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { IDX } from '../../support/views.ts';
import {
  type Json,
  makeWorld,
  ROOT,
  sharedWorld,
  TIME,
  type World,
  type WorldRequest,
} from '../../support/world.ts';

async function populate(world: World): Promise<void> {
  await world.write('OUID', {
    OrganizationUniqueIdKey: 'k1',
    OrganizationUniqueId: 'X',
    OrganizationName: 'System X',
  });
  await world.write(
    'Office',
    office('10', { MainOfficeKey: '10' }),
    office('11', { OfficeStatus: 'Inactive' }),
  );
  await world.write(
    'Member',
    member('1', { OfficeKey: '10', Media: [photo('P1')] }),
    member('2', { OfficeKey: '12' }),
  );
  const media = [
    photo('M1', { Order: 3, ShortDescription: 'c', ImageWidth: 800 }),
    photo('M2', { Order: 1, ShortDescription: 'a', ImageWidth: 1600 }),
    photo('M3', { Order: 2, ShortDescription: 'b' }),
  ];
  const links = {
    ListAgentKey: '1',
    CoListAgentKey: '2',
    BuyerAgentKey: '9',
    ListOfficeKey: '10',
    BuyerOfficeKey: '11',
  };
  await world.write(
    'Property',
    listing('A', {
      ...links,
      OriginatingSystemID: 'X',
      Media: media,
      Rooms: [room('R1')],
      OpenHouses: [openHouse('O1', { ShowingAgentKey: '1', Media: [photo('OM1')] }), openHouse('O2')],
    }),
    listing('B', { OriginatingSystemID: 'X' }),
  );
}

export function expansionContract(engine: Engine): void {
  const populated = sharedWorld(engine, populate);
  const cases = (
    name: string,
    table: readonly (readonly [string, Json, WorldRequest?])[],
    key = 'A',
  ): void => {
    test(name, async () => {
      const world = await populated();
      for (const [expand, expected, wish] of table) {
        const options = `$select=ListingKey&$expand=${encodeURIComponent(expand)}`;
        const record = await world.record('Property', key, options, wish);
        assert.deepEqual(record, { ListingKey: key, ...expected }, expand);
        // The same in a page by key, on a page of a search, and in a whole record.
        const [first] = await world.rows('Property', `${options}&$filter=ListingKey eq '${key}'`, wish);
        assert.deepEqual(first, record, expand);
        const whole = await world.record('Property', key, `$expand=${encodeURIComponent(expand)}`, wish);
        for (const [member, value] of Object.entries(expected))
          assert.deepEqual(whole?.[member], value, expand);
      }
    });
  };

  cases('collections are ordered by key, or as requested', [
    ['Media($select=MediaKey)', { Media: [{ MediaKey: 'M1' }, { MediaKey: 'M2' }, { MediaKey: 'M3' }] }],
    [
      'Media($select=MediaKey;$orderby=Order)',
      { Media: [{ MediaKey: 'M2' }, { MediaKey: 'M3' }, { MediaKey: 'M1' }] },
    ],
    [
      'Media($select=MediaKey;$orderby=ImageWidth desc)',
      { Media: [{ MediaKey: 'M2' }, { MediaKey: 'M1' }, { MediaKey: 'M3' }] },
    ],
    ['Media($select=MediaKey;$orderby=Order;$top=1)', { Media: [{ MediaKey: 'M2' }] }],
    ['Media($select=MediaKey;$orderby=Order;$skip=1)', { Media: [{ MediaKey: 'M3' }, { MediaKey: 'M1' }] }],
    ['Media($select=MediaKey;$skip=1;$top=1)', { Media: [{ MediaKey: 'M2' }] }],
    ['Media($top=0)', { Media: [] }],
    ['UnitTypes', { UnitTypes: [] }],
  ]);

  cases('filter and count apply to a collection before its limit', [
    ['Media($select=MediaKey;$filter=Order ge 2)', { Media: [{ MediaKey: 'M1' }, { MediaKey: 'M3' }] }],
    [
      'Media($select=MediaKey;$filter=Order ge 2;$count=true;$top=1)',
      { 'Media@odata.count': 2, Media: [{ MediaKey: 'M1' }] },
    ],
    ['Media/$count', { 'Media@odata.count': 3 }],
    ['Media/$count($filter=Order lt 3)', { 'Media@odata.count': 2 }],
    ['UnitTypes($count=true)', { 'UnitTypes@odata.count': 0, UnitTypes: [] }],
    [
      "Media($select=MediaKey,Twice;$compute=Order mul 2 as Twice;$filter=MediaKey eq 'M1')",
      { Media: [{ MediaKey: 'M1', Twice: 6 }] },
    ],
  ]);

  cases('single records are complete or selected, null if there is none that the role may see', [
    ['ListAgent($select=MemberFullName)', { ListAgent: { MemberFullName: 'Agent 1' } }],
    ['BuyerAgent', { BuyerAgent: null }],
    ['CoBuyerAgent,CoBuyerOffice', { CoBuyerAgent: null, CoBuyerOffice: null }],
    ['BuyerOffice($select=OfficeName)', { BuyerOffice: { OfficeName: 'Office 11' } }],
    ['BuyerOffice($select=OfficeName)', { BuyerOffice: null }, { viewer: IDX }],
    ['OriginatingSystem($select=OrganizationName)', { OriginatingSystem: { OrganizationName: 'System X' } }],
  ]);

  cases('expansions may be nested', [
    [
      'ListAgent($select=MemberKey;$expand=Office($select=OfficeName;$expand=MainOffice($select=OfficeKey)),Media($select=MediaKey))',
      {
        ListAgent: {
          MemberKey: '1',
          Office: { OfficeName: 'Office 10', MainOffice: { OfficeKey: '10' } },
          Media: [{ MediaKey: 'P1' }],
        },
      },
    ],
    ['CoListAgent($select=MemberKey;$expand=Office)', { CoListAgent: { MemberKey: '2', Office: null } }],
    [
      'OpenHouses($select=OpenHouseKey;$expand=Media($select=MediaKey),ShowingAgent($select=MemberKey),Listing($select=ListingKey))',
      {
        OpenHouses: [
          {
            OpenHouseKey: 'O1',
            Media: [{ MediaKey: 'OM1' }],
            ShowingAgent: { MemberKey: '1' },
            Listing: { ListingKey: 'A' },
          },
          { OpenHouseKey: 'O2', Media: [], ShowingAgent: null, Listing: { ListingKey: 'A' } },
        ],
      },
    ],
    [
      "OpenHouses($select=OpenHouseKey;$filter=Listing/StandardStatus eq 'Active' and Media/any())",
      { OpenHouses: [{ OpenHouseKey: 'O1' }] },
    ],
    [
      'ListOffice($select=OfficeKey;$expand=MainOffice($select=OfficeKey;$levels=2))',
      { ListOffice: { OfficeKey: '10', MainOffice: { OfficeKey: '10', MainOffice: { OfficeKey: '10' } } } },
    ],
  ]);

  cases('references are the URLs of the records', [
    ['Media/$ref', { Media: ['M1', 'M2', 'M3'].map((key) => ({ '@odata.id': `${ROOT}Media('${key}')` })) }],
    ['ListAgent/$ref', { ListAgent: { '@odata.id': `${ROOT}Member('1')` } }],
    ['BuyerAgent/$ref', { BuyerAgent: null }],
  ]);

  cases('an alias of a navigation is the name in the response', [
    ['Room($select=RoomKey)', { Room: [{ RoomKey: 'R1' }] }],
    ['OpenHouse($select=OpenHouseKey;$top=1),Unit', { OpenHouse: [{ OpenHouseKey: 'O1' }], Unit: [] }],
  ]);

  cases(
    'a listing without anything has empty collections and nulls',
    [
      [
        'Media,Rooms,ListAgent,OpenHouses/$count',
        { Media: [], Rooms: [], ListAgent: null, 'OpenHouses@odata.count': 0 },
      ],
    ],
    'B',
  );

  test('URLs of records percent-encode their keys, in references and as control information', async (t) => {
    const world = await makeWorld(engine, t);
    const keys = ["a'b c/d%é日😀", 'plain-1_x.~', '!*()&=?#+"<>\\\u00ff', '0'];
    await world.write('Property', listing('1', { Media: keys.map((key) => photo(key)) }), listing("o'k é"));
    const id = (key: string): string => encodeURIComponent(key.replaceAll("'", "''"));
    const references = await world.record('Property', '1', '$select=ListingKey&$expand=Media/$ref');
    const addresses = keys.toSorted().map((key) => ({ '@odata.id': `${ROOT}Media('${id(key)}')` }));
    assert.deepEqual(references, { ListingKey: '1', Media: addresses });
    const at = `${ROOT}Property('${id("o'k é")}')`;
    const asked = '$select=ListingKey&$expand=Media($select=MediaKey)';
    assert.deepEqual(
      await world.record('Property', "o'k é", asked, {
        control: { before: '', enumerations: new Set<string>() },
      }),
      {
        '@odata.type': '#org.reso.metadata.Property',
        '@odata.id': at,
        '@odata.readLink': at,
        'Media@odata.navigationLink': `${at}/Media`,
        ListingKey: "o'k é",
        Media: [],
      },
    );
  });

  test('nulls are omitted inside expansions as well if the request says so', async () => {
    const world = await populated();
    const options = "$select=ListingKey&$expand=Media($filter=MediaKey eq 'M3')";
    const record = await world.record('Property', 'A', options, { omitNulls: true });
    assert.deepEqual(record, {
      ListingKey: 'A',
      Media: [
        {
          MediaKey: 'M3',
          ModificationTimestamp: '2026-06-01T12:00:00.5013Z',
          OriginatingSystemResourceRecordKey: 'A',
          ResourceRecordKey: 'A',
          MediaCategory: 'Photo',
          MediaURL: 'https://images.example/M3.jpg',
          Order: 2,
          OriginatingSystemResourceRecordSystemID: 'X',
          ResourceName: 'Property',
          ShortDescription: 'b',
        },
      ],
    });
  });

  test('keys with quotes and other characters are quoted in references', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing("O'Brien", { Rooms: [room('a"b\\c')] }));
    const record = await world.record('Property', "O'Brien", '$select=ListingKey&$expand=Rooms/$ref');
    assert.deepEqual(record?.Rooms, [{ '@odata.id': `${ROOT}PropertyRooms('a%22b%5Cc')` }]);
    const [found] = await world.rows('PropertyRooms', '$select=RoomKey&$expand=Listing/$ref');
    assert.deepEqual(found?.Listing, { '@odata.id': `${ROOT}Property('O''Brien')` });
  });

  test('a read can be limited to the children of one record', async (t) => {
    const world = await makeWorld(engine, t);
    await populate(world);
    await world.write('Property', listing('C', { Media: [photo('M0'), photo('M9')] }));
    const model = await world.store.model();
    const navigation = model.resource('Property').navigations.get('Media');
    assert.ok(navigation);
    const under = { navigation, key: 'A' };
    assert.deepEqual(await world.keys('Media', '', { under }), ['M1', 'M2', 'M3']);
    assert.deepEqual(await world.keys('Media', '$orderby=Order&$skip=1', { under }), ['M3', 'M1']);
    assert.deepEqual(await world.keys('Media', "$filter=ShortDescription eq 'b'", { under }), ['M3']);
    const next = { under, position: { kind: 'after-key', key: 'M1' } as const, limit: 1 };
    const page = await world.page('Media', '', next);
    assert.deepEqual([page.records.map(({ MediaKey }) => MediaKey), page.more], [['M2'], true]);
    const { query } = await world.request('Media', '', { under });
    assert.equal(await world.store.count(query, { milliseconds: 1000 }), 3);
    assert.equal((await world.record('Media', 'M1', '', { under }))?.MediaKey, 'M1');
    assert.equal(await world.record('Media', 'M0', '', { under }), undefined);
    assert.deepEqual(await world.keys('Media', '', { under: { navigation, key: 'none' } }), []);
  });

  test('nested expansions that multiply beyond the largest response are rejected', async (t) => {
    const world = await makeWorld(engine, t);
    const rooms = (key: string) => Array.from({ length: 18 }, (_, index) => room(`${key}-${index}`));
    const PublicRemarks = 'A house with a view. '.repeat(190);
    const keys = Array.from({ length: 15 }, (_, index) => `L${index}`);
    await world.write('Property', ...keys.map((key) => listing(key, { PublicRemarks, Rooms: rooms(key) })));
    // A nested listing repeats its remarks 256 times, which is a megabyte.
    const names = ['PublicRemarks', ...Array.from({ length: 8 }, (_, index) => `X${index}`)];
    const doubled = names.slice(1).map((as, index) => `concat(${names[index]},${names[index]}) as ${as}`);
    const large = `$select=X7;$compute=${doubled.join()}`;
    const inside = (listings: string) => `$expand=Rooms($select=RoomKey;$expand=Listing(${listings}))`;
    const refused = {
      code: 'answerTooLarge' satisfies ErrorCode,
      status: 503,
      message:
        'The response would be larger than 256 MB. Request fewer records at a time, or fewer expansions.',
    };
    await assert.rejects(world.page('Property', inside(large)), refused);
    const request = await world.request('Property', `${inside(large)}&$top=2`);
    const { body, release, rows } = await world.store.page(request, TIME);
    release?.();
    assert.equal(rows, 2);
    assert.ok(body.length > 2 * 18 * 256 * PublicRemarks.length);
    assert.deepEqual(await world.keys('Property', '$top=1'), ['L0']);
  });
}
