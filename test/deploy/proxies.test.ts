/** nginx and Caddy, configured as in `deploy/` (with other ports and certificates), in front of `plat serve --trust-proxy`. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request as plainRequest } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { place, type Running } from '../cli/run.ts';
import { addressesOf } from '../cli/serving.ts';
import type { Scope } from '../support/engine.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryFile } from '../support/temporary.ts';
import { type Json, objectOf } from '../support/world.ts';
import { deployed, replaced, unlessHere, whereIs } from './tools.ts';

type Surface = 'api' | 'replication' | 'floorplans';
const PORTS = { api: '8080', replication: '8081', floorplans: '8082' } as const;
const SURFACES = ['api', 'replication', 'floorplans'] as const;
const MISSING = { nginx: unlessHere('nginx', 'nginx-light'), caddy: unlessHere('caddy') };
const PEM = fileURLToPath(new URL('../service/http/tls/', import.meta.url));

const REMARKS = 'Sunny, with a view of the lake. '.repeat(100);
const KEYS = Array.from({ length: 500 }, (_, index) => String(1001 + index));

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: string;
}
interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  readonly json: Json;
}

/** The service behind the proxies, and the token of each surface. */
interface Behind {
  readonly running: Running;
  readonly ports: Readonly<Record<Surface, string>>;
  readonly tokens: Readonly<Record<Surface, string>>;
}

/** A running proxy. */
interface Proxy {
  readonly https: number;
  readonly http: number;
  /** Its error log, and the files to which it has buffered responses. */
  faults(): string;
}

function ask(
  { secure, host, port }: { readonly secure: boolean; readonly host: string; readonly port: number | string },
  path: string,
  { headers = {}, method = 'GET', body }: Asked = {},
): Promise<Answer> {
  const options = { host: '127.0.0.1', port, path, method, headers: { host: `${host}:${port}`, ...headers } };
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = secure
    ? request({ ...options, servername: host, rejectUnauthorized: false })
    : plainRequest(options);
  sent.on('response', (response) => {
    const parts: Buffer[] = [];
    response.on('data', (part: Buffer) => parts.push(part)).on('error', reject);
    response.on('end', () => {
      const bytes = Buffer.concat(parts);
      const text = (response.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
      const { statusCode: status = 0, headers: given } = response;
      resolve({
        status,
        headers: given,
        bytes,
        text,
        get json() {
          return objectOf(text);
        },
      });
    });
  });
  sent.on('error', reject).end(body);
  return promise;
}

async function startService(scope: Scope): Promise<Behind> {
  const at = place(scope);
  const records = KEYS.map((ListingKey) => ({
    ListingKey,
    StandardStatus: 'Active',
    PublicRemarks: REMARKS,
  }));
  at.file('l.ndjson', records);
  await at.done(['import', '--store', 'm.db', 'l.ndjson']);
  const token = async (kind: Surface, ...args: readonly string[]): Promise<string> => {
    const line = ['key', 'create', '--store', 'm.db', '--name', kind, '--kind', kind, ...args];
    return (await at.done(line)).trimEnd();
  };
  const tokens = {
    api: await token('api'),
    replication: await token('replication'),
    floorplans: await token('floorplans', '--system', 'M1'),
  };
  const any = ['--api-port', '0', '--replication-port', '0', '--floorplans-port', '0', '--admin-port', '0'];
  const running = at.start(['serve', '--store', 'm.db', '--trust-proxy', '--log-level', 'warn', ...any]);
  const addresses = await addressesOf(running);
  const port = (surface: Surface): string => new URL(addresses[surface] ?? '').port;
  return {
    running,
    ports: { api: port('api'), replication: port('replication'), floorplans: port('floorplans') },
    tokens,
  };
}

const killLater = (scope: Scope, pidFile: string): void => {
  scope.after(() => {
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGTERM');
  });
};

async function startNginx(scope: Scope, { ports }: Behind): Promise<Proxy> {
  const folder = temporaryFile('');
  mkdirSync(folder);
  const [https, http] = [await freePort(), await freePort()];
  const site = replaced(deployed('nginx.conf'), {
    'listen 443 ssl': `listen 127.0.0.1:${https} ssl`,
    'listen 80;': `listen 127.0.0.1:${http};`,
    '    listen [::]:443 ssl http2;\n': '',
    '    listen [::]:80;\n': '',
    '/etc/letsencrypt/live/example.org/fullchain.pem': `${PEM}certificate.pem`,
    '/etc/letsencrypt/live/example.org/privkey.pem': `${PEM}key.pem`,
    '127.0.0.1:8080': `127.0.0.1:${ports.api}`,
    '127.0.0.1:8081': `127.0.0.1:${ports.replication}`,
    '127.0.0.1:8082': `127.0.0.1:${ports.floorplans}`,
  });
  writeFileSync(join(folder, 'plat.conf'), site);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const main = `user root;
    worker_processes 1;
    pid ${folder}/pid;
    error_log ${folder}/errors warn;
    events {}
    http { access_log off; ${paths.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')} include plat.conf; }`;
  writeFileSync(join(folder, 'nginx.conf'), main);
  // The command returns when the ports are open, and leaves a daemon running.
  execFileSync(whereIs('nginx') ?? '', [
    '-p',
    folder,
    '-e',
    `${folder}/errors`,
    '-c',
    `${folder}/nginx.conf`,
  ]);
  killLater(scope, join(folder, 'pid'));
  return {
    https,
    http,
    faults: () => readFileSync(join(folder, 'errors'), 'utf8') + readdirSync(join(folder, 'proxy')).join(),
  };
}

async function startCaddy(scope: Scope, { ports }: Behind): Promise<Proxy> {
  const folder = temporaryFile('');
  mkdirSync(folder);
  const [https, http] = [await freePort(), await freePort()];
  const global = `{
	admin off
	http_port ${http}
	https_port ${https}
	local_certs
	skip_install_trust
	default_bind 127.0.0.1
	log {
		output file ${folder}/log
		level WARN
	}
}
`;
  const changes = Object.fromEntries(SURFACES.map((name) => [`:${PORTS[name]}`, `:${ports[name]}`]));
  writeFileSync(join(folder, 'Caddyfile'), global + replaced(deployed('Caddyfile'), changes));
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const args = ['start', '--config', 'Caddyfile', '--adapter', 'caddyfile', '--pidfile', `${folder}/pid`];
  // The command returns when Caddy serves, and leaves a daemon running.
  execFileSync(whereIs('caddy') ?? '', args, { cwd: folder, env, stdio: 'ignore' });
  killLater(scope, join(folder, 'pid'));
  return { https, http, faults: () => '' };
}

const STARTS = { nginx: startNginx, caddy: startCaddy };

const skip = Object.values(MISSING).every((why) => why !== false)
  ? 'there is neither nginx nor caddy'
  : false;

test('proxies in front of one service', { skip }, async (t) => {
  const scope: Scope = { after: (work) => t.after(work) };
  const behind = await startService(scope);
  const whileDown: ((t: TestContext) => Promise<void>)[] = [];
  for (const name of ['nginx', 'caddy'] as const) {
    await t.test(name, { skip: MISSING[name] }, async (inner) => {
      const proxy = await STARTS[name](scope, behind);
      await passesThrough(inner, name, proxy, behind);
      whileDown.push(async () => refusesWhileDown(proxy, behind));
    });
  }
  behind.running.child.kill('SIGTERM');
  await behind.running.ended;
  for (const test of whileDown)
    await t.test('while the service is down, a proxy returns 503 with Retry-After', test);
});

async function refusesWhileDown({ https: port }: Proxy, { tokens }: Behind): Promise<void> {
  const headers = { authorization: `Bearer ${tokens.api}` };
  const at = { secure: true, host: 'api.example.org', port };
  const { status, headers: given, json } = await ask(at, '/v1/listings', { headers });
  assert.deepEqual([status, given['retry-after']], [503, '5']);
  assert.deepEqual(json, { error: { code: '503', message: 'The service is temporarily unavailable.' } });
}

async function passesThrough(t: TestContext, name: string, proxy: Proxy, behind: Behind): Promise<void> {
  const hostOf = (surface: Surface): string => `${surface}.example.org`;
  const withToken = (surface: Surface, asked: Asked): Asked => {
    return { ...asked, headers: { authorization: `Bearer ${behind.tokens[surface]}`, ...asked.headers } };
  };
  const through = (surface: Surface, path: string, asked: Asked = {}): Promise<Answer> =>
    ask({ secure: true, host: hostOf(surface), port: proxy.https }, path, withToken(surface, asked));
  /** Sends the same request without the proxy. */
  const direct = (surface: Surface, path: string, asked: Asked = {}): Promise<Answer> =>
    ask({ secure: false, host: '127.0.0.1', port: behind.ports[surface] }, path, withToken(surface, asked));
  const own = (surface: Surface): string => `https://${hostOf(surface)}:${proxy.https}`;
  /** Asserts that the proxy returns the response of the service, with its own URLs. */
  const alike = async (surface: Surface, path: string, asked: Asked = {}): Promise<Answer> => {
    const [one, other] = [await through(surface, path, asked), await direct(surface, path, asked)];
    const expected = other.text.replaceAll(`http://127.0.0.1:${behind.ports[surface]}`, own(surface));
    assert.deepEqual([one.status, one.text], [other.status, expected], path);
    return one;
  };

  await t.test('links contain the requested host, even if the client forges forwarded headers', async () => {
    const forged = {
      forwarded: 'host=evil.example;proto=http',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      'x-forwarded-port': '666',
    };
    const keys: unknown[] = [];
    let path: string | undefined = '/Reso/OData/Property?$top=200&$select=ListingKey';
    while (path !== undefined) {
      const { json }: Answer = await through('replication', path, { headers: forged });
      assert.ok(Array.isArray(json.value), JSON.stringify(json));
      keys.push(...json.value.map(({ ListingKey }) => ListingKey));
      const next: unknown = json['@odata.nextLink'];
      assert.ok(next === undefined || String(next).startsWith(`${own('replication')}/Reso/OData/Property?`));
      path = typeof next === 'string' ? next.slice(own('replication').length) : undefined;
    }
    assert.deepEqual(keys, KEYS);
    const { json: usual } = await through('api', '/Reso/OData/', {
      headers: { ...forged, host: hostOf('api') },
    });
    assert.equal(usual['@odata.context'], 'https://api.example.org/Reso/OData/$metadata');
    for (const surface of ['api', 'floorplans'] as const) {
      const root = surface === 'api' ? '/Reso/OData' : '/Reso';
      const { json } = await through(surface, `${root}/`, { headers: forged });
      assert.equal(json['@odata.context'], `${own(surface)}${root}/$metadata`);
    }
  });

  await t.test('a large response passes unchanged, compressed by the service or not at all', async () => {
    const path = '/Reso/OData/Property?$top=1000';
    const whole = await alike('replication', path);
    assert.ok(whole.bytes.length > 1_600_000);
    assert.equal(whole.headers['content-encoding'], undefined);
    const headers = { 'accept-encoding': 'gzip' };
    const packed = await through('replication', path, { headers });
    assert.deepEqual([packed.headers['content-encoding'], packed.text], ['gzip', whole.text]);
    const vary = 'Authorization, Accept, Accept-Encoding, Prefer';
    assert.equal(packed.headers.vary, vary);
    assert.match(String(packed.headers['cache-control']), /private/);
  });

  await t.test('ETags, HEAD, superfluous slashes, errors and posted queries pass unchanged', async () => {
    const { headers } = await alike('api', "/Reso/OData/Property('1001')");
    const tag = String(headers.etag);
    assert.match(tag, /^W\//);
    const again = await alike('api', "/Reso/OData/Property('1001')", { headers: { 'if-none-match': tag } });
    assert.equal(again.status, 304);
    const head = await through('api', '/Reso/OData/Property?$top=3', { method: 'HEAD' });
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.ok(Number(head.headers['content-length']) > 3 * REMARKS.length);
    await alike('api', '/Reso/OData//Property/?$top=1&$select=ListingKey');
    await alike('api', "/Reso/OData/Property?$filter=City eq 'Zug' and".replaceAll(' ', '%20'));
    const body = `$filter=ListingKey in (${KEYS.map((key) => `'${key}'`).join()})&$select=ListingKey`;
    const type = { 'content-type': 'text/plain' };
    await alike('api', '/Reso/OData/Property/$query', { method: 'POST', body, headers: type });
    await alike('api', '/v1/listings?_limit=1&_select=ListingKey');
    const stranger = await through('api', '/v1/listings', { headers: { authorization: '' } });
    assert.equal(stranger.status, 401);
    assert.match(String(stranger.headers['www-authenticate']), /^Bearer/);
  });

  await t.test('long URLs and long headers reach the service', async () => {
    const list = Array.from({ length: 1950 }, (_, at) => `'${1001 + at}'`).join();
    const path = `/Reso/OData/Property?$select=ListingKey&$top=1000&$filter=ListingKey%20in%20(${list})`;
    assert.ok(path.length > 13_000);
    const { json } = await through('replication', path);
    assert.equal(Array.isArray(json.value) ? json.value.length : json, KEYS.length);
    const long = await alike('replication', `${path}${'&x=y'.repeat(1500)}`);
    assert.equal(long.status, 414);
    assert.equal(
      (await through('api', '/v1/system', { headers: { 'x-long': 'a'.repeat(20_000) } })).status,
      200,
    );
  });

  await t.test('the proxy supports HTTP/2', async () => {
    const socket = connectTls({
      host: '127.0.0.1',
      port: proxy.https,
      servername: 'api.example.org',
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
    });
    const session = connectHttp2(own('api'), { createConnection: () => socket });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const stream = session.request({
      ':path': '/Reso/OData/Property?$select=ListingKey&$top=1',
      authorization: `Bearer ${behind.tokens.api}`,
    });
    let text = '';
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    stream.on('end', () => resolve(text)).on('error', reject);
    const json = objectOf(await promise);
    session.close();
    const { value, '@odata.context': context } = json;
    assert.deepEqual(
      [value, context],
      [[{ ListingKey: '1001' }], `${own('api')}/Reso/OData/$metadata#Property(ListingKey)`],
    );
  });

  await t.test('without TLS, a request is redirected or refused', async () => {
    const plainly = (path: string): Promise<Answer> =>
      ask({ secure: false, host: 'api.example.org', port: proxy.http }, path);
    const root = await plainly('/');
    assert.match(String(root.headers.location), /^https:\/\/api\.example\.org/);
    assert.equal((await plainly('/v1/listings')).status, name === 'nginx' ? 403 : 308);
  });

  assert.equal(proxy.faults(), '');
}
