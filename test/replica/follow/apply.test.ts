/** Changes that a source reports with their records are stored directly, unless the stored record may be newer. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { acquireSource, newAcquirer } from '../../../src/replica/checkpoint/lease.ts';
import { applyChanges } from '../../../src/replica/follow/apply.ts';
import { networkTransport, type Transport } from '../../../src/replica/http/transport.ts';
import { openCopy, sessionOf } from '../../../src/replica/run/session.ts';
import type { ReportedChange } from '../../../src/replica/source/source.ts';
import { listing } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { startTestService } from '../../support/service.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld } from '../../support/world.ts';

/** A copy of a source with two listings, and a function that applies changes as a source reports them. */
async function scene(t: TestContext, between: (transport: Transport) => Transport = (same) => same) {
  const clock = testClock();
  const origin = await startTestService(t, { clock });
  await origin.write('Property', listing('1', { ListPrice: 3 }), listing('2', { ListPrice: 3 }));
  const replica = await makeWorld(sqliteEngine(), t, { settings: { owner: 'replica' }, clock });
  const network = networkTransport();
  t.after(() => network.close());
  const asked: string[] = [];
  const transport: Transport = (sent) => {
    asked.push(decodeURIComponent(sent.url.replace(/.*OData\//, '')));
    return between(network)(sent);
  };
  const environment = { clock: { ...clock, sleep: async () => undefined }, random: () => 0.5, transport };
  const session = sessionOf(
    {
      from: `${origin.addresses.replication}/Reso/OData`,
      interface: 'reso',
      token: await origin.key('replication', { role: 'idx' }),
      source: 'feed',
      store: replica.store,
      resources: ['Property'],
      environment,
    },
    environment,
  );
  const acquired = await acquireSource(replica.store, 'feed', newAcquirer(environment.clock));
  const copy = await openCopy(session, acquired);
  const { checkpoint } = copy;
  asked.length = 0;
  const chain = { way: 'delta', resources: ['Property'], position: 'before' } as const;
  const apply = (position: string, ...changes: readonly ReportedChange[]) =>
    applyChanges(copy, checkpoint.get('chain') ?? chain, changes, {
      position,
      isLevel: false,
      distinct: () => '~1',
    });
  const prices = async () =>
    (await replica.rows('Property')).map(({ ListingKey, ListPrice }) => [ListingKey, ListPrice]);
  return { clock, origin, asked, checkpoint, apply, prices };
}

const found = (key: string, asOf: number, price?: number): ReportedChange => ({
  resource: 'Property',
  key,
  at: undefined,
  isDeleted: price === undefined,
  found: {
    asOf,
    item:
      price === undefined ? undefined : { resource: 'Property', json: listing(key, { ListPrice: price }) },
  },
});

test('a reported record that is older than another read is requested by its key; a newer one is stored directly', async (t) => {
  const { asked, checkpoint, apply, prices } = await scene(t);
  const moment = checkpoint.reads;
  await apply('one', found('1', moment, 1), found('2', moment, 2));
  assert.deepEqual(
    [await prices(), asked],
    [
      [
        ['1', 1],
        ['2', 2],
      ],
      [],
    ],
  );
  // Another task reads from the source.
  await checkpoint.fetchInTurn('Property', async () => undefined);
  await apply('two', found('1', moment, 0), found('2', moment));
  assert.deepEqual(await prices(), [
    ['1', 3],
    ['2', 3],
  ]);
  assert.equal(asked.length, 1);
  // The response to that request is newer than any record reported before it.
  await apply('three', found('1', moment + 1, 0));
  assert.deepEqual(await prices(), [
    ['1', 3],
    ['2', 3],
  ]);
  await apply('four', found('1', checkpoint.reads, 4), found('2', checkpoint.reads));
  assert.deepEqual(await prices(), [['1', 4]]);
  assert.equal(asked.length, 2);
  assert.equal(checkpoint.get('chain')?.position, 'four');
});

test('INCIDENT a deletion was forgotten when the source refused the request for its key: a purge becomes due', async (t) => {
  let busy = 0;
  const { clock, origin, checkpoint, apply, prices } = await scene(t, (network) => async (sent) => {
    const answer = await network(sent);
    return busy-- > 0 ? { ...answer, status: 429 } : answer;
  });
  await apply('one', found('1', checkpoint.reads, 3), found('2', checkpoint.reads, 3));
  await checkpoint.commit({
    state: {
      schedule: { purge: clock.now() },
      foundation: { since: '2020-01-01T00:00:00Z', fresh: ['Property'] },
    },
  });
  await origin.store.remove('Property', ['2']);
  // Both are requested, twice without success; then they are pending and requested once more.
  const before = checkpoint.reads;
  await checkpoint.fetchInTurn('Property', async () => undefined);
  busy = 2;
  await apply('two', found('1', before, 3), found('2', before));
  assert.deepEqual(await prices(), [
    ['1', 3],
    ['2', 3],
  ]);
  assert.equal(checkpoint.get('schedule')?.purge, undefined);
  assert.deepEqual(checkpoint.get('foundation')?.fresh, []);
});
