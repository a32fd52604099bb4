/**
 * The primary dies under a service and a replicator, and its standby takes over behind the same address, as with a DNS name or a
 * proxy that leads to the writable server.
 */
import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { type ErrorCode, PlatError } from '../../../src/errors/index.ts';
import { openStore } from '../../../src/open-store.ts';
import { replicate } from '../../../src/replica/run/replicate.ts';
import { isCopyEqual } from '../../../src/replica/verify/results.ts';
import { verifyReplica } from '../../../src/replica/verify/verify.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { startService } from '../../../src/service/service.ts';
import { systemClock } from '../../../src/shared/clock.ts';
import type { FeedPosition } from '../../../src/store/changes/change-feed.ts';
import { listing, photo } from '../../support/builders.ts';
import { type PostgresServer, runOn, startServer } from '../../support/postgres-server.ts';
import { makeKey } from '../../support/service.ts';
import { operations } from '../../support/world.ts';

const LISTINGS = 120;
const PAGES_BEFORE = 3;

/** An address that leads to one server, and later to another. */
async function openDoor(first: PostgresServer) {
  let target = first;
  const links = new Set<Socket>();
  const door = createServer((near) => {
    const folder = new URL(target.address('market')).searchParams.get('host');
    const far = connect(`${folder}/.s.PGSQL.5432`);
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      links.add(from);
      from.on('error', () => to.destroy()).pipe(to);
    }
  });
  await new Promise<void>((resolve) => void door.listen(0, '127.0.0.1', resolve));
  const bound = door.address();
  assert.ok(bound !== null && typeof bound === 'object');
  return {
    close() {
      for (const link of links) link.destroy();
      door.close();
    },
    address: (schema: string) => `postgres://plat@127.0.0.1:${bound.port}/market?schema=${schema}`,
    leadTo(next: PostgresServer) {
      target = next;
      for (const link of links) link.destroy();
    },
  };
}

test('a standby takes over during a download: 503 meanwhile, then service and replicator continue, and every record is there once', async () => {
  const primary = await startServer();
  // A commit that was confirmed is on the standby as well.
  const safe = 'ALTER DATABASE market SET synchronous_commit = remote_apply';
  await runOn(primary.address('postgres'), 'CREATE DATABASE market', safe);
  const standby = await primary.standby();
  await runOn(primary.address('postgres'), "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await runOn(primary.address('postgres'), 'SELECT pg_reload_conf()');
  const door = await openDoor(primary);

  const market = await openStore(door.address('market'), { create: 'authority' });
  const replica = await openStore(door.address('replica'), { create: 'replica' });
  const service = await startService(
    { ...SERVICE_DEFAULTS, store: market, clock: systemClock, log: pino({ level: 'silent' }) },
    { host: '127.0.0.1', adminHost: '127.0.0.1', ports: { api: 0, replication: 0, floorplans: 0, admin: 0 } },
  );
  after(async () => {
    await service.close();
    await Promise.all([market.close(), replica.close()]);
    door.close();
  });
  const clock = { text: () => new Date().toISOString() };
  const keys = Array.from({ length: LISTINGS }, (_, index) => String(1000 + index));
  await operations(market, clock).write(
    'Property',
    ...keys.map((key) => listing(key, { Media: [photo(`${key}-1`)] })),
  );
  const token = await makeKey(market, 'replication');
  const from = `${service.addresses.replication}/Reso/OData`;
  const ask = () => fetch(`${from}/Property?$top=1`, { headers: { authorization: `Bearer ${token}` } });

  let pages = 0;
  let failover: Promise<void> | undefined;
  const statuses: number[] = [];
  const copy = {
    from,
    interface: 'reso',
    token,
    store: replica,
    source: 'market',
    resources: ['Property'],
  } as const;
  const result = await replicate({
    ...copy,
    step: 'initial',
    pageSize: 10,
    onEvent: ({ kind }) => {
      if (kind === 'page' && ++pages === PAGES_BEFORE) failover ??= takeOver();
    },
  });
  await failover;
  assert.equal(result, 'done');
  assert.deepEqual(statuses, [503, 200]);

  async function takeOver(): Promise<void> {
    await primary.stop('crash');
    const refused = await ask();
    statuses.push(refused.status);
    assert.equal(refused.headers.get('retry-after'), '5');
    await runOn(standby.address('postgres'), "ALTER SYSTEM SET synchronous_standby_names = ''");
    await runOn(standby.address('postgres'), 'SELECT pg_promote()');
    door.leadTo(standby);
    statuses.push((await ask()).status);
  }

  assert.deepEqual(await operations(replica, clock).keys('Property'), keys);
  assert.deepEqual(
    await operations(replica, clock).keys('Media'),
    keys.map((key) => `${key}-1`),
  );
  assert.deepEqual(await replica.checkpoints.quarantined('market'), []);
  const verified = await verifyReplica(copy);
  assert.ok(isCopyEqual(verified), JSON.stringify(verified));
  // Timestamps continue after those of the primary.
  const { lastStamp } = await market.status();
  const { position } = await changesSince('end');
  const { stamp } = await operations(market, clock).write('Property', listing('2000'));
  assert.ok(stamp > lastStamp, `${stamp} after ${lastStamp}`);
  // Numbers that the primary may have given to changes that the standby did not get are not used again.
  const { changes } = await changesSince(position);
  assert.deepEqual(
    changes.filter(({ resource }) => resource === 'Property').map(({ key, kind }) => `${kind} ${key}`),
    ['created 2000'],
  );
  for (const { sequence } of changes) assert.ok(sequence > position.sequence + 1_000_000_000);

  // The former primary is back behind the address: it lacks what was stored since, and accepts writes.
  await primary.start();
  await runOn(primary.address('postgres'), "ALTER SYSTEM SET synchronous_standby_names = ''");
  await runOn(primary.address('postgres'), 'SELECT pg_reload_conf()');
  door.leadTo(primary);
  const outdated = {
    code: 'storeOutdated' satisfies ErrorCode,
    status: 503,
    message: `${market.name} leads to a server that lacks what this process has seen on another one: probably a former primary. Correct the address. If this server is right, run "plat restore --store ${market.name} --new-epoch".`,
  };
  await assert.rejects(reached(), outdated);
  await assert.rejects(operations(market, clock).write('Property', listing('3000')), outdated);
  assert.equal((await ask()).status, 503);
  const ready = await fetch(`${service.addresses.admin}/ready`);
  assert.deepEqual(await ready.json(), {
    ready: false,
    problems: {
      store: 'the address of the store leads to a former primary, which lacks what was stored since',
    },
  });
  door.leadTo(standby);
  await reached();
  assert.equal((await ask()).status, 200);
  door.leadTo(primary);
  await assert.rejects(reached(), outdated);
  const other = await openStore(door.address('market'));
  await other.beginEpoch({ notBefore: await other.now() });
  await other.close();
  assert.equal((await ask()).status, 200);
  await operations(market, clock).write('Property', listing('3000'));

  /** Queries the store until no connection is left that was cut while it was idle. */
  async function reached(): Promise<unknown> {
    for (;;) {
      try {
        return await market.look('hash');
      } catch (error) {
        if (!(error instanceof PlatError && error.code === 'storeUnavailable')) throw error;
      }
    }
  }

  async function changesSince(since: FeedPosition | 'end') {
    const page = await market.feed({ since, limit: 100 });
    assert.ok(page.kind === 'changes', page.kind);
    return page;
  }
});
