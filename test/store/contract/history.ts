/** The request figures of the services on a store, which are kept for a day. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryStep, MinuteFigures } from '../../../src/store/history-store.ts';
import type { Engine } from '../../support/engine.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { makeWorld } from '../../support/world.ts';

const MINUTE = 60_000;
/** The time of a step in minutes since 1970. */
const AT = 29_600_000;

const minute = (at: number, requests: number): MinuteFigures => ({
  at,
  surfaces: new Map([
    ['api', { requests, refused: 1, failed: 0, times: [0, requests, 0] }],
    ['admin', { requests: 1, refused: 0, failed: 1, times: [1, 0, 0] }],
  ]),
  keys: new Map([
    ['k_1', { requests, rows: 2000, bytes: 9_000_000_000, limited: 3 }],
    ['others', { requests: 1, rows: 0, bytes: 5, limited: 0 }],
  ]),
});

const step = (process: string, at: number, minutes: readonly MinuteFigures[] = []): HistoryStep => ({
  ...{ process, at, countedFrom: AT * MINUTE - 7, countedTo: (at + 5) * MINUTE - 1 },
  minutes,
});

export function historyContract(engine: Engine): void {
  test('steps of all processes are returned unchanged and in order, and a backup contains them', async (t) => {
    const world = await makeWorld(engine, t);
    const other = await world.again();
    const later = step('a', AT + 5, [minute(AT + 7, 4)]);
    const first = step('b', AT, [minute(AT, 1), minute(AT + 4, 2)]);
    await world.store.history.write([later, step('a', AT)], AT * MINUTE);
    await other.history.write([first], AT * MINUTE);
    assert.deepEqual(await world.store.history.since(AT), [step('a', AT), first, later]);
    assert.deepEqual(await other.history.since(AT + 1), [later]);
    assert.deepEqual(await other.history.since(AT + 6), []);
    const file = temporaryFile();
    await world.store.backup(file);
    assert.deepEqual(await (await world.copy(file)).history.since(AT + 1), [later]);
  });

  test('a step that is written again replaces the first one, and is dropped after 25 hours', async (t) => {
    const { history } = (await makeWorld(engine, t)).store;
    const half = { ...step('a', AT, [minute(AT, 1)]), countedTo: AT * MINUTE + 30_000 };
    const whole = step('a', AT, [minute(AT, 3), minute(AT + 1, 1)]);
    await history.write([half], AT * MINUTE);
    await history.write([whole, step('a', AT + 5)], AT * MINUTE);
    await history.write([whole], AT * MINUTE);
    assert.deepEqual(await history.since(0), [whole, step('a', AT + 5)]);
    const day = AT + 25 * 60;
    await history.write([step('b', day)], day * MINUTE);
    assert.deepEqual(await history.since(0), [whole, step('a', AT + 5), step('b', day)]);
    await history.write([step('b', day)], (day + 1) * MINUTE);
    assert.deepEqual(await history.since(0), [step('a', AT + 5), step('b', day)]);
  });
}
