/** A replica that is itself a source of other replicas. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SETTINGS } from '../../src/records/settings.ts';
import { listing } from '../support/builders.ts';
import { SECOND } from '../support/clock.ts';
import { startTestService } from '../support/service.ts';
import { platFeed } from './support/plat-source.ts';

const HOUR = 3600 * SECOND;
const resources = ['Property'];

for (const kind of ['reso', 'native'] as const) {
  for (const onwardTimestamps of ['source', 'own'] as const) {
    test(`a change that a replica (${onwardTimestamps} timestamps) receives late reaches its own consumers (${kind})`, async (t) => {
      const first = await platFeed(t);
      await first.write('Property', listing('1', { ListPrice: 1 }), listing('2'));
      first.clock.advance(HOUR);
      // The middle: a replica that is filled from the first and serves the last.
      const middle = await platFeed(t, {
        clock: first.clock,
        settings: { ...DEFAULT_SETTINGS, owner: 'replica', onwardTimestamps },
      });
      const filler = await first.replica(t, 'reso', { resources });
      const fill = () => filler.replicate({ store: middle.store });
      await fill();
      first.clock.advance(HOUR);
      const last = await middle.replica(t, kind, { resources });
      await last.replicate();
      assert.deepEqual(await last.keys('Property'), ['1', '2']);

      await first.write('Property', listing('1', { ListPrice: 2 }));
      first.clock.advance(HOUR);
      // The last one is current beyond the time of the change before the replica in the middle has received it.
      await last.replicate();
      await fill();
      first.clock.advance(60 * SECOND);
      await last.replicate();
      const [stored] = await last.store.contents('Property', { key: '1' });
      assert.equal(stored?.ListPrice, 2);
      assert.deepEqual(
        (await last.verify()).slice(0, 1).map(({ differences, pending }) => [differences, pending]),
        [[[], 0]],
      );
    });
  }
}

test('with its own timestamps, a replica sends its timestamp as ModificationTimestamp and the one of its source in another field', async (t) => {
  const first = await platFeed(t);
  await first.write('Property', listing('1'));
  const [original] = await first.store.contents('Property', { key: '1' });
  first.clock.advance(HOUR);
  const middle = await startTestService(t, {
    clock: first.clock,
    settings: { ...DEFAULT_SETTINGS, owner: 'replica', onwardTimestamps: 'own' },
  });
  await (await first.replica(t, 'reso', { resources })).replicate({ store: middle.store });
  const [copy] = await middle.store.contents('Property', { key: '1' });
  assert.equal(copy?.SourceModificationTimestamp, original?.ModificationTimestamp);
  assert.ok(String(copy?.ModificationTimestamp) > String(original?.ModificationTimestamp));
  assert.equal(copy?.ReplicaModificationTimestamp, undefined);
  await assert.rejects(
    middle.store.configure((now) => ({ ...now, onwardTimestamps: 'source' })),
    {
      code: 'usage',
      message: 'Once a replica contains records, its onwardTimestamps cannot be changed.',
    },
  );
});
