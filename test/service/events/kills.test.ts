/** The order of the stream while several writing processes are killed at random moments. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { openStore } from '../../../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { startService } from '../../../src/service/service.ts';
import { systemClock } from '../../../src/shared/clock.ts';
import { makeRandom } from '../../oracle/random.ts';
import type { Scope } from '../../support/engine.ts';
import { type EventClient, followEvents, type ServerEvent } from '../../support/event-client.ts';
import { emptyDatabase } from '../../support/postgres-engine.ts';
import { makeKey } from '../../support/service.ts';
import { temporaryFile } from '../../support/temporary.ts';

const isFull = process.env.PLAT_FULL === '1';
/** Writers that run at the same time, and the total number of kills. */
const WRITERS = isFull ? 4 : 2;
const KILLS = isFull ? 24 : 3;
const WRITER = fileURLToPath(new URL('writer.ts', import.meta.url));

const ANY_PORT = { api: 0, replication: 0, floorplans: 0, admin: 0 };

async function orderHolds(t: Scope, address: string, close: () => Promise<void>): Promise<void> {
  const store = await openStore(address, { create: DEFAULT_SETTINGS });
  const service = await startService(
    { ...SERVICE_DEFAULTS, store, clock: systemClock, log: pino({ level: 'silent' }) },
    { host: '127.0.0.1', adminHost: '127.0.0.1', ports: ANY_PORT },
  );
  const writers = new Set<ChildProcess>();
  t.after(async () => {
    for (const writer of writers) writer.kill('SIGKILL');
    await service.close();
    await store.close();
    await close();
  });
  const token = await makeKey(store, 'replication');
  const follow = (since: string): Promise<EventClient> =>
    followEvents(service.addresses.replication, { token, query: `?since=${since}` });
  const live = await follow('start');
  const late: EventClient[] = [];
  const random = makeRandom(14);
  const start = async (name: string): Promise<ChildProcess> => {
    const writer = fork(WRITER, [address, name]);
    writers.add(writer);
    await once(writer, 'message');
    return writer;
  };
  const running = await Promise.all(Array.from({ length: WRITERS }, (_, at) => start(`W${at}-`)));
  for (let kill = 0; kill < KILLS; kill++) {
    const at = random.between(0, running.length - 1);
    // Kills after some writes, at any moment of the next one.
    const writes = random.between(1, 5);
    for (let count = 0; count < writes; count++) await once(running[at] ?? assert.fail(), 'message');
    running[at]?.kill('SIGKILL');
    if (kill % 3 === 0) late.push(await follow('start'));
    if (kill < KILLS - WRITERS) running[at] = await start(`K${kill}-`);
    else running.splice(at, 1);
  }
  for (const writer of writers) {
    if (writer.exitCode === null && writer.signalCode === null) {
      writer.kill('SIGKILL');
      await once(writer, 'exit');
    }
  }
  const { last } = await store.changesKnown();
  const isEnd = ({ event, id = '' }: ServerEvent): boolean =>
    event === 'position' && Number.parseInt(id, 10) >= last;
  const changesOf = async (client: EventClient): Promise<ServerEvent['data'][]> => {
    const events = await client.until(isEnd);
    client.close();
    return events.filter(({ event }) => event === 'change').map(({ data }) => data);
  };
  const whole = await changesOf(await follow('start'));
  assert.ok(whole.length > KILLS, `${whole.length} changes`);
  for (const client of [live, ...late]) {
    // Live followers received exactly the final sequence: no change was inserted later before one that they had received.
    assert.deepEqual(await changesOf(client), whole);
  }
  const sequences = whole.map(({ sequence }) => Number(sequence));
  assert.ok(sequences.every((sequence, at) => at === 0 || sequence > (sequences[at - 1] ?? 0)));
}

test('sqlite: a stream has every change once and in order while writers are killed', async (t) => {
  await orderHolds(t, temporaryFile(), async () => undefined);
});

test(
  'postgres: a stream has every change once and in order while writers are killed',
  { skip: !isFull },
  async (t) => {
    const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
    await orderHolds(t, address, drop);
  },
);
