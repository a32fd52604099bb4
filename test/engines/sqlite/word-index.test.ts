/**
 * The index of words is created if it is missing, with the words of existing records, and FTS5 returns to the statement in time,
 * whatever the texts.
 */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { render } from '../../../src/compile/fragment.ts';
import { MARK, MARKED_IDS } from '../../../src/compile/search.ts';
import { type Connection, connect } from '../../../src/engines/sqlite/connection.ts';
import { sqliteDialect } from '../../../src/engines/sqlite/dialect.ts';
import { openSqliteStore } from '../../../src/engines/sqlite/store.ts';
import { idsWithWords, rebuildWordIndex } from '../../../src/engines/sqlite/word-index.ts';
import { findFaults } from '../../../src/store/check/check-store.ts';
import { listing } from '../../support/builders.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld, TIME, type World } from '../../support/world.ts';

async function count({ request, store }: World, text: string): Promise<number> {
  const { query } = await request('Property');
  return store.count({ ...query, search: { kind: 'word', text } }, TIME);
}

test('a store without the index gets it with the next change of its settings', async () => {
  const world = await makeWorld(sqliteEngine(), { after });
  await world.write('Property', listing('1', { City: 'Ely' }), listing('2', { Appliances: ['Gas Range'] }));
  const raw = new DatabaseSync(world.store.name);
  raw.exec('DROP TRIGGER property_records_words_gone; DROP TABLE property_records_words');
  raw.close();
  await assert.rejects(count(world, 'ely'));
  await world.store.configure((settings) => ({ ...settings, timeZone: 'America/Chicago' }));
  assert.deepEqual([await count(world, 'ely'), await count(world, 'range')], [1, 1]);
  await world.store.remove('Property', ['1']);
  assert.equal(await count(world, 'ely'), 0);
});

test('all words can be rewritten', async () => {
  const world = await makeWorld(sqliteEngine(), { after });
  await world.write('Property', listing('1', { City: 'Ely' }), listing('2', { City: 'Ely' }));
  const path = world.store.name;
  const connection = connect({ path, readOnly: false, busyTimeout: 1000, cacheMegabytes: 1 });
  connection.database.exec(
    "INSERT INTO property_records_words(property_records_words) VALUES ('delete-all')",
  );
  assert.equal(await count(world, 'ely'), 0);
  rebuildWordIndex(connection.database, (await world.store.model()).layout('Property'));
  connection.close();
  assert.equal(await count(world, 'ely'), 2);
});

/** Two marked records, and one more. All of them have the words of the phrases, but only two have all in this order. */
const BAD = `${'a '.repeat(40)}b. ${'a b '.repeat(20)}`;
const PHRASE = 'a a b a a';
const MATCHING: ReadonlySet<number> = new Set([7, MARKED_IDS]);

async function worldOfBadTexts(): Promise<World> {
  const world = await makeWorld(sqliteEngine(), { after });
  const listings = Array.from({ length: 2 * MARKED_IDS + 1 }, (_, at) =>
    listing(String(at + 1), { PublicRemarks: MATCHING.has(at + 1) ? `${PHRASE} ${BAD}` : BAD }),
  );
  await world.write('Property', ...listings);
  return world;
}

const writer = ({ store }: World) =>
  connect({ path: store.name, readOnly: false, busyTimeout: 1000, cacheMegabytes: 1 });

async function found({ request, store }: World, text: string): Promise<string> {
  const { query } = await request('Property');
  return (await store.ids({ ...query, search: { kind: 'phrase', text } }, TIME)).toSorted().join();
}

test('FTS5 returns at the latest after as many records as lie between two marks; the texts decide about marked ones', async () => {
  const world = await worldOfBadTexts();
  using connection = writer(world);
  const layout = (await world.store.model()).layout('Property');
  const steps = (words: string): number => {
    let count = 0;
    connection.database.function('plat_deadline', () => ++count);
    const ids = idsWithWords(layout, { kind: 'phrase', words: words.split(' ') });
    const { text, values } = render(ids ?? assert.fail(), sqliteDialect.placeholder);
    const rows = connection.database.prepare(text).all(...values.map(String));
    assert.deepEqual(rows.filter(({ rowid }) => rowid === MARKED_IDS || rowid === 2 * MARKED_IDS).length, 2);
    return count;
  };
  // No record has the second phrase, the longest of which the index compares only the beginning.
  assert.deepEqual([steps('b a b b'), steps(`${'a b '.repeat(50)}b`) >= 2], [2, true]);
  assert.equal(await found(world, PHRASE), [...MATCHING].toSorted().join());
  assert.equal(await found(world, 'b a b b'), '');
  assert.equal(await found(world, `${'a '.repeat(50)}b`), '');
  assert.equal((await found(world, `${'a '.repeat(40)}b`)).split(',').length, 2 * MARKED_IDS + 1);
  assert.deepEqual(await Array.fromAsync(findFaults(world.store)), []);
});

const marksIn = ({ database }: Connection): unknown[] =>
  database
    .prepare('SELECT rowid FROM property_records_words WHERE property_records_words MATCH ?')
    .all(`"${MARK}"`)
    .map(({ rowid }) => rowid);

/** Replaces words as an earlier version wrote them. */
const unmark = ({ database }: Connection, condition: string): void =>
  database.exec(`INSERT OR REPLACE INTO property_records_words (rowid, words)
    SELECT _id, concat(_key, ' ', "PublicRemarks") FROM property_records WHERE ${condition}`);

test('an index from before the marks gets them with the next change of the settings, and finds the same before', async () => {
  const world = await worldOfBadTexts();
  using connection = writer(world);
  // One of the records has been written since.
  unmark(connection, `_id = ${MARKED_IDS}`);
  assert.deepEqual(marksIn(connection), [2 * MARKED_IDS]);
  assert.equal(await found(world, PHRASE), [...MATCHING].toSorted().join());
  await world.store.configure((settings) => ({ ...settings, timeZone: 'America/Chicago' }));
  assert.deepEqual(marksIn(connection), [MARKED_IDS, 2 * MARKED_IDS]);
  assert.equal(await found(world, PHRASE), [...MATCHING].toSorted().join());
  assert.deepEqual(await Array.fromAsync(findFaults(world.store)), []);
});

test('an index from before the marks gets them when the store is opened, unless another process writes; readers do not wait', async () => {
  const world = await worldOfBadTexts();
  const { name: path } = world.store;
  using connection = writer(world);
  unmark(connection, `_id % ${MARKED_IDS} = 0`);
  const open = async (): Promise<unknown[]> => {
    const store = await openSqliteStore({ path });
    await store.close();
    return marksIn(connection);
  };
  connection.database.exec('BEGIN IMMEDIATE');
  assert.deepEqual(await open(), []);
  assert.equal(await found(world, PHRASE), [...MATCHING].toSorted().join());
  connection.database.exec('COMMIT');
  const commit = () => connection.database.prepare('PRAGMA data_version').get()?.data_version;
  const before = commit();
  assert.deepEqual(await open(), [MARKED_IDS, 2 * MARKED_IDS]);
  const marked = commit();
  assert.notEqual(marked, before);
  assert.deepEqual(await open(), [MARKED_IDS, 2 * MARKED_IDS]);
  assert.equal(commit(), marked, 'nothing is written again');
  assert.deepEqual(await Array.fromAsync(findFaults(world.store)), []);
});

test('a store whose index of words is damaged can be opened, and a check reports it', async () => {
  const world = await worldOfBadTexts();
  const { name: path } = world.store;
  using connection = writer(world);
  connection.database.enableDefensive(false);
  connection.database.exec('DELETE FROM property_records_words_data');
  await world.store.close();
  const store = await openSqliteStore({ path });
  after(() => store.close());
  assert.notDeepEqual(await Array.fromAsync(findFaults(store)), []);
});
