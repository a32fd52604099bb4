/** The history of the last day, added up over all processes and kept in the store; minutes without a process are null. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { hashToken } from '../../../src/access/index.ts';
import { History } from '../../../src/service/console/history.ts';
import { HistoryKeeper } from '../../../src/service/console/history-keeper.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { startService } from '../../../src/service/service.ts';
import type { HistoryStep, HistoryStore } from '../../../src/store/history-store.ts';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';

const MINUTE = 60_000;
const DAY = 24 * 60;
const ENDED = { surface: 'api', status: 200, seconds: 0.003, key: 'k', rows: 2, bytes: 10 } as const;

/** A store that can be made unavailable, and that counts writes. */
function memoryStore() {
  const rows = new Map<string, HistoryStep>();
  const state = { isUnavailable: false, writes: 0 };
  const store: HistoryStore = {
    async write(steps) {
      if (state.isUnavailable) throw new Error('the store is unavailable');
      state.writes++;
      for (const step of steps) rows.set(`${step.process} ${step.at}`, structuredClone(step));
    },
    since: async (since) => [...rows.values()].filter(({ at }) => at >= since),
  };
  return { store, state };
}

/** A process that records its history in a store, and its clock. */
function makeProcess({ store }: ReturnType<typeof memoryStore>, began = 0) {
  const clock = { at: began };
  const warnings: string[] = [];
  const history = new History(began);
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) });
  const keeper = new HistoryKeeper(history, { store, clock: { now: () => clock.at }, log });
  return { clock, history, keeper, warnings };
}

test('the history has a step for each minute of the last 24 hours, and no older ones', async () => {
  const { clock, history, keeper } = makeProcess(memoryStore());
  history.addRequest(ENDED, 0);
  history.addRequest({ ...ENDED, status: 404 }, 10);
  history.addRequest({ ...ENDED, status: 503, seconds: 100, key: undefined }, 2 * MINUTE);
  clock.at = 2 * MINUTE;
  const { surfaces, ...rest } = (await keeper.day()).surfaces();
  assert.deepEqual(
    [rest, surfaces.api],
    [
      { from: 0, processes: [{ from: 0, to: 2 * MINUTE, isThis: true }], more: 0 },
      {
        requests: [2, 0, 1],
        refused: [1, 0, 0],
        failed: [0, 0, 1],
        half: [4, null, 32_768],
        most: [4, null, 32_768],
      },
    ],
  );
  assert.deepEqual((await keeper.day()).key('k'), {
    ...rest,
    requests: [2, 0, 0],
    rows: [4, 0, 0],
    bytes: [20, 0, 0],
    limited: [0, 0, 0],
  });
  clock.at = DAY * MINUTE;
  const later = (await keeper.day()).key('k');
  assert.deepEqual(
    [later.from, later.requests.length, later.requests.every((each) => each === 0)],
    [MINUTE, DAY, true],
  );
  await keeper.close();
});

test('beyond 200 keys in one minute, further keys are added up as "others"', async () => {
  const { history, keeper } = makeProcess(memoryStore());
  for (let at = 0; at < 205; at++) history.addRequest({ ...ENDED, key: `k${at}` }, 0);
  history.addRateLimited('k204', 0);
  const day = await keeper.day();
  assert.deepEqual([day.key('k199').requests, day.key('k200').requests], [[1], [0]]);
  assert.deepEqual([day.key('others').requests, day.key('others').limited], [[5], [1]]);
  await keeper.close();
});

test('the busiest window of a key is the maximum over all processes together', async () => {
  const there = memoryStore();
  const [one, two] = [makeProcess(there), makeProcess(there)];
  const note = ({ history }: typeof one, key: string, at: number, times: number): void => {
    for (let time = 0; time < times; time++) history.addRequest({ ...ENDED, key, bytes: 3 }, at * MINUTE);
  };
  for (const [at, times] of [1, 5, 1, 0, 4].entries()) note(one, 'a', at, times);
  note(one, 'b', 4, 1);
  note(two, 'a', 2, 1);
  two.history.addRateLimited('b', 4 * MINUTE);
  for (const { clock } of [one, two]) clock.at = 4 * MINUTE;
  await two.keeper.flush();
  const day = await one.keeper.day();
  const days = (windowed: number) => Object.fromEntries(day.keys(() => windowed));
  const b = { requests: 1, rows: 2, bytes: 3, limited: 1, busiest: 1 };
  assert.deepEqual(days(2), { a: { requests: 12, rows: 24, bytes: 36, limited: 0, busiest: 7 }, b });
  assert.deepEqual(days(4), { a: { requests: 12, rows: 24, bytes: 36, limited: 0, busiest: 11 }, b });
  await one.keeper.close();
  await two.keeper.close();
});

test('a new process shows the history of the previous one, with null for minutes without a process', async () => {
  const there = memoryStore();
  const before = makeProcess(there, 7 * MINUTE + 5);
  before.history.addRequest({ ...ENDED, seconds: 0.1 }, 8 * MINUTE);
  before.clock.at = 8 * MINUTE;
  await before.keeper.flush();
  // No requests arrive any more, but the process covers the time until it ends.
  before.clock.at = 9 * MINUTE + 1;
  await before.keeper.close();
  const now = makeProcess(there, 12 * MINUTE);
  now.history.addRequest(ENDED, 12 * MINUTE);
  now.history.addRequest({ ...ENDED, status: 500 }, 13 * MINUTE);
  now.clock.at = 13 * MINUTE;
  const { surfaces, ...rest } = (await now.keeper.day()).surfaces();
  assert.deepEqual(rest, {
    from: 7 * MINUTE,
    processes: [
      { from: 12 * MINUTE, to: 13 * MINUTE, isThis: true },
      { from: 7 * MINUTE + 5, to: 9 * MINUTE + 1, isThis: false },
    ],
    more: 0,
  });
  assert.deepEqual(surfaces.api, {
    requests: [0, 1, 0, null, null, 1, 1],
    refused: [0, 0, 0, null, null, 0, 0],
    failed: [0, 0, 0, null, null, 0, 1],
    half: [null, 128, null, null, null, 4, 4],
    most: [null, 128, null, null, null, 4, 4],
  });
  assert.deepEqual((await now.keeper.day()).key('k').requests, [0, 1, 0, null, null, 1, 1]);
  await now.keeper.close();
});

test('an idle process writes no history, and a failed write is repeated', async () => {
  const there = memoryStore();
  const idle = makeProcess(there);
  await idle.keeper.flush();
  await idle.keeper.close();
  assert.equal(there.state.writes, 0);
  const busy = makeProcess(there);
  there.state.isUnavailable = true;
  busy.history.addRequest(ENDED, 0);
  await busy.keeper.flush();
  await busy.keeper.flush();
  assert.deepEqual(busy.warnings, ['the history of the service could not be stored; trying again later']);
  there.state.isUnavailable = false;
  await busy.keeper.flush();
  await busy.keeper.flush();
  assert.equal(there.state.writes, 1);
  assert.deepEqual(
    (await busy.keeper.day()).key('k').requests,
    [1],
    'steps that the process has written itself count once',
  );
  assert.deepEqual((await idle.keeper.day()).key('k').requests, [1]);
  busy.history.addRequest(ENDED, 0);
  await busy.keeper.close();
  assert.equal(there.state.writes, 2);
  assert.deepEqual((await idle.keeper.day()).key('k').requests, [2]);
});

test('after a restart, the admin port reports the last day of all processes, for keys and surfaces', async () => {
  const world = await startTestService(
    { after },
    { fill: async ({ write }) => void (await write('Property', listing('L1'))) },
  );
  const { store, clock } = world;
  const admin = await world.key('admin');
  const token = await world.key('api');
  const id = (await store.look(hashToken(token))).key?.id ?? '';
  const start = () =>
    startService(
      { ...SERVICE_DEFAULTS, store, clock, log: pino({ level: 'silent' }) },
      {
        ...{ host: '127.0.0.1', adminHost: '127.0.0.1' },
        ports: { api: 0, replication: 0, floorplans: 0, admin: 0 },
      },
    );
  const began = clock.now();
  const first = await start();
  const { bytes } = await world.get('api', `${first.addresses.api}/Reso/OData/Property`, { token });
  clock.advance(2 * MINUTE);
  await first.close();
  const ended = clock.now();
  clock.advance(3 * MINUTE);
  const second = await start();
  try {
    const asked = async (path: string) =>
      (await world.get('admin', `${second.addresses.admin}${path}`, { token: admin })).json;
    await world.get('api', `${second.addresses.api}/Reso/OData/Property?$none=1`, { token });
    clock.advance(MINUTE);
    const now = clock.now();
    const covered = {
      from: began - (began % MINUTE),
      processes: [
        { from: now - MINUTE, to: now, isThis: true },
        { from: began, to: ended, isThis: false },
      ],
      more: 0,
    };
    const history = await asked(`/keys/${id}/history`);
    const refusal = Array.isArray(history.bytes) ? history.bytes[5] : undefined;
    assert.deepEqual(history, {
      ...covered,
      requests: [1, 0, 0, null, null, 1, 0],
      rows: [1, 0, 0, null, null, 0, 0],
      bytes: [bytes.length, 0, 0, null, null, refusal, 0],
      limited: [0, 0, 0, null, null, 0, 0],
    });
    const { surfaces, ...rest } = await asked('/history');
    assert.deepEqual(rest, covered);
    assert.ok(typeof surfaces === 'object' && surfaces !== null && 'api' in surfaces);
    const { half, most, ...counts } = Object(surfaces.api);
    assert.deepEqual(counts, {
      requests: [1, 0, 0, null, null, 1, 0],
      refused: [0, 0, 0, null, null, 1, 0],
      failed: [0, 0, 0, null, null, 0, 0],
    });
    const isTimed = (times: readonly unknown[]) => times.map((time) => typeof time === 'number');
    const timed = [true, false, false, false, false, true, false];
    assert.deepEqual([isTimed(half), isTimed(most)], [timed, timed]);
    const { keys } = await asked('/keys');
    const key: unknown = Array.isArray(keys) ? keys.find((each) => each.id === id) : undefined;
    assert.deepEqual(Object(key).lastDay, {
      ...{ requests: 2, rows: 1, bytes: bytes.length + Number(refusal), limited: 0, busiest: 1 },
    });
  } finally {
    await second.close();
  }
});
