/** Receivers with faulty responses, and mistakes of operators: nothing is lost or kept open, and no secret is shown. */
import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { webhookPost } from '../../src/cli/webhook-post.ts';
import { createWebhook, deleteWebhook, replayWebhook } from '../../src/webhooks/operations.ts';
import type { Post } from '../../src/webhooks/post.ts';
import { listing } from '../support/builders.ts';
import { begin, senderOf, startReceiver, untilAborted } from './receiver.ts';

/** A receiver that writes what a test chooses when a request begins. @returns its URL, and how its connections end */
async function rawReceiver(t: TestContext, answer: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const bound = server.address();
  assert.ok(bound !== null && typeof bound === 'object');
  return { url: `http://127.0.0.1:${bound.port}/`, sockets };
}

/** One attempt through the network of the command. */
async function postTo(t: TestContext, url: string, options: Partial<Parameters<Post>[0]> = {}) {
  const { post, close } = webhookPost({ bytes: 64 * 1024, milliseconds: 20 });
  t.after(close);
  const { signal } = new AbortController();
  const request = { url, headers: {}, body: '{}', privateHosts: true, timeout: 10_000, signal };
  return post({ ...request, ...options });
}

test('a receiver that has sent a status has responded, whatever happens to the body', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n';
  const bodies: Readonly<Record<string, (socket: Socket) => void>> = {
    'a body that never ends': (socket) => void socket.write(`${head}content-length: 9\r\n\r\nx`),
    'a body that breaks off': (socket) =>
      void socket.write(`${head}content-length: 9\r\n\r\nx`, () => socket.resetAndDestroy()),
    'a body that is none of its encoding': (socket) =>
      void socket.end(`${head}content-encoding: gzip\r\nconnection: close\r\n\r\nnonsense`),
    'ten megabytes': (socket) =>
      void socket.write(`${head}content-length: 10000000\r\n\r\n${'x'.repeat(10_000_000)}`),
  };
  for (const [what, answer] of Object.entries(bodies)) {
    const { url, sockets } = await rawReceiver(t, answer);
    const answered = await postTo(t, url);
    assert.deepEqual(answered, { kind: 'answered', status: 200, retryAfter: undefined }, what);
    const [socket] = sockets;
    if (socket?.closed === false) await new Promise((resolve) => socket.once('close', resolve));
  }
});

test('a receiver that drips its response, resets the connection or does not speak HTTP has failed, with a short reason', async (t) => {
  const dripping = await rawReceiver(t, (socket) => {
    const drip = setInterval(() => socket.write('HTTP/1.1 200 OK\r\nx-'.charAt(0)), 5);
    socket.once('close', () => clearInterval(drip));
    socket.write('HTTP/1.1 200 OK\r\nx-');
  });
  assert.deepEqual(await postTo(t, dripping.url, { timeout: 100 }), {
    kind: 'unanswered',
    why: 'the receiver did not answer in time',
  });
  const resetting = await rawReceiver(t, (socket) => socket.resetAndDestroy());
  const reset = await postTo(t, resetting.url);
  assert.match(reset.kind === 'unanswered' ? reset.why : '', /^(ECONNRESET|UND_ERR_SOCKET): /);
  const talking = await rawReceiver(t, (socket) => void socket.end(`\u0000\u001b[2J${'x'.repeat(9000)}\r\n`));
  const talk = await postTo(t, talking.url);
  assert.match(talk.kind === 'unanswered' ? talk.why : '', /^[^\p{Cc}]{1,200}$/u);
});

test('a name that resolves to this machine is not connected to', async (t) => {
  const { url, sockets } = await rawReceiver(t, () => assert.fail());
  const why = 'its host is in a private network, and --private-hosts was not given';
  const named = url.replace('127.0.0.1', 'localhost');
  assert.deepEqual(await postTo(t, named, { privateHosts: false }), { kind: 'unanswered', why });
  assert.deepEqual(sockets, []);
});

test('receivers at one host delay each other no more than others', async (t) => {
  const { post, close } = webhookPost();
  const stop = new AbortController();
  t.after(close);
  const slow = await startReceiver(t);
  slow.behave(({ body }) => (body.includes('slow') ? new Promise<number>(() => undefined) : 204));
  const request = { headers: {}, privateHosts: true, timeout: 60_000, signal: stop.signal, url: slow.url };
  const waiting = Array.from({ length: 8 }, () => post({ ...request, body: '{"value":[],"slow":true}' }));
  while (slow.seen.length < 8) await new Promise(setImmediate);
  const quick = await post({ ...request, body: '{"value":[]}' });
  assert.deepEqual(quick, { kind: 'answered', status: 204, retryAfter: undefined });
  stop.abort();
  await Promise.all(waiting);
});

test('a webhook that is deleted during an attempt stays deleted, and the attempt is aborted', async (t) => {
  const { write, clock, store, id } = await begin(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  let isBegun = false;
  const { sender, paused } = senderOf(t, {
    ...{ store, clock },
    sleep: (_, signal) => Promise.race([promise, untilAborted(signal)]),
    post: async ({ signal }) => {
      isBegun = true;
      await untilAborted(signal);
      return { kind: 'unanswered', why: 'broken off' };
    },
  });
  await write('Property', listing('A'));
  await sender.check();
  while (!isBegun) await new Promise(setImmediate);
  await deleteWebhook(store, id);
  resolve(); // it is time to say again who holds the webhook
  while (sender.busy > 0) await new Promise(setImmediate);
  assert.deepEqual([await store.webhooks.list(), paused], [[], []]);
});

test('a URL is stored in its canonical form; one that cannot be used is rejected without repeating its secrets', async (t) => {
  const { store, id } = await begin(t);
  const asked = { role: 'idx', systems: [], resources: [], bearer: null, privateHosts: false };
  const url = ' https://EXAMPLE.com/\u001b[2J\u202e?a=b\n#part';
  const { webhook } = await createWebhook(store, { ...asked, url });
  assert.equal(webhook.url, 'https://example.com/%1B[2J%E2%80%AE?a=b');
  await assert.rejects(createWebhook(store, { ...asked, url: `https://example.com/${'x'.repeat(2000)}` }), {
    code: 'usage',
    message: 'The address has more than 2000 characters.',
  });
  await assert.rejects(createWebhook(store, { ...asked, url: webhook.url, bearer: 'secret\r\nx: y' }), {
    code: 'usage',
    message: 'The token of the receiver has characters other than visible ASCII.',
  });
  await store.beginEpoch({});
  for (const since of ['1', '99999999']) {
    await assert.rejects(replayWebhook(store, id, since), {
      code: 'usage',
      message: `The changes since ${since} are unknown: they are no longer kept, or have not happened yet.`,
    });
  }
});
