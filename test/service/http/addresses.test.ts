/** The URLs that the service builds (contract, Surfaces, Served files): listeners, hosts, proxies, TLS. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request as requestSecurely } from 'node:https';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { baseAddress, listenerAddress } from '../../../src/service/http/base-address.ts';
import type { ListenOptions } from '../../../src/service/http/listen.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { type Service, startService } from '../../../src/service/service.ts';
import { floorPlan, listing } from '../../support/builders.ts';
import { freePort } from '../../support/free-port.ts';
import { processorTime } from '../../support/processor-time.ts';
import { type Answer, startTestService, type TestServiceOptions } from '../../support/service.ts';
import type { World } from '../../support/world.ts';
import { nativeFault, resoFault } from './envelopes.ts';

const fill = async ({ write }: World): Promise<void> => {
  const own = { OriginatingSystemID: 'M1' };
  await write('Property', listing('1', { ...own, Media: [floorPlan('F1')] }), listing('2', own));
};
const world = await startTestService({ after }, { fill });

/** A further service over the same store. */
async function another(
  listen: Partial<ListenOptions>,
  service: TestServiceOptions['service'] = {},
): Promise<Service> {
  const { store, clock } = world;
  const ports = { api: 0, replication: 0, floorplans: 0, admin: 0 };
  const log = pino({ level: 'silent' });
  const started = await startService(
    { ...SERVICE_DEFAULTS, store, clock, log, ...service },
    { host: '127.0.0.1', adminHost: '127.0.0.1', ports, ...listen },
  );
  after(() => started.close());
  return started;
}

const [api, replication, floorplans] = [
  await world.key('api'),
  await world.key('replication'),
  await world.key('floorplans', { systems: ['M1'] }),
];

/** The base of the service's URLs in the responses of each interface. */
async function addressesIn(
  base: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Record<string, string>> {
  const ask = async (path: string): Promise<Answer> => {
    const answer = await world.get('api', `${base}${path}`, { token: api, headers });
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };
  const page = (await ask('/Reso/OData/Property?$top=2&$select=ListingKey')).json;
  const next = (await ask('/Reso/OData/Property?$select=ListingKey')).json;
  const photos = await ask('/v1/listings/1/photos');
  const [, photo = ''] = /"UriLarge":"([^"]*)"/.exec(photos.text) ?? [];
  assert.ok(photo.includes('/media/'), photos.text);
  return {
    context: String(page['@odata.context']).replace(/\/Reso.*/, ''),
    again: String(next['@odata.context']).replace(/\/Reso.*/, ''),
    photo: photo.replace(/\/media\/.*/, ''),
  };
}

const same = (base: string): unknown => ({ context: base, again: base, photo: base });

test('without a trusted proxy, URLs use the listener’s address and ignore Host, Forwarded and X-Forwarded-*', async () => {
  const base = world.addresses.api;
  const lies = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    'x-forwarded-port': '99',
    forwarded: 'host=evil.example;proto=https',
  };
  assert.deepEqual(await addressesIn(base), same(base));
  assert.deepEqual(await addressesIn(base, lies), same(base));
  const refused = await world.get('api', `${base}/v1/listings`, { token: replication, headers: lies });
  const message = `A replication key must use the replication host: ${world.addresses.replication}`;
  assert.deepEqual(nativeFault(refused), [403, 1021, message]);
});

test('a configured public URL is the address of its surface, even behind a trusted proxy', async () => {
  const publicUrls = { api: 'https://api.example/mls', replication: 'https://replication.example' };
  const { addresses } = await another({}, { publicUrls, trustProxy: true });
  assert.deepEqual(addresses, {
    ...addresses,
    api: 'https://api.example/mls',
    replication: 'https://replication.example',
  });
});

test('every URL in a response begins with the configured public URL', async () => {
  const publicUrls = { api: 'https://api.example/mls', replication: 'https://replication.example' };
  const port = await freePort();
  await another({ ports: { api: port, replication: 0, floorplans: 0, admin: 0 } }, { publicUrls });
  const base = `http://127.0.0.1:${port}`;
  const lies = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };
  assert.deepEqual(await addressesIn(base, lies), same('https://api.example/mls'));
  const refused = await world.get('api', `${base}/v1/listings`, { token: replication });
  const message = 'A replication key must use the replication host: https://replication.example';
  assert.deepEqual(nativeFault(refused), [403, 1021, message]);
});

test('with a trusted proxy, the forwarded host and scheme form the URLs', async () => {
  const { addresses } = await another({}, { trustProxy: true });
  const forwarded = { 'x-forwarded-host': 'feed.example', 'x-forwarded-proto': 'https' };
  assert.deepEqual(await addressesIn(addresses.api, forwarded), same('https://feed.example'));
  assert.deepEqual(
    await addressesIn(addresses.api, { host: 'feed.example:8443' }),
    same('http://feed.example:8443'),
  );
  // The proxy appends its own entry; the client may have forged the ones before it.
  const chain = { 'x-forwarded-host': 'a.example, b.example', 'x-forwarded-proto': 'http, https' };
  assert.deepEqual(await addressesIn(addresses.api, chain), same('https://b.example'));
  const standard = { forwarded: 'for="[2001:db8::1]:4711";host="feed.example:8443";proto=https' };
  assert.deepEqual(await addressesIn(addresses.api, standard), same('https://feed.example:8443'));
});

/** The base URL for a request through a proxy. */
const through = (headers: Readonly<Record<string, string | undefined>>): string =>
  baseAddress({ host: '127.0.0.1', port: 8080, secure: false }, undefined, true, {
    arrival: '127.0.0.1',
    headers,
  });
const OWN = 'http://127.0.0.1:8080';

test('a forwarded host or scheme is used only if it is valid', () => {
  for (const host of ['a/b', 'a b', 'a"b', '', 'ä.example', 'a@b', 'a?b', 'a#b', '::1', '[x]', 'a:', 'a:b']) {
    assert.equal(through({ 'x-forwarded-host': host, host: 'x' }), OWN, host);
    assert.equal(through({ forwarded: `host="${host.replaceAll('"', '\\"')}"`, host: 'x' }), OWN, host);
    assert.equal(through({ host }), OWN, host);
  }
  for (const scheme of ['javascript', 'ftp', '', 'https://a']) {
    assert.equal(through({ 'x-forwarded-host': 'a.example', 'x-forwarded-proto': scheme }), OWN, scheme);
  }
  for (const host of ['a', 'a.example.', 'A_b-c.example:1', '192.0.2.1', '[2001:db8::1]', '[::1]:8443']) {
    assert.equal(through({ 'x-forwarded-host': host }), `http://${host}`);
    assert.equal(through({ forwarded: `host="${host}"` }), `http://${host}`);
    assert.equal(through({ host, forwarded: 'proto=HTTPS' }), `https://${host}`);
  }
});

test('X-Forwarded-Port applies if the host has no port, unless it is the default port or invalid', () => {
  const said = { 'x-forwarded-host': 'a.example', 'x-forwarded-proto': 'https' };
  const at = (port: string, more = {}): string => through({ ...said, 'x-forwarded-port': port, ...more });
  assert.equal(at('8443'), 'https://a.example:8443');
  assert.equal(at('1, 8443'), 'https://a.example:8443');
  assert.equal(at('8443', { 'x-forwarded-host': 'a.example:99' }), 'https://a.example:99');
  assert.equal(at('8443', { 'x-forwarded-host': '[::1]' }), 'https://[::1]:8443');
  for (const usual of ['443', '80', 'x', '', '8443/x']) assert.equal(at(usual), 'https://a.example', usual);
});

test('Forwarded is parsed by RFC 7239; the last of several hops counts, and X-Forwarded-* comes first', () => {
  const cases: readonly (readonly [header: string, host: string])[] = [
    ['host=a.example', 'http://a.example'],
    ['HOST="a.example";Proto=HTTPS', 'https://a.example'],
    ['for=_hidden;by=unknown;host=a.example;proto=https', 'https://a.example'],
    ['for="[2001:db8:cafe::17]:4711" ; host = a.example', 'http://inner'],
    ['for="[2001:db8:cafe::17]:4711" ; host=a.example', 'http://a.example'],
    ['host="a\\.example"', 'http://a.example'],
    ['for="a, host=evil.example;\\"";host=a.example', 'http://a.example'],
    ['host=evil.example;proto=https, for=192.0.2.1', 'http://inner'],
    ['host=evil.example, host=a.example;proto=https', 'https://a.example'],
    ['host=evil.example,for=_x;proto=https', 'https://inner'],
    ['host=a.example;host=b.example', 'http://inner'],
    ['host="a.example', 'http://inner'],
    ['host=a.example"', 'http://inner'],
    ['host', 'http://inner'],
    ['host=', 'http://inner'],
    ['host=[::1]', 'http://inner'],
    ['', 'http://inner'],
    [';,;host=a.example;', 'http://a.example'],
    ['host=a.example,', 'http://inner'],
  ];
  for (const [forwarded, base] of cases) assert.equal(through({ forwarded, host: 'inner' }), base, forwarded);
  // A proxy that sets X-Forwarded-* passes on a client's Forwarded header.
  const both = { forwarded: 'host=evil.example;proto=https', host: 'inner' };
  assert.equal(through({ ...both, 'x-forwarded-host': 'a.example' }), 'http://a.example');
  assert.equal(through({ ...both, 'x-forwarded-proto': 'http' }), 'http://inner');
  const started = processorTime();
  for (const text of ['; ', 'a=b;', 'for="', '"\\', 'a', ' ,', 'host=a '])
    through({ forwarded: text.repeat(20_000) });
  assert.ok(processorTime() - started < 2000);
});

test('on a wildcard listener, the URL has the local address of the connection', () => {
  const listener = { host: '::', port: 8080, secure: false };
  const cases = [
    ['192.0.2.7', 'http://192.0.2.7:8080'],
    ['::ffff:192.0.2.7', 'http://192.0.2.7:8080'],
    ['2001:db8::7', 'http://[2001:db8::7]:8080'],
    ['fe80::1%eth0', 'http://[fe80::1]:8080'],
    [undefined, 'http://localhost:8080'],
  ] as const;
  for (const [arrival, base] of cases) {
    assert.equal(baseAddress(listener, undefined, false, { arrival, headers: { host: 'x' } }), base);
  }
});

test('on a wildcard listener, each client gets links to the address that it used, even if clients alternate', async () => {
  const { addresses } = await another({ host: '::' });
  const { port } = new URL(addresses.api);
  assert.equal(addresses.api, `http://localhost:${port}`);
  const bases = ['127.0.0.1', '127.0.0.2', '[::1]'].map((host) => `http://${host}:${port}`);
  const ask = async (url: string, token: string, headers = {}): Promise<Answer> =>
    world.get('api', url, { token, headers });
  const tags = new Map<string, string>();
  for (let round = 0; round < 3; round++) {
    for (const base of bases) {
      assert.deepEqual(await addressesIn(base), same(base));
      // The filter list and the position in it are shared; the links are not.
      const path = `/Reso/OData/Property?$filter=ListingKey ge '1'&$orderby=ListPrice&$top=1`;
      const { port: replicates } = new URL(addresses.replication);
      const walk = base.replace(port, replicates);
      const first = await ask(`${walk}${path.replaceAll(' ', '%20')}`, replication);
      const link = String(first.json['@odata.nextLink']);
      assert.ok(link.startsWith(`${walk}/Reso/OData/Property?`), link);
      assert.equal((await ask(link, replication)).status, 200);
      const record = `${base}/Reso/OData/Property('1')?$expand=Media`;
      const { headers, text } = await ask(record, api);
      assert.ok(text.includes(`"${base}/media/`), text);
      for (const other of bases) assert.equal(text.includes(`${other}/`), other === base);
      tags.set(base, String(headers.etag));
      const [refused, message] = nativeFault(await ask(`${base}/v1/listings`, replication)).toSpliced(1, 1);
      assert.deepEqual([refused, message], [403, `A replication key must use the replication host: ${walk}`]);
    }
  }
  assert.equal(new Set(tags.values()).size, bases.length, 'different responses have different tags');
  for (const base of bases) {
    for (const [of, tag] of tags) {
      const { status } = await ask(`${base}/Reso/OData/Property('1')?$expand=Media`, api, {
        'if-none-match': tag,
      });
      assert.equal(status, of === base ? 304 : 200);
    }
  }
});

test('the address of a wildcard or IPv6 listener is a URL that can be requested', () => {
  const at = (host: string): string => listenerAddress({ host, port: 80, secure: true });
  assert.deepEqual(['0.0.0.0', '::', '::1'].map(at), [
    'https://localhost:80',
    'https://localhost:80',
    'https://[::1]:80',
  ]);
});

test('one listener distinguishes the public surfaces by Host', async () => {
  const hosts = { api: 'api.example', replication: 'replication.example', floorplans: 'plans.example' };
  const { addresses } = await another({ hosts });
  const port = new URL(addresses.api).port;
  assert.deepEqual(addresses, {
    api: `http://api.example:${port}`,
    replication: `http://replication.example:${port}`,
    floorplans: `http://plans.example:${port}`,
    admin: addresses.admin,
  });
  const ask = (host: string, path: string, token: string): Promise<Answer> =>
    world.get('api', `http://127.0.0.1:${port}${path}`, { token, headers: { host } });
  assert.equal((await ask('api.example', '/v1/listings', api)).status, 200);
  assert.equal((await ask('API.example:80', '/v1/listings', api)).status, 200);
  assert.equal((await ask('replication.example', '/v1/listings', replication)).status, 200);
  assert.equal((await ask('plans.example', '/Reso/Media', floorplans)).status, 200);
  assert.deepEqual(
    nativeFault(await ask('replication.example', '/v1/listings', api)).slice(0, 2),
    [403, 1500],
  );
  assert.deepEqual(nativeFault(await ask('api.example', '/v1/listings', replication)), [
    403,
    1021,
    `A replication key must use the replication host: http://replication.example:${port}`,
  ]);
  for (const host of ['other.example', '127.0.0.1', 'admin.example']) {
    const native = await ask(host, '/v1/listings', api);
    assert.deepEqual(nativeFault(native), [404, 404, 'There is nothing at /v1/listings.']);
    assert.deepEqual(resoFault(await ask(host, '/Reso/OData/', api)).slice(0, 2), [404, 'pathNotFound']);
  }
  const { json } = await ask('replication.example', '/Reso/OData/Property?$top=1', replication);
  assert.match(
    String(json['@odata.nextLink']),
    new RegExp(`^http://replication.example:${port}/Reso/OData/Pro`),
  );
});

test('behind a trusted proxy with its own Host, surfaces are distinguished by the forwarded host', async () => {
  const hosts = { api: 'api.example', replication: 'replication.example', floorplans: 'plans.example' };
  const { addresses } = await another({ hosts }, { trustProxy: true });
  const base = `http://127.0.0.1:${new URL(addresses.api).port}`;
  const ask = (headers: Record<string, string>): Promise<Answer> =>
    world.get('api', `${base}/Reso/OData/Property?$top=1`, { token: replication, headers });
  const ways: readonly Record<string, string>[] = [
    { 'x-forwarded-host': 'replication.example' },
    { forwarded: 'host=replication.example' },
    { 'x-forwarded-host': 'other.example', host: 'replication.example' },
  ];
  for (const said of ways) {
    const { status, text } = await ask({ host: 'upstream', ...said });
    assert.equal(status, 200, text);
  }
  assert.equal((await ask({ host: 'upstream', 'x-forwarded-host': 'other.example' })).status, 404);
});

test('a surface that hosts does not name has its own listener; api must be named', async () => {
  const { addresses } = await another({ hosts: { api: 'api.example', replication: 'r.example' } });
  assert.match(addresses.floorplans, /^http:\/\/127\.0\.0\.1:\d+$/);
  const answer = await world.get('floorplans', `${addresses.floorplans}/Reso/Media`, { token: floorplans });
  assert.equal(answer.status, 200);
  await assert.rejects(another({ hosts: { replication: 'r.example' } }), {
    code: 'usage',
    message: 'hosts distinguishes surfaces on the port of api, so it must include api.',
  });
});

test('the errors for a port in use and a foreign host name the cause', async () => {
  const port = Number(new URL(world.addresses.api).port);
  const ports = { api: 0, replication: port, floorplans: 0, admin: 0 };
  await assert.rejects(another({ ports }), {
    code: 'failed',
    message: `Port ${port} is in use. Choose another, or 0 for any free one.`,
  });
  await assert.rejects(another({ host: '203.0.113.7' }), {
    code: 'failed',
    message: 'The host to listen on, 203.0.113.7, is not an address of this machine.',
  });
});

test('with a certificate, all surfaces use TLS with the same limits; an invalid certificate is an error', async () => {
  const pem = (name: string): Buffer => readFileSync(new URL(`./tls/${name}.pem`, import.meta.url));
  const tls = { cert: pem('certificate'), key: pem('key') };
  const { addresses } = await another({ tls });
  assert.match(addresses.api, /^https:/);
  assert.match(addresses.admin, /^https:/);
  const status = (path: string, headers: Record<string, string> = {}): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const asked = requestSecurely(
        `${addresses.api}${path}`,
        { ca: tls.cert, servername: 'localhost', headers: { authorization: `Bearer ${api}`, ...headers } },
        (response) => response.resume().on('end', () => resolve(response.statusCode)),
      );
      asked.on('error', reject).end();
    });
  assert.equal(await status('/v1/listings'), 200);
  assert.equal(await status(`/v1/listings?x=${'a'.repeat(20_000)}`), 414);
  assert.equal(await status('/v1/listings', { 'x-long': 'a'.repeat(40_000) }), 200);
  await assert.rejects(another({ tls: { cert: Buffer.from('no certificate'), key: tls.key } }), {
    code: 'usage',
    message: 'The TLS certificate and key cannot be used: they are not in PEM format, or do not match.',
  });
});
