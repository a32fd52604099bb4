/** Large responses on PostgreSQL: identical to those on SQLite, and safe when a client disconnects or stops reading. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { WRITE_LIMITS } from '../../src/store/write/time-limits.ts';
import { listing, room } from '../support/builders.ts';
import { postgresEngine } from '../support/postgres-engine.ts';
import { startTestService } from '../support/service.ts';
import type { World } from '../support/world.ts';

const PublicRemarks = 'A house with a view, »café« and more. '.repeat(100);

async function fill(world: World): Promise<void> {
  const keys = Array.from({ length: 210 }, (_, index) => `L${1000 + index}`);
  await world.write(
    'Property',
    ...keys.map((key, index) => listing(key, { PublicRemarks, ListPrice: index, Rooms: [room(`R${key}`)] })),
  );
}

const service = { trustProxy: true };
/** However slow the machine is, one commit stores all listings, so that both stores assign the same timestamps. */
const limits = { ...WRITE_LIMITS, elapsed: () => 0 };
const server = await startTestService({ after }, { fill, engine: postgresEngine(), service, limits });
const file = await startTestService({ after }, { fill, service, limits });
const token = await server.key('replication');
const fileToken = await file.key('replication');
/** Both services build their links from this host, so that responses can be compared. */
const host = 'feed.example';

const PROPERTY = '/Reso/OData/Property';
/** In the order in which a walk requests them. */
const PATHS = [
  `${PROPERTY}?$top=200&$count=true&$expand=Rooms`,
  `${PROPERTY}?$top=200&$count=true&$expand=Rooms&$skiptoken=L1009`,
  `${PROPERTY}?$top=200&$orderby=ListPrice desc`,
  `${PROPERTY}?$top=190&$filter=ListPrice ge 10`,
  `${PROPERTY}?$top=190&$filter=ListPrice ge 10&$skiptoken=L1012`,
  '/v1/listings?_limit=200&_expand=Rooms&_pagination=1',
  '/v1/listings?_limit=200&_skiptoken=L1009&_pagination=1',
];

test('large responses are byte for byte those of SQLite, plain and compressed', async () => {
  for (const path of PATHS) {
    const given = await file.get('replication', path, { token: fileToken, headers: { host } });
    const get = (headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
      server.get('replication', path, { token, method, headers: { host, ...headers } });
    const found = await get();
    assert.equal(found.status, 200);
    assert.ok(found.bytes.length > 700_000, `${found.bytes.length} bytes`);
    assert.equal(found.text, given.text, path);
    const length = given.headers['content-length'];
    assert.equal(found.headers['content-length'], length);
    const head = await get({}, 'HEAD');
    assert.deepEqual([head.headers['content-length'], head.text], [length, '']);
    const gzip = await get({ 'accept-encoding': 'gzip' });
    const packed = [gzip.headers['content-encoding'], gzip.headers['content-length']];
    assert.deepEqual(packed, ['gzip', String(gzip.bytes.length)]);
    assert.equal(gunzipSync(gzip.bytes).toString(), given.text);
    const zstd = await get({ 'accept-encoding': 'zstd' });
    assert.equal(zstdDecompressSync(zstd.bytes).toString(), given.text);
  }
});

/** Records of a megabyte each, which exceed the socket buffers; they are read on the only connection for searches. */
const doubled = ['PublicRemarks', ...Array.from({ length: 8 }, (_, index) => `X${index}`)];
const compute = doubled.slice(1).map((as, index) => `concat(${doubled[index]},${doubled[index]}) as ${as}`);
const LARGE = `${PROPERTY}?$top=40&$select=ListingKey,X7&$compute=${compute.join()}`.replaceAll(' ', '%20');

/** A connection whose response has begun and is not read any further. */
async function begun(): Promise<{ socket: Socket; first: Buffer }> {
  const { hostname, port } = new URL(server.addresses.replication);
  const socket = connect(Number(port), hostname);
  socket.write(`GET ${LARGE} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  const first = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
  socket.pause();
  assert.match(first.toString('latin1'), /^HTTP\/1.1 200 /);
  return { socket, first };
}

/** Reads to the end of the response or of the connection: the bytes received, and those that head and Content-Length promise. */
async function readOn({ socket, first }: { socket: Socket; first: Buffer }) {
  const head = first.toString('latin1').split('\r\n\r\n', 1)[0] ?? '';
  const promised = head.length + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
  let bytes = first.length;
  for await (const chunk of socket) {
    bytes += chunk.length;
    if (bytes >= promised) break;
  }
  socket.destroy();
  return { bytes, promised };
}

let price = 0;
/** A search that no earlier request has made, on the same database connection. */
const search = () =>
  server.get('replication', `${PROPERTY}?$top=1&$filter=ListPrice eq ${price++}`, { token });

test('when a client disconnects halfway, the database connection serves the next request', async () => {
  const { socket } = await begun();
  socket.destroy();
  assert.equal((await search()).status, 200);
});

test('a client that pauses reading delays no other request, and receives the whole response afterwards', async () => {
  const slow = await begun();
  assert.equal((await search()).status, 200);
  const { bytes, promised } = await readOn(slow);
  assert.ok(promised > 30_000_000);
  assert.equal(bytes, promised);
});

test('a page with a stored text that is no longer valid JSON is refused with 503 until it is repaired', async () => {
  const flip = (key: string, from: string, to: string) =>
    server.damage(
      `UPDATE property_texts SET idx_values = replace(idx_values, 'more. ${from}', 'more. ${to}') WHERE _key = '${key}'`,
    );
  const pages = [PATHS[0], PATHS[2], PATHS[5]].map((path) => path ?? '');
  const ask = (path: string, encoding = 'identity') =>
    server.get('replication', path, { token, headers: { 'accept-encoding': encoding } });
  for (const key of ['L1050', 'L1150']) {
    await flip(key, '"', '#');
    for (const path of pages) {
      for (const encoding of ['identity', 'gzip'])
        assert.equal((await ask(path, encoding)).status, 503, path);
    }
    await flip(key, '#', '"');
    for (const path of pages) assert.equal((await ask(path)).status, 200);
  }
});
