/** Server-sent events over real sockets: slow clients, keys that end, streams without events, and shutdown. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { EventReply, KeyStatus } from '../../../src/service/exchange.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { Pace } from '../../../src/service/reply/read-pace.ts';
import { type EventTimes, sendEvents } from '../../../src/service/reply/send-events.ts';
import type { Scope } from '../../support/engine.ts';
import { startTestService } from '../../support/service.ts';
import { open } from './raw.ts';

interface Followed {
  /** Opens a connection and requests the stream. */
  follow(): Socket;
  /** The number of bytes of each response, in order. */
  readonly sent: Promise<number>[];
  readonly closing: AbortController;
  /** Advances the clock by the time in which a client must read, and checks the pace of all clients. */
  pass(): void;
  /** The bytes that wait in memory for clients, as charged to their keys. */
  waiting(): number;
}

const SECONDS = 30;

async function serve(
  scope: Scope,
  reply: Pick<EventReply, 'events' | 'standing' | 'away'>,
  times: EventTimes = SERVICE_DEFAULTS.events,
): Promise<Followed> {
  const closing = new AbortController();
  const sent: Promise<number>[] = [];
  let now = 0;
  let waiting = 0;
  const pace = new Pace({ bytesPerSecond: 8192, seconds: SECONDS }, () => now);
  const server = createServer((_, response) => {
    const sender = pace.watch(() => response.destroy());
    let own = 0;
    const holds = (bytes: number): void => {
      waiting += bytes - own;
      own = bytes;
    };
    const whole = { status: 200, headers: {}, body: [], ...reply };
    const streaming = { closing: closing.signal, taking: { holds, sender }, times };
    sent.push(sendEvents(response, whole, { requestId: 'x', now: 0 }, streaming).finally(sender.end));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const sockets: Socket[] = [];
  scope.after(() => {
    for (const socket of sockets) socket.destroy();
    pace.close();
    server.close();
  });
  return {
    follow() {
      const socket = open(`http://127.0.0.1:${port}`).on('error', () => undefined);
      sockets.push(socket);
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      return socket;
    },
    sent,
    closing,
    pass: () => {
      now += SECONDS * 1000;
      pace.checkClients();
    },
    waiting: () => waiting,
  };
}

/** The text received on a connection, once it matches or the connection has ended. */
function untilText(socket: Socket, words: RegExp): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('close', () => resolve(text));
    socket.on('data', (part: Buffer) => {
      text += part.toString('latin1');
      if (words.test(text)) resolve(text);
    });
  });
}

/** Yields nothing, and ends when the signal is aborted. */
async function* silence(until: AbortSignal): AsyncGenerator<string> {
  await new Promise((resolve) => until.addEventListener('abort', resolve));
}

const first = async (sent: readonly Promise<number>[]): Promise<number> => {
  while (sent[0] === undefined) await setImmediate();
  return sent[0];
};

test('for a client that does not read, no more events are produced, and it is disconnected; others get theirs', async (t) => {
  const MEGABYTE = 'x'.repeat(1024 * 1024);
  let given = 0;
  let ends = 0;
  const served = await serve(t, {
    async *events() {
      try {
        for (;;) {
          given++;
          yield `data: ${MEGABYTE}\n\n`;
          await setImmediate();
        }
      } finally {
        ends++;
      }
    },
  });
  const lazy = served.follow().pause();
  while (served.waiting() === 0) await setImmediate();
  const before = given;
  const other = served.follow();
  let taken = 0;
  other.on('data', (part: Buffer) => {
    taken += part.length;
  });
  while (taken < 20 * MEGABYTE.length) await setImmediate();
  other.destroy();
  await served.sent[1];
  assert.ok(before < 20, `${before} events are in the socket buffers`);
  assert.ok(
    served.waiting() <= MEGABYTE.length + 10,
    `one event waits in memory, not ${served.waiting()} bytes`,
  );
  served.pass();
  assert.ok((await first(served.sent)) <= before * (MEGABYTE.length + 8));
  assert.equal(served.waiting(), 0);
  while (ends < 2) await setImmediate();
  lazy.resume();
  await once(lazy, 'close');
});

test('a stream without events has its head at once, and a comment at intervals', async (t) => {
  const served = await serve(t, { events: silence }, { beat: 5, look: 1000, trust: 1000 });
  const text = await untilText(served.follow(), /:\n\n.*:\n\n/s);
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  assert.match(head, /^HTTP\/1\.1 200 OK\r\n.*content-type: text\/event-stream/is);
  assert.match(body, /^3\r\n:$/m);
});

test('a stream ends when its key ends: before the next event, or between events', async (t) => {
  let standing: KeyStatus = 'stands';
  const more = Promise.withResolvers<void>();
  const events = async function* (until: AbortSignal): AsyncGenerator<string> {
    yield 'data: one\n\n';
    await more.promise;
    yield 'data: two\n\n';
    yield* silence(until);
  };
  const how = { standing: async () => standing };
  const speaking = await serve(t, { ...how, events }, { beat: 100_000, look: 100_000, trust: 0 });
  const silent = await serve(t, { ...how, events: silence }, { beat: 5, look: 5, trust: 0 });
  const [one, two] = [speaking.follow(), silent.follow()];
  const whole = untilText(one, /0\r\n\r\n$/);
  await Promise.all([untilText(one, /one\n\n/), untilText(two, /:\n\n/)]);
  standing = 'ended';
  more.resolve();
  const text = await whole;
  assert.ok(text.includes('data: one') && !text.includes('data: two'), text);
  await first(silent.sent);
});

test('while the state of the key cannot be checked, a stream sends its substitute event, or ends', async (t) => {
  const events = async function* (until: AbortSignal): AsyncGenerator<string> {
    yield 'data: one\n\n';
    yield* silence(until);
  };
  const standing = () => Promise.reject(new Error('The store is unavailable'));
  const times = { beat: 100_000, look: 100_000, trust: 0 };
  const withSubstitute = await serve(t, { events, standing, away: 'event: away\n\n' }, times);
  assert.doesNotMatch(await untilText(withSubstitute.follow(), /away\n\n/), /one/);
  const without = await serve(t, { events, standing }, times);
  without.follow();
  assert.equal(await first(without.sent), 0);
});

test('a closing service does not wait for slow clients of streams or for further events', async (t) => {
  const MEGABYTE = 'x'.repeat(1024 * 1024);
  const endless = await serve(t, {
    async *events() {
      for (;;) yield MEGABYTE;
    },
  });
  const stuck = await serve(t, {
    events: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) }),
  });
  const slow = endless.follow().pause();
  const waiting = stuck.follow();
  const whole = untilText(waiting, /0\r\n\r\n$/);
  while (endless.waiting() === 0 || stuck.sent.length === 0) await setImmediate();
  endless.closing.abort();
  stuck.closing.abort();
  await Promise.all([first(endless.sent), first(stuck.sent)]);
  assert.match(await whole, /\r\n\r\n0\r\n\r\n$/, 'the response ends regularly');
  slow.resume();
  await once(slow, 'close');
});

test('streams and their bytes are counted in the metrics, and the number of streams is limited', async (t) => {
  const service = await startTestService(t);
  const token = await service.key('admin');
  const MOST = 100;
  const stop = new AbortController();
  const follow = () =>
    fetch(`${service.addresses.admin}/stream`, {
      headers: { authorization: `Bearer ${token}` },
      signal: stop.signal,
    });
  const answers = await Promise.all(Array.from({ length: MOST + 50 }, follow));
  const firsts = await Promise.all(
    answers.map(async ({ status, body }) => {
      const part = await body?.getReader().read();
      return status === 200 && part?.done === false ? 'events' : 'none';
    }),
  );
  assert.equal(firsts.filter((each) => each === 'events').length, MOST);
  assert.equal((await follow()).status, 503);
  const figure = async (line: RegExp): Promise<number> =>
    Number(line.exec(await service.service.metrics.text())?.[1] ?? Number.NaN);
  assert.equal(await figure(/^plat_event_streams (\d+)$/m), MOST);
  stop.abort();
  while ((await figure(/^plat_event_streams (\d+)$/m)) > 0) await setImmediate();
  const requests = await figure(/^plat_requests_total\{surface="admin",status="200"\} (\d+)$/m);
  assert.ok(requests >= MOST, `${requests} requests are counted`);
  assert.ok((await figure(/^plat_bytes_total\{surface="admin"\} (\d+)$/m)) > MOST * 50);
});

test('revoking a key or logging out of a session ends its streams', async (t) => {
  const service = await startTestService(t, { service: { events: { beat: 10, look: 10, trust: 0 } } });
  const [operator, other] = [await service.key('admin', { role: 'idx' }), await service.key('admin')];
  const base = service.addresses.admin;
  const ask = (path: string, headers: Readonly<Record<string, string>>, init: RequestInit = {}) =>
    fetch(`${base}${path}`, { ...init, headers });
  const own = { origin: base, 'sec-fetch-site': 'same-origin' };
  const logIn = await ask('/session', own, { method: 'POST', body: JSON.stringify({ token: other }) });
  const cookie = logIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const streams = [
    await ask('/stream', { authorization: `Bearer ${operator}` }),
    await ask('/stream', { ...own, cookie }),
  ];
  const [ofKey, ofSession] = await Promise.all(
    streams.map(async ({ status, body }) => {
      const reader = body?.getReader();
      assert.deepEqual([status, (await reader?.read())?.done], [200, false]);
      return reader;
    }),
  );
  const ended = async (reader: typeof ofKey): Promise<void> => {
    while ((await reader?.read())?.done === false);
  };
  assert.equal((await ask('/session', { ...own, cookie }, { method: 'DELETE' })).status, 204);
  await ended(ofSession);
  const { keys } = service.store;
  const revoked = (await keys.list()).find(({ role }) => role === 'idx');
  assert.equal(await keys.revoke(revoked?.id ?? '', service.clock.text()), true);
  await ended(ofKey);
});
