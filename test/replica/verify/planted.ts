/**
 * Changes that somebody might make to a copy without plat, each to listings of its own: `verify` reports each of them, and
 * `replicate --refresh` removes it, whatever hashes and timestamps say.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCopyEqual } from '../../../src/replica/verify/results.ts';
import { listing, member, office, openHouse, photo, room, unit } from '../../support/builders.ts';
import { SECOND } from '../../support/clock.ts';
import type { Engine } from '../../support/engine.ts';
import type { Json } from '../../support/world.ts';
import { platFeed, type WatchedReplica } from '../support/plat-source.ts';
import { SOURCE } from '../support/replica.ts';

interface Planted {
  readonly name: string;
  /** SQL for both engines. `$` is the key of a listing that no other change uses, `$2` that of a second one. */
  readonly statements: readonly string[];
  /** Resource, key and kind of the differences that must be found; there may be more. */
  readonly found: readonly (readonly [string, string, string])[];
  /** The engine that has what is changed; absent: both. */
  readonly engine?: string;
}

const text = (column: string, from: string, to: string, table = 'property_texts', key = '$') =>
  `UPDATE ${table} SET ${column} = replace(${column}, '${from}', '${to}') WHERE _key = '${key}'`;
/** Statements that copy a row to another key, whatever the columns of the table. */
const twin = (table: string, key: string, other: string, change = ''): string[] => [
  `CREATE TEMPORARY TABLE twin AS SELECT * FROM ${table} WHERE _key = '${key}'`,
  `UPDATE twin SET _key = '${other}', _id = _id + 100000${change}`,
  `INSERT INTO ${table} SELECT * FROM twin`,
  'DROP TABLE twin',
];
const damaged = (resource: string, key: string) => [resource, key, 'damaged'] as const;
const content = (key: string) => ['Property', key, 'content'] as const;

const PLANTED: readonly Planted[] = [
  {
    name: 'a changed text of a listing',
    statements: [text('address_values', 'Springfield', 'Elsewhere')],
    found: [damaged('Property', '$'), content('$')],
  },
  {
    name: 'a deleted text of a listing',
    statements: [`DELETE FROM property_texts WHERE _key = '$'`],
    found: [damaged('Property', '$')],
  },
  {
    name: 'a broken text of a listing',
    statements: [`UPDATE property_texts SET open_values = '{' WHERE _key = '$'`],
    found: [damaged('Property', '$'), content('$')],
  },
  {
    name: 'a changed stamp in a text',
    statements: [text('open_values', '"ModificationTimestamp":"2', '"ModificationTimestamp":"1')],
    found: [damaged('Property', '$'), content('$')],
  },
  {
    name: 'a changed native text of a listing',
    statements: [text('native_head', 'listings', 'nowhere')],
    found: [damaged('Property', '$')],
  },
  {
    name: 'a text that claims to have been written with fewer fields in use',
    statements: [`UPDATE property_texts SET _profile = 1 WHERE _key = '$'`],
    found: [damaged('Property', '$')],
  },
  {
    name: 'a changed text of a Member',
    statements: [text('idx_values', 'Full', 'Fool', 'member_records', 'm1')],
    found: [damaged('Member', 'm1'), ['Member', 'm1', 'content']],
  },
  {
    name: 'a deleted text of a Member',
    statements: [`UPDATE member_records SET idx_values = '' WHERE _key = 'm2'`],
    found: [damaged('Member', 'm2'), ['Member', 'm2', 'content']],
  },
  {
    name: 'a broken text of a Member',
    statements: [`UPDATE member_records SET idx_values = ',"' WHERE _key = 'm3'`],
    found: [damaged('Member', 'm3'), ['Member', 'm3', 'content']],
  },
  {
    name: 'a changed text of an agent in listings',
    statements: [text('join_idx_values', 'Full', 'Fool', 'member_records', 'm4')],
    found: [damaged('Member', 'm4')],
  },
  {
    name: 'a changed text of a Media',
    statements: [text('idx_values', 'images.example', 'elsewhere.example', 'media_records', 'p$')],
    found: [damaged('Media', 'p$'), content('$')],
  },
  {
    name: 'a deleted text of a Media',
    statements: [`UPDATE media_records SET idx_values = '' WHERE _key = 'p$'`],
    found: [damaged('Media', 'p$'), content('$')],
  },
  {
    name: 'a broken text of a Media',
    statements: [`UPDATE media_records SET open_values = '"' WHERE _key = 'p$'`],
    found: [damaged('Media', 'p$'), content('$')],
  },
  {
    name: 'a changed native text of a Media',
    statements: [text('native_text', '/photos/', '/videos/', 'media_records', 'p$')],
    found: [damaged('Media', 'p$')],
  },
  {
    name: 'a changed typed column',
    statements: [`UPDATE property_records SET "City" = 'Elsewhere' WHERE _key = '$'`],
    found: [damaged('Property', '$')],
  },
  {
    name: 'a column without its value, by which filters find it',
    statements: [`UPDATE property_records SET "ListPrice" = NULL WHERE _key = '$'`],
    found: [damaged('Property', '$')],
  },
  {
    name: 'a content that was changed everywhere but in its hash',
    statements: [
      `UPDATE property_records SET "City" = 'Elsewhere' WHERE _key = '$'`,
      text('address_values', 'Springfield', 'Elsewhere'),
    ],
    found: [content('$')],
  },
  {
    name: 'a changed MediaURL, everywhere',
    statements: [
      `UPDATE media_records SET "MediaURL" = 'https://elsewhere.example/p$.jpg' WHERE _key = 'p$'`,
      text('idx_values', 'images.example', 'elsewhere.example', 'media_records', 'p$'),
    ],
    found: [content('$')],
  },
  {
    name: 'a changed MediaURL in its column',
    statements: [`UPDATE media_records SET "MediaURL" = 'https://elsewhere.example/' WHERE _key = 'p$'`],
    found: [damaged('Media', 'p$')],
  },
  {
    name: 'a changed custom field',
    statements: [
      `UPDATE property_records SET "PoolDepth" = 9 WHERE _key = '$'`,
      text('private_custom_values', '3.5', '9'),
    ],
    found: [content('$')],
  },
  {
    name: 'a room of other content',
    statements: [`UPDATE property_rooms_records SET "RoomType" = 'Den' WHERE _key = 'r$'`],
    found: [damaged('PropertyRooms', 'r$')],
  },
  {
    name: 'a unit of other content',
    statements: [
      `UPDATE property_unit_types_records SET "UnitTypeType" = 'Loft' WHERE _key = 'u$'`,
      text('idx_values', 'Studio', 'Loft', 'property_unit_types_records', 'u$'),
    ],
    found: [damaged('PropertyUnitTypes', 'u$'), content('$')],
  },
  {
    name: 'an open house at another time',
    statements: [
      `UPDATE open_house_records SET "OpenHouseStartTime" = '2024-05-02T12:00:00' WHERE _key = 'h$'`,
    ],
    found: [damaged('OpenHouse', 'h$')],
  },
  {
    name: 'a hidden row',
    statements: [
      `UPDATE property_records SET _visible = 0 WHERE _key = '$'`,
      `UPDATE property_texts SET _visible = 0 WHERE _key = '$'`,
    ],
    found: [damaged('Property', '$'), damaged('Property', '(counters)')],
  },
  {
    name: 'a row that one role no longer sees',
    statements: [`UPDATE property_texts SET _visible = 1 WHERE _key = '$'`],
    found: [damaged('Property', '$')],
  },
  {
    name: 'a hidden child',
    statements: [`UPDATE media_records SET _visible = 0 WHERE _key = 'p$'`],
    found: [damaged('Media', 'p$'), content('$')],
  },
  {
    name: 'an address whose visibility is changed',
    statements: [`UPDATE property_texts SET _shown = 1 - _shown WHERE _key = '$'`],
    found: [damaged('Property', '$')],
  },
  {
    name: 'a lost source',
    statements: [`UPDATE property_records SET _source = NULL WHERE _key = '$'`],
    found: [damaged('Property', '$'), content('$')],
  },
  {
    name: 'a child of an unknown source',
    statements: [`UPDATE media_records SET _source = 'nobody' WHERE _key = 'p$'`],
    found: [damaged('Media', 'p$')],
  },
  {
    name: 'a record in the originating system of another',
    statements: [`UPDATE property_rooms_records SET _system = 'Z' WHERE _key = 'r$'`],
    found: [damaged('PropertyRooms', 'r$'), damaged('PropertyRooms', '(counters)')],
  },
  {
    name: 'a photo in another place and of another kind',
    statements: [`UPDATE media_records SET _rank = 7, _kind = 'video' WHERE _key = 'p$'`],
    found: [damaged('Media', 'p$')],
  },
  {
    name: 'a deleted row',
    statements: [
      `DELETE FROM property_texts WHERE _key = '$'`,
      `DELETE FROM property_records WHERE _key = '$'`,
    ],
    found: [['Property', '$', 'missing'], damaged('Media', 'p$')],
  },
  {
    name: 'a row without its columns',
    statements: [`DELETE FROM property_records WHERE _key = '$'`],
    // The search table still finds the listing.
    found: [damaged('Property', '$')],
  },
  {
    name: 'a row without its search row',
    statements: [`DELETE FROM property_search WHERE _key = '$'`],
    found: [damaged('Property', '$')],
  },
  {
    name: 'a row without its columns and search row',
    statements: [
      `DELETE FROM property_records WHERE _key = '$'`,
      `DELETE FROM property_search WHERE _key = '$'`,
    ],
    found: [['Property', '$', 'missing'], damaged('Property', '$')],
  },
  {
    name: 'texts of a listing under another key',
    statements: [`UPDATE property_texts SET _key = 'z$' WHERE _key = '$'`],
    found: [damaged('Property', '$'), damaged('Property', 'z$')],
  },
  {
    name: 'columns of a listing under another key',
    statements: [`UPDATE property_records SET _key = 'z$' WHERE _key = '$'`],
    found: [damaged('Property', '$')],
  },
  {
    name: 'a photo under another key',
    statements: [`UPDATE media_records SET _key = 'z$' WHERE _key = 'p$'`],
    found: [damaged('Media', 'z$')],
  },
  {
    name: 'a listing under the number of another',
    statements: [
      `UPDATE property_records SET _id = (SELECT _id FROM property_texts WHERE _key = '$2') WHERE _key = '$'`,
    ],
    found: [damaged('Property', '$')],
  },
  {
    name: 'two listings with the texts of each other',
    statements: [
      `UPDATE property_texts SET _key = 'z$' WHERE _key = '$'`,
      `UPDATE property_texts SET _key = '$' WHERE _key = '$2'`,
      `UPDATE property_texts SET _key = '$2' WHERE _key = 'z$'`,
    ],
    found: [damaged('Property', '$'), damaged('Property', '$2')],
  },
  {
    name: 'a deleted child',
    statements: [`DELETE FROM property_rooms_records WHERE _key = 'r$'`],
    found: [content('$'), damaged('PropertyRooms', '(counters)')],
  },
  {
    name: 'an extra row',
    statements: [...twin('property_records', '$', 'x$'), ...twin('property_texts', '$', 'x$')],
    found: [['Property', 'x$', 'not-at-source'], damaged('Property', 'x$')],
  },
  {
    name: 'an extra child',
    statements: twin('media_records', 'p$', 'x$'),
    found: [damaged('Media', 'x$'), content('$')],
  },
  {
    name: 'a child under another listing',
    statements: [`UPDATE media_records SET _parent = '$2' WHERE _key = 'p$'`],
    found: [damaged('Media', 'p$'), content('$'), content('$2')],
  },
  {
    name: 'a link to another agent, beside the text',
    statements: [`UPDATE property_texts SET "ListAgentKey" = 'm5' WHERE _key = '$'`],
    found: [damaged('Property', '$')],
  },
  {
    name: 'a link to another agent, in the column',
    statements: [`UPDATE property_records SET "ListAgentKey" = 'm5' WHERE _key = '$'`],
    found: [damaged('Property', '$')],
  },
  {
    name: 'a counter that is wrong',
    statements: [`UPDATE plat_counters SET rows = rows + 1 WHERE resource = 'OpenHouse'`],
    found: [damaged('OpenHouse', '(counters)')],
  },
  {
    name: 'a tombstone of an existing record',
    statements: [`INSERT INTO plat_tombstones VALUES ('Property', '$', NULL, '2024-01-01T00:00:00Z')`],
    found: [damaged('Property', '$')],
  },
  {
    name: 'an id that leads to nothing',
    statements: [`UPDATE property_texts SET _id = _id + 200000 WHERE _key = '$'`],
    found: [damaged('Property', '$')],
  },
  {
    name: 'a child in the quarantine',
    statements: [
      `DELETE FROM media_records WHERE _key = 'p$'`,
      `INSERT INTO plat_quarantine VALUES ('${SOURCE}', 'Media', 'p$', 'odd', '{}', '2024-01-01T00:00:00Z', '2024-01-01T00:00:00Z', 1)`,
    ],
    found: [['Media', 'p$', 'quarantined'], content('$')],
  },
  {
    name: 'a photo that only some roles are named for',
    statements: [`UPDATE media_records SET _audience = 1 WHERE _key = 'p$'`],
    found: [damaged('Media', 'p$')],
  },
  {
    name: 'a listing that only some roles are named for',
    statements: [`UPDATE property_records SET _audience = 1 WHERE _key = '$'`],
    found: [damaged('Property', '$')],
  },
  {
    name: 'a room of a record of another kind',
    statements: [`UPDATE property_rooms_records SET _parent_resource = 'Member' WHERE _key = 'r$'`],
    found: [damaged('PropertyRooms', 'r$')],
  },
  {
    name: 'a photo of a record of another kind',
    statements: [`UPDATE media_records SET _parent_resource = 'Member' WHERE _key = 'p$'`],
    found: [damaged('Media', 'p$')],
  },
  {
    name: 'a served file that does not exist',
    statements: [`UPDATE media_records SET _file = 'elsewhere' WHERE _key = 'p$'`],
    found: [damaged('Media', 'p$')],
  },
  {
    name: 'an invalid hash',
    statements: [`UPDATE property_records SET _hash = 'x' WHERE _key = '$'`],
    found: [damaged('Property', '$')],
  },
  {
    name: 'the text of a floor plan for a record without one',
    statements: [`UPDATE media_records SET native_plan_text = '{}' WHERE _key = 'p$'`],
    found: [damaged('Media', 'p$')],
  },
  {
    name: 'an extra row whose mark protects it from every purge',
    statements: [
      ...twin('property_records', '$', 'x$'),
      ...twin('property_texts', '$', 'x$'),
      `INSERT INTO plat_ledger_seen VALUES ('${SOURCE}', 'Property', 'x$', 99999)`,
    ],
    found: [['Property', 'x$', 'not-at-source']],
  },
  {
    name: 'a text of a Lookup',
    statements: [
      `UPDATE lookup_records SET open_values = replace(open_values, 'Active', 'Inactive') WHERE _key = 'StandardStatus.Active'`,
    ],
    found: [damaged('Lookup', 'StandardStatus.Active')],
  },
  {
    name: 'a column of a Lookup',
    statements: [`UPDATE lookup_records SET "LookupValue" = 'Odd' WHERE _key = 'StandardStatus.Closed'`],
    found: [damaged('Lookup', 'StandardStatus.Closed')],
  },
  {
    name: 'a Field that other roles are named for',
    statements: [`UPDATE field_records SET _audience = 1 WHERE _key = 'Property.City'`],
    found: [damaged('Field', 'Property.City')],
  },
  {
    name: 'a dropped view',
    statements: ['DROP VIEW office'],
    found: [damaged('Office', '(view)')],
  },
  {
    name: 'another view',
    statements: ['DROP VIEW member', 'CREATE VIEW member AS SELECT 1 AS x'],
    found: [damaged('Member', '(view)')],
  },
  {
    name: 'a view with a column of another',
    statements: [
      'DROP VIEW open_houses',
      'CREATE VIEW open_houses AS SELECT _key AS "OpenHouseKey" FROM open_house_records',
    ],
    found: [damaged('OpenHouse', '(view)')],
  },
  {
    name: 'words that searches do not find',
    statements: [
      `DELETE FROM property_records_words WHERE rowid = (SELECT _id FROM property_records WHERE _key = '$')`,
    ],
    found: [damaged('Property', '$')],
    engine: 'sqlite',
  },
];

const HOUR = 3600 * SECOND;
const keyOf = (at: number): string => `L${String(at).padStart(3, '0')}`;

const whole = (key: string): Json =>
  listing(key, {
    OriginatingSystemID: 'X',
    ListAgentKey: 'm1',
    ListPrice: 100.5,
    City: 'Springfield',
    PoolDepth: 3.5,
    Media: [photo(`p${key}`, { Order: 1 })],
    Rooms: [room(`r${key}`, { RoomType: 'Kitchen' })],
    UnitTypes: [unit(`u${key}`, { UnitTypeType: 'Studio' })],
    OpenHouses: [openHouse(`h${key}`, { OpenHouseStartTime: '2024-05-01T12:00:00Z' })],
  });

const POOL = {
  resource: 'Property',
  name: 'PoolDepth',
  type: 'decimal(6,2)',
  section: 'Main',
  group: 'Pool',
  label: 'Depth',
} as const;

/** The differences of a replica as `[resource, key, kind]`, each once. */
async function differences(replica: WatchedReplica): Promise<Set<string>> {
  const every = (await replica.verify()).flatMap((each) => each.differences);
  return new Set(every.map(({ resource, key, kind }) => JSON.stringify([resource, key, kind])));
}

/** @param kind the interface that the copy is made through */
export function plantedContract(engine: Engine, kind: 'reso' | 'native'): void {
  test(`${kind}, ${engine.name}: verify reports each planted difference, and a refresh removes them all`, async (t) => {
    const feed = await platFeed(t, { settings: { declarations: { customFields: [POOL] } } });
    await feed.write('Office', office('o'));
    await feed.write(
      'Member',
      ...[1, 2, 3, 4, 5].map((n) => member(`m${n}`, { MemberFullName: `Full ${n}` })),
    );
    const planted = PLANTED.filter((each) => each.engine === undefined || each.engine === engine.name);
    // The last one is not changed.
    const keys = Array.from({ length: 2 * planted.length + 1 }, (_, at) => keyOf(at));
    await feed.write('Property', ...keys.map(whole));
    feed.clock.advance(HOUR);
    const replica = await feed.replica(t, kind, { engine });
    assert.equal(await replica.replicate({ customFields: true }), 'done');
    assert.deepEqual([...(await differences(replica))], []);

    const own = (words: string, at: number): string =>
      words.replaceAll('$2', keyOf(2 * at + 1)).replaceAll('$', keyOf(2 * at));
    for (const [at, { statements }] of planted.entries()) {
      await replica.damage(...statements.map((statement) => own(statement, at)));
    }
    const found = await differences(replica);
    const missed = planted.flatMap(({ name, found: wanted }, at) =>
      wanted
        .map((one) => own(JSON.stringify(one), at))
        .filter((one) => !found.has(one))
        .map((one) => `${name}: ${one}`),
    );
    assert.deepEqual(missed, []);

    const before = await replica.record('Property', keys.at(-1) ?? '');
    feed.clock.advance(HOUR);
    assert.equal(await replica.replicate({ refresh: true, customFields: true }), 'done');
    const after = await replica.verify();
    assert.deepEqual(
      after.flatMap((each) => each.differences),
      [],
    );
    assert.ok(isCopyEqual(after));
    // A listing that was not changed is not written again: the replica's timestamp stays.
    assert.deepEqual(await replica.record('Property', keys.at(-1) ?? ''), before);
    assert.deepEqual(await replica.quarantine(), []);
  });
}
