/** Clients that disconnect early, pipelined requests, and the shutdown of a service. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { listing } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { open, readAnswer } from './raw.ts';

const LISTINGS = 400;
const fill = async ({ write }: Pick<TestService, 'write'>): Promise<void> => {
  const remarks = 'A house with a view. '.repeat(190);
  const records = Array.from({ length: LISTINGS }, (_, index) =>
    listing(String(1000 + index), { PublicRemarks: remarks }),
  );
  await write('Property', ...records);
};
const readers = { pageReaders: 1, searchReaders: 1 };
const PATH = '/v1/listings?_limit=1000';

const service = await startTestService({ after }, { fill, readers });
const token = await service.key('replication');

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const memory = async (): Promise<number> => {
  for (let round = 0; round < 3; round++) {
    collectGarbage();
    await setImmediate();
  }
  const { arrayBuffers, external } = process.memoryUsage();
  return arrayBuffers + external;
};

test('clients that disconnect in the middle of a page leak no memory', async () => {
  const head = `GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`;
  const { text } = await service.get('replication', PATH, { token });
  assert.ok(text.length > 1_500_000);
  const leave = (headers: string): Promise<void> =>
    new Promise((resolve) => {
      const socket = open(service.addresses.replication);
      socket.once('data', () => socket.destroy());
      socket.on('error', () => undefined).on('close', () => resolve());
      socket.write(`${head}${headers}\r\n`);
    });
  const leaveOften = async (): Promise<void> => {
    for (let round = 0; round < 20; round++) {
      await Promise.all([leave(''), leave('Accept-Encoding: gzip\r\n')]);
    }
    const again = await service.get('replication', PATH, { token });
    assert.ok(again.text === text);
  };
  await leaveOften();
  const before = await memory();
  await leaveOften();
  // 40 pages of 1.7 MB were requested and not read.
  const grown = (await memory()) - before;
  assert.ok(grown < 15_000_000, `${grown / 1e6} MB`);
  assert.equal(await metric(service, 'plat_requests_running'), 1);
});

test('a service survives clients that disconnect before the response', async () => {
  for (let round = 0; round < 20; round++) {
    await new Promise<void>((resolve) => {
      const socket = open(service.addresses.replication);
      socket.on('error', () => undefined).on('close', () => resolve());
      socket.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`, () =>
        socket.resetAndDestroy(),
      );
    });
  }
  assert.equal((await service.get('replication', '/v1/listings', { token })).status, 200);
});

test('a connection with too many pipelined requests is closed before all are answered', async () => {
  const one = `GET /v1/listings?_limit=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const ask = async (times: number): Promise<number> => {
    const socket = open(service.addresses.replication);
    let text = '';
    socket
      .on('error', () => undefined)
      .on('data', (part: Buffer) => {
        text += part.toString('latin1');
        if (answers() === times) socket.end();
      });
    const answers = (): number => text.split('HTTP/1.1 200 ').length - 1;
    socket.write(one.repeat(times));
    await new Promise((resolve) => socket.on('close', resolve));
    return answers();
  };
  assert.equal(await ask(100), 100);
  assert.ok((await ask(2000)) < 2000);
});

test('200 pipelined requests do not delay a request on another connection until all are answered', async () => {
  const one = `GET /Reso/OData/Property('1000')?$select=ListingKey HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const many = open(service.addresses.replication);
  const single = open(service.addresses.replication);
  let answers = 0;
  many.on('data', (part: Buffer) => (answers += part.toString('latin1').split('HTTP/1.1 200 ').length - 1));
  many.write(one.repeat(200));
  await once(many, 'data');
  single.write(one);
  await once(single, 'data');
  assert.ok(answers < 100, `${answers} of 200 came first`);
  many.destroy();
  single.destroy();
});

test('pipelined requests are answered in order', async () => {
  const one = (limit: number): string =>
    `GET /v1/listings?_limit=${limit}&_select=ListingKey HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${limit === 3 ? 'Connection: close\r\n' : ''}\r\n`;
  const socket = open(service.addresses.replication);
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.write(one(1) + one(2) + one(3));
  await new Promise((resolve) => socket.on('close', resolve));
  const wire = Buffer.concat(parts).toString();
  const bodies = [...wire.matchAll(/\{"D":.*?\}\}(?=HTTP|$)/gs)].map(([body]) => JSON.parse(body));
  assert.deepEqual(
    bodies.map(({ D }) => D.SkipToken),
    ['1000', '1001', '1002'],
  );
});

async function metric({ addresses }: TestService, name: string): Promise<number> {
  const text = await (await fetch(`${addresses.admin}/metrics`)).text();
  const [, value] = new RegExp(`^${name} (\\d+)$`, 'm').exec(text) ?? [];
  assert.ok(value, `no metric ${name}`);
  return Number(value);
}

interface Gate {
  readonly service: TestService;
  /** Starts requests that wait until the gate is open. */
  ask(count: number): Promise<readonly Promise<number>[]>;
  open(): void;
  /** Closes the store and everything else that is still open. */
  end(): Promise<void>;
}

/** A service whose requests for a window wait, because another process holds the write lock. */
async function gatedService(closingPatience: number): Promise<Gate> {
  const works: (() => Promise<void> | void)[] = [];
  const gate = Promise.withResolvers<void>();
  const clock = testClock();
  const gated = await startTestService(
    { after: (work) => void works.push(work) },
    {
      fill,
      clock,
      listen: { closingPatience },
      service: { clock: { now: clock.now, sleep: () => gate.promise } },
    },
  );
  clock.advance(60_000);
  const other = new DatabaseSync(gated.store.name);
  const key = await gated.key('replication');
  other.exec('BEGIN IMMEDIATE');
  const agent = new Agent({ keepAlive: true });
  const url = `${gated.addresses.replication}${PATH}&_filter=ModificationTimestamp+Lt+2026-06-01T12:00:30Z`;
  const one = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part)).on('error', reject);
        response.on('end', () => {
          assert.equal(response.headers.connection, 'close', 'no more requests on this connection');
          const { D } = JSON.parse(Buffer.concat(parts).toString());
          resolve(D.Results.length);
        });
      });
      sent.on('error', reject).end();
    });
  return {
    service: gated,
    async ask(count) {
      const asked = Array.from({ length: count }, one);
      for (const each of asked) each.catch(() => undefined);
      // The request for the metrics counts as running, too.
      while ((await metric(gated, 'plat_requests_running')) < count + 1) await setImmediate();
      return asked;
    },
    open: () => {
      other.close();
      gate.resolve();
    },
    end: async () => {
      for (const work of works) await work();
    },
  };
}

test('a closing service completes running requests and accepts no new connections', async () => {
  const gated = await gatedService(60_000);
  const running = await gated.ask(8);
  let closed = false;
  const closing = gated.service.service.close().then(() => {
    closed = true;
  });
  const late = request(`${gated.service.addresses.replication}/v1/listings`).end();
  const [refused] = await once(late, 'error');
  assert.equal(refused.code, 'ECONNREFUSED');
  assert.equal(closed, false);
  gated.open();
  const pages = await Promise.all(running);
  assert.deepEqual(
    pages,
    pages.map(() => LISTINGS),
  );
  await closing; // although the keep-alive time is more than a minute
  await gated.end();
});

test('a closing service sends a response to its end, also to a client that has read little of it', async () => {
  const closing = await startTestService({ after }, { fill, readers });
  const doubled = ['PublicRemarks', 'X0', 'X1', 'X2', 'X3', 'X4'];
  const compute = doubled.slice(1).map((as, index) => `concat(${doubled[index]},${doubled[index]}) as ${as}`);
  const path = `/Reso/OData/Property?$top=100&$select=X4&$compute=${compute.join()}`.replaceAll(' ', '%20');
  const key = await closing.key('replication');
  const client = open(closing.addresses.replication).pause();
  client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  while ((await metric(closing, 'plat_answer_bytes_waiting')) < 1_000_000) await setImmediate();
  const closed = closing.service.close();
  const parts: Buffer[] = [];
  client.on('data', (part: Buffer) => parts.push(part));
  await once(client.resume(), 'close');
  const { status, headers, bytes } = readAnswer(Buffer.concat(parts).toString('latin1'));
  assert.deepEqual([status, bytes.length], [200, Number(headers['content-length'])]);
  assert.ok(bytes.length > 12_000_000);
  await closed;
});

test('a closing service aborts requests that do not end in time', async () => {
  const gated = await gatedService(100);
  const running = await gated.ask(3);
  await gated.service.service.close();
  for (const each of running) await assert.rejects(each, { code: 'ECONNRESET' });
  gated.open();
  await gated.end();
});
