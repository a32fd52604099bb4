/** A store that is partitioned by originating system: where rows are, which partitions are read, and which locks wait. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { Client, type QueryResultRow } from 'pg';
import {
  type PlannedStatement,
  planCount,
  planIds,
  planPage,
  planRecord,
} from '../../../src/compile/page-plan.ts';
import { parsePostgresAddress } from '../../../src/engines/postgres/connection/address.ts';
import { StorePool } from '../../../src/engines/postgres/connection/connect.ts';
import { bindings, withSession } from '../../../src/engines/postgres/connection/session.ts';
import { partitionedDialect } from '../../../src/engines/postgres/dialect.ts';
import { makePartitions } from '../../../src/engines/postgres/partitions/partitions.ts';
import type { ErrorCode } from '../../../src/errors/index.ts';
import { openStore } from '../../../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { findFaults, repairStore } from '../../../src/store/check/check-store.ts';
import { listing, member, office, photo, photoOf, room } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { emptyDatabase } from '../../support/postgres-engine.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { type Json, operations } from '../../support/world.ts';

const BY = 'OriginatingSystemID';
const USAGE = 'usage' satisfies ErrorCode;

/** A partitioned store, and a connection that reads its tables. */
async function partitioned(t: TestContext) {
  const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS, BY);
  const store = await openStore(`${address}&connections=3`);
  const client = new Client({ connectionString: address, options: '-c search_path=plat' });
  await client.connect();
  t.after(async () => {
    await client.end();
    await store.close();
    await drop();
  });
  const list = async (statement: string): Promise<QueryResultRow[]> => (await client.query(statement)).rows;
  /** The keys in each partition. */
  const keysByPartition = async (table: string): Promise<Json> => {
    const rows = await list(
      `SELECT tableoid::regclass::text AS place, string_agg(_key, ' ' ORDER BY _key) AS keys FROM ${table} GROUP BY 1 ORDER BY 1`,
    );
    return Object.fromEntries(rows.map(({ place, keys }) => [place.replace(`${table}_`, ''), keys]));
  };
  return { address, store, client, list, keysByPartition, ...operations(store, testClock()) };
}

const of = (system: string | undefined, key: string, fields: Json = {}): Json =>
  listing(key, { ...(system === undefined ? {} : { OriginatingSystemID: system }), ...fields });

test('a repair makes missing indexes and a missing table with all its partitions anew', async (t) => {
  const { write, list, keys, store } = await partitioned(t);
  await write('Property', of('X', 'A', { City: 'Rome' }), of('Y', 'B'), of(undefined, 'C'));
  await list('DROP INDEX property_records_walk');
  await list('DROP TABLE property_search CASCADE');
  const faults = await Array.fromAsync(findFaults(store));
  assert.deepEqual(faults[0]?.what, ['there is no table property_search']);
  assert.ok(faults.some(({ what }) => what.includes('there is no index property_records_walk')));
  await repairStore(store);
  assert.deepEqual(await Array.fromAsync(findFaults(store)), []);
  assert.deepEqual(await keys('Property', "$filter=City eq 'Rome'"), ['A']);
});

test('each system has a partition of every large table from its first record on, whatever its name', async (t) => {
  const { write, keys, list, keysByPartition, store } = await partitioned(t);
  const names = ['X', `o'Re"illy; --`, 'b\\a\\ck', 'é/😀 %_', 'y'.repeat(25), 'NULL'];
  for (const [index, name] of names.entries()) {
    const parts = { Media: [photo(`M${index}`)], Rooms: [room(`R${index}`)] };
    await write('Property', of(name, `L${index}`, parts));
  }
  await write('Property', of(undefined, 'L9', { Media: [photo('M9')] }));
  assert.deepEqual(
    await list('SELECT number, system FROM plat_partitions ORDER BY number'),
    names.map((system, index) => ({ number: index + 1, system })),
  );
  const places = (letter: string): Json => ({
    ...(letter === 'R' ? {} : { p0: `${letter}9` }),
    ...Object.fromEntries(names.map((_, index) => [`p${index + 1}`, `${letter}${index}`])),
  });
  assert.deepEqual(await keysByPartition('property_records'), places('L'));
  assert.deepEqual(await keysByPartition('property_texts'), places('L'));
  assert.deepEqual(await keysByPartition('media_records'), places('M'));
  assert.deepEqual(await keysByPartition('property_rooms_records'), places('R'));
  assert.deepEqual(await keys('Property'), [...names.keys().map((index) => `L${index}`), 'L9']);
  for (const [index, name] of names.entries()) {
    const viewer = { role: 'private', systems: [name] };
    assert.deepEqual(await keys('Property', '', { viewer }), [`L${index}`]);
    assert.deepEqual(await keys('Media', '', { viewer }), [`M${index}`]);
  }
  assert.deepEqual((await store.status()).partitions, { by: BY, systems: names.length });
});

test('agents and offices are not partitioned', async (t) => {
  const { write, list } = await partitioned(t);
  await write('Member', member('1', { OriginatingSystemID: 'X', Media: [photo('M1')] }));
  await write('Office', office('1', { OriginatingSystemID: 'X' }));
  const tables = await list(
    "SELECT relname AS name, relkind = 'p' AS apart FROM pg_class WHERE relname LIKE '%\\_records' OR relname = 'property_texts' ORDER BY 1",
  );
  assert.deepEqual(
    tables.filter(({ apart }) => apart).map(({ name }) => name),
    [
      'media_records',
      'open_house_records',
      'property_records',
      'property_rooms_records',
      'property_texts',
      'property_unit_types_records',
    ],
  );
});

test('a record that moves to another system takes its children along', async (t) => {
  const { write, rows, keysByPartition } = await partitioned(t);
  await write('Member', member('1', { Media: [photo('M1')] }));
  const open = { OpenHouses: [{ OpenHouseKey: 'O1', Media: [photo('M3')] }] };
  await write('Property', of(undefined, 'A', { Media: [photo('M2')], Rooms: [room('R1')], ...open }));
  const tables = ['property_records', 'property_texts', 'property_rooms_records', 'open_house_records'];
  const found = async (): Promise<Json> =>
    Object.assign({}, ...(await Promise.all([...tables, 'media_records'].map(keysByPartition))));
  assert.deepEqual(await found(), { p0: 'M1 M2 M3' });
  for (const table of tables) assert.deepEqual(Object.keys(await keysByPartition(table)), ['p0'], table);
  await write('Member', member('1', { OriginatingSystemID: 'X' }));
  await write('Property', of('X', 'A', { City: 'Ely' }));
  assert.deepEqual(await keysByPartition('media_records'), { p1: 'M1 M2 M3' });
  for (const table of tables) assert.deepEqual(Object.keys(await keysByPartition(table)), ['p1'], table);
  const expanded = await rows(
    'Property',
    '$select=ListingKey&$expand=Media($select=MediaKey),Rooms($select=RoomKey)',
  );
  assert.deepEqual(expanded, [{ ListingKey: 'A', Media: [{ MediaKey: 'M2' }], Rooms: [{ RoomKey: 'R1' }] }]);
  await write('Property', of(undefined, 'A', { City: 'Ely' }));
  assert.deepEqual(await keysByPartition('media_records'), { p0: 'M2 M3', p1: 'M1' });
  for (const table of tables) assert.deepEqual(Object.keys(await keysByPartition(table)), ['p0'], table);
});

test('children are in the partition of their record, whatever their own system and whichever is written first', async (t) => {
  const { write, rows, keysByPartition } = await partitioned(t);
  const openHouse = (key: string, of: string): Json => ({
    OpenHouseKey: key,
    ListingKey: of,
    OriginatingSystemID: 'Y',
  });
  await write('OpenHouse', openHouse('O1', 'A'));
  assert.deepEqual(await keysByPartition('open_house_records'), { p1: 'O1' });
  await write('Property', of(undefined, 'A'), of('X', 'B'));
  await write('OpenHouse', openHouse('O2', 'A'), { OpenHouseKey: 'O3', ListingKey: 'B' });
  await write('Media', photoOf('A', 'M1'), photoOf('B', 'M2'), photoOf('C', 'M3'));
  await write('Property', of('X', 'C'));
  assert.deepEqual(await keysByPartition('open_house_records'), { p0: 'O1 O2', p2: 'O3' });
  assert.deepEqual(await keysByPartition('media_records'), { p0: 'M1', p2: 'M2 M3' });
  const expand = '$select=ListingKey&$expand=Media($select=MediaKey),OpenHouse($select=OpenHouseKey)';
  assert.deepEqual(await rows('Property', expand), [
    {
      ListingKey: 'A',
      Media: [{ MediaKey: 'M1' }],
      OpenHouse: [{ OpenHouseKey: 'O1' }, { OpenHouseKey: 'O2' }],
    },
    { ListingKey: 'B', Media: [{ MediaKey: 'M2' }], OpenHouse: [{ OpenHouseKey: 'O3' }] },
    { ListingKey: 'C', Media: [{ MediaKey: 'M3' }], OpenHouse: [] },
  ]);
});

const key = (letter: string) => fc.integer({ min: 1, max: 3 }).map((number) => `${letter}${number}`);
const system = fc.constantFrom<Json>({}, { OriginatingSystemID: 'X' }, { OriginatingSystemID: 'Y' });
const photosUnder = fc.uniqueArray(key('M'), { maxLength: 2 }).map((keys) => keys.map((each) => photo(each)));
const openHouse = fc
  .tuple(key('O'), system, photosUnder)
  .map(([OpenHouseKey, of, Media]): Json => ({ OpenHouseKey, ...of, Media }));
const openHouses = fc.uniqueArray(openHouse, { maxLength: 2, selector: ({ OpenHouseKey }) => OpenHouseKey });
const change: fc.Arbitrary<readonly [resource: string, record: Json | string]> = fc.oneof(
  fc.tuple(
    fc.constant('Property'),
    fc.tuple(key('L'), system).map(([each, of]) => listing(each, of)),
  ),
  fc.tuple(
    fc.constant('Property'),
    fc
      .tuple(key('L'), system, photosUnder, openHouses)
      .map(([each, of, Media, OpenHouses]) => listing(each, { ...of, Media, OpenHouses })),
  ),
  fc.tuple(fc.constant('Property'), key('L')),
  fc.tuple(
    fc.constant('Member'),
    fc.tuple(key('A'), system).map(([each, of]) => member(each, of)),
  ),
  fc.tuple(
    fc.constant('OpenHouse'),
    fc.tuple(openHouse, key('L')).map(([each, ListingKey]): Json => ({ ...each, ListingKey })),
  ),
  fc.tuple(fc.constant('OpenHouse'), key('O')),
  fc.tuple(
    fc.constant('Media'),
    fc.tuple(key('M'), fc.oneof(key('L'), key('O'), key('A'))).map(([each, ResourceRecordKey]) => {
      const ResourceName = { L: 'Property', O: 'OpenHouse', A: 'Member' }[ResourceRecordKey.slice(0, 1)];
      return photo(each, { ResourceName, ResourceRecordKey });
    }),
  ),
);

test('whatever is written and deleted, children are in the partition of their record', async (t) => {
  const { write, store, list } = await partitioned(t);
  const strays = ['Property', 'OpenHouse', 'Member'].flatMap((owner) =>
    (owner === 'Property' ? ['media', 'open_house'] : ['media']).map(
      (child) =>
        `SELECT c._key AS key, c._system AS system, p._key AS parent, p._system AS wanted
         FROM ${child}_records c JOIN ${{ Property: 'property', OpenHouse: 'open_house', Member: 'member' }[owner]}_records p
         ON p._key = c._parent AND c._parent_resource = '${owner}' WHERE c._system IS DISTINCT FROM p._system`,
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
      for (const [resource, record] of changes) {
        if (typeof record === 'string') await store.remove(resource, [record]);
        else await write(resource, record);
      }
      assert.deepEqual(await list(strays.join(' UNION ALL ')), []);
    }),
    { seed: 11, numRuns: 25 },
  );
});

test('a batch with more systems than one transaction creates partitions for is stored completely', async (t) => {
  const { write, keys, store } = await partitioned(t);
  const records = Array.from({ length: 25 }, (_, index) =>
    of(`S${index}`, `L${String(index).padStart(2, '0')}`),
  );
  assert.equal((await write('Property', ...records)).inserted, 25);
  assert.equal((await keys('Property')).length, 25);
  assert.equal((await store.status()).partitions?.systems, 25);
});

test('creating a partition waits for no reader, and delays none', async (t) => {
  const { address, client, write, keys } = await partitioned(t);
  await write('Property', of('X', 'A'));
  await client.query('BEGIN; SELECT count(*) FROM property_records; SELECT count(*) FROM media_records');
  await write('Property', of('Y', 'B', { Media: [photo('M1')] }));
  await client.query('COMMIT');
  const pool = new StorePool(parsePostgresAddress(address));
  await withSession(pool, async (session) => {
    await session.run('BEGIN');
    await makePartitions(['Z'], (make) => make(session));
    // Its transaction is still open.
    assert.deepEqual(await keys('Property', '$expand=Media'), ['A', 'B']);
    assert.deepEqual(await keys('Property', '', { viewer: { role: 'private', systems: ['Y'] } }), ['B']);
    await session.run('ROLLBACK');
  });
  await pool.end();
});

test('a snapshot from before a listing moved sees it once, in its old partition', async (t) => {
  const { client, write, list } = await partitioned(t);
  await write('Property', of(undefined, 'A'), of('X', 'B'));
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM plat_meta');
  await write('Property', of('Y', 'A'));
  const statement = 'SELECT _key AS key, _system AS system FROM property_records ORDER BY _key';
  assert.deepEqual(await list(statement), [
    { key: 'A', system: null },
    { key: 'B', system: 'X' },
  ]);
  await client.query('COMMIT');
  assert.deepEqual(await list(statement), [
    { key: 'A', system: 'Y' },
    { key: 'B', system: 'X' },
  ]);
});

test('fields and resources that come into use later are in all partitions, with texts compressed as in the first', async (t) => {
  const { write, list, keysByPartition, store } = await partitioned(t);
  await write('Property', of('X', 'A'));
  await store.configure((settings) => ({
    ...settings,
    declarations: {
      customFields: [
        {
          resource: 'Property',
          name: 'Lake',
          group: 'Lake',
          label: 'Lake',
          type: 'string(50)',
          class: 'idx',
        },
      ],
    },
  }));
  await write('Property', of('X', 'A', { Lake: 'Long' }), of('Y', 'B', { Lake: 'Short' }));
  const kinds = await list(
    `SELECT relname AS name, string_agg(attname || attstorage::text || attcompression::text, ' ' ORDER BY attname) AS columns
     FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
     WHERE relname LIKE 'property_texts%' AND relkind IN ('r', 'p') AND attnum > 0 GROUP BY 1 ORDER BY 1`,
  );
  assert.deepEqual(
    kinds.map(({ name }) => name),
    ['property_texts', 'property_texts_p0', 'property_texts_p1', 'property_texts_p2'],
  );
  assert.equal(new Set(kinds.map(({ columns }) => columns)).size, 1);
  assert.match(String(kinds[0]?.columns), /idx_custom_values/);
  await write('PropertyGreenVerification', { GreenBuildingVerificationKey: 'P1', ListingKey: 'B' });
  assert.deepEqual(await keysByPartition('property_green_verification_records'), { p2: 'P1' });
});

test('opening an unpartitioned store with partitions is rejected', async (t) => {
  const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
  t.after(drop);
  await assert.rejects(openStore(address, { partitions: BY }), {
    code: USAGE,
    message: `${address.replace(/\?.*/, '')} was created without partitions. Use "plat copy" into another schema to create it with them.`,
  });
  const file = temporaryFile();
  await assert.rejects(async () => openStore(file, { create: 'authority', partitions: BY }), {
    code: USAGE,
    message: 'partitions require a store on a server, not a file.',
  });
});

/** The plan of a statement as for large tables: no table is scanned completely if there is another plan. */
async function explain(
  client: Client,
  statement: PlannedStatement,
  slots = {},
  sort = 'off',
): Promise<string> {
  await client.query(`SET enable_seqscan = off; SET enable_sort = ${sort}; SET enable_hashjoin = off`);
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ${statement.text}`,
    bindings(statement, slots),
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

/** The partitions that a plan reads, of those that it names. */
function touched(plan: string, table: string): string[] {
  const found = new Set<string>();
  for (const line of plan.split('\n')) {
    const [, partition] = new RegExp(` on (${table}_p\\d+) `).exec(line) ?? [];
    if (partition !== undefined && !line.includes('never executed'))
      found.add(partition.replace(`${table}_`, ''));
  }
  return [...found].toSorted();
}

/** Values of fields that filters name, and of one that only whole records have. */
const SHORT = {
  City: 'Ely',
  ListPrice: 5,
  BedroomsTotal: 3,
  LivingArea: 50,
  YearBuilt: 2000,
  Directions: 'north',
};

async function market(t: TestContext, values = {}) {
  const world = await partitioned(t);
  const systems = [undefined, 'X', 'Y', 'Z'];
  const records = Array.from({ length: 200 }, (_, index) =>
    of(systems[index % 4], `L${String(index).padStart(3, '0')}`, { ...values, Media: [photo(`M${index}`)] }),
  );
  await world.write('Property', ...records);
  await world.client.query('ANALYZE');
  const planner = { dialect: partitionedDialect, model: await world.store.model() };
  return { ...world, planner };
}

test('pages in key order are an ordered merge of all partitions', async (t) => {
  const { client, planner, request } = await market(t);
  for (const [options, table] of [
    ['', 'property_texts'],
    ['$select=ListingKey', 'property_search'],
    ['$select=ListingKey,Directions', 'property_records'],
  ] as const) {
    const asked = await request('Property', options, {
      limit: 5,
      position: { kind: 'after-key', key: 'L100' },
    });
    const plan = planPage(planner, asked);
    assert.ok(plan.kind === 'range');
    const shown = await explain(client, plan.page);
    assert.match(shown, /Merge Append/);
    assert.doesNotMatch(shown, /Seq Scan|Sort \(/);
    assert.deepEqual(touched(shown, table), ['p0', 'p1', 'p2', 'p3']);
    // Each partition returns what the page takes of it, and one row more.
    for (const [, count] of shown.matchAll(/ on property_\w+_p\d+ .*actual rows=(\d+)/g))
      assert.ok(Number(count) <= 3);
  }
});

test('a key that is restricted to a system reads only its partition', async (t) => {
  const { client, planner, request } = await market(t);
  const viewer = { role: 'idx', systems: ['Y'] };
  const page = planPage(planner, await request('Property', '$expand=Media', { viewer, limit: 5 }));
  assert.ok(page.kind === 'range');
  const shown = await explain(client, page.page);
  assert.deepEqual(touched(shown, 'property_texts'), ['p2']);
  assert.deepEqual(touched(shown, 'media_records'), ['p2']);
  const { query, shape, files } = await request('Property', '', { viewer });
  const record = await explain(client, planRecord(planner, { query, shape, files, key: 'L002' }));
  assert.deepEqual(touched(record, 'property_texts'), ['p2']);
  const ids = await request('Property', '$filter=ListPrice eq null', { viewer });
  const found = await explain(client, planIds(planner, ids.query));
  assert.deepEqual([touched(found, 'property_search'), touched(found, 'property_records')], [['p2'], []]);
});

test('events are a range of the sequence, in its order', async (t) => {
  const { client, planner, request } = await market(t);
  // The server chooses the plan without hints.
  const explainFreely = async (statement: PlannedStatement): Promise<string> => {
    await client.query('SET enable_seqscan = on; SET enable_sort = on; SET enable_hashjoin = on');
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ${statement.text}`,
      bindings(statement, { limit: 11 }),
    );
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };
  await client.query(`INSERT INTO plat_changes (seq, resource, key, kind, at, was, visible)
    SELECT 100000 + i, 'Media', 'M' || i, 'changed', 0, 1, 3 FROM generate_series(1, 50000) i`);
  await client.query('ANALYZE plat_changes');
  const last = { kind: 'after-row', values: [120_000], key: '120000' } as const;
  for (const [options, wish, condition] of [
    ['$filter=EntityEventSequence gt 149500', {}, /seq > '149500'/],
    ["$filter=EntityEventSequence gt 149500 and ResourceName eq 'Media'", {}, /seq > '149500'/],
    ['', { position: { kind: 'after-key', key: '149500' } }, /seq > '149500'/],
    ['$orderby=EntityEventSequence desc', { position: last }, /seq < '120000'/],
  ] as const) {
    const plan = planPage(planner, await request('EntityEvent', options, { limit: 10, ...wish }));
    assert.ok(plan.kind === 'rows');
    const shown = await explainFreely(plan.find[0] ?? assert.fail());
    assert.match(
      shown,
      /Index Scan (Backward )?using plat_changes_pkey on plat_changes c \(actual rows=11/,
      shown,
    );
    assert.match(shown, condition);
    assert.doesNotMatch(shown, /Sort|Rows Removed/);
  }
});

test('the rows of a list are found by their ids, only in the search table', async (t) => {
  const { client, planner, store, request } = await market(t);
  const { query } = await request('Property', '$orderby=ListPrice desc');
  const systemX = await request('Property', '$orderby=ListPrice', {
    viewer: { role: 'private', systems: ['X'] },
  });
  const among = await store.ids(systemX.query, { milliseconds: 5000 });
  const few = { ...query, among: among.subarray(0, 3) };
  const after = { key: 'L001', values: [null] };
  for (const statement of [planIds(planner, few), planCount(planner, { ...few, after })]) {
    const shown = await explain(client, statement, {}, 'on');
    assert.doesNotMatch(shown, /Seq Scan/);
    assert.match(shown, /Index Scan using property_search_p1__id__system_idx/);
    assert.deepEqual(touched(shown, 'property_(?:records|texts)'), []);
  }
});

test('filters and orders of listings are read from the search table and its indexes', async (t) => {
  const { client, planner, request } = await market(t, SHORT);
  const four = "$filter=City eq 'Rome' and ListPrice ge 1 and ListPrice le 2 and BedroomsTotal eq 1";
  const byCity = /Index Only Scan (?:Backward )?using "property_search_p\d+_City_ListPrice__key__id_/;
  const plans: readonly (readonly [string, RegExp])[] = [
    ['$filter=LivingArea gt 60 and YearBuilt lt 1950', /Scan .*on property_search_p/],
    [four, byCity],
    [`${four}&$orderby=ListPrice desc`, byCity],
    ['$orderby=ListPrice', /Scan on "?property_search_p/],
    [
      '$filter=ListPrice gt 900000&$orderby=ListPrice',
      /Index Only Scan (?:Backward )?using "property_search_p\d+_ListPrice__key__id_/,
    ],
    [
      '$filter=ModificationTimestamp gt 2027-01-01T00:00:00Z and ModificationTimestamp le 2027-01-02T00:00:00Z',
      /Index Scan (?:Backward )?using "property_search_p\d+_ModificationTimestamp_idx"/,
    ],
  ];
  for (const [options, expected] of plans) {
    const { query } = await request('Property', options);
    const shown = await explain(client, planIds(planner, query), {}, 'on');
    assert.match(shown, expected, options);
    assert.deepEqual(touched(shown, 'property_(?:records|texts)'), [], options);
  }
});

test('rows that are joined to a row are read from its own partition, or from that of rows without a system', async (t) => {
  const { client, planner, request } = await market(t);
  const asked = await request('Property', '$expand=Media', {
    limit: 1,
    position: { kind: 'after-key', key: 'L101' },
  });
  const plan = planPage(planner, asked);
  assert.ok(plan.kind === 'range');
  // L102 belongs to Y, and L103, which is read ahead, to Z.
  assert.deepEqual(touched(await explain(client, plan.page), 'media_records'), ['p0', 'p2', 'p3']);
});

test('keys and ids are looked up in the indexes of the partitions', async (t) => {
  const { client, planner, request, list } = await market(t);
  const { query, shape, files } = await request('Property');
  const record = await explain(client, planRecord(planner, { query, shape, files, key: 'L002' }));
  assert.doesNotMatch(record, /Seq Scan/);
  assert.match(record, /Index Cond: \(_key = 'L002'::text\)/);
  const plan = planPage(planner, await request('Property', '$filter=ListPrice eq null'));
  assert.ok(plan.kind === 'search');
  const [row] = await list("SELECT _id AS id FROM property_texts WHERE _key = 'L002'");
  const body = await explain(client, plan.body, { ids: JSON.stringify([Number(row?.id)]), limit: 5 });
  assert.doesNotMatch(body, /Seq Scan/);
  assert.match(body, /Index Cond: \(_id = /);
});
