/** Time for a consumer under test: a sleep takes no real time, and ends once nothing else is in progress. */
import type { Transport } from '../../../src/replica/http/transport.ts';
import type { Clock } from '../../../src/shared/clock.ts';
import type { TestClock } from '../../support/clock.ts';

export interface VirtualTime {
  readonly clock: Clock;
  /** The same network, observed: no sleep ends while a request is in progress. */
  watched(transport: Transport): Transport;
  /** Every requested sleep, in milliseconds. */
  readonly slept: number[];
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Turns of the event loop without a request and without file access, after which every task counts as asleep. */
const QUIET_TURNS = 3;

/** Sleeps advance a shared clock, one sleeper after the other, in the order of their wake times. */
export function virtualTime(base: TestClock): VirtualTime {
  const sleepers = new Set<Sleeper>();
  const slept: number[] = [];
  let requests = 0;
  let isPumping = false;

  function pump(): void {
    if (isPumping || requests > 0 || sleepers.size === 0) return;
    isPumping = true;
    turn(QUIET_TURNS);
  }

  function turn(left: number): void {
    setImmediate(() => {
      if (requests > 0 || sleepers.size === 0) {
        isPumping = false;
        return;
      }
      if (isDiskAtWork()) {
        turn(QUIET_TURNS);
        return;
      }
      if (left > 0) {
        turn(left - 1);
        return;
      }
      const [first] = [...sleepers].toSorted((a, b) => a.at - b.at);
      if (first !== undefined) {
        sleepers.delete(first);
        base.advance(Math.max(0, first.at - base.now()));
        first.wake();
      }
      turn(QUIET_TURNS);
    });
  }

  const sleep: Clock['sleep'] = (milliseconds, signal) => {
    slept.push(milliseconds);
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper = { at: base.now() + milliseconds, wake: resolve };
      sleepers.add(sleeper);
      signal?.addEventListener(
        'abort',
        () => {
          sleepers.delete(sleeper);
          resolve();
        },
        { once: true },
      );
      pump();
    });
  };

  const ended = (): void => {
    requests--;
    pump();
  };

  return {
    clock: { now: base.now, sleep },
    slept,
    watched: (transport) => async (sent) => {
      requests++;
      try {
        const response = await transport(sent);
        return { ...response, body: untilRead(response.body, ended) };
      } catch (error) {
        ended();
        throw error;
      }
    },
  };
}

/** Whether this process waits for a file, which on a slow machine takes more than a few turns. */
const isDiskAtWork = (): boolean => process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));

/** Calls `ended` when a body was read or abandoned. A body that nobody reads ends with its request. */
function untilRead(body: AsyncIterable<Uint8Array>, ended: () => void): AsyncIterable<Uint8Array> {
  let isRead = false;
  setImmediate(() => {
    if (!isRead) ended();
  });
  return {
    async *[Symbol.asyncIterator]() {
      isRead = true;
      try {
        yield* body;
      } finally {
        ended();
      }
    },
  };
}
