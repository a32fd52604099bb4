/** Deliveries to receivers on real sockets: in order, at least once, each webhook by itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createWebhook,
  pauseWebhook,
  replayWebhook,
  resumeWebhook,
  rotateWebhookSecret,
} from '../../src/webhooks/operations.ts';
import { signatureHeaders } from '../../src/webhooks/sign.ts';
import { listing, photo } from '../support/builders.ts';
import { begin, senderOf, startReceiver, untilAborted } from './receiver.ts';

test('changes are posted in order, as the role sees them, signed, with the token of the receiver', async (t) => {
  const { write, store, send, receiver, secret, id, stateOf } = await begin(t, { bearer: 'of-the-receiver' });
  const hidden = listing('H', { InternetEntireListingDisplayYN: false });
  await write('Property', listing('A', { Media: [photo('M')] }), hidden);
  await write('Member', { MemberKey: 'X' });
  await store.remove('Property', ['A']);
  await send();
  const lines = ['created Property A', 'created Media M', 'deleted Media M', 'deleted Property A'];
  assert.deepEqual(receiver.keys(), lines);
  const [message] = receiver.taken;
  assert.ok(message);
  const { headers, body } = message;
  assert.equal(headers.authorization, 'Bearer of-the-receiver');
  assert.equal(headers['content-type'], 'application/json');
  const timestamp = Date.parse('2026-06-01T12:00:00Z') / 1000;
  const expected = signatureHeaders({ id: message.id, timestamp, body }, [secret]);
  for (const [name, value] of Object.entries(expected)) assert.equal(headers[name], value, name);
  const { value, ...rest } = JSON.parse(body);
  assert.deepEqual(rest, { '@reso.context': 'urn:reso:metadata:2.0:resource:entityevent' });
  assert.deepEqual(Object.keys(value[0]), [
    'EntityEventSequence',
    'ResourceName',
    'ResourceRecordKey',
    'kind',
    'at',
  ]);
  assert.match(message.id, new RegExp(`^${id}_\\d+_\\d+$`));
  const state = await stateOf();
  assert.deepEqual([state?.delivered, state?.attempts, state?.holder], [4, 0, null]);
  await send();
  assert.equal(receiver.seen.length, 1, 'nothing is sent without a change');
});

test('the parts of a listing that leaves the view of the role are withdrawn before it', async (t) => {
  const { write, send, receiver } = await begin(t);
  const shown = listing('A', { Media: [photo('M')] });
  await write('Property', shown);
  await send();
  await write('Property', { ...shown, InternetEntireListingDisplayYN: false });
  await send();
  assert.deepEqual(receiver.keys().slice(2), ['deleted Media M', 'deleted Property A']);
});

test('a running sender looks for changes after a commit, when an attempt is due, and otherwise every two seconds', async (t) => {
  const { write, store, clock, receiver, id } = await begin(t);
  const heard: (() => void)[] = [];
  /** The sleep of the sender, which ends when the test or a commit ends it. */
  let rest: { readonly milliseconds: number; readonly end: () => void } | undefined;
  const { sender } = senderOf(t, {
    clock,
    store: {
      ...store,
      watch: (committed) => {
        heard.push(committed);
        return () => void heard.pop();
      },
    },
    sleep: (milliseconds, signal) => {
      if (milliseconds < 100) return new Promise(setImmediate);
      if (milliseconds > 2000) return untilAborted(signal);
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = (): void => {
        rest = undefined;
        resolve();
      };
      signal.addEventListener('abort', end, { once: true });
      rest = { milliseconds, end };
      return promise;
    },
  });
  /** Waits until everything has been sent. @returns how long the sender then sleeps */
  const rested = async (): Promise<number> => {
    for (;;) {
      await new Promise(setImmediate);
      if (rest !== undefined && sender.busy === 0) return rest.milliseconds;
    }
  };
  sender.start();
  assert.equal(await rested(), 2000);
  assert.equal(heard.length, 1);
  await write('Property', listing('A'));
  assert.equal(await rested(), 2000);
  assert.equal(receiver.seen.length, 0, 'the sender does nothing without a reason');
  heard[0]?.();
  assert.equal(await rested(), 2000);
  assert.deepEqual(receiver.keys(), ['created Property A']);

  receiver.behave(() => 500);
  await write('Property', listing('B'));
  heard[0]?.();
  await rested();
  clock.advance(4000);
  rest?.end();
  assert.equal(await rested(), 1000, 'the next attempt is due');
  await pauseWebhook(store, id);
  rest?.end();
  assert.equal(await rested(), 2000);
  assert.equal(heard.length, 0, 'the sender no longer watches for commits');
});

test('a failed batch is repeated unchanged, at growing intervals, before anything newer, and given up after 72 hours', async (t) => {
  const { write, send, sender, receiver, clock, stateOf, paused, store, id } = await begin(t);
  receiver.behave(() => 500);
  await write('Property', listing('A'));
  await send();
  await write('Property', listing('B'));
  await send();
  assert.equal(receiver.seen.length, 1, 'it is not due');
  for (let hour = 0; hour < 80; hour++) {
    clock.advance(3_600_000);
    await send();
  }
  const bodies = new Set(receiver.seen.map(({ body, id: message }) => `${message} ${body}`));
  assert.equal(bodies.size, 1);
  assert.deepEqual(receiver.seen[0]?.keys, ['created Property A']);
  assert.equal(receiver.seen.length, 11);
  assert.deepEqual(paused, ['the receiver answered 500']);
  assert.equal((await stateOf())?.paused, 'it failed for 72 hours: the receiver answered 500');
  await send();
  assert.deepEqual(sender.states, { active: 0, failing: 0, paused: 1 });
  receiver.behave(() => 200);
  await resumeWebhook(store, id);
  await send();
  assert.deepEqual(receiver.keys(), ['created Property A', 'created Property B']);
});

test('a receiver that asks for a delay, ends the connection, or redirects loses no event', async (t) => {
  const { write, send, receiver, clock, stateOf, store, id, paused } = await begin(t);
  receiver.headers.set(429, { 'retry-after': '3600' });
  receiver.behave(() => 429);
  await write('Property', listing('A'));
  await send();
  assert.equal((await stateOf())?.nextAttempt, clock.now() + 3_600_000);
  clock.advance(3_600_000);
  receiver.headers.set(301, { location: 'http://127.0.0.1:1/' });
  receiver.behave(() => 301);
  await send();
  assert.equal((await stateOf())?.lastError, 'the receiver answered 301');
  clock.advance(3_600_000);
  receiver.behave(() => 410);
  await send();
  assert.deepEqual(paused, ['the receiver answered 410 (Gone)']);
  receiver.behave(() => 200);
  await resumeWebhook(store, id);
  await send();
  assert.deepEqual(receiver.keys(), ['created Property A']);
});

test('one slow receiver delays no other', async (t) => {
  const world = await begin(t);
  const { write, sender, store, receiver: slow, id } = world;
  const quick = await startReceiver(t);
  await createWebhook(store, {
    ...{
      url: quick.url,
      role: 'idx',
      systems: [],
      bearer: null,
      privateHosts: true,
      resources: ['Property'],
    },
  });
  const { promise, resolve } = Promise.withResolvers<number>();
  slow.behave(() => promise);
  for (const key of ['A', 'B', 'C']) {
    await write('Property', listing(key));
    await sender.check();
    while (sender.busy > 1 || quick.taken.length === 0 || !quick.keys().includes(`created Property ${key}`)) {
      await sender.check();
      await new Promise(setImmediate);
    }
  }
  assert.deepEqual(slow.taken, []);
  assert.deepEqual(
    quick.keys(),
    ['A', 'B', 'C'].map((key) => `created Property ${key}`),
  );
  resolve(200);
  while (sender.busy > 0) await new Promise(setImmediate);
  assert.deepEqual(slow.keys(), quick.keys(), 'it gets all of them in order');
  assert.equal((await store.webhooks.list()).find((each) => each.id === id)?.delivered, 3);
});

test('batches have at most a hundred events and 20 kB, and can be replayed from a position', async (t) => {
  const { write, send, receiver, store, id, stateOf } = await begin(t, { resources: ['Property'] });
  const keys = Array.from({ length: 250 }, (_, index) => `K${String(index).padStart(3, '0')}`);
  await write('Property', ...keys.map((key) => listing(key)));
  await send();
  const all = keys.map((key) => `created Property ${key}`);
  assert.deepEqual(receiver.keys(), all);
  assert.deepEqual(
    receiver.taken.map(({ keys: batch }) => batch.length),
    [100, 100, 50],
  );
  const long = Array.from({ length: 100 }, (_, index) => `${index}`.padStart(250, 'x'));
  await write('Property', ...long.map((key) => listing(key)));
  await send();
  assert.ok(receiver.taken.slice(3).every(({ body }) => body.length <= 20_000));
  assert.equal(receiver.keys().length, 350);
  const sequence = JSON.parse(receiver.taken[1]?.body ?? '').value[0].EntityEventSequence;
  await replayWebhook(store, id, String(sequence - 1));
  await send();
  assert.deepEqual(receiver.keys().slice(350), receiver.keys().slice(100, 350));
  await pauseWebhook(store, id);
  await write('Property', listing('Z'));
  await send();
  assert.equal(receiver.keys().length, 600);
  await replayWebhook(store, id, 'end');
  await send();
  assert.equal(receiver.keys().length, 600, 'events that were skipped on purpose');
  assert.equal((await stateOf())?.paused, null);
  for (const wrong of ['', 'x', '99999999']) {
    await assert.rejects(replayWebhook(store, id, wrong), { code: 'usage' });
  }
  const { secret } = await rotateWebhookSecret(store, id);
  await write('Property', listing('Y'));
  await send();
  const last = receiver.taken.at(-1);
  assert.equal(last?.headers['webhook-signature']?.split(' ').length, 2);
  assert.ok(secret.startsWith('whsec_'));
});

test('a private network, a missing role and changes that are no longer kept pause a webhook, with the reason', async (t) => {
  const world = await begin(t);
  const { write, send, store, clock, receiver, stateOf, paused, id } = world;
  const asked = {
    url: 'https://127.0.0.1/',
    role: 'idx',
    systems: [],
    bearer: null,
    resources: [],
    privateHosts: false,
  };
  const inside = await createWebhook(store, asked);
  await write('Property', listing('A'));
  await send();
  const refused = (await store.webhooks.list()).find((each) => each.id === inside.webhook.id);
  assert.equal(refused?.lastError, 'its host is in a private network, and --private-hosts was not given');
  await store.webhooks.remove(inside.webhook.id);
  await store.beginEpoch({});
  clock.advance(1);
  await send();
  assert.match((await stateOf())?.paused ?? '', /^the changes since its last delivery are no longer kept/);
  await replayWebhook(store, id, 'end');
  await write('Property', listing('B'));
  await send();
  assert.deepEqual(receiver.keys(), ['created Property A', 'created Property B']);
  assert.equal(paused.length, 1);
  for (const wrong of [
    { url: 'ftp://example.com/' },
    { url: 'nonsense' },
    { url: 'http://example.com/' },
    { url: 'https://a:b@example.com/' },
    { role: 'nobody' },
  ]) {
    await assert.rejects(
      createWebhook(store, { ...asked, ...wrong }),
      { code: 'usage' },
      JSON.stringify(wrong),
    );
  }
  await assert.rejects(createWebhook(store, { ...asked, resources: ['Propperty'] }), {
    code: 'resourceUnknown',
  });
});
