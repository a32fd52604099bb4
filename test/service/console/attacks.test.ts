/** Attacks on the console from other sites, host names and paths, and the headers and size of the built page. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { startTestService } from '../../support/service.ts';
import { resoFault } from '../http/envelopes.ts';
import { sendRaw } from '../http/raw.ts';
import { startBrowser, withoutChromium } from './browser.ts';

const BUILT = fileURLToPath(new URL('../../../dist/console/', import.meta.url));

const service = await startTestService({ after });
const base = service.addresses.admin;
const token = await service.key('admin');

const post = (path: string, headers: Readonly<Record<string, string>>, body = '{}') =>
  service.get('admin', path, { method: 'POST', headers, body });

async function cookie(...more: readonly string[]): Promise<string> {
  const headers = { origin: base, ...(more[0] === undefined ? {} : { cookie: more[0] }) };
  const answer = await post('/session', headers, JSON.stringify({ token }));
  assert.equal(answer.status, 200, answer.text);
  return answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}

test('a page of another site can neither log in nor make a key, by script or by form', async () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded', cookie: await cookie() };
  const key = '{"name":"evil","kind":"admin","role":"private"}';
  const sites: readonly Readonly<Record<string, string>>[] = [
    { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    {},
  ];
  for (const from of sites) {
    const answers = [
      await post('/session', { ...form, ...from }, JSON.stringify({ token })),
      await post('/keys', { ...form, ...from }, key),
    ];
    for (const answer of answers)
      assert.deepEqual(resoFault(answer).slice(0, 2), [403, 'otherSite'], JSON.stringify(from));
  }
  const host = `evil.example:${new URL(base).port}`;
  for (const path of ['/session', '/keys']) {
    const rebound = await post(path, { ...form, host, origin: `http://${host}` }, key);
    assert.deepEqual(resoFault(rebound).slice(0, 2), [421, 'hostUnknown']);
  }
  assert.deepEqual(
    (await service.store.keys.list()).filter(({ name }) => name === 'evil'),
    [],
  );
});

test('a new login ends the previous session of the browser', async () => {
  const first = await cookie();
  const second = await cookie(first);
  const status = async (given: string) =>
    (await service.get('admin', '/status', { headers: { cookie: given } })).status;
  assert.deepEqual([await status(first), await status(second)], [401, 200]);
});

test('a token in a URL is refused, and no path leads out of the folder of the page', async () => {
  for (const path of ['/console/', '/console/listing/1', '/session', '/status'])
    assert.equal((await service.get('admin', `${path}?token=${token}`)).status, 400, path);
  const page = readFileSync(`${BUILT}index.html`, 'utf8');
  for (const path of [
    '/console/../../package.json',
    '/console/..%2f..%2fpackage.json',
    '/console/%2e%2e/%2e%2e/package.json',
    '/console//etc/passwd',
    '/console/..\\..\\package.json',
    '/console/__proto__',
  ]) {
    const lines = [`GET ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', '', ''];
    const [head = '', ...body] = (await sendRaw(base, lines.join('\r\n'))).toString().split('\r\n\r\n');
    assert.deepEqual([head.slice(0, 12), body.join('')], ['HTTP/1.1 200', page], path);
  }
  for (const path of ['/console/assets/../index.html', '/console/assets/x.js'])
    assert.equal((await service.get('admin', path)).status, 404, path);
});

test('the page has a strict content security policy, refuses framing, and is revalidated; assets are immutable', async () => {
  const { headers } = await service.get('admin', '/console/explore');
  assert.equal(
    headers['content-security-policy'],
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  );
  assert.equal(headers['x-frame-options'], 'DENY');
  assert.equal(headers['referrer-policy'], 'no-referrer');
  assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
  assert.equal(headers['cache-control'], 'private, no-cache');
  const [script = ''] = readdirSync(`${BUILT}assets`).filter((name) => name.endsWith('.js'));
  const asset = await service.get('admin', `/console/assets/${script}`);
  assert.equal(asset.headers['cache-control'], 'public, max-age=31536000, immutable');
  for (const path of [
    '/status',
    '/as/role/private/api/Reso/OData/Property',
    '/as/role/idx/api/v1/listings',
  ]) {
    const answer = await service.get('admin', path, { token });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-security-policy'], "default-src 'none'; frame-ancestors 'none'");
    assert.equal(answer.headers['access-control-allow-origin'], undefined);
    assert.equal(answer.headers['cross-origin-resource-policy'], 'same-origin');
  }
});

/** Another service on the same host, to which a browser sends the same cookies. @returns its port */
async function otherService(): Promise<number> {
  const page = `<iframe src="${base}/console/"></iframe>
    <form method="post" action="${base}/keys" enctype="text/plain">
    <input name='{"name":"evil","kind":"admin","role":"private","x":"' value='"}'></form>`;
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(page);
  });
  after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

test(
  'in a browser, a page of another service can neither frame the console nor use its session',
  { skip: withoutChromium },
  async () => {
    const browser = await startBrowser();
    try {
      const context = await browser.newContext();
      const [name = '', value = ''] = (await cookie()).split('=');
      await context.addCookies([{ name, value, url: base, httpOnly: true, sameSite: 'Strict' }]);
      const evil = await context.newPage();
      const refused = evil.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()));
      await evil.goto(`http://127.0.0.1:${await otherService()}/`);
      await refused;
      const posted = evil.waitForResponse(`${base}/keys`);
      await evil.evaluate('document.forms[0].submit()');
      assert.equal((await posted).status(), 403, 'the cookie is sent, but not accepted');
      assert.deepEqual(
        (await service.store.keys.list()).filter((key) => key.name === 'evil'),
        [],
      );
    } finally {
      await browser.close();
    }
  },
);

test('the scripts that the first page loads are below 200 KB, compressed', () => {
  const page = readFileSync(`${BUILT}index.html`, 'utf8');
  const first = [...page.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+\.js)"/g)].map(
    ([, file = '']) => file,
  );
  assert.ok(first.length > 0, page);
  const loaded = new Set<string>();
  const load = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    // Static imports are loaded with the script, dynamic ones only when they are needed.
    const text = readFileSync(`${BUILT}${file}`, 'utf8');
    for (const [, name = ''] of text.matchAll(
      /(?:^|[;}])import\s*(?:[\w$*{},\s]+?from\s*)?["']\.\/([^"']+\.js)["']/g,
    ))
      load(`assets/${name}`);
  };
  for (const file of first) load(file);
  const bytes = [...loaded].reduce((sum, file) => sum + gzipSync(readFileSync(`${BUILT}${file}`)).length, 0);
  assert.ok(bytes < 200_000, `${[...loaded].join(', ')}: ${bytes} bytes`);
});
