/** A store that several processes create at the same time. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { makeFile } from '../../../src/engines/sqlite/create.ts';
import { openSqliteStore } from '../../../src/engines/sqlite/store.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { temporaryFile } from '../../support/temporary.ts';

test('a store is created once the process that has the lock of the file releases it; waiting does not block the thread', async () => {
  const path = temporaryFile();
  makeFile(path, 0);
  using other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  let isOpen = false;
  const opening = openSqliteStore({ path, create: DEFAULT_SETTINGS }).then((store) => {
    isOpen = true;
    return store;
  });
  for (let turn = 0; turn < 10; turn++) await setImmediate();
  assert.equal(isOpen, false);
  other.exec('ROLLBACK');
  const store = await opening;
  assert.equal((await store.model()).generation, 1);
  await store.close();
});
