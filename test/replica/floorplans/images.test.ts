/** Images of floor plans, whose URLs and names are not trusted. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ImageFolder, type ImageOutcome } from '../../../src/replica/floorplans/images.ts';
import type { Egress } from '../../../src/replica/http/egress-policy.ts';
import { networkTransport } from '../../../src/replica/http/transport.ts';
import { fileNameOf } from '../../../src/replica/media/fetch-file.ts';
import { place } from '../../cli/run.ts';
import { testClock } from '../../support/clock.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { type Handler, json, listen, type Reply } from '../support/loopback.ts';

const LARGEST = 1000;
const MINUTE = 60_000;
const PICTURE = { headers: { 'content-type': 'image/png' }, body: 'picture' };

async function images(t: TestContext, handler: Handler, egress: Egress = 'public') {
  const server = await listen(t, handler);
  const transport = networkTransport();
  t.after(() => transport.close());
  const folder = temporaryFile('');
  // Waits between retries take no time, and the time limit of a slow file never expires.
  const sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
    milliseconds < MINUTE
      ? Promise.resolve()
      : new Promise((done) => signal?.addEventListener('abort', () => done()));
  const environment = { clock: { ...testClock(), sleep }, random: () => 0, transport };
  const { signal } = new AbortController();
  const root = new URL(`${server.origin}/Reso/`);
  const own = new ImageFolder({ environment, signal, folder, root, egress, largest: LARGEST });
  const get = (MediaURL: string | null, MediaKey = 'P'): Promise<ImageOutcome> =>
    own.download({ MediaKey, MediaURL });
  return { ...server, folder, get, stored: (): string[] => readdirSync(folder).toSorted() };
}

test('an image of the service itself is fetched; one at another private address is not, however the address is written', async (t) => {
  const other = await listen(t, () => PICTURE);
  const { port } = new URL(other.origin);
  const { origin, folder, get, stored } = await images(
    t,
    ({ path, query }): Reply =>
      path === '/to' ? { status: 302, headers: { location: query.get('to') ?? '' } } : PICTURE,
  );
  assert.deepEqual(await get(`${origin}/plan.png`, 'A'), { kind: 'stored', path: join(folder, 'A.png') });
  assert.equal(readFileSync(join(folder, 'A.png'), 'utf8'), 'picture');
  assert.deepEqual(await get(null), { kind: 'none' });
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
  ]) {
    for (const url of [
      `http://${host}:${port}/x`,
      `${origin}/to?to=${encodeURIComponent(`http://${host}:${port}/x`)}`,
    ]) {
      const outcome = await get(url);
      assert.match(outcome.kind === 'failed' ? outcome.reason : outcome.kind, /is in a private network/, url);
    }
  }
  for (const url of [
    'http://169.254.169.254/latest/',
    'http://168.63.129.16/',
    'http://[fe80::1]/',
    'http://100.100.100.200/',
  ])
    assert.equal((await get(url)).kind, 'failed', url);
  for (const url of ['file:///etc/passwd', 'no address', 'data:image/png;base64,AA==', '//x', 'http://'])
    assert.deepEqual(await get(url), { kind: 'failed', reason: `${url} is not the URL of a file` });
  assert.deepEqual(other.seen, []);
  assert.deepEqual(stored(), ['A.png']);

  const allowed = await images(t, () => PICTURE, 'any');
  assert.equal((await allowed.get(`${other.origin}/x`)).kind, 'stored');
});

test('an image that is too large, empty, missing or truncated is rejected, whatever its headers, and leaves nothing behind', async (t) => {
  const bomb = gzipSync(Buffer.alloc(10_000_000));
  const replies: Readonly<Record<string, Reply>> = {
    '/declared': { body: 'x'.repeat(LARGEST + 1) },
    '/bomb': { headers: { 'content-encoding': 'gzip', 'content-length': String(bomb.length) }, body: bomb },
    '/empty': { body: '' },
    '/gone': { status: 404, body: 'gone' },
    '/cut': { headers: { 'content-length': '500' }, body: 'x'.repeat(500), cutAfter: 100 },
    '/sign-in': { headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<html>Sign in</html>' },
    '/ok': { body: 'x'.repeat(LARGEST) },
  };
  const { origin, get, stored } = await images(t, ({ path }) => replies[path] ?? { status: 500 });
  const reasons: Readonly<Record<string, RegExp>> = {
    '/declared': /^The file is larger than 1000 bytes$/,
    '/bomb': /^The file is larger than 1000 bytes$/,
    '/empty': /^The file is empty$/,
    '/gone': /^404: gone$/,
    '/cut': /./,
    '/sign-in': /^the response is text\/html; charset=utf-8 instead of an image$/,
  };
  for (const [path, reason] of Object.entries(reasons)) {
    const outcome = await get(`${origin}${path}`);
    assert.match(outcome.kind === 'failed' ? outcome.reason : outcome.kind, reason, path);
  }
  assert.equal((await get(`${origin}/ok`, 'ok')).kind, 'stored');
  assert.deepEqual(stored(), ['ok.bin']);
});

test('a host that fails repeatedly is no longer asked; the other hosts are', async (t) => {
  const dead = await listen(t, () => ({ status: 503 }));
  const { origin, get } = await images(t, () => PICTURE, 'any');
  for (let at = 0; at < 3; at++) assert.equal((await get(`${dead.origin}/${at}`)).kind, 'failed');
  const asked = dead.seen.length;
  const { host } = new URL(dead.origin);
  assert.deepEqual(await get(`${dead.origin}/more`), {
    kind: 'failed',
    reason: `${host} is no longer requested: it failed 3 times in a row`,
  });
  assert.equal(dead.seen.length, asked);
  assert.equal((await get(`${origin}/a`)).kind, 'stored');
});

test('names of files: no key leads out of the folder, is a special name or too long, or shares its name with another key', () => {
  const keys = [
    ...[
      'plain-1',
      '..',
      '.',
      '',
      '../../etc/passwd',
      '/etc/passwd',
      'a\\b',
      'a\0b',
      'a\nb',
      '-rf',
      '.hidden',
      'CON',
      'nul.x',
    ],
    ...[
      'é',
      'e\u0301',
      'ABC',
      'abc',
      'Abc',
      'a:b',
      'a/b',
      'a b',
      'x'.repeat(255),
      `${'x'.repeat(254)}y`,
      '日本'.repeat(100),
    ],
    ...['\u202egpj.exe', '\u001b[2J', 'lpt1', 'a'.repeat(120), '%2e%2e', '~', '$(id)'],
  ];
  const names = new Set<string>();
  for (const key of keys) {
    const name = fileNameOf(key, 'png', (each) => names.has(each));
    assert.match(name, /^[A-Za-z0-9_][A-Za-z0-9_.-]*\.png$/, JSON.stringify(key));
    assert.ok(Buffer.byteLength(name) <= 255, name);
    assert.doesNotMatch(name, /^(con|nul|lpt\d)\./i);
    assert.equal(names.has(name.toLowerCase()), false, `${JSON.stringify(key)} shares ${name}`);
    names.add(name.toLowerCase());
  }
  assert.equal(
    fileNameOf('plain-1', 'png', () => false),
    'plain-1.png',
  );
});

for (const [what, isSkipping] of [
  ['serves smaller pages than requested, without links', true],
  ['ignores $skip', false],
] as const) {
  test(`plat floorplans: every record once from a service that ${what}`, async (t) => {
    const at = place(t);
    const plans = ['A', 'B', 'C', 'D', 'E'].map((MediaKey) => ({ MediaKey }));
    const server = await listen(t, ({ query }): Reply => {
      const skip = isSkipping ? Number(query.get('$skip') ?? 0) : 0;
      return json({ value: plans.slice(skip, isSkipping ? skip + 2 : undefined) });
    });
    const source = ['--from', `${server.origin}/Reso`, '--token', 'secret', '--system', 'S'];
    const out = await at.done(['floorplans', ...source]);
    assert.deepEqual(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
      plans,
    );
  });
}

test('plat floorplans: one bad image does not end the command; all others are stored, and it exits with 1', async (t) => {
  const at = place(t);
  let root = '';
  const server = await listen(t, ({ path, query }): Reply => {
    if (path !== '/Reso/Media') return path.endsWith('.png') ? PICTURE : { status: 404, body: 'gone' };
    const record = (MediaKey: string, MediaURL: unknown) => ({ MediaKey, MediaURL, MediaType: 'png' });
    if (query.get('$skip') === '2') return json({ value: [record('C', `${root}/c.png`)] });
    return json({
      value: [
        record('A', 'http://127.0.0.1:1/a.png'),
        record('../B\u001b[2J', `${root}/b.png`),
        record('G', `${root}/g`),
        record('N', 7),
      ],
      '@odata.nextLink': `${root}/Reso/Media?$skip=2`,
    });
  });
  root = server.origin;
  const command = [
    'floorplans',
    '--from',
    `${root}/Reso`,
    '--token',
    'secret',
    '--system',
    'S',
    '--out',
    'plans',
  ];
  const { code, out, err } = await at.run(command);
  assert.equal(code, 1);
  assert.deepEqual(err.trimEnd().split('\n'), [
    'A: 127.0.0.1 is in a private network; --media-private-hosts allows it',
    'G: 404: gone',
    'N: its MediaURL is not a string',
    '5 floor plan records, 2 images in plans, 3 could not be fetched',
  ]);
  assert.equal(out.trimEnd().split('\n').length, 5);
  assert.deepEqual(readdirSync(at.path('plans')).length, 2);
  assert.ok(readdirSync(at.path('plans')).includes('C.png'));
  // The token is sent with requests for records of the service, never with one for an image.
  const tokens = new Set(
    server.seen.map(({ path, headers }) => [path === '/Reso/Media', headers.authorization].join()),
  );
  assert.deepEqual([...tokens].toSorted(), ['false,', 'true,Bearer secret']);
});
