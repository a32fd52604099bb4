/** HTTP/2 connections whose client has stopped reading: closed, although what was sent on them never arrives. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect } from 'node:tls';
import {
  carrierOf,
  type HttpRequest,
  type HttpResponse,
  makeServer,
} from '../../../src/service/http/server.ts';
import { frame } from './frame.ts';

const [cert, key] = ['certificate.pem', 'key.pem'].map((name) =>
  readFileSync(new URL(`tls/${name}`, import.meta.url)),
);

/** More than the buffers at both ends of a connection hold. */
const BODY = Buffer.alloc(64 * 1024 * 1024, 'x');

/** The largest flow-control windows, for a stream and for the connection, and `GET https://localhost/`. */
const REQUEST = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(4, 0, 0, Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff])),
  frame(8, 0, 0, Buffer.from([0x7f, 0xfe, 0, 0])),
  frame(1, 5, 1, Buffer.from([0x82, 0x87, 0x84, 0x41, 9, ...Buffer.from('localhost')])),
]);

/** Serves one request of a client that reads nothing. @returns the accepted socket, the request and its response */
async function stalled(
  t: TestContext,
): Promise<{ socket: Socket; request: HttpRequest; response: HttpResponse }> {
  assert.ok(cert && key);
  const accepted = Promise.withResolvers<Socket>();
  const requested = Promise.withResolvers<{ request: HttpRequest; response: HttpResponse }>();
  const server = makeServer(
    { tls: { cert, key }, requestPatience: 10_000, idlePatience: 100, endsIdle: false },
    {
      connection: accepted.resolve,
      request: (request, response) => requested.resolve({ request, response }),
      fault: (error) => assert.fail(error),
      connect: () => assert.fail(),
    },
  );
  const port = await server.listen('127.0.0.1', 0);
  t.after(() => server.close(0));
  const options = { host: '127.0.0.1', port, ca: cert, servername: 'localhost', ALPNProtocols: ['h2'] };
  const client = connect(options);
  client.on('error', () => undefined);
  t.after(() => client.destroy());
  await once(client, 'secureConnect');
  client.write(REQUEST);
  const { request, response } = await requested.promise;
  response.on('error', () => undefined);
  response.end(BODY);
  const socket = await accepted.promise;
  assert.equal(socket.destroyed, false);
  return { socket, request, response };
}

test('a connection that is to be destroyed is closed, even if its output never arrives', async (t) => {
  const { socket, request, response } = await stalled(t);
  const closed = once(socket, 'close');
  carrierOf(request, response).destroy();
  await closed;
});

test('a connection without a request in progress is closed as idle, even if its output never arrives', async (t) => {
  const { socket, response } = await stalled(t);
  const closed = once(socket, 'close');
  response.destroy();
  await closed;
});
