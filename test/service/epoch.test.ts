/** X-Plat-Epoch, in every response to a known key: a new epoch tells a consumer that the store was restored. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openSqliteStore } from '../../src/engines/sqlite/store.ts';
import { DEFAULT_SETTINGS } from '../../src/records/settings.ts';
import { listing } from '../support/builders.ts';
import { startTestService } from '../support/service.ts';
import { emptyStoreFile } from '../support/sqlite-engine.ts';

const PATHS = [
  '/Reso/OData/',
  '/Reso/OData/$metadata',
  '/Reso/OData/Property?$top=1',
  '/Reso/OData/Property/$count',
  "/Reso/OData/Property('A')",
  "/Reso/OData/Property('none')",
  '/Reso/OData/Nothing',
  '/Reso/OData/Property?$filter=none eq 1',
  '/v1/standardfields',
  '/v1/customfields',
  '/v1/listings?_limit=1',
  '/v1/listings/none',
  '/v1/listings?_unknown=1',
];

test('every response to a known key has the epoch, errors included, and the new one once the store begins one', async (t) => {
  const service = await startTestService(t, {
    fill: async (world) => void (await world.write('Property', listing('A'))),
  });
  const token = await service.key('replication');
  const epochsOf = async (): Promise<Set<string | undefined>> => {
    const epochs = new Set<string | undefined>();
    for (const path of PATHS) {
      const { headers } = await service.get('replication', path, { token });
      epochs.add(headers['x-plat-epoch']?.toString());
    }
    return epochs;
  };
  const { epoch } = await service.store.model();
  assert.deepEqual(await epochsOf(), new Set([epoch]));
  const next = await (await service.again()).beginEpoch({});
  assert.notEqual(next.epoch, epoch);
  assert.deepEqual(await epochsOf(), new Set([next.epoch]));
  const stranger = await service.get('replication', '/Reso/OData/$metadata', { token: 'of-nobody' });
  assert.equal(stranger.status, 401);
  assert.equal(stranger.headers['x-plat-epoch'], undefined);
});

test('a store of a version without epochs gets one that never changes and differs between stores', async (t) => {
  const epochs: string[] = [];
  for (const secret of ['one', 'other']) {
    const path = await emptyStoreFile(DEFAULT_SETTINGS);
    const file = new DatabaseSync(path);
    file.exec("DELETE FROM plat_meta WHERE name = 'epoch'");
    file.prepare("UPDATE plat_meta SET value = ? WHERE name = 'secret'").run(secret);
    file.close();
    for (let round = 0; round < 2; round++) {
      const store = await openSqliteStore({ path });
      t.after(() => store.close());
      epochs.push((await store.model()).epoch);
    }
  }
  const [first, again, other, otherAgain] = epochs;
  assert.match(first ?? '', /^[\w-]{12}$/);
  assert.equal(again, first);
  assert.equal(otherAgain, other);
  assert.notEqual(other, first);
});
