/** Listings and their sub-resources in the native interface. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NativePart } from '../../../src/dictionary/index.ts';
import type { NativeExpansion } from '../../../src/query/native/selection.ts';
import { fileSignature } from '../../../src/store/files/file-signature.ts';
import { floorPlan, listing, openHouse, photo, room, unit } from '../../support/builders.ts';
import { type Engine, isLeftToSqlite } from '../../support/engine.ts';
import { IDX, PRIVATE, type Viewer } from '../../support/views.ts';
import {
  FILES,
  type Json,
  makeWorld,
  pick,
  readPage,
  sharedWorld,
  TIME,
  type World,
} from '../../support/world.ts';

const KEY = 'A/1';
const HEAD = '/v1/listings/A%2F1';

const SIZES = ['Thumb', '300', '640', '800', '1024', '1280', '1600', '2048', 'Large'];
const uris = (address: string | null) => Object.fromEntries(SIZES.map((size) => [`Uri${size}`, address]));

/** One sub-resource of each kind, and what the interface returns for it. */
const MEDIA = [
  photo('P2', {
    MediaURL: 'photos/P 2.jpg',
    Order: 2,
    ShortDescription: 'Second',
    LongDescription: 'The second',
    PreferredPhotoYN: true,
  }),
  photo('P1', { Order: 1 }),
  photo('P0', { MediaCategory: null, MediaURL: null }),
  floorPlan('F1', {
    Order: 0,
    MediaType: 'svg',
    FloplanKey: 'G1',
    FloplanImageType: ['2D', 'Color'],
    ShortDescription: 'Main floor',
  }),
  {
    MediaKey: 'V1',
    MediaCategory: 'Video',
    MediaType: 'mp4',
    MediaURL: 'https://v.example/1',
    MediaHTML: '<b>"',
  },
  {
    MediaKey: 'V2',
    MediaCategory: 'Video',
    MediaType: 'Unbranded',
    MediaURL: 'https://youtu.be/a-B_3',
    ShortDescription: 'A "Type":null',
  },
  { MediaKey: 'V3', MediaCategory: 'Video', MediaURL: 'films/a&b.MP4' },
  {
    MediaKey: 'V4',
    MediaCategory: 'Video',
    MediaURL: 'HTTPS://v.example/?a=1&b="2"',
    ShortDescription: 'Lake & <shore>',
  },
  { MediaKey: 'V5', MediaCategory: 'Video', MediaURL: 'javascript:alert(1)' },
  { MediaKey: 'V6', MediaCategory: 'Video', MediaURL: 'https://vimeo.com/4711', MediaType: 'mp4' },
  { MediaKey: 'T1', MediaCategory: 'Branded Virtual Tour', MediaURL: 'https://t.example/1' },
  { MediaKey: 'T2', MediaCategory: 'Unbranded Virtual Tour', ShortDescription: 'Walk' },
  {
    MediaKey: 'D1',
    MediaCategory: 'Document',
    MediaURL: 'docs/a b.pdf',
    ShortDescription: 'Deed',
    Permission: ['IDX'],
  },
  { MediaKey: 'D2', MediaCategory: 'Document' },
  { MediaKey: 'X1', MediaCategory: 'Agent Photo' },
];

const file = (path: string): string => `${FILES.base}/media/${'SIGNATURE'}/${encodeURI(path)}`;

/** A photo that the service stores, with a URL of the right width under each name. */
const renditions = (address: string) => ({
  ...Object.fromEntries(
    SIZES.map((size) => [`Uri${size}`, `${address}?width=${size === 'Thumb' ? 150 : size}`]),
  ),
  UriLarge: address,
});

const video = (Id: string): Json => ({
  Id,
  Name: null,
  Caption: null,
  Type: 'branded',
  ObjectHtml: '',
  Uri: null,
});

const PARTS: Readonly<Record<NativePart, readonly Json[]>> = {
  photos: [
    { Id: 'P0', Name: null, Caption: null, Primary: false, ...uris(null) },
    { Id: 'P1', Name: null, Caption: null, Primary: false, ...uris('https://images.example/P1.jpg') },
    {
      Id: 'P2',
      Name: 'Second',
      Caption: 'The second',
      Primary: true,
      ...renditions(file('photos/P 2.jpg')),
    },
    { Id: 'F1', Name: 'Main floor', Caption: 'Floor Plan', Primary: false, ...uris(file('plans/F1.svg')) },
  ],
  floorplans: [
    {
      Id: 'F1',
      MediaKey: 'F1',
      MediaType: 'svg',
      GroupId: 'G1',
      Type: ['2D', 'Color'],
      Caption: 'Floor Plan',
      Uri: file('plans/F1.svg'),
      ModificationTimestamp: '2026-06-01T12:00:00.488Z',
    },
  ],
  videos: [
    { ...video('V1'), ObjectHtml: '<b>"', Uri: 'https://v.example/1' },
    {
      ...video('V2'),
      Name: 'A "Type":null',
      Type: 'unbranded',
      ObjectHtml: '<iframe src="https://www.youtube.com/embed/a-B_3" allowfullscreen></iframe>',
      Uri: 'https://youtu.be/a-B_3',
    },
    {
      ...video('V3'),
      ObjectHtml: `<video src="${file('films/a&amp;b.MP4')}" controls></video>`,
      Uri: file('films/a&b.MP4'),
    },
    {
      ...video('V4'),
      Name: 'Lake & <shore>',
      ObjectHtml: '<a href="HTTPS://v.example/?a=1&amp;b=&quot;2&quot;">Lake &amp; &lt;shore&gt;</a>',
      Uri: 'HTTPS://v.example/?a=1&b="2"',
    },
    { ...video('V5'), ObjectHtml: '', Uri: 'javascript:alert(1)' },
    {
      ...video('V6'),
      ObjectHtml: '<iframe src="https://player.vimeo.com/video/4711" allowfullscreen></iframe>',
      Uri: 'https://vimeo.com/4711',
    },
  ],
  virtualtours: [
    { Id: 'T1', GroupId: null, Name: null, Uri: 'https://t.example/1', Type: 'branded' },
    { Id: 'T2', GroupId: null, Name: 'Walk', Uri: null, Type: 'unbranded' },
  ],
  documents: [
    { Id: 'D1', Name: 'Deed', Uri: file('docs/a b.pdf'), Privacy: 'IDX' },
    { Id: 'D2', Name: null, Uri: null, Privacy: 'Public' },
  ],
  rooms: [
    {
      Id: 'R1',
      Fields: [
        { 'Room Name': 'Kitchen' },
        { 'Room Level': 'Main' },
        { 'Room Length': 12.5 },
        { 'Room Features': ['Tile', 'Pantry'] },
      ],
    },
    { Id: 'R2', Fields: [] },
  ],
  units: [
    {
      Id: 'U1',
      Fields: [{ 'Unit Name': 'Studio' }, { 'Unit Bedrooms': 0 }, { 'Unit Garage Attached': false }],
    },
  ],
  openhouses: [
    {
      Id: 'O1',
      Date: '06/06/2026',
      StartTime: '01:00 PM',
      EndTime: '03:30 PM',
      Comments: 'Come in',
      OpenHouseStartTimestamp: '2026-06-06T18:00:00Z',
      OpenHouseEndTimestamp: '2026-06-06T20:30:00Z',
    },
    {
      Id: 'O2',
      Date: '06/06/2026',
      StartTime: '11:30 PM',
      EndTime: null,
      Comments: null,
      OpenHouseStartTimestamp: '2026-06-07T04:30:00Z',
      OpenHouseEndTimestamp: null,
    },
    {
      Id: 'O3',
      Date: null,
      StartTime: null,
      EndTime: null,
      Comments: null,
      OpenHouseStartTimestamp: null,
      OpenHouseEndTimestamp: null,
    },
  ],
};

const EXPANSION = {
  photos: 'Photos',
  videos: 'Videos',
  virtualtours: 'VirtualTours',
  rooms: 'Rooms',
  units: 'Units',
  openhouses: 'OpenHouses',
  documents: 'Documents',
  floorplans: 'FloorPlans',
} as const;

async function populate(world: World): Promise<void> {
  const times = { OpenHouseStartTime: '2026-06-06T18:00:00Z', OpenHouseEndTime: '2026-06-06T20:30:00Z' };
  await world.write(
    'Property',
    listing(KEY, {
      ListAgentKey: '1',
      Winter_Cost: 10.5,
      Media: MEDIA,
      Rooms: [
        room('R2'),
        room('R1', {
          RoomType: 'Kitchen',
          RoomLevel: 'Main',
          RoomLength: 12.5,
          RoomFeatures: ['Tile', 'Pantry'],
        }),
      ],
      UnitTypes: [
        unit('U1', { UnitTypeType: 'Studio', UnitTypeBedsTotal: 0, UnitTypeGarageAttachedYN: false }),
      ],
      OpenHouses: [
        openHouse('O1', { ...times, OpenHouseDate: '2026-06-06', OpenHouseRemarks: 'Come in' }),
        openHouse('O2', { OpenHouseStartTime: '2026-06-07T04:30:00Z' }),
        openHouse('O3'),
      ],
    }),
    listing('B', { Media: [photo('Z1')] }),
  );
}

const field = (name: string, section: 'Main' | 'Details', group: string, label: string, visible: string) => ({
  resource: 'Property',
  name,
  section,
  group,
  label,
  type: 'decimal(10,2)',
  class: visible,
});

const settings = {
  timeZone: 'America/Chicago',
  declarations: {
    customFields: [
      field('Winter_Cost', 'Main', 'Winter', 'Heating "Cost"', 'idx'),
      field('Winter_Plow', 'Main', 'Winter', 'Plow', 'private'),
      field('Office_Fee', 'Details', 'Office', 'Fee', 'private'),
    ],
  },
};

/** The signature of a file depends on the store's own secret. */
function unsigned(world: World, value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'null';
  const signed = (path: string) => fileSignature(world.store.secret, FILES.role, FILES.expires, path);
  return JSON.parse(
    ['plans/F1.svg', 'docs/a b.pdf', 'films/a&b.MP4', 'photos/P 2.jpg'].reduce(
      (found, path) => found.replaceAll(signed(path), 'SIGNATURE'),
      text,
    ),
  );
}

async function partPage(
  world: World,
  part: NativePart,
  resource: string,
  viewer: Viewer,
  key = KEY,
  members?: readonly string[],
) {
  const model = await world.store.model();
  const name = [...model.resource('Property').navigations.values()].find(({ target }) => target === resource);
  assert.ok(name);
  const { query, files } = await world.request(resource, '', { viewer });
  const request = {
    query: { ...query, part, under: { navigation: name, key } },
    position: { kind: 'start' } as const,
  };
  const narrowed = members === undefined ? {} : { members };
  const shape = { kind: 'native-part', part, listing: key, ...narrowed } as const;
  return readPage(await world.store.page({ ...request, limit: 100, shape, files }, TIME));
}

const RESOURCE_OF: Readonly<Record<NativePart, string>> = {
  photos: 'Media',
  videos: 'Media',
  virtualtours: 'Media',
  documents: 'Media',
  floorplans: 'Media',
  rooms: 'PropertyRooms',
  units: 'PropertyUnitTypes',
  openhouses: 'OpenHouse',
};

const parts = Object.keys(PARTS).filter((name): name is NativePart => name in PARTS);

export function nativeContract(engine: Engine): void {
  const populated = sharedWorld(engine, populate, { settings });

  test('each sub-resource of a listing, expanded and by itself, comes in its order', async () => {
    const world = await populated();
    for (const part of parts) {
      const expected = PARTS[part].map(({ Id, ...members }) => ({
        Id,
        ResourceUri: `${HEAD}/${part}/${Id}`,
        ...members,
      }));
      const shown = await world.listing(KEY, { select: ['ListingKey'], expansions: [EXPANSION[part]] });
      const standard = pick(Object(unsigned(world, shown)), 'StandardFields').StandardFields;
      assert.deepEqual(standard, { ListingKey: KEY, [EXPANSION[part]]: expected }, part);
      const { records, more } = await partPage(world, part, RESOURCE_OF[part], PRIVATE);
      assert.deepEqual(unsigned(world, records), expected, part);
      assert.equal(more, false);
    }
  });

  test('a listing has all expansions at once, or none if it has no children', async (t) => {
    const world = await makeWorld(engine, t, { settings });
    await populate(world);
    const expansions = parts.map((part) => EXPANSION[part]);
    const record = await world.listing(KEY, { expansions: [...expansions, 'CustomFields'] });
    assert.deepEqual(Object.keys(record ?? {}), [
      'Id',
      'ResourceUri',
      'StandardFields',
      'CustomFields',
      'LastCachedTimestamp',
      'DisplayCompliance',
    ]);
    const standard: Json = Object(record?.StandardFields);
    for (const part of parts) {
      const list = standard[EXPANSION[part]];
      assert.ok(Array.isArray(list));
      assert.deepEqual(
        list.map(({ Id }) => Id),
        PARTS[part].map(({ Id }) => Id),
      );
    }
    assert.deepEqual(pick(standard, 'ListAgentId', 'ListAgentKey', 'Winter_Cost'), {
      ListAgentId: '1',
      ListAgentKey: undefined,
      Winter_Cost: undefined,
    });
    await world.write('Property', listing('C'));
    const bare = await world.listing('C', { expansions });
    for (const part of parts) assert.deepEqual(Object(bare?.StandardFields)[EXPANSION[part]], []);
    assert.deepEqual(pick(bare, 'Id', 'ResourceUri', 'LastCachedTimestamp', 'DisplayCompliance'), {
      Id: 'C',
      ResourceUri: '/v1/listings/C',
      LastCachedTimestamp: null,
      DisplayCompliance: { View: 'Detail' },
    });
  });

  test('custom fields stand in their sections and groups, and are masked for roles that may not see them', async () => {
    const world = await populated();
    const shown = async (viewer: Viewer) =>
      (await world.listing(KEY, { viewer, select: ['ListingKey'], expansions: ['CustomFields'] }))
        ?.CustomFields;
    assert.deepEqual(await shown(PRIVATE), [
      {
        Main: [{ Winter: [{ 'Heating "Cost"': 10.5 }, { Plow: null }] }],
        Details: [{ Office: [{ Fee: null }] }],
      },
    ]);
    assert.deepEqual(await shown(IDX), [
      {
        Main: [{ Winter: [{ 'Heating "Cost"': 10.5 }, { Plow: '********' }] }],
        Details: [{ Office: [{ Fee: '********' }] }],
      },
    ]);
  });

  test('sub-resources that a role may not see are in no list', async (t) => {
    const world = await makeWorld(engine, t, { settings });
    await world.write(
      'Property',
      listing(KEY, {
        Media: [
          photo('P1', { Permission: ['VOW'] }),
          photo('P2'),
          floorPlan('F1', { Permission: ['Private'] }),
        ],
      }),
    );
    const record = await world.listing(KEY, {
      viewer: IDX,
      select: ['ListingKey'],
      expansions: ['Photos', 'FloorPlans'],
    });
    const standard: Json = Object(record?.StandardFields);
    assert.ok(Array.isArray(standard.Photos));
    assert.deepEqual(
      standard.Photos.map(({ Id }) => Id),
      ['P2'],
    );
    assert.deepEqual(standard.FloorPlans, []);
    const { records } = await partPage(world, 'photos', 'Media', IDX);
    assert.deepEqual(
      records.map(({ Id }) => Id),
      ['P2'],
    );
  });

  test('exactly one of the photos that a role sees is primary, however many are preferred', async (t) => {
    const world = await makeWorld(engine, t, { settings });
    const preferred = { PreferredPhotoYN: true };
    const media: Readonly<Record<string, readonly Json[]>> = {
      none: [floorPlan('n0', { Order: 0 }), photo('n2', { Order: 2 }), photo('n1', { Order: 1 })],
      plans: [floorPlan('l2'), floorPlan('l1')],
      two: [
        photo('t1', { Order: 1 }),
        photo('t3', { Order: 3, ...preferred }),
        photo('t2', { Order: 2, ...preferred }),
      ],
      hidden: [photo('h1', { Permission: ['Private'], ...preferred }), photo('h3'), photo('h2')],
      one: [photo('o1'), photo('o2', { LongDescription: '"Primary":false', ...preferred })],
      bare: [],
    };
    for (const [key, Media] of Object.entries(media)) await world.write('Property', listing(key, { Media }));
    const photosOf = async (key: string, expansions: readonly NativeExpansion[], viewer: Viewer) => {
      const record = await world.listing(key, { viewer, select: ['ListingKey'], expansions });
      const { Photos: photos } = Object(record?.StandardFields);
      assert.ok(Array.isArray(photos));
      return photos.map(({ Id, Primary }) => (Primary === true ? `${Id} primary` : Id));
    };
    const expected: readonly (readonly [string, Viewer, readonly string[]])[] = [
      ['none', IDX, ['n1 primary', 'n2', 'n0']],
      ['plans', IDX, ['l1 primary', 'l2']],
      ['two', IDX, ['t1', 't2 primary', 't3']],
      ['hidden', PRIVATE, ['h1 primary', 'h2', 'h3']],
      ['hidden', IDX, ['h2 primary', 'h3']],
      ['one', IDX, ['o1', 'o2 primary']],
      ['bare', IDX, []],
    ];
    for (const [key, viewer, photos] of expected) {
      assert.deepEqual(await photosOf(key, ['Photos'], viewer), photos, key);
      const primary = photos.filter((each) => each.endsWith('primary'));
      assert.deepEqual(await photosOf(key, ['PrimaryPhoto'], viewer), primary, key);
      assert.deepEqual(await photosOf(key, ['PrimaryPhoto', 'Photos'], viewer), photos, key);
      const { records } = await partPage(world, 'photos', 'Media', viewer, key);
      const shown = records.map(({ Id, Primary }) => (Primary === true ? `${Id} primary` : Id));
      assert.deepEqual(shown, photos, key);
    }
  });

  test('selected members of sub-resources are added to Id and ResourceUri', async () => {
    const world = await populated();
    const members = {
      Photos: ['Uri300', 'Primary', 'Id'],
      PrimaryPhoto: ['Caption'],
      Videos: ['ObjectHtml'],
      Rooms: ['Fields'],
      Documents: ['Uri', 'Name'],
      FloorPlans: ['Type'],
      OpenHouses: ['StartTime'],
    };
    for (const part of parts) {
      const expansion = EXPANSION[part];
      const names = Object.hasOwn(members, expansion)
        ? (Object.entries(members).find(([name]) => name === expansion)?.[1] ?? [])
        : undefined;
      const shown = await world.listing(KEY, { select: ['ListingKey'], expansions: [expansion], members });
      const expected = PARTS[part].map(({ Id, ...rest }) => {
        const whole = { Id, ResourceUri: `${HEAD}/${part}/${Id}`, ...rest };
        return names === undefined ? whole : pick(whole, 'Id', 'ResourceUri', ...names);
      });
      const { [expansion]: found } = Object(
        pick(Object(unsigned(world, shown)), 'StandardFields').StandardFields,
      );
      assert.deepEqual(found, expected, part);
      if (names === undefined) continue;
      const { records } = await partPage(world, part, RESOURCE_OF[part], PRIVATE, KEY, names);
      assert.deepEqual(unsigned(world, records), expected, part);
    }
    const primary = await world.listing(KEY, {
      select: ['ListingKey'],
      expansions: ['PrimaryPhoto'],
      members,
    });
    assert.deepEqual(primary?.StandardFields, {
      ListingKey: KEY,
      Photos: [{ Id: 'P2', ResourceUri: `${HEAD}/photos/P2`, Caption: 'The second' }],
    });
  });

  test('Supplement is the declared field of that name, null if there is none, masked for roles that may not see it', async (t) => {
    if (isLeftToSqlite(engine, t)) return;
    const shown = async (visibility?: string): Promise<unknown> => {
      const declared = {
        ...field('Supplement', 'Main', 'Texts', 'More', visibility ?? ''),
        type: 'string(500)',
      };
      const declarations = { customFields: visibility === undefined ? [] : [declared] };
      const world = await makeWorld(engine, t, { settings: { declarations } });
      await world.write('Property', listing('S', visibility === undefined ? {} : { Supplement: 'A "dock"' }));
      const options = { viewer: IDX, select: ['ListingKey'], expansions: ['Supplement'] } as const;
      const whole = await world.listing('S', { ...options, select: undefined });
      const selected = await world.listing('S', options);
      const { Supplement: text } = Object(whole?.StandardFields);
      assert.deepEqual(selected?.StandardFields, { ListingKey: 'S', Supplement: text });
      return text;
    };
    assert.deepEqual(
      [await shown(), await shown('idx'), await shown('private')],
      [null, 'A "dock"', '********'],
    );
  });

  test('a page of listings is in key order, with the selected fields alone, in the requested order', async () => {
    const world = await populated();
    const { query, files } = await world.request('Property', '');
    const view = query.view.schema.of('Property');
    const fields = ['StandardStatus', 'ListAgentId'].flatMap((name) => {
      const found = view.findNativeField(name);
      return found.kind === 'visible' ? [found.field] : [];
    });
    const selection = { all: false, fields, hidden: [] };
    const shape = { kind: 'native-listing', display: 'Summary', selection, expansions: [] } as const;
    const request = { query, position: { kind: 'start' }, limit: 1, shape, files } as const;
    const page = await world.store.page(request, TIME);
    assert.equal(
      new TextDecoder().decode(page.body),
      '{"Id":"A/1","ResourceUri":"/v1/listings/A%2F1","StandardFields":{"StandardStatus":"Active",' +
        '"ListAgentId":"1"},"LastCachedTimestamp":null,"DisplayCompliance":{"View":"Summary"}}',
    );
    assert.deepEqual([page.rows, page.more, page.last?.key], [1, true, KEY]);
  });
}
