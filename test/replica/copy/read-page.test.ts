/** What a page of a source results in: records to store, records to delete, and quarantined records. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { Checkpoint } from '../../../src/replica/checkpoint/checkpoint.ts';
import type { DriftPolicy } from '../../../src/replica/copy/copy.ts';
import { type Intake, readPageDeclaringFields } from '../../../src/replica/copy/read-page.ts';
import type { ReplicaEvent } from '../../../src/replica/events.ts';
import type { SourceItem } from '../../../src/replica/source/source.ts';
import type { Store } from '../../../src/store/store.ts';
import { listing, member, photo, room } from '../../support/builders.ts';
import type { Scope } from '../../support/engine.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { type Json, makeWorld } from '../../support/world.ts';

interface Taker {
  readonly store: Store;
  readonly checkpoint: Checkpoint;
  readonly events: ReplicaEvent[];
  take(...items: readonly (SourceItem | Json)[]): Promise<Intake>;
}

async function taker(scope: Scope, drift: DriftPolicy = 'evolve'): Promise<Taker> {
  const { store } = await makeWorld(sqliteEngine(), scope, { settings: { owner: 'replica' } });
  const checkpoint = await Checkpoint.open({ store, source: 'feed' });
  const events: ReplicaEvent[] = [];
  // The part of a copy that readPageDeclaringFields uses; it sends no requests.
  const copy = {
    store,
    checkpoint,
    settings: { drift, alsoWindow: [], purgeShare: 0.2, force: false },
    report: (event: ReplicaEvent) => void events.push(event),
  };
  const isItem = (given: SourceItem | Json): given is SourceItem => 'json' in given;
  return {
    store,
    checkpoint,
    events,
    take: (...items) =>
      readPageDeclaringFields(copy, {
        items: items.map((given) => (isItem(given) ? given : { resource: 'Property', json: given })),
        broken: [],
      }),
  };
}

/** Keys and values of the records to store, by resource. */
const stored = ({ records }: Intake): [string, string, Json][] =>
  records.flatMap(({ resource, records: list }) =>
    list.map(({ key, values }): [string, string, Json] => [resource, key, values]),
  );
const quarantined = ({ quarantine }: Intake): [string, string, string][] =>
  quarantine.map(({ resource, key, reason }) => [resource, key, reason]);

test('of two records with the same key the later one counts, at its own position', async (t) => {
  const { take } = await taker(t);
  const intake = await take(
    listing('1', { ListPrice: 100 }),
    listing('2', { ListPrice: 200 }),
    listing('1', { ListPrice: 150 }),
  );
  assert.deepEqual(
    stored(intake).map(([, key, { ListPrice }]) => [key, ListPrice]),
    [
      ['2', 200],
      ['1', 150],
    ],
  );
});

test('a record and its sub-data, which arrived separately, are one record', async (t) => {
  const { take } = await taker(t);
  const whole = (key: string, more: Json = {}): SourceItem => ({
    resource: 'Property',
    json: listing(key, { ListPrice: 100, ...more }),
  });
  const parts = (key: string, more: Json): SourceItem => ({
    resource: 'Property',
    json: { ListingKey: key, ...more },
    onlyChildren: true,
  });
  const { records, remove } = await take(
    whole('1', { Rooms: [room('r1')] }),
    whole('2'),
    whole('gone', { MlgCanView: false }),
    parts('1', { Media: [photo('p1')] }),
    parts('3', { Media: [photo('p3')] }),
    parts('gone', { Media: [photo('p4')] }),
  );
  assert.deepEqual(
    records[0]?.records.map(({ key, values, children, onlyChildren }) => [
      key,
      values.ListPrice,
      onlyChildren === true,
      [...children].map(([name, members]) => [name, members.map((member) => member.key)]),
    ]),
    [
      [
        '1',
        100,
        false,
        [
          ['Rooms', ['r1']],
          ['Media', ['p1']],
        ],
      ],
      ['2', 100, false, []],
      ['3', undefined, true, [['Media', ['p3']]]],
    ],
  );
  assert.deepEqual(remove, [{ resource: 'Property', keys: ['gone'] }]);
});

test('records of a page with different fields keep their own values', async (t) => {
  const { take } = await taker(t);
  const [one, other] = [
    { ListPrice: 1, City: 'Bend' },
    { PostalCode: '97701', YearBuilt: 1990 },
  ];
  const intake = await take({ ListingKey: '1', ...one }, { ListingKey: '2', ...other });
  assert.deepEqual(
    stored(intake).map(([, , values]) => values),
    [
      { ListingKey: '1', ...one },
      { ListingKey: '2', ...other },
    ],
  );
});

test('a record without a key is quarantined under the hash of its content', async (t) => {
  const { take } = await taker(t);
  const nameless = { StandardStatus: 'Active', ListPrice: 1 };
  const intake = await take(nameless, listing('2'));
  const payload = JSON.stringify(nameless);
  assert.deepEqual(intake.quarantine, [
    {
      resource: 'Property',
      key: `#${hash('sha256', payload, 'base64url').slice(0, 16)}`,
      reason: 'The record has no ListingKey',
      payload,
    },
  ]);
  assert.deepEqual(
    stored(intake).map(([, key]) => key),
    ['2'],
  );
});

test('a member of a page that is not a JSON object is quarantined unchanged', async (t) => {
  const { store, checkpoint } = await taker(t);
  const settings = { drift: 'evolve', alsoWindow: [], purgeShare: 0.2, force: false } as const;
  const broken = [{ resource: 'Property', payload: '17', reason: 'The record is not a JSON object' }];
  const intake = await readPageDeclaringFields(
    { store, checkpoint, settings, report: () => undefined },
    { items: [], broken },
  );
  assert.deepEqual(intake.quarantine, [
    {
      resource: 'Property',
      key: `#${hash('sha256', '17', 'base64url').slice(0, 16)}`,
      reason: 'The record is not a JSON object',
      payload: '17',
    },
  ]);
});

const WRONG: readonly [string, Json, string][] = [
  ['a text for a number', { ListPrice: 'much' }, 'ListPrice is "much", but takes a number'],
  ['an object for a text', { City: {} }, 'City is {}, but takes a string'],
  [
    'an object for a timestamp',
    { ModificationTimestamp: {} },
    'ModificationTimestamp is {}, but takes a timestamp with a zone, such as 2024-05-01T12:00:00Z',
  ],
  [
    'a text for a boolean',
    { InternetAddressDisplayYN: 'perhaps' },
    'InternetAddressDisplayYN is "perhaps", but takes true or false',
  ],
  ['an object for a collection', { Media: {} }, 'Media is not a list'],
  [
    'several at once',
    { ListPrice: [], City: {} },
    'ListPrice is [], but takes a number; City is {}, but takes a string',
  ],
];
for (const [name, fields, reason] of WRONG) {
  test(`wrong types: ${name} puts the record in the quarantine with the reason, and the rest is stored`, async (t) => {
    const { take } = await taker(t);
    const intake = await take(listing('1', fields), listing('2'));
    assert.deepEqual(quarantined(intake), [['Property', '1', reason]]);
    assert.equal(intake.quarantine[0]?.payload, JSON.stringify(listing('1', fields)));
    assert.deepEqual(
      stored(intake).map(([, each]) => each),
      ['2'],
    );
  });
}

test('a faulty member of a collection is quarantined alone: its listing and the other members are stored', async (t) => {
  const { take } = await taker(t);
  const intake = await take(
    listing('1', { Media: [photo('a'), { MediaURL: 'x' }, photo('b', { Order: 'x' })] }),
  );
  assert.deepEqual(
    intake.records[0]?.records[0]?.children.get('Media')?.map(({ key }) => key),
    ['a'],
  );
  assert.deepEqual(
    quarantined(intake).map(([resource, key]) => [resource, key.startsWith('#') ? '#' : key]),
    [
      ['Media', '#'],
      ['Media', 'b'],
    ],
  );
});

test('TRAP 12 "********" means hidden: never stored as data, never quarantined', async (t) => {
  const { take } = await taker(t);
  const intake = await take(
    listing('1', {
      ListPrice: '********',
      CloseDate: '********',
      PrivateRemarks: '********',
      Appliances: ['********', 'Oven'],
      Media: [photo('a', { LongDescription: '********' })],
    }),
  );
  assert.deepEqual(intake.quarantine, []);
  const [[, , values = {}] = []] = stored(intake);
  assert.deepEqual(values, { ListingKey: '1', StandardStatus: 'Active', Appliances: ['Oven'] });
  assert.equal(
    'LongDescription' in (intake.records[0]?.records[0]?.children.get('Media')?.[0]?.values ?? {}),
    false,
  );
});

test('a collection that has a nextLink is not changed by the page, and is reported as partial', async (t) => {
  const { take } = await taker(t);
  const intake = await take(
    listing('1', { Media: [photo('a')], 'Media@odata.nextLink': 'x', Rooms: [] }),
    listing('2', { Media: [photo('b')], 'Media@nextLink': 'y' }),
  );
  assert.deepEqual(intake.partial, [
    { key: '1', collection: 'Media' },
    { key: '2', collection: 'Media' },
  ]);
  assert.deepEqual(
    intake.records[0]?.records.map(({ children }) => [...children.keys()]),
    [['Rooms'], []],
  );
});

test('a collection with fewer members than its count is partial; one with as many, or more, is complete', async (t) => {
  const { take } = await taker(t);
  const intake = await take(
    listing('1', { Media: [photo('a')], 'Media@odata.count': 2, 'Media@odata.nextLink': 'x' }),
    listing('2', { Media: [photo('b')], 'Media@count': 1, Rooms: [], 'Rooms@odata.count': 3 }),
    listing('3', { Media: [photo('c')], 'Media@odata.count': 0, 'Rooms@odata.count': 3 }),
  );
  assert.deepEqual(intake.partial, [
    { key: '1', collection: 'Media' },
    { key: '2', collection: 'Rooms' },
  ]);
  assert.deepEqual(
    intake.records[0]?.records.map(({ children }) => [...children.keys()]),
    [[], ['Media'], ['Media']],
  );
});

test('MlgCanView false deletes the record, also when the same page contains it before', async (t) => {
  const { take } = await taker(t);
  const intake = await take(
    listing('1', { MlgCanView: true }),
    listing('2', { MlgCanView: true }),
    listing('1', { MlgCanView: false }),
    { resource: 'Member', json: member('9', { MlgCanView: false }) },
  );
  assert.deepEqual(intake.remove, [
    { resource: 'Property', keys: ['1'] },
    { resource: 'Member', keys: ['9'] },
  ]);
  assert.deepEqual(
    stored(intake).map(([, key]) => key),
    ['2'],
  );
});

test('a record that comes again after its deletion on the same page is stored', async (t) => {
  const { take } = await taker(t);
  const intake = await take(listing('1', { MlgCanView: false }), listing('1', { MlgCanView: true }));
  assert.deepEqual(
    [stored(intake).map(([, key]) => key), intake.remove.flatMap(({ keys }) => keys)],
    [['1'], []],
  );
});

const FOREIGN = {
  SourceOnlyYN: true,
  SourceOnlyScore: 4.5,
  SourceOnlyTags: ['a', 'b'],
  SourceOnlyText: 'x',
  SourceOnlyThing: { a: 1 },
};

test('common forms are converted at any depth: comma-separated lists, and dates as midnight', async (t) => {
  const { take } = await taker(t);
  const intake = await take(
    listing('1', {
      Appliances: 'Oven, Range,,Washer',
      Heating: '',
      CloseDate: '2024-05-01T00:00:00Z',
      OnMarketDate: '2024-05-02T00:00:00.000+00:00',
      Media: [photo('a', { Permission: 'Public,IDX' })],
      OpenHouses: [{ OpenHouseKey: 'o', OpenHouseDate: '2024-05-03T00:00:00' }],
    }),
  );
  assert.deepEqual(intake.quarantine, []);
  const [[, , values = {}] = []] = stored(intake);
  assert.deepEqual(values, {
    ListingKey: '1',
    StandardStatus: 'Active',
    Appliances: ['Oven', 'Range', 'Washer'],
    CloseDate: '2024-05-01',
    OnMarketDate: '2024-05-02',
  });
  const children = intake.records[0]?.records[0]?.children;
  assert.deepEqual(children?.get('Media')?.[0]?.values.Permission, ['Public', 'IDX']);
  assert.equal(children?.get('OpenHouses')?.[0]?.values.OpenHouseDate, '2024-05-03');
});

test('equivalent values in another form are converted, not quarantined, and each such field is reported once', async (t) => {
  const { take, events } = await taker(t);
  const fields = {
    ListPrice: ' 450000.5 ',
    Latitude: '41.878113600000001',
    Longitude: '-87.629798199999996',
    BedroomsTotal: '3',
    City: 17,
    InternetAddressDisplayYN: 'Y',
    ClosePrice: '',
    Appliances: ['Oven', 5],
    ListAgentDesignation: 'Graduate, REALTOR Institute / GRI,Other',
  };
  const intake = await take(listing('1', fields), listing('2', fields));
  assert.deepEqual(intake.quarantine, []);
  const [[, , values = {}] = []] = stored(intake);
  assert.deepEqual(values, {
    ListingKey: '1',
    StandardStatus: 'Active',
    ListPrice: 450000.5,
    Latitude: 41.8781136,
    Longitude: -87.6297982,
    BedroomsTotal: 3,
    City: '17',
    InternetAddressDisplayYN: true,
    Appliances: ['Oven', '5'],
  });
  assert.deepEqual(
    events.map((each) => (each.kind === 'field' ? `${each.name} ${each.taken}` : each.kind)),
    [
      ...['ListPrice', 'Latitude', 'Longitude', 'BedroomsTotal', 'City', 'InternetAddressDisplayYN'],
      ...['ClosePrice', 'Appliances'],
    ].map((name) => `${name} read`),
  );
});

test('a timestamp other than midnight is not accepted as a date', async (t) => {
  const { take } = await taker(t);
  const intake = await take(listing('1', { CloseDate: '2024-05-01T10:00:00Z' }));
  assert.deepEqual(quarantined(intake), [
    ['Property', '1', 'CloseDate is "2024-05-01T10:00:00Z", but takes a date YYYY-MM-DD'],
  ]);
});

test('drift evolve: unknown fields become custom fields of the type of their value', async (t) => {
  const { take, store, events } = await taker(t, 'evolve');
  const intake = await take(listing('1', FOREIGN));
  const [[, , values = {}] = []] = stored(intake);
  assert.deepEqual(values, {
    ListingKey: '1',
    StandardStatus: 'Active',
    ...FOREIGN,
    SourceOnlyThing: '{"a":1}',
  });
  const { settings } = await store.model();
  assert.deepEqual(
    settings.declarations.customFields?.map(({ resource, name, type, group, label }) => [
      resource,
      name,
      type,
      group,
      label,
    ]),
    [
      ['Property', 'SourceOnlyYN', 'boolean', 'Source', 'SourceOnlyYN'],
      ['Property', 'SourceOnlyScore', 'decimal(15,4)', 'Source', 'SourceOnlyScore'],
      ['Property', 'SourceOnlyTags', 'string[]', 'Source', 'SourceOnlyTags'],
      ['Property', 'SourceOnlyText', 'string', 'Source', 'SourceOnlyText'],
      ['Property', 'SourceOnlyThing', 'string', 'Source', 'SourceOnlyThing'],
    ],
  );
  assert.deepEqual(
    events.map((event) => event.kind === 'field' && [event.name, event.taken]),
    Object.keys(FOREIGN).map((name) => [name, 'declared']),
  );
});

test('drift evolve: a field whose name is not valid is left out, and reported once', async (t) => {
  const { take, checkpoint, events } = await taker(t, 'evolve');
  await take(listing('1', { 'no name': 'x' }));
  await take(listing('2', { 'no name': 'y' }));
  assert.deepEqual(checkpoint.get('ignored'), ['Property.no name']);
  assert.deepEqual(events, [{ kind: 'field', resource: 'Property', name: 'no name', taken: 'ignored' }]);
});

test('drift freeze: a record with an unknown field is quarantined, unless the field is null', async (t) => {
  const { take, store } = await taker(t, 'freeze');
  const intake = await take(
    listing('1', { SourceOnlyText: 'x', SourceOnlyYN: false }),
    listing('2', { SourceOnlyText: null }),
  );
  assert.deepEqual(quarantined(intake), [
    ['Property', '1', 'The dictionary has no Property.SourceOnlyText, Property.SourceOnlyYN'],
  ]);
  assert.deepEqual(
    stored(intake).map(([, key]) => key),
    ['2'],
  );
  assert.deepEqual((await store.model()).settings.declarations.customFields ?? [], []);
});

test('drift discard: unknown fields are left out and reported, the record is stored', async (t) => {
  const { take, checkpoint, events, store } = await taker(t, 'discard');
  const intake = await take(listing('1', { SourceOnlyText: 'x' }));
  assert.deepEqual(stored(intake), [['Property', '1', { ListingKey: '1', StandardStatus: 'Active' }]]);
  assert.deepEqual(checkpoint.get('ignored'), ['Property.SourceOnlyText']);
  assert.deepEqual(events, [
    { kind: 'field', resource: 'Property', name: 'SourceOnlyText', taken: 'ignored' },
  ]);
  assert.deepEqual((await store.model()).settings.declarations.customFields ?? [], []);
});

test('unknown fields of members of a collection are handled like those of the record', async (t) => {
  const { take } = await taker(t, 'evolve');
  const intake = await take(listing('1', { Media: [photo('a', { SourceOnlyText: 'x' })] }));
  assert.equal(intake.records[0]?.records[0]?.children.get('Media')?.[0]?.values.SourceOnlyText, 'x');
});
