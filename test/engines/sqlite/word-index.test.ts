/** The index of words is created if it is missing, with the words of existing records. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { connect } from '../../../src/engines/sqlite/connection.ts';
import { rebuildWordIndex } from '../../../src/engines/sqlite/word-index.ts';
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
