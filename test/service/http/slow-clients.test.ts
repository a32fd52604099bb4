/** Clients that request large responses and do not read them: they are refused, then disconnected, and delay no other key. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { listing } from '../../support/builders.ts';
import type { Scope } from '../../support/engine.ts';
import { postgresEngine } from '../../support/postgres-engine.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../../support/service.ts';
import type { World } from '../../support/world.ts';
import { open } from './raw.ts';

const FULL = process.env.PLAT_FULL === '1';
const CONNECTIONS = FULL ? 50 : 8;
const MEGABYTE = 1024 * 1024;
/** The maximum number of unread megabytes of a key. */
const MOST = 8;

const PublicRemarks = 'A house with a view, and more. '.repeat(120);
async function fill({ write }: World): Promise<void> {
  const keys = Array.from({ length: 300 }, (_, index) => String(1000 + index));
  await write('Property', ...keys.map((key) => listing(key, { PublicRemarks })));
}

/** Records of half a megabyte each. */
const doubled = ['PublicRemarks', ...Array.from({ length: 7 }, (_, index) => `X${index}`)];
const compute = doubled.slice(1).map((as, index) => `concat(${doubled[index]},${doubled[index]}) as ${as}`);
const LARGE = `/Reso/OData/Property?$top=24&$select=ListingKey,X6&$compute=${compute.join()}`.replaceAll(
  ' ',
  '%20',
);
/** Several of these pages exceed the socket buffers. */
const PAGES = '/v1/listings?_limit=300';

const limits = {
  api: { requests: 1_000_000, seconds: 60 },
  replication: { requests: 1_000_000, seconds: 60 },
};
const service = {
  budget: { ...SERVICE_DEFAULTS.budget, megabytes: MOST },
  pace: { bytesPerSecond: 100_000, seconds: 1 },
  limits: { ...SERVICE_DEFAULTS.limits, ...limits },
};

async function metric({ service: running }: TestService, pattern: RegExp): Promise<number> {
  const text = await running.metrics.text();
  return [...text.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0);
}
const WAITING = /^plat_answer_bytes_waiting (\d+)$/gm;
const CUT = /^plat_clients_cut_total\{surface="replication"\} (\d+)$/gm;

interface Attack {
  readonly options: TestServiceOptions;
  readonly path: string;
  /** The number of requests that a connection pipelines. */
  readonly times: number;
  /** Whether the limit of unread bytes is reached before a client is disconnected. */
  readonly fills: boolean;
  readonly connect?: (address: string) => Socket;
}

async function attacked(
  scope: Scope,
  { options, path, times, fills, connect = open }: Attack,
): Promise<void> {
  const world = await startTestService(scope, { fill, service, ...options });
  const [greedy, modest] = [await world.key('replication'), await world.key('replication')];
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${greedy}\r\n\r\n`;
  const sockets = Array.from({ length: CONNECTIONS }, () => {
    const socket = connect(world.addresses.replication);
    socket.on('error', () => undefined).pause();
    socket.write(request.repeat(times));
    return socket;
  });
  const ask = async (token: string): Promise<number> => {
    if (connect === open)
      return (await world.get('replication', "/Reso/OData/Property('1001')", { token })).status;
    const line = `GET /Reso/OData/Property('1001') HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;
    const socket = connect(world.addresses.replication);
    socket.write(line);
    const parts: Buffer[] = [];
    for await (const part of socket) parts.push(part);
    return Number(Buffer.concat(parts).toString('latin1').slice(9, 12));
  };
  let most = 0;
  let refused = 0;
  for (let cut = 0; cut === 0; ) {
    assert.equal(await ask(modest), 200, 'another key is answered meanwhile');
    if ((await ask(greedy)) === 429) refused++;
    most = Math.max(most, await metric(world, WAITING));
    cut = await metric(world, CUT);
  }
  if (fills) assert.ok(refused > 0, 'the greedy key is refused');
  // Requests that began before the limit was reached add a response per thread or connection.
  assert.ok(most < (MOST + 4 * 12) * MEGABYTE, `${most / MEGABYTE} MB waited`);
  // Disconnected clients use no more memory; others were refused, or their responses fit into the socket buffers.
  while ((await metric(world, WAITING)) > MOST * MEGABYTE) assert.equal(await ask(modest), 200);
  for (const socket of sockets) socket.destroy();
  while ((await metric(world, WAITING)) > 0) assert.equal(await ask(modest), 200);
  assert.equal(await ask(greedy), 200, 'the key is answered again once nothing is unread');
}

const readers = { pageReaders: 1, searchReaders: 2 };
const pem = (name: string): Buffer => readFileSync(new URL(`./tls/${name}.pem`, import.meta.url));
const tls = { cert: pem('certificate'), key: pem('key') };
const secure = (address: string): Socket => {
  const { port } = new URL(address);
  return connectTls({ host: '127.0.0.1', port: Number(port), ca: tls.cert, servername: 'localhost' });
};

describe('clients that read nothing', { concurrency: false }, () => {
  const onlyFull = { skip: FULL ? false : 'with PLAT_FULL=1' };
  const large = { path: LARGE, times: 1 };
  const pages = { path: PAGES, times: 20, fills: false };
  it('are disconnected: large responses, SQLite', (t) =>
    attacked(t, { ...large, fills: true, options: { readers } }));
  it('are disconnected: large responses, PostgreSQL', (t) =>
    attacked(t, { ...large, fills: true, options: { engine: postgresEngine() } }));
  it('are disconnected: pipelined pages, SQLite', onlyFull, (t) =>
    attacked(t, { ...pages, options: { readers } }),
  );
  it('are disconnected: pipelined pages, PostgreSQL', onlyFull, (t) =>
    attacked(t, { ...pages, options: { engine: postgresEngine() } }),
  );
  it('are disconnected: large responses over TLS', onlyFull, (t) =>
    attacked(t, { ...large, fills: true, options: { readers, listen: { tls } }, connect: secure }),
  );
});

describe('clients that read slowly', () => {
  it('get the complete response if they keep the minimum pace', async (t) => {
    const world = await startTestService(t, { fill, service, readers });
    const token = await world.key('replication');
    const whole = await world.get('replication', LARGE, { token });
    assert.equal(whole.status, 200);
    const socket = open(world.addresses.replication);
    socket.write(
      `GET ${LARGE} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
    );
    let bytes = 0;
    let head = 0;
    for await (const part of socket) {
      if (bytes === 0) head = part.toString('latin1').indexOf('\r\n\r\n') + 4;
      bytes += part.length;
      await setImmediate();
    }
    assert.equal(bytes - head, whole.bytes.length);
    assert.equal(await metric(world, CUT), 0);
  });
});
