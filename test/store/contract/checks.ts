/** Checks of a store: a sound one has no fault, and each damage is reported where it is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN_ACCESS } from '../../../src/access/index.ts';
import { SEQUENCE_START } from '../../../src/store/changes/change-feed.ts';
import { findFaults, repairStore } from '../../../src/store/check/check-store.ts';
import { Scrub, type ScrubFault } from '../../../src/store/check/scrub.ts';
import type { Store } from '../../../src/store/store.ts';
import { floorPlan, listing, member, office, openHouse, photo, room } from '../../support/builders.ts';
import { type Engine, isLeftToSqlite, type Scope, type StorePart } from '../../support/engine.ts';
import { faultsIn } from '../../support/faults.ts';
import { type Json, makeWorld, TIME, type World } from '../../support/world.ts';

async function market(engine: Engine, scope: Scope, keys: readonly string[]): Promise<World> {
  const world = await makeWorld(engine, scope);
  await world.write('Office', office('O'));
  await world.write('Member', member('M', { OfficeKey: 'O', Media: [photo('P0')] }), member('N'));
  await world.write('Property', ...keys.map((key) => whole(key)));
  // Fields that come into use later, so that earlier texts lack them.
  await world.write('Property', { ...whole('new'), YearBuilt: 1900, OnMarketDate: '2024-01-02' });
  const [first = ''] = keys;
  await world.write('Property', {
    ...whole(first),
    PublicRemarks: 'A "quoted" text \n with\u0001 more ü 😀',
  });
  return world;
}

const whole = (key: string) =>
  listing(key, {
    OriginatingSystemID: 'X',
    ListAgentKey: 'M',
    ListOfficeKey: 'O',
    ListPrice: 100.25,
    City: 'Springfield',
    InternetAddressDisplayYN: key !== 'A',
    Media: [photo(`P${key}`, { Order: 1 }), floorPlan(`F${key}`)],
    Rooms: [room(`R${key}`, { RoomType: 'Kitchen' })],
    OpenHouses: [
      openHouse(`H${key}`, { OpenHouseStartTime: '2024-05-01T12:00:00Z', Media: [photo(`HP${key}`)] }),
    ],
  });

const COUNTS = (resource: string) => [resource, '(counters)', 'the stored counts of rows are wrong'];

const MEDIA_COUNTS = 'its counts of media';

/** Settings, the fields in use, and records without texts in another table: a backup restores them. */
const isOnlyCopy = ({ name, kind }: StorePart): boolean =>
  kind === 'table' &&
  (/^plat_(meta|profile|partitions)$/.test(name) ||
    /^(?!property_records|field|lookup).+_records$/.test(name));

/** Tables without records whose content does not follow from others. */
const LOST = new Set(
  [
    'changes',
    'tombstones',
    'keys',
    'key_use',
    'history',
    'webhooks',
    'ledger_state',
    'ledger_seen',
    'ledger_wanted',
  ]
    .concat('quarantine', 'leases')
    .map((name) => `plat_${name}`),
);

/** What is dropped together, unless each part is dropped by itself (`PLAT_FULL=1`). */
const groupOf = ({ name, kind }: StorePart): string =>
  kind === 'table' && !name.startsWith('plat_') ? name : `${kind} ${name.split('_')[0] === 'plat'}`;

interface Damage {
  /** SQL for both engines; `$` is the key of a listing without any other damage. */
  readonly statement: string;
  readonly faults: readonly (readonly string[])[];
}

const DAMAGES: readonly Damage[] = [
  {
    statement: `UPDATE property_texts SET address_values = replace(address_values, 'Springfield', 'Elsewhere') WHERE _key = '$'`,
    faults: [['Property', '$', 'address_values']],
  },
  {
    statement: `UPDATE property_records SET "PhotosCount" = 7 WHERE _key = '$'`,
    faults: [['Property', '$', MEDIA_COUNTS, 'idx_values']],
  },
  {
    statement: `UPDATE media_records SET "Permission" = '["Private"]' WHERE _key = 'P$'`,
    faults: [
      ['Property', '$', MEDIA_COUNTS],
      ['Media', 'P$', '_visible', 'idx_values', 'idx_nulls', '_hash'],
    ],
  },
  {
    statement: `UPDATE property_texts SET idx_values = replace(idx_values, '"PhotosCount":', '"PhotosCount":7') WHERE _key = '$'`,
    faults: [['Property', '$', 'idx_values']],
  },
  {
    statement: `UPDATE property_texts SET open_values = '{' WHERE _key = '$'`,
    faults: [['Property', '$', 'open_values']],
  },
  {
    statement: `UPDATE property_texts SET native_head = '' WHERE _key = '$'`,
    faults: [['Property', '$', 'native_head']],
  },
  {
    statement: `UPDATE property_texts SET _profile = _profile + 1 WHERE _key = '$'`,
    faults: [['Property', '$', 'idx_nulls']],
  },
  {
    statement: `UPDATE property_texts SET "ListAgentKey" = 'N' WHERE _key = '$'`,
    faults: [['Property', '$', 'text of ListAgentKey']],
  },
  {
    statement: `UPDATE property_texts SET _visible = 0 WHERE _key = '$'`,
    faults: [['Property', '$', '_visible']],
  },
  {
    statement: `UPDATE property_texts SET _id = _id + 1000 WHERE _key = '$'`,
    faults: [['Property', '$', '_id']],
  },
  {
    statement: `UPDATE property_records SET _id = 1152921504606846976 WHERE _key = '$'`,
    faults: [
      ['Property', '$', '_id', 'its search row'],
      ['Property', '$', 'it has a search row that is not its own'],
    ],
  },
  {
    statement: `DELETE FROM property_texts WHERE _key = '$'`,
    faults: [['Property', '$', 'its texts are missing']],
  },
  {
    statement: `DELETE FROM property_records WHERE _key = '$'`,
    faults: [
      ['Property', '$', 'its columns are missing'],
      ['Property', '$', 'it has a search row that is not its own'],
      COUNTS('Property'),
      ['Media', 'F$', '_visible'],
      ['Media', 'P$', '_visible'],
      ['PropertyRooms', 'R$', '_visible'],
      ['OpenHouse', 'H$', '_visible'],
    ],
  },
  {
    statement: `UPDATE property_records SET "City" = 'Elsewhere' WHERE _key = '$'`,
    faults: [['Property', '$', 'its search row', 'address_values', '_hash']],
  },
  {
    statement: `UPDATE property_records SET "City" = NULL WHERE _key = '$'`,
    faults: [['Property', '$', 'its search row', 'address_values', 'address_nulls', '_hash']],
  },
  {
    statement: `UPDATE property_records SET "YearBuilt" = 1900 WHERE _key = '$'`,
    faults: [['Property', '$', 'YearBuilt', 'its search row', '_hash']],
  },
  {
    statement: `UPDATE property_search SET "City" = 'Elsewhere' WHERE _key = '$'`,
    faults: [['Property', '$', 'its search row']],
  },
  {
    statement: `UPDATE property_search SET _visible = 0 WHERE _key = '$'`,
    faults: [['Property', '$', 'its search row']],
  },
  {
    statement: `UPDATE property_search SET _shown = 0 WHERE _key = '$'`,
    faults: [['Property', '$', 'its search row']],
  },
  {
    statement: `UPDATE property_search SET _id = _id + 1000 WHERE _key = '$'`,
    faults: [
      ['Property', '$', 'its search row'],
      ['Property', '$', 'it has a search row that is not its own'],
    ],
  },
  {
    statement: `UPDATE property_search SET _key = 'S$' WHERE _key = '$'`,
    faults: [
      ['Property', '$', 'its search row'],
      ['Property', 'S$', 'it has a search row that is not its own'],
    ],
  },
  {
    statement: `DELETE FROM property_search WHERE _key = '$'`,
    faults: [['Property', '$', 'its search row']],
  },
  {
    statement: `UPDATE media_records SET "MediaURL" = 'https://elsewhere.example/' WHERE _key = 'P$'`,
    faults: [['Media', 'P$', 'idx_values', '_hash']],
  },
  {
    statement: `UPDATE media_records SET "OriginatingSystemResourceRecordKey" = '' WHERE _key = 'P$'`,
    faults: [['Media', 'P$', 'open_values']],
  },
  {
    statement: `UPDATE media_records SET _parent_resource = 'Rroperty' WHERE _key = 'P$'`,
    faults: [
      ['Property', '$', MEDIA_COUNTS],
      ['Media', 'P$', '_visible', 'idx_values', '_hash'],
    ],
  },
  {
    statement: `UPDATE media_records SET _parent = 'elsewhere' WHERE _key = 'P$'`,
    faults: [
      ['Property', '$', MEDIA_COUNTS],
      ['Property', 'elsewhere', MEDIA_COUNTS],
      ['Media', 'P$', '_system', 'native_text', 'open_values', '_hash'],
    ],
  },
  {
    statement: `UPDATE property_rooms_records SET _parent = 'elsewhere' WHERE _key = 'R$'`,
    faults: [['PropertyRooms', 'R$', '_system', 'native_text', 'open_values', '_hash']],
  },
  {
    statement: `UPDATE media_records SET native_text = '{}' WHERE _key = 'P$'`,
    faults: [['Media', 'P$', 'native_text']],
  },
  {
    statement: `UPDATE media_records SET _rank = 7 WHERE _key = 'P$'`,
    faults: [['Media', 'P$', '_rank']],
  },
  {
    statement: `UPDATE media_records SET _file = NULL WHERE _key = 'F$'`,
    faults: [['Media', 'F$', '_file']],
  },
  {
    statement: `UPDATE media_records SET _kind = 'video' WHERE _key = 'P$'`,
    faults: [
      ['Property', '$', MEDIA_COUNTS],
      ['Media', 'P$', '_kind'],
    ],
  },
  {
    statement: `UPDATE open_house_records SET "OpenHouseStartTime" = '2024-05-02T12:00:00' WHERE _key = 'H$'`,
    faults: [['OpenHouse', 'H$', 'native_text', 'idx_values', '_hash']],
  },
  {
    statement: `UPDATE property_rooms_records SET _system = 'Z' WHERE _key = 'R$'`,
    faults: [
      ['PropertyRooms', 'R$', '_system'],
      ['PropertyRooms', 'R$', 'its last change is not in the sequence of changes'],
      COUNTS('PropertyRooms'),
    ],
  },
  {
    statement: `UPDATE member_records SET "MemberFullName" = 'Somebody' WHERE _key = 'N'`,
    faults: [['Member', 'N', 'idx_values', 'join_idx_values', '_hash']],
  },
  {
    statement: `UPDATE property_records SET _hash = 'x' WHERE _key = '$'`,
    faults: [['Property', '$', '_hash']],
  },
  {
    statement: `UPDATE plat_counters SET rows = rows + 1 WHERE resource = 'Media'`,
    faults: [COUNTS('Media')],
  },
  {
    statement: `INSERT INTO plat_tombstones VALUES ('Property', '$', NULL, '2024-01-01T00:00:00Z')`,
    faults: [['Property', '$', 'it has a tombstone']],
  },
];

interface Torn {
  readonly name: string;
  /** Changes to the listings B and C. */
  readonly statements: readonly string[];
  /** Some of the faults that must be found. */
  readonly found: readonly (readonly string[])[];
  /** Listings whose columns and texts then contradict each other in their timestamps, so that a repair restamps them. */
  readonly restamped?: readonly string[];
}

const NUMBER_OF_A = "(SELECT _id FROM property_texts WHERE _key = 'A')";

const TORN: readonly Torn[] = [
  {
    name: 'texts under another key',
    statements: ["UPDATE property_texts SET _key = 'ZZZ' WHERE _key = 'B'"],
    found: [
      ['Property', 'B', 'its texts are missing'],
      ['Property', 'ZZZ', 'its columns are missing'],
    ],
  },
  {
    name: 'columns under another key',
    statements: ["UPDATE property_records SET _key = 'ZZZ' WHERE _key = 'B'"],
    found: [
      ['Property', 'ZZZ', 'its texts are missing'],
      ['Property', 'B', 'its columns are missing'],
    ],
  },
  {
    name: 'columns and texts under another key than they tell',
    statements: [
      "UPDATE property_records SET _key = 'ZZZ' WHERE _key = 'B'",
      "UPDATE property_texts SET _key = 'ZZZ' WHERE _key = 'B'",
    ],
    found: [['Property', 'ZZZ', MEDIA_COUNTS, 'its search row', 'native_head', 'open_values', '_hash']],
  },
  {
    name: 'a photo under another key than it tells',
    statements: ["UPDATE media_records SET _key = 'ZZZ' WHERE _key = 'PB'"],
    found: [['Media', 'ZZZ', 'native_text', 'open_values', '_hash']],
  },
  {
    name: 'columns under the number of another listing',
    statements: [`UPDATE property_records SET _id = ${NUMBER_OF_A} WHERE _key = 'B'`],
    found: [['Property', 'B', '_id', 'its search row']],
  },
  {
    name: 'columns under the number of another listing, and no texts',
    statements: [
      `UPDATE property_records SET _id = ${NUMBER_OF_A} WHERE _key IN ('B', 'C')`,
      "DELETE FROM property_texts WHERE _key = 'B'",
    ],
    found: [
      ['Property', 'B', 'its texts are missing'],
      ['Property', 'C', '_id', 'its search row'],
    ],
  },
  {
    name: 'texts under the keys of each other',
    statements: [
      "UPDATE property_texts SET _key = 'T' WHERE _key = 'B'",
      "UPDATE property_texts SET _key = 'B' WHERE _key = 'C'",
      "UPDATE property_texts SET _key = 'C' WHERE _key = 'T'",
    ],
    found: [['Property', 'B', '_id', 'native_head', 'open_values']],
    restamped: ['B', 'C'],
  },
];

/** Records without the timestamps that a repair may change, which must be later than before. */
function withoutNewStamps(
  rows: readonly Json[],
  before: readonly Json[],
  restamped: readonly string[],
): Json[] {
  return rows.map((row, index) => {
    if (!restamped.includes(String(row.ListingKey))) return row;
    const old = before[index] ?? {};
    return Object.fromEntries(
      Object.entries(row).map(([name, value]) => {
        if (!/(Modification|Change)Timestamp$/.test(name) || value === old[name]) return [name, value];
        assert.ok(String(value) > String(old[name]), `${name} ${value}`);
        return [name, old[name]];
      }),
    );
  });
}

/** A market with what each damage needs: a listing, and a record of the system that one of them names. */
async function damageable(engine: Engine, scope: Scope, keyOf: (at: number) => string): Promise<World> {
  const world = await market(engine, scope, [...DAMAGES.keys()].map(keyOf));
  await world.write('Property', listing('elsewhere', { OriginatingSystemID: 'Z' }));
  return world;
}

const sorted = (faults: readonly (readonly string[])[]): string[] =>
  [...new Set(faults.map((fault) => JSON.stringify(fault)))].toSorted();

export function checkContract(engine: Engine): void {
  test('a store that only plat has written to has no fault', async (t) => {
    const { store } = await market(engine, t, ['A', 'Ü']);
    assert.deepEqual(await faultsIn(store, 3), []);
  });

  test('words of any length are no fault', async (t) => {
    const declarations = {
      customFields: [{ resource: 'Property', name: 'Story', group: 'A', label: 'B', type: 'string' }],
    };
    const world = await makeWorld(engine, t, { settings: { declarations } });
    const texts = ['x', 'ü', '漢', 'a𐐨'].map((letters) => `short ${letters.repeat(40_000)} end`);
    await world.write('Property', ...texts.map((Story, at) => listing(`L${at}`, { Story })));
    assert.deepEqual(await world.keys('Property'), ['L0', 'L1', 'L2', 'L3']);
    assert.deepEqual([...(await faultsIn(world.store)), ...(await world.store.fileFaults())], []);
  });

  test('each damage is reported where it is, and mend() repairs derived data', async (t) => {
    const keyOf = (at: number): string => `D${at}`;
    const world = await damageable(engine, t, keyOf);
    const at = (text: string, index: number): string => text.replaceAll('$', keyOf(index));
    await world.damage(...DAMAGES.map(({ statement }, index) => at(statement, index)));
    const found = sorted(await faultsIn(world.store, 7));
    // SQLite has a separate index of words, whose faults are reported as well.
    const expected = [
      ['Lookup', '(values)', 'the stored counts of values in use are wrong'],
      ...DAMAGES.flatMap(({ faults }, index) => faults.map((fault) => fault.map((each) => at(each, index)))),
    ];
    assert.deepEqual(
      found.filter((fault) => !fault.includes('its words are not')),
      sorted(expected),
    );
    await world.store.mend();
    const rest = sorted(await faultsIn(world.store));
    assert.deepEqual(
      rest,
      sorted(
        expected.filter(([, , what]) => !/^(the stored counts|it has|its last change)/.test(what ?? '')),
      ),
    );
  });

  test('a repair restores each record from whichever two of columns, texts and hash agree', async (t) => {
    if (isLeftToSqlite(engine, t)) return;
    const keyOf = (at: number): string => `D${at}`;
    const world = await damageable(engine, t, keyOf);
    const RESOURCES = ['Member', 'Property', 'Media', 'OpenHouse', 'PropertyRooms'];
    const all = async (): Promise<unknown> =>
      Promise.all(RESOURCES.map(async (name) => [await world.exported(name), await world.rows(name)]));
    const before = await all();
    await world.damage(...DAMAGES.map(({ statement }, at) => statement.replaceAll('$', keyOf(at))));
    assert.notDeepEqual(await faultsIn(world.store), []);
    await repairStore(world.store);
    assert.deepEqual(await faultsIn(world.store), []);
    assert.deepEqual(await all(), before);
  });

  test('a count that is wrong in columns and texts alike is reported, and a repair counts the media', async (t) => {
    if (isLeftToSqlite(engine, t)) return;
    const world = await market(engine, t, ['A', 'B']);
    const read = () => world.exported('Property');
    const before = await read();
    await world.damage(
      `UPDATE property_records SET "PhotosCount" = 72 WHERE _key = 'A'`,
      `UPDATE property_texts SET idx_values = replace(idx_values, '"PhotosCount":', '"PhotosCount":7') WHERE _key = 'A'`,
      "DELETE FROM media_records WHERE _key = 'PB'",
    );
    const faults = (await faultsIn(world.store)).filter(([resource]) => resource === 'Property');
    assert.deepEqual(faults, [
      ['Property', 'A', MEDIA_COUNTS],
      ['Property', 'B', MEDIA_COUNTS],
    ]);
    await repairStore(world.store);
    assert.deepEqual(await faultsIn(world.store), []);
    const [a, b, ...others] = await read();
    assert.deepEqual(a, before[0]);
    assert.deepEqual(b, { ...before[1], PhotosCount: 1 });
    assert.deepEqual(others, before.slice(2));
  });

  test('a list that is damaged prevents no write: records are replaced, deleted, evaluated anew and repaired', async (t) => {
    if (isLeftToSqlite(engine, t)) return;
    const world = await makeWorld(engine, t);
    const listed = (key: string, photos = [photo(`P${key}`, { Permission: ['Private'] })]) =>
      listing(key, { City: 'Ely', AssociationFeeIncludes: ['Gas', 'Moat'], Media: photos });
    await world.write('Property', ...['A', 'B', 'C'].map((key) => listed(key)));
    const read = async () => [await world.exported('Property'), await world.exported('Media')];
    const before = await read();
    const damage = async (): Promise<void> => {
      await world.damage(
        `UPDATE property_records SET "AssociationFeeIncludes" = '["Gas","M' WHERE _key < 'C'`,
        `UPDATE media_records SET "Permission" = '["Priv' WHERE _key > 'PA'`,
      );
      assert.deepEqual(
        sorted((await faultsIn(world.store)).map(([resource = '', key = '']) => [resource, key])),
        sorted([
          ['Property', 'A'],
          ['Property', 'B'],
          ['Media', 'PB'],
          ['Media', 'PC'],
          ['Lookup', '(values)'],
        ]),
      );
    };
    await damage();
    await repairStore(world.store);
    assert.deepEqual(await faultsIn(world.store), []);
    assert.deepEqual(await read(), before);

    await damage();
    const partner = {
      name: 'partner',
      classes: ['idx'],
      resources: { Property: "City eq 'Ely'", Media: '' },
    };
    const roles = [...BUILT_IN_ACCESS.roles, partner];
    await world.store.configure((settings) => ({ ...settings, access: { ...settings.access, roles } }));
    assert.deepEqual(await world.keys('Property', '$select=ListingKey', { viewer: { role: 'partner' } }), [
      'A',
      'B',
      'C',
    ]);
    const { query } = await world.request('Property', "$filter=AssociationFeeIncludes/any(a:a eq 'Gas')");
    const damaged = new Map([['Property', ['A', 'B']]]);
    assert.equal(await world.store.count(query, { ...TIME, damaged }), 1);
    const { changed, children } = await world.write(
      'Property',
      { ...listed('A'), City: 'Oslo' },
      listed('C'),
    );
    assert.deepEqual([changed, children.stored], [1, 1]);
    await world.store.remove('Property', ['B']);
    await world.store.mend();
    assert.deepEqual(await faultsIn(world.store), []);
    assert.deepEqual(
      (await world.exported('Media')).map((medium) => [medium.MediaKey, medium.Permission]),
      ['PA', 'PC'].map((key) => [key, ['Private']]),
    );
  });

  test('a record whose last change is missing from the sequence of changes is reported, and a repair appends the change', async (t) => {
    const world = await makeWorld(engine, t);
    const { store, write, damage } = world;
    await write('Property', ...['A', 'B', 'C', 'D', 'E', 'F'].map((key) => listing(key)));
    await store.remove('Property', ['D', 'E']);
    assert.deepEqual(await faultsIn(store), []);
    const of = (key: string): string => `resource = 'Property' AND key = '${key}'`;
    await damage(
      `DELETE FROM plat_changes WHERE ${of('A')}`,
      `UPDATE plat_changes SET visible = 1 WHERE ${of('B')}`,
      `UPDATE plat_changes SET system = 'elsewhere' WHERE ${of('C')}`,
      `DELETE FROM plat_changes WHERE ${of('D')} AND kind = 'deleted'`,
      // A deletion need not be reported if the record never was.
      `DELETE FROM plat_changes WHERE ${of('E')}`,
    );
    const what = 'its last change is not in the sequence of changes';
    assert.deepEqual(
      await faultsIn(store),
      ['A', 'B', 'C', 'D'].map((key) => ['Property', key, what]),
    );
    const { position: before } = await store.feed({ since: 'end', limit: 1 });
    await repairStore(store);
    assert.deepEqual(await faultsIn(store), []);
    const gone = await store.feed({ since: before, limit: 10 });
    assert.equal(gone.kind, 'gone', 'a follower from before the repair reads everything again');
    const again = await store.feed({ since: SEQUENCE_START, resources: ['Property'], limit: 100 });
    assert.equal(again.kind, 'changes');
    const appended = again.changes.filter(({ sequence }) => sequence > before.sequence);
    assert.deepEqual(
      appended.map(({ key, kind }) => `${kind} ${key}`),
      ['created A', 'changed B', 'changed C', 'deleted D'],
    );
  });

  test('a record whose columns, texts and hash all disagree is made readable, and still reported', async (t) => {
    if (isLeftToSqlite(engine, t)) return;
    const world = await market(engine, t, ['A', 'B']);
    await world.damage(
      `UPDATE property_records SET "City" = 'Here' WHERE _key = 'A'`,
      `UPDATE property_texts SET address_values = replace(address_values, 'Springfield', 'There"') WHERE _key = 'A'`,
    );
    await repairStore(world.store);
    assert.deepEqual(await faultsIn(world.store), [['Property', 'A', '_hash']]);
    const [row] = await world.rows('Property', "$filter=ListingKey eq 'A'");
    assert.equal(row?.City, 'Here');
    // Writing the original record replaces it, although its content hash would be the same.
    await world.write('Property', {
      ...whole('A'),
      PublicRemarks: 'A "quoted" text \n with\u0001 more ü 😀',
    });
    assert.deepEqual(await faultsIn(world.store), []);
  });

  test('texts that have no columns and do not contain the whole record stay, and are still reported', async (t) => {
    if (isLeftToSqlite(engine, t)) return;
    const world = await market(engine, t, ['A', 'B', 'C']);
    const gone = (key: string): string => `DELETE FROM property_records WHERE _key = '${key}'`;
    const change = (key: string, from: string, to: string): string =>
      `UPDATE property_texts SET address_values = replace(address_values, '${from}', '${to}') WHERE _key = '${key}'`;
    await world.damage(gone('B'), change('B', 'Springfield', 'Spring"ield'), gone('C'));
    await world.damage(`UPDATE property_texts SET native_head = '' WHERE _key = 'C'`);
    await repairStore(world.store);
    const about = async (key: string) => (await faultsIn(world.store)).filter((fault) => fault[1] === key);
    assert.deepEqual(await about('B'), [['Property', 'B', 'its columns are missing']]);
    // The texts of the two interfaces contradict each other: the record is readable, but not certain.
    assert.deepEqual(await about('C'), [['Property', 'C', '_hash']]);
    const [row] = await world.rows('Property', "$filter=ListingKey eq 'C'");
    assert.equal(row?.City, 'Springfield');
    await world.write('Property', whole('B'), whole('C'));
    assert.deepEqual(await faultsIn(world.store), []);
    // After a replica has read its complete source again, the remaining texts belong to no record.
    await world.damage(gone('B'));
    await world.store.mend('Member');
    assert.equal((await about('B'))[0]?.[2], 'its columns are missing');
    await world.store.mend('Property');
    assert.deepEqual(await about('B'), []);
  });

  for (const [at, { name, statements, found, restamped = [] }] of TORN.entries()) {
    test(`${name}: one repair, or writing the record again, restores everything`, async (t) => {
      if (at > 0 && isLeftToSqlite(engine, t)) return;
      const world = await market(engine, t, ['A', 'B', 'C']);
      const all = async () => [await world.exported('Property'), await world.rows('Media')] as const;
      const before = await all();
      const shown = await world.rows('Property');
      const words = await world.keys('Property', '$search=Springfield');
      const same = async (): Promise<void> => {
        assert.deepEqual(await faultsIn(world.store), []);
        const [listings, media] = await all();
        assert.deepEqual([withoutNewStamps(listings, before[0], restamped), media], before);
        assert.deepEqual(withoutNewStamps(await world.rows('Property'), shown, restamped), shown);
        assert.deepEqual(await world.keys('Property', '$search=Springfield'), words);
      };
      await world.damage(...statements);
      const faults = await faultsIn(world.store);
      for (const fault of found)
        assert.ok(sorted(faults).includes(JSON.stringify(fault)), sorted(faults).join());
      await repairStore(world.store);
      await same();
      await world.damage(...statements);
      const given = whole('B');
      if (found.some(([, key]) => key === 'ZZZ') && statements.some((each) => each.includes('_records'))) {
        // Nothing shows what the record under a foreign key was.
        await world.store.remove('Property', ['ZZZ']);
      }
      const { changed, inserted, children } = await world.write('Property', given, whole('C'));
      assert.ok(changed + inserted + children.stored >= 1, `${changed} changed, ${inserted} new`);
      await world.store.mend();
      assert.deepEqual(await faultsIn(world.store), []);
      assert.deepEqual(await world.keys('Property'), ['A', 'B', 'C', 'new']);
      assert.deepEqual(await world.keys('Property', '$search=Springfield'), words);
    });
  }

  test('deleting a record also deletes its texts that stand under another key', async (t) => {
    const world = await market(engine, t, ['A', 'B']);
    await world.damage("UPDATE property_texts SET _key = 'ZZZ' WHERE _key = 'B'");
    await world.store.remove('Property', ['B']);
    assert.deepEqual(await faultsIn(world.store), []);
    assert.deepEqual(await world.keys('Property'), ['A', 'new']);
  });

  test('a missing table or column is named, and makes the store unready', async (t) => {
    const GONE = [
      ['ALTER TABLE property_texts RENAME TO elsewhere', 'there is no table property_texts'],
      ['ALTER TABLE plat_tombstones RENAME TO elsewhere', 'there is no table plat_tombstones'],
      [
        'ALTER TABLE media_records RENAME COLUMN "MediaURL" TO "MediaURN"',
        'there is no column media_records.MediaURL',
      ],
    ] as const;
    for (const [statement, what] of GONE) {
      const world = await market(engine, t, ['A']);
      await world.damage(statement);
      assert.equal(world.store.trouble?.(), undefined);
      const faults = await Array.fromAsync(findFaults(world.store));
      const ofFile = faults.filter((fault) => fault.place === 'file');
      const named = ofFile
        .filter(({ kind }) => kind === 'structure' || kind === 'tables')
        .flatMap((fault) => fault.what);
      assert.equal(named[0], what);
      const unread = ofFile.filter(({ kind }) => kind === 'pages');
      assert.match(
        unread.flatMap((fault) => fault.what).join('\n'),
        /^not all of \w+ can be read: .* is damaged: /,
      );
      assert.match(
        world.store.trouble?.() ?? '',
        /^the store is damaged: .*(?:MediaURL|property_texts|tombstones)/,
      );
    }
  });

  test('each table, index, key, trigger and view that is missing is named and created anew, with what the records say', async (t) => {
    const world = await market(engine, t, ['A', 'B']);
    const recordsOf = () =>
      Promise.all(['Property', 'Media', 'OpenHouse', 'Member'].map((resource) => world.rows(resource)));
    const records = await recordsOf();
    const parts = await world.parts();
    const droppable = parts.filter((part) => !isOnlyCopy(part));
    const groups =
      process.env.PLAT_FULL === '1'
        ? droppable.map((part) => [part])
        : [...Map.groupBy(droppable, groupOf).values()];
    for (const group of groups) {
      const names = group.map(({ name }) => name);
      await world.damage(...group.map(({ drop }) => drop));
      const found = (await Array.fromAsync(findFaults(world.store))).flatMap(({ what }) => what);
      for (const name of names)
        assert.ok(
          found.some((what) => what.includes(name)),
          `${name} is named`,
        );
      const lost = await repairStore(world.store);
      assert.deepEqual(await Array.fromAsync(findFaults(world.store)), [], names.join());
      assert.deepEqual(await world.parts(), parts, names.join());
      assert.deepEqual(await recordsOf(), records, names.join());
      assert.deepEqual(
        lost.map(({ what }) => what).sort(),
        names.filter((name) => LOST.has(name)).map((name) => `there is no table ${name}`),
      );
    }
    await world.write('Property', whole('C'));
    assert.deepEqual(await Array.fromAsync(findFaults(world.store)), []);
  });

  test('a missing table with the only copy of records is named, and nothing is repaired', async (t) => {
    const world = await market(engine, t, ['A']);
    const [table, index] = (await world.parts()).filter(({ name }) =>
      ['media_records', 'property_search_walk'].includes(name),
    );
    assert.ok(table !== undefined && index !== undefined);
    await world.damage(table.drop, index.drop);
    const faults = await Array.fromAsync(findFaults(world.store));
    assert.deepEqual(faults[0], { place: 'file', kind: 'pages', what: ['there is no table media_records'] });
    assert.deepEqual(await repairStore(world.store), []);
    assert.deepEqual(await Array.fromAsync(findFaults(world.store)), faults);
  });

  test('a missing column of a table without records is named', async (t) => {
    const world = await market(engine, t, ['A']);
    await world.damage('ALTER TABLE plat_webhooks RENAME COLUMN bearer TO carried');
    const faults = await Array.fromAsync(findFaults(world.store));
    assert.deepEqual(faults, [
      { place: 'file', kind: 'structure', what: ['there is no column plat_webhooks.bearer'] },
    ]);
  });

  test('record numbers that would be assigned twice are reported and repaired, and no record is overwritten meanwhile', async (t) => {
    const world = await market(engine, t, ['A', 'B']);
    const before = await world.rows('Property');
    await world.damage(`DELETE FROM plat_sequence WHERE resource = 'Property'`);
    await assert.rejects(world.write('Property', whole('D')), {
      code: 'storeDamaged',
      message: /is damaged: unexpected rows in its tables conflict with what is written \([^\n]+\)/,
    });
    assert.deepEqual(await world.rows('Property'), before);
    assert.deepEqual(await faultsIn(world.store), [
      ['Property', '(numbers)', 'new records would get numbers that are in use'],
    ]);
    await repairStore(world.store);
    assert.deepEqual(await faultsIn(world.store), []);
    await world.write('Property', whole('D'));
    assert.deepEqual(await world.keys('Property'), ['A', 'B', 'D', 'new']);
    assert.deepEqual(await faultsIn(world.store), []);
  });

  test('numbers of changes continue after the existing ones, whatever next number is stored', async (t) => {
    if (isLeftToSqlite(engine, t)) return;
    const world = await market(engine, t, ['A']);
    const end = async () => (await world.store.feed({ since: 'end', limit: 1 })).position;
    for (const damage of [
      `DELETE FROM plat_sequence WHERE resource = 'changes'`,
      `UPDATE plat_sequence SET next = 3 WHERE resource = 'changes'`,
    ]) {
      const since = await end();
      await world.damage(damage);
      await world.store.remove('Property', ['A']);
      const page = await world.store.feed({ since, resources: ['Property'], limit: 10 });
      assert.ok(page.kind === 'changes' && page.changes[0] !== undefined);
      assert.deepEqual(
        page.changes.map(({ key, kind }) => `${kind} ${key}`),
        ['deleted A'],
      );
      assert.ok(page.changes[0].sequence > since.sequence);
      await world.write('Property', whole('A'));
      assert.deepEqual(await faultsIn(world.store), []);
    }
  });

  test('a damaged horizon of the changes is reported and repaired, and readers have to start over', async (t) => {
    const world = await market(engine, t, ['A']);
    for (const horizon of ['x', '99999999']) {
      const since = (await world.store.feed({ since: 'end', limit: 1 })).position;
      await world.damage(
        `INSERT INTO plat_meta VALUES ('changes_horizon', '${horizon}') ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      );
      assert.equal((await world.store.feed({ since, limit: 1 })).kind, 'gone', horizon);
      assert.deepEqual(await faultsIn(world.store), [
        ['Lookup', '(changes)', 'the horizon of the sequence of changes is not one of its numbers'],
      ]);
      await repairStore(world.store);
      assert.deepEqual(await faultsIn(world.store), []);
      assert.equal((await world.store.feed({ since, limit: 1 })).kind, 'gone', horizon);
      const { position } = await world.store.feed({ since: 'end', limit: 1 });
      assert.equal((await world.store.feed({ since: position, limit: 1 })).kind, 'changes');
    }
  });

  test('a scrub reports each damaged row once, pauses as configured and longer while requests are answered, and drops what is repaired', async (t) => {
    if (isLeftToSqlite(engine, t)) return;
    const world = await market(engine, t, ['A', 'B']);
    const found: unknown[] = [];
    let time = 0;
    let rested = 0;
    let isAsked = false;
    const { scrub, steps } = scrubOf(world, {
      elapsed: () => time,
      // By this clock each step takes 3 ms.
      onStep: () => {
        time += 3;
      },
      sleep: async (milliseconds) => {
        rested += milliseconds;
        if (isAsked) scrub.damagedRecords();
      },
      onFault: (fault) => found.push(fault),
    });
    await scrub.pass();
    assert.equal(await scrub.problem(), undefined);
    assert.deepEqual([found, rested], [[], steps() * 3 * 3], 'a quarter of the time');
    const [alone, before] = [rested, steps()];
    isAsked = true;
    await scrub.pass();
    assert.equal(rested - alone, (steps() - before) * 3 * 15, 'a sixteenth of it');
    isAsked = false;
    await world.damage(
      `UPDATE property_texts SET address_values = replace(address_values, 'Springfield', 'Springfjeld') WHERE _key = 'B'`,
      `UPDATE media_records SET native_text = '{' WHERE _key = 'PB'`,
      `UPDATE member_records SET _hash = 'x' WHERE _key = 'N'`,
      `UPDATE media_records SET "OriginatingSystemResourceRecordSystemID" = 'Y', idx_values = replace(idx_values, 'SystemID":"X"', 'SystemID":"Y"') WHERE _key = 'PA'`,
    );
    await scrub.pass();
    await scrub.pass();
    assert.deepEqual(found, [
      { resource: 'Property', key: 'B', what: ['address_values'] },
      { resource: 'Media', key: 'PB', what: ['native_text'] },
    ]);
    assert.equal(
      await scrub.problem(),
      'Property B is damaged: address_values (and 1 more); run "plat check" for details',
    );
    await repairStore(world.store);
    time += 60_000;
    assert.equal(await scrub.problem(), undefined);
  });

  test('a scrub looks for a damaged record at once, with half of a processor, if a reader has met it; once an hour', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write(
      'Property',
      ...['A', 'B', 'C'].map((key) => listing(key, { AssociationFeeIncludes: ['Gas'] })),
    );
    let time = 0;
    let rested = 0;
    const HOUR = 3_600_000;
    const waits: (() => void)[] = [];
    let passed = Promise.withResolvers<void>();
    const { scrub, steps } = scrubOf(world, {
      elapsed: () => time,
      onStep: () => {
        time += 3;
      },
      // A pass is followed by an hour without one.
      sleep: (milliseconds, signal) => {
        if (milliseconds < HOUR) rested += milliseconds;
        if (milliseconds < HOUR || signal?.aborted) return Promise.resolve();
        passed.resolve();
        return new Promise((resolve) => {
          waits.push(resolve);
          signal?.addEventListener('abort', () => resolve());
        });
      },
      onFault: () => undefined,
    });
    t.after(() => scrub.close());
    /** The rest after a step of 3 ms, in the pass that comes next. */
    const pass = async (begin: () => void): Promise<number> => {
      const [before, made] = [rested, steps()];
      passed = Promise.withResolvers<void>();
      begin();
      await passed.promise;
      return (rested - before) / (steps() - made);
    };
    assert.equal(await pass(() => scrub.start()), 9);
    await world.damage(`UPDATE property_records SET "AssociationFeeIncludes" = '[' WHERE _key = 'B'`);
    assert.equal(scrub.damagedRecords(), undefined);
    assert.equal(await pass(() => scrub.expedite()), 3);
    assert.deepEqual(scrub.damagedRecords(), new Map([['Property', ['B']]]));
    const made = steps();
    scrub.expedite();
    assert.equal(await pass(() => waits.at(-1)?.()), 9, 'the usual pass');
    time += HOUR;
    assert.equal(await pass(() => scrub.expedite()), 3);
    assert.ok(steps() > made);
  });
  test('a scrub keeps its pauses after all remembered damage was repaired in the middle of a pass, though more may be left', async (t) => {
    if (isLeftToSqlite(engine, t)) return;
    const world = await makeWorld(engine, t);
    // More than are remembered.
    await world.write('Member', ...Array.from({ length: 1100 }, (_, at) => member(`M${1000 + at}`)));
    await world.damage("UPDATE member_records SET open_values = '{'");
    let time = 0;
    const HOUR = 3_600_000;
    const end = () => Promise.withResolvers<() => void>();
    const passed = [end(), end(), end()] as const;
    const ends = passed.values();
    let isRepaired = false;
    const isCut: boolean[] = [];
    const { scrub } = scrubOf(world, {
      elapsed: () => time,
      onStep: () => {
        time += 3;
      },
      sleep: async (milliseconds, signal) => {
        if (milliseconds >= HOUR) {
          await new Promise<void>((resolve) => {
            ends.next().value?.resolve(resolve);
            if (signal?.aborted) resolve();
            else signal?.addEventListener('abort', () => resolve());
          });
        } else if (isRepaired) {
          isRepaired = false;
          time += 60_000;
          assert.match(
            String(await scrub.problem()),
            /^more records of Member are damaged than are remembered/,
          );
        } else isCut.push(signal?.aborted === true);
      },
      onFault: () => undefined,
    });
    t.after(() => scrub.close());
    scrub.start();
    const next = await passed[0].promise;
    assert.match((await scrub.problem()) ?? '', /^more records of Member are damaged than are remembered/);
    await repairStore(world.store);
    isRepaired = true;
    isCut.length = 0;
    next();
    await passed[1].promise;
    const pauses = [...isCut];
    // The next pass begins at once.
    await passed[2].promise;
    assert.ok(pauses.length > 5, `${pauses.length}`);
    assert.ok(!pauses.includes(true));
    assert.equal(scrub.damagedRecords(), undefined);
  });
}

interface ScrubOptions {
  readonly elapsed: () => number;
  readonly onStep: () => void;
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  readonly onFault: (fault: ScrubFault) => void;
}

/** A scrub that uses a quarter of the time, and the number of its steps so far. */
function scrubOf(
  { store }: World,
  { onStep, ...options }: ScrubOptions,
): { readonly scrub: Scrub; readonly steps: () => number } {
  let steps = 0;
  const seen: Pick<Store, 'model' | 'rowFaults'> = {
    model: () => store.model(),
    rowFaults: (resource, rows) => {
      if (rows.kind === 'after') {
        steps++;
        onStep();
      }
      return store.rowFaults(resource, rows);
    },
  };
  const onEnd = (error: unknown): never => {
    throw error;
  };
  const scrub = new Scrub(seen, { ...options, onEnd, limits: { hours: 1, share: 25 } });
  return { scrub, steps: () => steps };
}
