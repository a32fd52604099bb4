/**
 * Every row that the engine finds sound has no fault for the check that reads rows either, whatever the records contain and whatever
 * is changed in the database without plat.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DEFAULT_SETTINGS, type Owner } from '../../../src/records/settings.ts';
import type { RowFaults } from '../../../src/store/check/checks.ts';
import type { Store } from '../../../src/store/store.ts';
import { listing, member, office, openHouse, photo, room, unit } from '../../support/builders.ts';
import { contractRuns, type Engine, isLeftToSqlite, type Scope } from '../../support/engine.ts';
import { inScope } from '../../support/scope.ts';
import { type Json, makeWorld, type World } from '../../support/world.ts';

/** Characters with a meaning in JSON, SQL, HTTP and UTF-8. */
const hostile = fc
  .array(
    fc.constantFrom(
      ...[
        'a',
        'Z',
        ' ',
        '"',
        '\\',
        '/',
        "'",
        '\n',
        '\t',
        '\r',
        '\b',
        '\f',
        '\u0001',
        '\u001f',
        '\u007f',
        '\u0080',
      ],
      ...[
        '\u2028',
        '\u2029',
        '\ufeff',
        'é',
        'e\u0301',
        'ß',
        '中',
        '😀',
        '%',
        '%20',
        '+',
        '?',
        '#',
        '&',
        '<',
        '{',
        '}',
      ],
      ...['[', ']', ',', ':', 'null', '":"', '\\u0000', '\\n', '0'],
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));
const number = fc.oneof(
  fc.constantFrom(
    0,
    -1,
    0.1,
    0.30000000000000004,
    1e-7,
    123456789.125,
    1e14 + 0.5,
    2 ** 53 - 1,
    5e-324,
    1.7e308,
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
  fc.integer(),
);
/** Numbers that an authority accepts, and those that a replica stores. */
const written: Readonly<Record<Owner, fc.Arbitrary<number>>> = {
  authority: fc.integer({ min: -100_000, max: 100_000 }).map((cents) => cents / 100),
  replica: number.filter((value) => !Number.isInteger(value) || Number.isSafeInteger(value)),
};
const moment = fc
  .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const url = fc.oneof(
  hostile,
  hostile.map((text) => `https://images.example/${text}`),
  fc.constantFrom(
    'photo/a.jpg',
    '//elsewhere.example/a.jpg',
    'HTTP://elsewhere.example/a',
    'mailto:a@b.example',
    'a:b',
  ),
);

const fieldsOf = (owner: Owner) =>
  fc.record(
    {
      ListPrice: written[owner],
      Latitude: written[owner],
      PublicRemarks: hostile,
      City: hostile,
      StreetName: hostile,
      Appliances: fc.array(hostile, { maxLength: 3 }),
      OnMarketDate: moment.map((text) => text.slice(0, 10)),
      OffMarketTimestamp: moment,
      PoolPrivateYN: fc.boolean(),
      YearBuilt: fc.integer({ min: 0, max: 3000 }),
      StandardStatus: fc.constantFrom('Active', 'Closed', 'Withdrawn'),
      InternetAddressDisplayYN: fc.boolean(),
      ListAgentKey: fc.constantFrom('m1', 'm2', 'nobody'),
    },
    { requiredKeys: [] },
  );
const media = fc.record(
  {
    MediaURL: url,
    MediaCategory: fc.constantFrom(
      'Photo',
      'Floor Plan',
      'Video',
      'Document',
      'Branded Virtual Tour',
      'Unbranded Virtual Tour',
      'Odd',
    ),
    ShortDescription: hostile,
    LongDescription: hostile,
    Order: fc.integer({ min: 0, max: 9 }),
    PreferredPhotoYN: fc.boolean(),
    Permission: fc.constantFrom([], ['Private'], ['Public', 'IDX']),
  },
  { requiredKeys: ['MediaURL'] },
);
const inRooms = (owner: Owner) =>
  fc.record(
    {
      RoomType: hostile,
      RoomDescription: hostile,
      RoomLength: written[owner],
      RoomFeatures: fc.array(hostile, { maxLength: 2 }),
    },
    { requiredKeys: [] },
  );
const inHouses = fc.record(
  {
    OpenHouseStartTime: moment,
    OpenHouseDate: moment.map((text) => text.slice(0, 10)),
    OpenHouseRemarks: hostile,
  },
  { requiredKeys: [] },
);

const key = fc
  .tuple(fc.constantFrom('A', 'b', 'Ü', 'a/b', 'c d', "e'f", 'g"h', '😀'), fc.nat(99))
  .map(([text, n]) => `${text}${n}`);

const whole = (owner: Owner) =>
  fc
    .record({
      key,
      fields: fieldsOf(owner),
      media: fc.array(media, { maxLength: 3 }),
      rooms: fc.array(inRooms(owner), { maxLength: 2 }),
      houses: fc.array(inHouses, { maxLength: 1 }),
    })
    .map(({ key: name, fields: own, media: photos, rooms, houses }) =>
      listing(name, {
        OriginatingSystemID: 'X',
        ...own,
        Media: photos.map((each, at) => photo(`${name}-p${at}`, each)),
        Rooms: rooms.map((each, at) => room(`${name}-r${at}`, each)),
        UnitTypes: [unit(`${name}-u`, { UnitTypeType: 'Studio' })],
        OpenHouses: houses.map((each, at) => openHouse(`${name}-h${at}`, each)),
      }),
    );
const listings = (owner: Owner) =>
  fc.uniqueArray(whole(owner), { minLength: 9, maxLength: 9, selector: (each) => each.ListingKey });

async function stored(engine: Engine, scope: Scope, owner: Owner, records: readonly Json[]): Promise<World> {
  const world = await makeWorld(engine, scope, { settings: { ...DEFAULT_SETTINGS, owner } });
  const write = async (resource: string, ...given: readonly Json[]): Promise<void> => {
    if (owner === 'authority') return void (await world.write(resource, ...given));
    const parsed = await Promise.all(given.map((each) => world.parse(resource, each)));
    await world.store.checkpoints.commit('origin', {
      records: [{ resource, records: parsed }],
      state: { known: true },
    });
  };
  await write('Office', office('o'));
  await write('Member', member('m1', { MemberFullName: '"Full" \\ \n' }), member('m2'));
  // The first records come before most fields are in use.
  for (const record of records) await write('Property', record);
  return world;
}

/** Resources whose rows may always have to be read: some media are documents, and open houses have times of day. */
const ALWAYS_READ = new Set(['Media', 'OpenHouse']);
const RESOURCES = [
  'Property',
  'Media',
  'PropertyRooms',
  'PropertyUnitTypes',
  'OpenHouse',
  'Member',
  'Office',
];

type Found = readonly (readonly [string, string, ...string[]])[];

const named = (resource: string, faults: readonly RowFaults[]): Found =>
  faults.map(({ key: name, what }) => [resource, name, ...what]);

/** The faults that a walk over all rows finds, and the number of rows that the engine did not find sound. */
async function walked(store: Store): Promise<{ found: Found; read: Record<string, number> }> {
  const found: Found[number][] = [];
  const read: Record<string, number> = {};
  for (const resource of RESOURCES) {
    const page = await store.rowFaults(resource, { kind: 'after', place: undefined, limit: 1000 });
    found.push(...named(resource, page.faults));
    read[resource] = page.read;
  }
  return { found, read };
}

/** The faults that are found if every row is read. */
async function readOne(store: Store, keys: ReadonlyMap<string, readonly string[]>): Promise<Found> {
  const found: Found[number][] = [];
  for (const [resource, names] of keys) {
    const page = await store.rowFaults(resource, { kind: 'keys', keys: names });
    assert.equal(page.read, page.rows);
    found.push(...named(resource, page.faults));
  }
  return found;
}

const TABLES: Readonly<Record<string, string>> = {
  property_records: 'Property',
  property_texts: 'Property',
  media_records: 'Media',
  property_rooms_records: 'PropertyRooms',
  open_house_records: 'OpenHouse',
  member_records: 'Member',
};

interface Damage {
  readonly table: string;
  readonly column: string;
  readonly value: string;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
/** Values and changes of values in SQL for both engines; `$` is the column. */
const textual = fc.oneof(
  hostile.map(quoted),
  fc.constantFrom(
    "$ || ' '",
    "replace($, ',', ', ')",
    "replace($, '0', '1')",
    "replace($, '\"', '')",
    'upper($)',
    "replace($, 'null', '[]')",
  ),
);
const numeric = fc.oneof(number.map(String), fc.constantFrom('$ + 1', '-$', '$ / 3', '$ + 0.0000000001'));
const damage = (
  table: string,
  columns: readonly string[],
  value: fc.Arbitrary<string>,
): fc.Arbitrary<Damage> =>
  fc.record({ table: fc.constant(table), column: fc.constantFrom(...columns), value });
/** On a server, statements that use a rule with an invalid list fail, so that such damage is left out. */
const damagesOf = ({ name }: Engine) =>
  fc.oneof(
    damage(
      'media_records',
      ['Permission'],
      name === 'sqlite' ? textual : fc.constantFrom(`'["Private"]'`, `'[]'`, `'["IDX", "VOW"]'`),
    ),
    damage(
      'property_records',
      [
        'City',
        'PublicRemarks',
        'StreetName',
        'Appliances',
        'OnMarketDate',
        'OffMarketTimestamp',
        'ModificationTimestamp',
        '_hash',
        '_system',
        '_source',
        'ListAgentKey',
        'StandardStatus',
      ],
      textual,
    ),
    damage(
      'property_records',
      [
        'City',
        'PublicRemarks',
        'Appliances',
        'ListPrice',
        'Latitude',
        'OnMarketDate',
        'PoolPrivateYN',
        '_system',
        '_source',
      ],
      fc.constant('NULL'),
    ),
    damage('property_records', ['ListPrice', 'Latitude', 'YearBuilt'], numeric),
    damage('property_records', ['_visible', '_shown'], fc.constantFrom('0', '1', '31')),
    damage(
      'property_texts',
      [
        'open_values',
        'open_nulls',
        'idx_values',
        'idx_nulls',
        'address_values',
        'address_nulls',
        'native_head',
        'ListAgentKey',
        '_system',
      ],
      textual,
    ),
    damage('property_texts', ['_profile', '_visible', '_shown'], fc.constantFrom('0', '1', '2', '3', '99')),
    damage(
      'media_records',
      [
        'MediaURL',
        'MediaCategory',
        'ShortDescription',
        'ModificationTimestamp',
        'native_text',
        'native_plan_text',
        'idx_values',
        'open_nulls',
        '_file',
        '_kind',
        '_hash',
        '_system',
        'OriginatingSystemResourceRecordKey',
      ],
      textual,
    ),
    damage(
      'media_records',
      ['MediaURL', 'MediaCategory', 'Permission', '_file', '_kind', '_rank', '_system'],
      fc.constant('NULL'),
    ),
    damage('media_records', ['_rank', '_visible', '_shown', '_profile'], fc.constantFrom('0', '1', '7')),
    damage(
      'property_rooms_records',
      [
        'RoomType',
        'RoomDescription',
        'native_text',
        'idx_values',
        'idx_nulls',
        '_hash',
        '_kind',
        '_file',
        '_parent',
      ],
      textual,
    ),
    damage('property_rooms_records', ['RoomLength'], numeric),
    damage('open_house_records', ['OpenHouseStartTime', 'native_text', 'idx_values'], textual),
    damage('member_records', ['MemberFullName', 'idx_values', 'join_idx_values', '_hash'], textual),
  );

export function soundRowsContract(engine: Engine): void {
  for (const owner of ['authority', 'replica'] as const) {
    test(`${owner}: a row that the engine finds sound has no fault, whatever was written or damaged`, async (t) => {
      // The rows of a replica have every column of those of an authority.
      if (owner === 'authority' && isLeftToSqlite(engine, t)) return;
      const attempt = fc.asyncProperty(
        listings(owner),
        fc.array(damagesOf(engine), { minLength: 25, maxLength: 25 }),
        (records, list) =>
          inScope(async (scope) => {
            const world = await stored(engine, scope, owner, records);
            const { found, read } = await walked(world.store);
            assert.deepEqual(found, []);
            const keys = new Map<string, readonly string[]>();
            for (const resource of RESOURCES) keys.set(resource, await keysOf(world.store, resource));
            for (const resource of RESOURCES) {
              // The engine does find rows sound, except for keys that URLs encode.
              const odd = keys.get(resource)?.filter((each) => /[^\w.-]/.test(each)) ?? [];
              const most = ALWAYS_READ.has(resource) ? Number.POSITIVE_INFINITY : odd.length;
              assert.ok((read[resource] ?? 0) <= most, `${read[resource]} of ${resource} were read`);
            }
            const next = new Map<string, number>();
            for (const { table, column, value } of list) {
              // Each change is made to another row, since a damaged row would show no further fault.
              const names = keys.get(TABLES[table] ?? '') ?? [];
              const at = next.get(TABLES[table] ?? '') ?? 0;
              const name = names[at % Math.max(1, names.length)];
              next.set(TABLES[table] ?? '', at + 1);
              if (name === undefined) continue;
              await world
                .damage(
                  `UPDATE ${table} SET "${column}" = ${value.replaceAll('$', `"${column}"`)} WHERE _key = ${quoted(name)}`,
                )
                .catch(() => undefined);
              const expected = await readOne(world.store, keys);
              const { found: fast } = await walked(world.store);
              assert.deepEqual(sorted(fast), sorted(expected), `${table}.${column} = ${value} of ${name}`);
            }
          }),
      );
      await fc.assert(attempt, { numRuns: contractRuns(engine, 3), seed: 20261122, endOnFailure: true });
    });
  }
}

const sorted = (found: Found): Found =>
  found.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));

async function keysOf(store: Store, resource: string): Promise<string[]> {
  const found: string[] = [];
  for await (const line of store.export(resource)) found.push(String(JSON.parse(line)[KEYS[resource] ?? '']));
  return found;
}

const KEYS: Readonly<Record<string, string>> = {
  Property: 'ListingKey',
  Media: 'MediaKey',
  PropertyRooms: 'RoomKey',
  PropertyUnitTypes: 'UnitTypeKey',
  OpenHouse: 'OpenHouseKey',
  Member: 'MemberKey',
  Office: 'OfficeKey',
};
