/** How often a store is queried for commits, and who is notified of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import {
  type AnnouncementListener,
  CommitWatch,
  type Pause,
} from '../../../src/store/changes/commit-watch.ts';

/** A watch of a source whose responses, announcements and time the test controls. */
function watched() {
  const source = { last: 1, isAway: false, isOpen: false, asked: 0 };
  const unheard = Promise.withResolvers<void>();
  let hearing: AnnouncementListener | undefined;
  let go = (): void => undefined;
  let began = Promise.withResolvers<void>();
  const pause: Pause = (_, signal) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    go = resolve;
    signal.addEventListener('abort', () => resolve(), { once: true });
    began.resolve();
    return promise;
  };
  const watch = new CommitWatch(
    {
      rows: async () => {
        source.asked++;
        if (source.isAway) throw new Error('away');
        return [{ last: source.last }];
      },
      announcements: (given) => {
        hearing = given;
        return {
          get isOpen() {
            return source.isOpen;
          },
          close: () => unheard.promise,
        };
      },
    },
    pause,
  );
  /** Lets that many tenths of a second pass. @returns how often the source was queried meanwhile */
  const pass = async (times: number): Promise<number> => {
    const before = source.asked;
    for (let time = 0; time < times; time++) {
      await began.promise;
      began = Promise.withResolvers();
      go();
      await began.promise;
    }
    return source.asked - before;
  };
  return { source, watch, pass, unheard, hearing: () => hearing ?? assert.fail('nobody hears') };
}

test('without announcements every tick queries the store, with them or while it is unavailable every tenth one', async () => {
  const { source, watch, pass } = watched();
  const end = watch.watch(() => undefined);
  assert.equal(await pass(10), 10);
  source.isOpen = true;
  assert.equal(await pass(20), 2);
  source.isOpen = false;
  assert.equal(await pass(10), 10, 'without announcements every tick queries again');
  source.isAway = true;
  assert.equal(await pass(21), 3, 'the first tick, then every tenth');
  source.isAway = false;
  assert.equal(await pass(10), 1);
  assert.equal(await pass(10), 10, 'the store is available again');
  end();
});

test('a follower is notified of polled commits, of announced commits, and of a lost connection', async () => {
  const { source, watch, pass, hearing } = watched();
  const heard: string[] = [];
  const end = watch.watch(
    () => heard.push('commit'),
    (error) => heard.push(String(error)),
  );
  // A follower that does not want to know of lost connections.
  const endOther = watch.watch(() => undefined);
  await pass(1);
  assert.deepEqual(heard.splice(0), ['commit'], 'earlier commits are unknown, so that one is assumed');
  await pass(2);
  assert.deepEqual(heard.splice(0), []);
  source.last = 2;
  await pass(1);
  assert.deepEqual(heard.splice(0), ['commit']);
  hearing().commitAnnounced();
  hearing().announcementsLost('cut');
  assert.deepEqual(heard.splice(0), ['commit', 'cut']);
  end();
  endOther();
});

test('close() waits for the connection for announcements, even after all followers have left', async () => {
  const { source, watch, unheard } = watched();
  const heard: string[] = [];
  watch.watch(() => heard.push('one'))();
  let isClosed = false;
  const closed = watch.close().then(() => {
    isClosed = true;
  });
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  assert.equal(isClosed, false);
  unheard.resolve();
  await closed;
  watch.watch(() => heard.push('two'))();
  watch.notice();
  assert.deepEqual([heard, source.asked], [[], 0]);
});
