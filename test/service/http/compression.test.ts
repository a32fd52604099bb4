/** Accept-Encoding (contract, Surfaces; RFC 9110, 12.5.3). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { brotliDecompressSync, createGunzip, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { listing, photo } from '../../support/builders.ts';
import { type Answer, startTestService } from '../../support/service.ts';

const text = (index: number): string => `Listing ${index} – eine Wohnung für “alle” 🏠. `.repeat(20);
const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      const listings = Array.from({ length: 60 }, (_, index) =>
        listing(`L${index}`, { PublicRemarks: text(index), Media: [photo(`P${index}`)] }),
      );
      await write('Property', ...listings);
    },
    readers: { pageReaders: 1, searchReaders: 1 },
  },
);
const token = await service.key('replication');
const PATH = '/v1/listings?_limit=1000&_expand=Photos';
const ask = (encoding?: string, path = PATH): Promise<Answer> =>
  service.get('replication', path, {
    token,
    headers: encoding === undefined ? {} : { 'accept-encoding': encoding },
  });
const plain = await ask();

const DECODERS = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync };

test('gzip, br and zstd decode to the same bytes, and have a Content-Length', async () => {
  assert.equal(plain.headers['content-encoding'], undefined);
  for (const [encoding, decode] of Object.entries(DECODERS)) {
    const answer = await ask(encoding);
    assert.equal(answer.headers['content-encoding'], encoding);
    assert.equal(answer.headers['content-length'], String(answer.bytes.length));
    assert.ok(answer.bytes.length < plain.bytes.length / 3, encoding);
    assert.ok(decode(answer.bytes).equals(plain.bytes), encoding);
  }
});

test('a gzip body is a single member, since some clients stop after the first', async () => {
  const { bytes } = await ask('gzip');
  const unpacked: Buffer[] = [];
  const gunzip = createGunzip();
  gunzip.on('data', (part: Buffer) => unpacked.push(part));
  await new Promise((resolve, reject) => {
    gunzip.on('end', resolve).on('error', reject);
    gunzip.end(bytes);
  });
  assert.equal(Buffer.concat(unpacked).length, plain.bytes.length);
  // The length in the trailer is that of the whole body, so there is only one member.
  assert.equal(bytes.readUInt32LE(bytes.length - 4), plain.bytes.length);
});

test('the encoding is the one that the client prefers, or none if it accepts no known one', async () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['gzip, deflate', 'gzip'],
    ['gzip;q=0.5, br;q=0.9', 'br'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['*', 'zstd'],
    ['gzip;q=0', undefined],
    ['gzip;q=0, *', 'zstd'],
    ['identity', undefined],
    ['deflate', undefined],
    ['', undefined],
  ];
  for (const [header, expected] of cases) {
    assert.equal((await ask(header)).headers['content-encoding'], expected, header);
  }
});

test('a small response is not compressed', async () => {
  const { headers, text: body } = await ask('gzip', '/v1/listings/L1?_select=ListingKey');
  assert.equal(headers['content-encoding'], undefined);
  assert.match(body, /"ListingKey":"L1"/);
});

test('the ETag is the same for every encoding', async () => {
  const path = '/v1/listings/L1?_expand=Photos';
  const [one, other] = [await ask(undefined, path), await ask('br', path)];
  assert.equal(one.headers['content-encoding'], undefined);
  assert.equal(other.headers['content-encoding'], 'br');
  assert.equal(one.headers.etag, other.headers.etag);
});

test('pages that are compressed concurrently are not mixed up', async () => {
  const encodings = Array.from({ length: 30 }, (_, index) => ['gzip', 'br', 'zstd'][index % 3] ?? 'gzip');
  const answers = await Promise.all(
    encodings.map((encoding, index) => ask(encoding, `${PATH}&_skiptoken=L${index}`)),
  );
  for (const [index, { bytes, headers }] of answers.entries()) {
    const decode = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync }[
      headers['content-encoding'] ?? ''
    ];
    const decoded = decode === undefined ? bytes : decode(bytes);
    const alone = await ask(undefined, `${PATH}&_skiptoken=L${index}`);
    assert.ok(decoded.equals(alone.bytes), `L${index}`);
  }
});
