/** Connections of strangers (without a request from a known key) that send nothing, next to requests of a key. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { ConnectionLimits } from '../../../src/service/access/connections.ts';
import type { ListenOptions } from '../../../src/service/http/listen.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { listing } from '../../support/builders.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { open, readAnswer, sendRaw } from './raw.ts';

const PATH = "/Reso/OData/Property('1')";
/** The full test run opens more connections than the default limit. */
const isFull = process.env.PLAT_FULL === '1';
const DEFAULTS: ConnectionLimits = SERVICE_DEFAULTS.connections;

const pem = (name: string): Buffer => readFileSync(new URL(`./tls/${name}.pem`, import.meta.url));
const tls = { cert: pem('certificate'), key: pem('key') };

const serve = (
  t: TestContext,
  connections: Partial<ConnectionLimits>,
  listen: Partial<ListenOptions> = {},
): Promise<TestService> =>
  startTestService(t, {
    fill: async ({ write }) => void (await write('Property', listing('1'))),
    service: { connections: { ...DEFAULTS, ...connections } },
    listen,
  });

/** The address of a TLS surface, for a connection that does not use TLS. */
const plain = (address: string): string => address.replace('https', 'http');

/** Opens connections that send nothing; a connection leaves the set when it is closed. */
async function strangers(t: TestContext, address: string, count: number): Promise<Set<Socket>> {
  const sockets = new Set<Socket>();
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  // In batches, since the accept queue of the system is short.
  for (let at = 0; at < count; at += 100) {
    const some = Array.from({ length: Math.min(100, count - at) }, () => open(address));
    await Promise.all(
      some.map((socket) => {
        sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
        return once(socket.resume(), 'connect');
      }),
    );
  }
  return sockets;
}

async function metric(service: TestService, line: string): Promise<number> {
  const { text } = await service.get('admin', '/metrics', { token: await service.key('admin') });
  return Number(
    text
      .split('\n')
      .find((each) => each.startsWith(`${line} `))
      ?.slice(line.length + 1),
  );
}

test('50 connections that send nothing do not prevent a request', async (t) => {
  const service = await serve(t, {});
  const token = await service.key('replication');
  await strangers(t, service.addresses.replication, 50);
  assert.equal((await service.get('replication', PATH, { token })).status, 200);
  assert.equal(await metric(service, 'plat_connections{of="strangers"}'), 50);
  assert.equal(await metric(service, 'plat_connections{of="keys"}'), 1);
});

test('connections of one address beyond its limit close others of that address, but no connection of a key', async (t) => {
  const count = isFull ? 10_000 : 1000;
  const { total, perAddress } = isFull ? DEFAULTS : { total: 300, perAddress: 100 };
  const service = await serve(t, { total, perAddress });
  const token = await service.key('replication');
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const ask = async (): Promise<boolean> => {
    const headers = { authorization: `Bearer ${token}` };
    const sent = get(`${service.addresses.replication}${PATH}`, { agent, headers });
    const [answer] = await once(sent, 'response');
    answer.resume();
    await once(answer, 'end');
    assert.equal(answer.statusCode, 200);
    return sent.reusedSocket;
  };
  assert.equal(await ask(), false);
  const left = await strangers(t, service.addresses.replication, count);
  assert.equal(await ask(), true, 'the connection of the key was kept');
  assert.equal(
    (await service.get('replication', PATH, { token })).status,
    200,
    'a new connection is accepted',
  );
  assert.ok((await metric(service, 'plat_connections_closed_total{bound="address"}')) >= count - perAddress);
  assert.ok((await metric(service, 'plat_connections{of="strangers"}')) <= perAddress);
  while (left.size > perAddress) await new Promise(setImmediate);
});

test('when strangers use all connections, a key can still connect, and the admin port is not affected', async (t) => {
  const service = await serve(t, { total: 20, perAddress: 1000 });
  const token = await service.key('replication');
  const left = await strangers(t, service.addresses.replication, 60);
  assert.equal((await service.get('replication', PATH, { token })).status, 200);
  assert.equal((await service.get('api', '/v1/system', {})).status, 401);
  assert.ok((await metric(service, 'plat_connections_closed_total{bound="total"}')) >= 41);
  while (left.size > 20) await new Promise(setImmediate);
});

test('a connection without a complete request in time gets 408; one without a TLS handshake is closed', async (t) => {
  const service = await serve(t, { requestSeconds: 0.2 });
  const silent = readAnswer(await sendRaw(service.addresses.replication, ''));
  assert.equal(silent.status, 408);
  const slow = readAnswer(
    await sendRaw(service.addresses.replication, `GET ${PATH} HTTP/1.1\r\nHost: x\r\n`),
  );
  assert.equal(slow.status, 408);
  const secured = await serve(t, { requestSeconds: 0.2 }, { tls });
  const [unshaken] = await strangers(t, plain(secured.addresses.replication), 1);
  assert.ok(unshaken !== undefined);
  await once(unshaken, 'close');
});

test('a connection that is idle after a request is closed', async (t) => {
  const service = await serve(t, { idleSeconds: 0.1 });
  const token = await service.key('replication');
  const wire = await sendRaw(
    service.addresses.replication,
    `GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  assert.equal(readAnswer(wire).status, 200);
});

test('a TLS connection counts as a key’s after its first request, and strangers do not displace it', async (t) => {
  const service = await serve(t, { total: 4 }, { tls });
  const token = await service.key('replication');
  const { port } = new URL(service.addresses.replication);
  const socket = connectTls({ host: '127.0.0.1', port: Number(port), ca: tls.cert, servername: 'localhost' });
  t.after(() => socket.destroy());
  const ask = async (): Promise<string> => {
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    const [part] = await once(socket, 'data');
    return String(part).slice(0, 12);
  };
  assert.equal(await ask(), 'HTTP/1.1 200');
  await strangers(t, plain(service.addresses.replication), 12);
  assert.equal(await ask(), 'HTTP/1.1 200');
});
