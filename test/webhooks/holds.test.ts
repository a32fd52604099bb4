/** Processes of one store share its webhooks: one process at a time holds each, whatever the clocks of the others are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Post } from '../../src/webhooks/post.ts';
import { listing } from '../support/builders.ts';
import { begin, type Clocks, senderOf, untilAborted } from './receiver.ts';

const HOUR = 3_600_000;

/** The network of a process whose attempts get no response before they are aborted. */
function unanswered() {
  const begun: string[] = [];
  const ended: string[] = [];
  const post: Post = async ({ headers, signal }) => {
    const id = headers['webhook-id'] ?? '';
    begun.push(id);
    await untilAborted(signal);
    ended.push(id);
    return { kind: 'unanswered', why: 'broken off' };
  };
  return { post, begun, ended };
}

/** A clock that is wrong by some hours. */
const wrongBy = ({ now, elapsed }: Clocks, hours: number) => ({ now: () => now() + hours * HOUR, elapsed });

test('one of several processes sends; after a process has died, another takes over and repeats its batch', async (t) => {
  const { write, send, sender, receiver, clock, store, again, id } = await begin(t);
  const other = senderOf(t, { store: await again(), clock });
  await write('Property', listing('A'));
  // A process that has taken the webhook and then dies.
  assert.ok(await store.webhooks.hold(id, 'a process that died', clock.now() + 15_000));
  await Promise.all([send(), other.send()]);
  assert.deepEqual(receiver.seen, []);
  clock.advance(15_000);
  await Promise.all([send(), other.send()]);
  assert.deepEqual(receiver.keys(), ['created Property A']);
  for (let count = 0; count < 10; count++) {
    await write('Property', listing(`B${count}`));
    await Promise.all([send(), other.send()]);
  }
  await Promise.all([send(), other.send()]);
  assert.deepEqual(
    receiver.keys().slice(1),
    Array.from({ length: 10 }, (_, count) => `created Property B${count}`),
  );
  assert.equal(sender.busy, 0);
});

test('a process whose clock is hours ahead does not take over a webhook that is held', async (t) => {
  const { write, clock, store, again, receiver, stateOf } = await begin(t);
  const sleeps: (() => void)[] = [];
  const network = unanswered();
  const { sender } = senderOf(t, {
    ...{ store, clock, post: network.post },
    sleep: (milliseconds, signal) => {
      assert.equal(milliseconds, 5000);
      return Promise.race([untilAborted(signal), new Promise<void>((resolve) => sleeps.push(resolve))]);
    },
  });
  /** Lets the process that holds the webhook renew that. */
  const holdAgain = async (): Promise<void> => {
    while (sleeps.length === 0) await new Promise(setImmediate);
    sleeps.shift()?.();
  };
  const other = senderOf(t, { store: await again(), clock: wrongBy(clock, 5) });
  await write('Property', listing('A'));
  await sender.check();
  while (network.begun.length === 0) await new Promise(setImmediate);
  for (let step = 0; step < 12; step++) {
    await other.send();
    clock.advance(5000);
    const before = (await stateOf())?.heldUntil;
    await holdAgain();
    while ((await stateOf())?.heldUntil === before) await new Promise(setImmediate);
  }
  assert.deepEqual([network.begun.length, receiver.seen.length], [1, 0]);

  // It no longer renews: another process takes the webhook, and the attempt is aborted when the first one notices.
  await other.send();
  clock.advance(15_000);
  await other.send();
  assert.deepEqual(receiver.keys(), ['created Property A']);
  assert.ok(await store.webhooks.hold((await stateOf())?.id ?? '', 'a third process', 1));
  await holdAgain();
  while (sender.busy > 0) await new Promise(setImmediate);
  assert.deepEqual(network.ended, network.begun);
  assert.deepEqual([(await stateOf())?.holder, (await stateOf())?.attempts], ['a third process', 0]);
});

test('a clock that is set back prevents neither a takeover nor an attempt', async (t) => {
  const { write, send, clock, store, receiver, id } = await begin(t);
  await write('Property', listing('A'));
  assert.ok(await store.webhooks.hold(id, 'a process that died', clock.now() + 15_000));
  await send();
  clock.jump(-5 * HOUR);
  clock.advance(15_000);
  receiver.behave(() => 500);
  await send();
  assert.equal(receiver.seen.length, 1);
  await send();
  clock.jump(-5 * HOUR);
  clock.advance(5000);
  receiver.behave(() => 200);
  await send();
  assert.deepEqual(receiver.keys(), ['created Property A']);
});

test('neither a clock that is set ahead nor a service that was stopped for days gives a webhook up', async (t) => {
  const { write, send, clock, receiver, stateOf } = await begin(t);
  await write('Property', listing('A'));
  receiver.behave(() => 500);
  await send();
  clock.jump(100 * HOUR);
  await send();
  const state = await stateOf();
  assert.deepEqual([state?.attempts, state?.paused, state?.nextAttempt], [2, null, clock.now() + 30_000]);
  clock.advance(100 * HOUR);
  await send();
  assert.deepEqual([(await stateOf())?.attempts, (await stateOf())?.paused], [3, null]);
});

test('a process that stops releases a webhook at once; after a kill, 15 seconds pass; its batch is sent again', async (t) => {
  const { write, clock, store, again, send, receiver, stateOf } = await begin(t);
  const [stopped, killed] = [unanswered(), unanswered()];
  const first = senderOf(t, { store, clock, post: stopped.post });
  const second = senderOf(t, { store: await again(), clock, post: killed.post });
  await write('Property', listing('A'));
  await first.sender.check();
  while (stopped.begun.length === 0) await new Promise(setImmediate);
  await write('Property', listing('B'));
  await first.sender.close();
  assert.deepEqual([(await stateOf())?.holder, (await stateOf())?.attempts], [null, 0]);

  await second.sender.check();
  while (killed.begun.length === 0) await new Promise(setImmediate);
  await send();
  assert.deepEqual(receiver.seen, []);
  clock.advance(14_999);
  await send();
  assert.deepEqual(receiver.seen, []);
  clock.advance(1);
  await write('Property', listing('C'));
  await send();
  assert.deepEqual(
    receiver.keys(),
    ['A', 'B', 'C'].map((key) => `created Property ${key}`),
  );
  await second.sender.close(); // the attempt of the process that was killed
});
