/** How often a store is asked for commits, and who is told of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { CommitWatch, type Hearing, type Pause } from '../../src/store/commit-watch.ts';

/** A watch over a source whose answers and announcements the test gives, and whose time passes when the test says so. */
function watched() {
  const source = { last: 1, isAway: false, isOpen: false, asked: 0 };
  const unheard = Promise.withResolvers<void>();
  let hearing: Hearing | undefined;
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
  /** Lets so many tenths of a second pass. @returns how often the source was asked meanwhile */
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

test('without announcements each look asks, with them one of ten, and none while the store is away more often', async () => {
  const { source, watch, pass } = watched();
  const end = watch.watch(() => undefined);
  assert.equal(await pass(10), 10);
  source.isOpen = true;
  assert.equal(await pass(20), 2);
  source.isOpen = false;
  assert.equal(await pass(10), 10, 'announcements that are lost are made up for at once');
  source.isAway = true;
  assert.equal(await pass(21), 3, 'the first, and then one of ten');
  source.isAway = false;
  assert.equal(await pass(10), 1);
  assert.equal(await pass(10), 10, 'it is back');
  end();
});

test('a follower learns of polled commits, of announced commits, and of a lost connection', async () => {
  const { source, watch, pass, hearing } = watched();
  const told: string[] = [];
  const end = watch.watch(
    () => told.push('commit'),
    (error) => told.push(String(error)),
  );
  // One that does not care about losses.
  const endOther = watch.watch(() => undefined);
  await pass(1);
  assert.deepEqual(told.splice(0), ['commit'], 'what there was before is unknown');
  await pass(2);
  assert.deepEqual(told.splice(0), []);
  source.last = 2;
  await pass(1);
  assert.deepEqual(told.splice(0), ['commit']);
  hearing().heard();
  hearing().lost('cut');
  assert.deepEqual(told.splice(0), ['commit', 'cut']);
  end();
  endOther();
});

test('it is closed when the connection for announcements is, also that of followers who have left', async () => {
  const { source, watch, unheard } = watched();
  const told: string[] = [];
  watch.watch(() => told.push('one'))();
  let isClosed = false;
  const closed = watch.close().then(() => {
    isClosed = true;
  });
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  assert.equal(isClosed, false);
  unheard.resolve();
  await closed;
  watch.watch(() => told.push('two'))();
  watch.notice();
  assert.deepEqual([told, source.asked], [[], 0]);
});
