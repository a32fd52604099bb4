/** The pace of a client is measured by what it reads, even if the body was written at once: slow is allowed, stopping is not. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Pace, queueOf } from '../../../src/service/reply/read-pace.ts';
import { send } from '../../../src/service/reply/send.ts';

const MEGABYTE = 1024 * 1024;
/** More than the socket buffers hold. */
const BODY = Buffer.alloc(32 * MEGABYTE, 'x');
const SECONDS = 600;

async function take(socket: Socket, bytes: number): Promise<number> {
  let taken = 0;
  while (taken < bytes) {
    const part: unknown = socket.read();
    if (part instanceof Buffer) taken += part.length;
    else await once(socket, 'readable');
  }
  return taken;
}

it('a client that reads slowly but above the minimum is not disconnected; one that stops reading is', async (t) => {
  let now = 0;
  let cuts = 0;
  const pace = new Pace({ bytesPerSecond: 1000, seconds: SECONDS }, () => now);
  t.after(() => pace.close());
  const sent = Promise.withResolvers<number>();
  const asked = Promise.withResolvers<IncomingMessage>();
  const server = createServer((request, response) => {
    const cut = (): void => {
      cuts++;
      response.destroy();
    };
    const sender = pace.watch(cut);
    const taking = { holds: () => undefined, sender };
    const { promise } = sent;
    send(
      response,
      { status: 200, headers: {}, body: [BODY] },
      { requestId: 'x', now: 0 },
      {
        ...{ method: 'GET', acceptEncoding: undefined, taking, spent: () => undefined },
      },
    ).then(sent.resolve, sent.reject);
    void promise.finally(() => sender.end());
    asked.resolve(request);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const place = server.address();
  assert.ok(typeof place === 'object' && place !== null);
  const client = connect(place.port, '127.0.0.1');
  t.after(() => {
    client.destroy();
    server.close();
  });
  client.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const { socket } = await asked.promise;
  const left = queueOf(socket);
  assert.ok(left !== undefined, 'Node reports how many written bytes the system has not yet accepted');

  let waits = left() ?? 0;
  assert.ok(waits > MEGABYTE, 'the body was written at once');
  let taken = 0;
  for (let windows = 0; windows < 3; windows++) {
    const before = waits;
    while (before - waits < MEGABYTE) {
      taken += await take(client, MEGABYTE);
      await setImmediate();
      waits = left() ?? 0;
    }
    now += SECONDS * 1000;
    pace.checkClients();
    assert.equal(cuts, 0, `disconnected after ${before - waits} bytes in a window`);
  }
  // The system may still accept a few bytes into its buffers; then nothing moves any more.
  for (let windows = 0; cuts === 0; windows++) {
    assert.ok(windows < 100, 'the client is never disconnected');
    await setImmediate();
    now += SECONDS * 1000;
    pace.checkClients();
  }
  assert.equal(await sent.promise, BODY.length);
  assert.equal(cuts, 1);
  // The connection ends before the whole body has arrived.
  const closed = once(client, 'close');
  client.on('data', (part: Buffer) => (taken += part.length));
  await closed;
  assert.ok(taken < BODY.length, `${taken} bytes arrived`);
});
