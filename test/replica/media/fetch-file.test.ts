/** Fetching one file from one URL, whatever its host. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  networkTransport,
  type Transport,
  type TransportRequest,
} from '../../../src/replica/http/transport.ts';
import { type FileRequest, fetchFile } from '../../../src/replica/media/fetch-file.ts';
import { type Handler, listen, type Reply } from '../support/loopback.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';

const MINUTE = 60_000;

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

interface Asked {
  readonly clock?: ManualClock;
  readonly request?: Partial<FileRequest>;
}

function ask(transport: Transport, address: string, { clock = manualClock(), request = {} }: Asked = {}) {
  const { signal } = new AbortController();
  return fetchFile(
    { transport, clock, random: () => 0.5 },
    { address, signal, egress: 'any', largest: 1000, isImage: false, ...request },
    async (content, type) => ({ text: await textOf(content), type }),
  );
}

async function server(t: TestContext, handler: Handler) {
  const loopback = await listen(t, handler);
  const transport = networkTransport();
  t.after(() => transport.close());
  return { ...loopback, transport };
}

test('five redirects of a file are followed, and a sixth is rejected', async (t) => {
  const { origin, seen, transport } = await server(t, ({ path }): Reply => {
    const left = Number(path.slice(1));
    return left === 0
      ? { headers: { 'content-type': 'image/png' }, body: 'picture' }
      : { status: 302, headers: { location: `/${left - 1}` } };
  });
  assert.deepEqual(await ask(transport, `${origin}/5`), { text: 'picture', type: 'image/png' });
  seen.length = 0;
  await assert.rejects(ask(transport, `${origin}/9?signature=secret`), {
    kind: 'rejected',
    message: `${origin}/9 redirects more than 5 times`,
  });
  assert.equal(seen.length, 6);
});

test('a redirect into a private network is refused', async (t) => {
  const { seen, origin, transport } = await server(t, () => ({ body: 'secret' }));
  const outside: Transport = async (request) =>
    request.url.startsWith('http://1.1.1.1/')
      ? { status: 301, headers: { location: `${origin}/metrics` }, body: emptyBody() }
      : transport(request);
  await assert.rejects(ask(outside, 'http://1.1.1.1/a.jpg', { request: { egress: 'public' } }), {
    kind: 'refused',
    message: '127.0.0.1 is in a private network; --media-private-hosts allows it',
  });
  assert.deepEqual(seen, []);
});

test('an address other than a web URL is rejected, also in a redirect', async (t) => {
  const { origin, transport } = await server(t, ({ query }) => ({
    status: 302,
    headers: { location: query.get('to') ?? '' },
  }));
  for (const address of [
    'file:///etc/passwd',
    'data:image/png;base64,AA==',
    'not a url',
    '//x/y',
    'http://',
  ]) {
    const refusal = { kind: 'rejected', message: `${address} is not the URL of a file` };
    await assert.rejects(ask(transport, address), refusal);
  }
  for (const to of ['file:///etc/passwd', 'http://']) {
    await assert.rejects(ask(transport, `${origin}/?to=${to}`), {
      kind: 'rejected',
      message: `${to} is not the URL of a file`,
    });
  }
});

test('partial content and an empty response are rejected', async (t) => {
  const { origin, transport } = await server(t, ({ path }) => ({
    status: Number(path.slice(1)),
    body: 'part',
  }));
  for (const status of [204, 206]) {
    await assert.rejects(ask(transport, `${origin}/${status}`), { kind: 'rejected', status });
  }
  assert.equal((await ask(transport, `${origin}/203`)).text, 'part');
});

test('a file whose declared size is too large is not read; one that is shorter than declared is an error', async (t) => {
  const { origin, transport } = await server(t, ({ path }) =>
    path === '/large' ? { body: 'x'.repeat(1001) } : { body: 'x'.repeat(900), cutAfter: 100 },
  );
  let isTaken = false;
  const { signal } = new AbortController();
  const request = {
    address: `${origin}/large`,
    signal,
    egress: 'any',
    largest: 1000,
    isImage: false,
  } as const;
  const taking = fetchFile({ transport, clock: manualClock(), random: () => 0.5 }, request, async () => {
    isTaken = true;
  });
  await assert.rejects(taking, { kind: 'too-large', message: 'The file is larger than 1000 bytes' });
  assert.equal(isTaken, false);
  await assert.rejects(ask(transport, `${origin}/cut`), { kind: 'transient' });
});

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

/** A host that sends a piece each time the clock has moved. */
function dripping(clock: ManualClock, piece: Uint8Array, step: number, pieces: number): Transport {
  async function* body({ signal }: TransportRequest): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < pieces; at++) {
      yield piece;
      await clock.advance(step);
      signal.throwIfAborted();
    }
  }
  return async (request) => ({ status: 200, headers: {}, body: body(request) });
}

test('a file that drips is abandoned after a minute, even though data keeps coming', async () => {
  const clock = manualClock();
  const began = clock.now();
  const drip = dripping(clock, Buffer.from('x'), 2000, 1000);
  await assert.rejects(ask(drip, 'http://a.example/', { clock }), {
    kind: 'transient',
    message: 'The file arrived too slowly: 30 bytes in 60 s',
  });
  assert.equal(clock.now() - began, MINUTE);
});

test('a file that makes enough progress every minute is read, for half an hour at most', async () => {
  const piece = Buffer.alloc(256 * 1024, 'x');
  const clock = manualClock();
  const { text } = await ask(dripping(clock, piece, MINUTE, 29), 'http://a.example/', { clock });
  assert.equal(text.length, 29 * piece.length);
  const other = manualClock();
  await assert.rejects(ask(dripping(other, piece, MINUTE, 100), 'http://a.example/', { clock: other }), {
    kind: 'transient',
    message: `The file arrived too slowly: ${30 * piece.length} bytes in 1800 s`,
  });
});

test('a host that never answers, or never ends its redirect, is abandoned after a minute', async (t) => {
  const clock = manualClock();
  const { origin, transport } = await server(t, ({ path }) => {
    void Promise.resolve().then(() => clock.advance(MINUTE));
    return path === '/silent'
      ? new Promise(() => undefined)
      : { status: 302, headers: { location: '/x' }, body: 'x', stalls: true };
  });
  for (const path of ['/silent', '/stalls']) {
    await assert.rejects(ask(transport, `${origin}${path}`, { clock }), {
      kind: 'transient',
      message: 'The file arrived too slowly: 0 bytes in 60 s',
    });
  }
});

test('a body that stalls on the real network is abandoned, and its connection is closed', async (t) => {
  const clock = manualClock();
  const { origin, open, transport } = await server(t, () => ({ body: 'beginning', stalls: true }));
  const { signal } = new AbortController();
  const request = { address: `${origin}/`, signal, egress: 'any', largest: 1000, isImage: false } as const;
  const taking = fetchFile({ transport, clock, random: () => 0.5 }, request, async (content) => {
    for await (const _ of content) void clock.advance(MINUTE);
  });
  await assert.rejects(taking, { message: 'The file arrived too slowly: 9 bytes in 60 s' });
  while (open() > 0) await new Promise((resolve) => setImmediate(resolve));
});
