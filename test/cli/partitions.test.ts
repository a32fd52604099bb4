/** A store that is partitioned as the configuration says, by the command that creates it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing } from '../support/builders.ts';
import { bareDatabase } from '../support/postgres-engine.ts';
import { place } from './run.ts';

test('import and copy create a partitioned store if the configuration says so, and status reports it', async (t) => {
  const at = place(t);
  const [first, second] = [await bareDatabase(), await bareDatabase()];
  t.after(() => Promise.all([first.drop(), second.drop()]));
  const records = ['X', 'Y', 'X'].map((system, index) =>
    listing(`L${index}`, { OriginatingSystemID: system }),
  );
  at.file('l.ndjson', records);
  const config = at.file('partitions.json', JSON.stringify({ partitions: 'OriginatingSystemID' }));
  await at.done(['import', '--store', first.address, '--config', config, 'l.ndjson']);
  await at.done(['copy', '--from', first.address, '--to', second.address, '--config', config]);
  for (const { address } of [first, second]) {
    const status = await at.done(['status', '--store', address]);
    assert.match(status, /^in partitions by OriginatingSystemID, of 2 originating systems$/m);
  }
  assert.deepEqual(
    (await at.exported(second.address, 'Property')).map(({ ListingKey }) => ListingKey),
    ['L0', 'L1', 'L2'],
  );
});
