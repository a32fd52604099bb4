/** The memory of bodies, while clients that read slowly have not taken all of them, and once they have. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import { after, test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { BodyPart } from '../../../src/service/exchange.ts';
import { compressBody } from '../../../src/service/reply/compress.ts';
import { send } from '../../../src/service/reply/send.ts';
import { deflatedList, deflatePartNow } from '../../../src/shared/gzip-member.ts';

/** More than the system takes for a client that reads nothing. */
const LARGE = 24 * 1024 * 1024;

/** What the next request gets, and what happens to its memory once `send` has no more use for it. */
let next: { readonly body: readonly BodyPart[]; readonly spent: () => void } = {
  body: [],
  spent: () => undefined,
};
const server = createServer((request, response) => {
  const sender = { reportWaiting: () => undefined, reportRead: () => undefined, end: () => undefined };
  void send(
    response,
    { status: 200, headers: { 'content-type': 'application/json' }, body: next.body },
    { requestId: 'r', now: 0 },
    {
      method: 'GET',
      acceptEncoding: request.headers['accept-encoding'],
      taking: { holds: () => undefined, sender },
      spent: next.spent,
    },
  );
}).listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());

/** A response of which only the head has been read. */
async function begun(encoding: string): Promise<IncomingMessage> {
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const [response]: IncomingMessage[] = await once(
    get({ port: address.port, headers: { 'accept-encoding': encoding } }),
    'response',
  );
  assert.ok(response !== undefined);
  assert.equal(response.headers['content-encoding'], encoding);
  return response;
}

async function read(response: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part);
  return Buffer.concat(parts);
}

test('the memory of a body that is made of deflated parts is not released before the client has read it', async () => {
  const text = randomBytes(LARGE);
  const part = deflatePartNow(text, 1);
  next = { body: [deflatedList([part])], spent: () => part.bytes.fill(0) };
  const slow = await begun('gzip');
  assert.ok(gunzipSync(await read(slow)).equals(text));
});

test('the memory of a compressed body is not used for another one before the client has read it', async () => {
  const texts = [randomBytes(LARGE), randomBytes(LARGE)];
  let released = 0;
  const spent = (): void => void released++;
  const answers: IncomingMessage[] = [];
  for (const text of texts) {
    next = { body: [text], spent };
    answers.push(await begun('zstd'));
  }
  assert.equal(released, 2, 'what was compressed is released at once');
  for (const [index, answer] of answers.entries()) {
    assert.ok(texts[index]?.equals(zstdDecompressSync(await read(answer))));
  }
});

test('compressed bodies that were sent leave no memory to the garbage collector', async () => {
  const text = randomBytes(2 * 1024 * 1024);
  const before = process.memoryUsage().arrayBuffers;
  for (let round = 0; round < 20; round++) (await compressBody('zstd', [text]))?.release();
  const grown = process.memoryUsage().arrayBuffers - before;
  assert.ok(grown < 4 * text.length, `${grown} bytes`);
});
