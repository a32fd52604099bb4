/** Files of older layouts are migrated when they are opened. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { openStore } from '../../../src/open-store.ts';
import { SEQUENCE_START } from '../../../src/store/changes/change-feed.ts';
import { findFaults } from '../../../src/store/check/check-store.ts';
import { LAYOUT_VERSION } from '../../../src/store/state/meta.ts';
import { listing, photo } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { operations } from '../../support/world.ts';

const WORDS = 'property_records_words';

/** A file of layout 1 with a listing, from before words were indexed. */
async function oldFile(): Promise<string> {
  const path = temporaryFile();
  const store = await openStore(path, { create: 'authority' });
  await operations(store, testClock()).write('Property', listing('A', { PublicRemarks: 'A bright kitchen' }));
  await store.close();
  const file = new DatabaseSync(path);
  file.exec(
    `DROP TRIGGER ${WORDS}_gone; DROP TABLE ${WORDS}; DROP TABLE plat_changes; DROP TRIGGER plat_older_writers;
      PRAGMA user_version = 1`,
  );
  file.close();
  return path;
}

function layoutOf(path: string): unknown {
  const file = new DatabaseSync(path, { readOnly: true });
  try {
    return file.prepare('PRAGMA user_version').get()?.user_version;
  } finally {
    file.close();
  }
}

async function openedAgain(t: TestContext, path: string) {
  const store = await openStore(path);
  t.after(() => store.close());
  return { store, ...operations(store, testClock()) };
}

test('a file from before the word index gets it, with the words of existing and of new records', async (t) => {
  const path = await oldFile();
  const [first, second] = await Promise.all([openedAgain(t, path), openedAgain(t, path)]);
  assert.equal(layoutOf(path), LAYOUT_VERSION);
  for (const { keys } of [first, second]) assert.deepEqual(await keys('Property', '$search=kitchen'), ['A']);
  await first.write('Property', listing('B', { PublicRemarks: 'Kitchen and hall' }));
  await second.store.remove('Property', ['A']);
  for (const { keys } of [first, second]) assert.deepEqual(await keys('Property', '$search=kitchen'), ['B']);
  assert.equal((await first.store.status()).layout, LAYOUT_VERSION);
});

test('a file from before the search table gets it with its indexes', async (t) => {
  const path = await oldFile();
  const file = new DatabaseSync(path);
  file.exec(`DROP TABLE property_search;
    CREATE INDEX property_records_walk ON property_records (_key, _visible, _system, _id);
    CREATE INDEX property_records_by_modification_timestamp ON property_records ("ModificationTimestamp")`);
  file.close();
  const { store, keys, write } = await openedAgain(t, path);
  await write('Property', listing('B', { City: 'Ely' }));
  assert.deepEqual(await keys('Property', '$filter=ListPrice eq null'), ['A', 'B']);
  assert.deepEqual(await Array.fromAsync(findFaults(store)), []);
  const there = new DatabaseSync(path, { readOnly: true });
  t.after(() => there.close());
  const indexes = there
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name LIKE 'property_records' ORDER BY 1",
    )
    .all()
    .map(({ name }) => name);
  assert.deepEqual(indexes, ['property_records_source']);
});

test('a file whose sequence of changes does not record who sees a record lists all of them again', async (t) => {
  const path = temporaryFile();
  const store = await openStore(path, { create: 'authority' });
  const { write } = operations(store, testClock());
  await write(
    'Property',
    listing('A', { InternetEntireListingDisplayYN: false, Media: [photo('M')] }),
    listing('B'),
  );
  await store.close();
  const file = new DatabaseSync(path);
  file.exec(`CREATE TABLE before (seq BIGINT NOT NULL, resource TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (seq)) WITHOUT ROWID;
    INSERT INTO before SELECT seq, resource, key FROM plat_changes; DROP TABLE plat_changes;
    ALTER TABLE before RENAME TO plat_changes; DELETE FROM plat_meta WHERE name = 'changes_horizon'; PRAGMA user_version = 3`);
  file.close();
  const { store: opened } = await openedAgain(t, path);
  const seenBy = async (bit: number | undefined) => {
    const scope = bit === undefined ? undefined : { bit };
    const page = await opened.feed({
      since: SEQUENCE_START,
      scope,
      resources: ['Property', 'Media'],
      limit: 10,
    });
    assert.ok(page.kind === 'changes');
    return page.changes.map(({ kind, resource, key }) => `${kind} ${resource} ${key}`);
  };
  assert.deepEqual(await seenBy(undefined), ['created Property A', 'created Property B', 'created Media M']);
  const idx = (await opened.model()).rules.roles.get('idx');
  assert.deepEqual(await seenBy(idx?.bit), ['created Property B']);
  assert.equal((await opened.feed({ since: { sequence: 1 }, limit: 10 })).kind, 'gone');
});

test('a file that cannot be migrated remains unchanged, and is migrated once the reason is removed', async (t) => {
  const path = await oldFile();
  const file = new DatabaseSync(path);
  // A table of another program has the name of the index.
  file.exec(`CREATE TABLE ${WORDS}_data (id INTEGER)`);
  await assert.rejects(openStore(path), {
    message: `fts5: error creating shadow table ${WORDS}_data: table '${WORDS}_data' already exists`,
  });
  assert.equal(layoutOf(path), 1);
  file.exec(`DROP TABLE ${WORDS}_data`);
  file.close();
  const { keys } = await openedAgain(t, path);
  assert.deepEqual(await keys('Property', '$search=kitchen'), ['A']);
});

test('a write of a process of an older layout after the migration is rejected, and rolled back', async (t) => {
  const path = await oldFile();
  // A writer of layout 2 has the file open, and counts its transaction as usual.
  const older = new DatabaseSync(path);
  t.after(() => older.close());
  const count = (): void => {
    older.exec(`INSERT INTO plat_meta SELECT name, value + 1 FROM plat_meta WHERE name = 'changes'
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
  };
  count();
  const { keys, write } = await openedAgain(t, path);
  for (const key of ['B', 'C']) {
    older.exec("BEGIN IMMEDIATE; UPDATE property_records SET StandardStatus = 'Ely'");
    assert.throws(count, /a newer plat has migrated the store/);
    older.exec('ROLLBACK');
    const append = () =>
      older.exec("INSERT INTO plat_changes (seq, resource, key) VALUES (99, 'Property', 'A')");
    assert.throws(append, /a newer plat has migrated the store/);
    await write('Property', listing(key));
  }
  assert.deepEqual(await keys('Property', "$filter=StandardStatus eq 'Active'"), ['A', 'B', 'C']);
});
