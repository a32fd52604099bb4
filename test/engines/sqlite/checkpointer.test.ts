/** A thread checkpoints the log of a file while another one writes. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { Checkpointer } from '../../../src/engines/sqlite/checkpointer.ts';
import { removeTemporary, temporaryFile } from '../../support/temporary.ts';

const PAGE = 4096;
/** The pages that one commit writes, at least. */
const COMMIT = 100;

function place(t: TestContext) {
  const path = temporaryFile();
  const database = new DatabaseSync(path);
  t.after(() => {
    database.close();
    removeTemporary(path);
  });
  database.exec(`PRAGMA page_size = ${PAGE}; PRAGMA journal_mode = WAL; CREATE TABLE t (x)`);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  return {
    path,
    database,
    commit: () => database.exec(`INSERT INTO t VALUES (zeroblob(${COMMIT * PAGE}))`),
    log: () => statSync(`${path}-wal`).size,
    file: () => statSync(path).size,
    // SQLite reads the setting when the statement is prepared.
    byItself: () => database.prepare('PRAGMA wal_autocheckpoint').get()?.wal_autocheckpoint,
  };
}

test('a thread copies what is committed into the file, and the log begins anew', async (t) => {
  const { path, database, commit, log, file, byItself } = place(t);
  await using checkpointer = new Checkpointer(database, path, { log: { worth: 1, pages: COMMIT } });
  const round = async (): Promise<void> => {
    await checkpointer.ready();
    commit();
    checkpointer.committed();
  };
  await round();
  assert.equal(byItself(), 0);
  for (let rounds = 1; rounds < 20; rounds++) await round();
  // Never more than what is committed while one checkpoint runs, beside the bound.
  assert.ok(log() < 5 * COMMIT * PAGE, `${log()} bytes of log`);
  assert.ok(file() > 15 * COMMIT * PAGE, `${file()} bytes of file`);
});

test('a short log needs no thread, and keeps what SQLite does by itself', async (t) => {
  const { path, database, commit, file, byItself } = place(t);
  await using checkpointer = new Checkpointer(database, path);
  await checkpointer.ready();
  commit();
  checkpointer.committed();
  await checkpointer.ready();
  assert.equal(byItself(), 1000);
  assert.equal(file(), 2 * PAGE);
});

test('a reader that needs the log holds up nobody', async (t) => {
  const { path, database, commit, log } = place(t);
  await using checkpointer = new Checkpointer(database, path, { log: { worth: 1, pages: COMMIT } });
  using reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('BEGIN');
  assert.equal(reader.prepare('SELECT count(*) AS n FROM t').get()?.n, 0);
  for (let rounds = 0; rounds < 10; rounds++) {
    await checkpointer.ready();
    commit();
    checkpointer.committed();
  }
  assert.ok(log() > 10 * COMMIT * PAGE);
  assert.equal(reader.prepare('SELECT count(*) AS n FROM t').get()?.n, 0);
  reader.exec('COMMIT');
  assert.equal(reader.prepare('SELECT count(*) AS n FROM t').get()?.n, 10);
});

test('if the thread ends, commits checkpoint by themselves again', async (t) => {
  const { path, database, commit, byItself } = place(t);
  const module = new URL('../../cli/ending-thread.ts', import.meta.url);
  await using checkpointer = new Checkpointer(database, path, { log: { worth: 1, pages: 0 }, module });
  commit();
  checkpointer.committed();
  assert.equal(byItself(), 0);
  while (byItself() === 0) await new Promise((resolve) => void setImmediate(resolve));
  assert.equal(byItself(), 1000);
  await checkpointer.ready();
  commit();
  checkpointer.committed();
  await checkpointer.ready();
  assert.equal(byItself(), 1000);
});
