/** `plat serve`, and the keys of a store that is served. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { linkLines } from '../../src/cli/link-lines.ts';
import { place, type Running } from './run.ts';

const PORTS = ['--api-port', '0', '--replication-port', '0', '--floorplans-port', '0', '--admin-port', '0'];

/** The address of each surface, as written to stdout. */
async function addresses(running: Running): Promise<Record<string, string>> {
  const text = await running.until(/^admin .*\n/m);
  const lines = text.matchAll(/^(\w+) +(http:\/\/[^/]+)\//gm);
  return Object.fromEntries([...lines].map(([, name = '', address = '']) => [name, address]));
}

const ask = async (url: string, token: string): Promise<[number, string]> => {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  return [response.status, await response.text()];
};

test('stdout has one line per surface; keys are created, listed with their use, rotated and revoked while the store is served', async (t) => {
  const at = place(t);
  at.file('l.ndjson', [{ ListingKey: '1', StandardStatus: 'Active' }]);
  await at.done(['import', '--store', 'm.db', 'l.ndjson']);
  const create = async (...args: readonly string[]): Promise<string> =>
    (await at.done(['key', 'create', '--store', 'm.db', ...args])).trimEnd();
  const serving = at.start(['serve', ...PORTS], { env: { PLAT_STORE: 'm.db' } });
  const { api = '', replication = '', floorplans = '', admin = '' } = await addresses(serving);
  assert.equal(
    await serving.until(/^In a browser: .*\n/m),
    [
      `api          ${api}/Reso/OData/  ${api}/v1/`,
      `replication  ${replication}/Reso/OData/  ${replication}/v1/`,
      `floorplans   ${floorplans}/Reso/`,
      `admin        ${admin}/`,
      `console      ${admin}/console/  (log in with the token of an admin key)`,
      `In a browser: ${api}/\n`,
    ].join('\n'),
  );
  const page = await fetch(`${api}/`, { headers: { accept: 'text/html,*/*;q=0.8' } });
  assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  const [usual, json] = await Promise.all([
    create('--name', 'A broker'),
    create(
      '--name',
      'B',
      '--kind',
      'api',
      '--role',
      'vow',
      '--system',
      'X',
      '--system',
      'Y',
      '--expires',
      '2999-01-01',
      '--json',
    ),
  ]);
  assert.match(usual, /^plat_[\w-]{43}$/);
  const made = JSON.parse(json);
  assert.deepEqual(
    [made.kind, made.role, made.systems, made.expiresAt, made.revokedAt],
    ['api', 'vow', ['X', 'Y'], '2999-01-01T00:00:00Z', null],
  );
  const operator = await at.run(['key', 'create', '--store', 'm.db', '--name', 'O', '--kind', 'admin']);
  assert.match(operator.out, /^plat_[\w-]{43}\n$/);
  const hint =
    'Log in with it at the console, at the address that "plat serve" prints. It sees everything, whatever its role.\n';
  assert.equal(operator.err, hint);
  const past = await at.run([
    ...['key', 'create', '--store', 'm.db', '--name', 'P', '--expires', '2020-01-01'],
  ]);
  assert.deepEqual([past.code, past.err], [0, 'The key expired at 2020-01-01T00:00:00Z.\n']);
  assert.deepEqual(await ask(`${replication}/v1/system`, past.out.trimEnd()), [
    401,
    '{"D":{"Success":false,"Code":1020,"Message":"The token has expired."}}',
  ]);
  const window = '_filter=ModificationTimestamp bt 2020-01-01T00:00:00Z,2021-01-01T00:00:00Z';
  assert.equal((await ask(`${replication}/v1/listings?${window}`, usual))[0], 200);
  assert.equal((await ask(`${replication}/v1/listings?_limit=1000&_select=ListingKey`, usual))[0], 200);

  at.file('m.ndjson', [{ ListingKey: '2', StandardStatus: 'Active' }]);
  await at.done(['import', '--store', 'm.db', 'm.ndjson']);
  assert.match((await ask(`${replication}/v1/listings/2`, usual))[1], /"Id":"2"/, 'importing while serving');

  const listed = JSON.parse(await at.done(['key', 'list', '--store', 'm.db', '--json']));
  const broker = listed.find(({ name }: { name: string }) => name === 'A broker');
  assert.deepEqual([broker.kind, broker.role, broker.systems], ['replication', 'idx', []]);
  assert.equal(JSON.stringify(listed).includes(usual), false, 'no token is stored');

  const renewed = (
    await at.done(['key', 'rotate', '--store', 'm.db', '--overlap', '24h', broker.id])
  ).trimEnd();
  const listings = `${replication}/v1/listings`;
  assert.deepEqual([(await ask(listings, usual))[0], (await ask(listings, renewed))[0]], [200, 200]);
  assert.equal(await at.done(['key', 'revoke', '--store', 'm.db', broker.id]), `${broker.id} is revoked\n`);
  const start = performance.now();
  while ((await ask(listings, usual))[0] === 200) assert.ok(performance.now() - start < 5000, 'within 5 s');
  assert.match((await ask(listings, usual))[1], /"Code":1010/);
  assert.equal((await ask(listings, renewed))[0], 200);
  const revived = await at.run(['key', 'rotate', '--store', 'm.db', broker.id]);
  assert.equal(revived.code, 1, 'a revoked key stays revoked');
  assert.match(revived.err, new RegExp(`^plat: The key ${broker.id} ends or ended at 20`));

  serving.child.kill('SIGTERM');
  const { code, err } = await serving.ended;
  assert.equal(code, 0, err);
  for (const token of [usual, renewed, made.token]) assert.equal(err.includes(token), false);

  const used = JSON.parse(await at.done(['key', 'list', '--store', 'm.db', '--json']));
  const { use } = used.find(({ id }: { id: string }) => id === broker.id);
  assert.ok(use.requests >= 4 && use.rows >= 2 && use.bytes > 300, JSON.stringify(use));
  assert.match(use.lastWindow, /2020-01-01T00:00:00Z/);
  assert.match(use.lastSweepAt, /^20\d\d-/);
  assert.match(
    await at.done(['key', 'list', '--store', 'm.db']),
    /^id +name +kind +role +systems +state +requests/,
  );
});

test('SIGTERM ends a service at once while its store is being opened; a second one does so while a request is running', async (t) => {
  const at = place(t);
  const silent = createServer().listen(0, '127.0.0.1');
  t.after(() => void silent.close());
  await once(silent, 'listening');
  const address = silent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const opening = at.start(['serve', '--store', `postgres://plat@127.0.0.1:${port}/market`, ...PORTS]);
  const [socket] = await once(silent, 'connection');
  opening.child.kill('SIGTERM');
  assert.deepEqual(await opening.ended, { code: 0, out: '', err: '' });
  socket.destroy();

  const token = (await at.done(['key', 'create', '--store', 'm.db', '--name', 'A', '--kind', 'api'])).trim();
  const serving = at.start(['serve', '--store', 'm.db', ...PORTS]);
  const { api = '' } = await addresses(serving);
  const posting = connect(Number(new URL(api).port), '127.0.0.1');
  const head = `POST /Reso/OData/Property/$query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nExpect: 100-continue\r\nContent-Type: text/plain\r\nContent-Length: 20\r\n\r\n`;
  const closed = once(posting.on('error', () => undefined).resume(), 'close');
  posting.write(head);
  while (!/^plat_requests_running 2$/m.test(await metrics(serving))) await setImmediate();
  serving.child.kill('SIGTERM');
  // After the first signal it accepts no more connections.
  while (await takesConnections(api));
  // npm repeats a signal: a second one within 300 ms counts as the same.
  while (serving.child.exitCode === null) {
    serving.child.kill('SIGTERM');
    await takesConnections(api);
  }
  const { code, err } = await serving.ended;
  assert.equal(code, 143);
  assert.match(err, /^plat: ended at once, by a second SIGTERM; committed data is kept\n$/m);
  await closed;
});

const metrics = async (serving: Running): Promise<string> =>
  (await fetch(`${(await addresses(serving)).admin}/metrics`)).text();

const takesConnections = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(address).port), '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });

/** A copy that never begins. */
const COPY = [
  'replicate',
  '--from',
  'http://127.0.0.1:9/v1',
  '--interface',
  'native',
  '--token',
  't',
  '--store',
  'r.db',
];

const WRONG_URLS = [
  'here',
  'api=here',
  'api=ftp://x',
  'api=https://x/?a=1',
  'api=https://x/#a',
  'api=https://u:p@x',
  'api=http://x,api=http://y',
];

test('errors at the start: no store, a port in use, half of a certificate, a wrong address', async (t) => {
  const at = place(t);
  at.file('l.ndjson', [{ ListingKey: '1' }]);
  await at.done(['import', '--store', 'm.db', 'l.ndjson']);
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const serve = (...args: readonly string[]) => at.run(['serve', ...args], { endsAtStart: true });
  const answers = await Promise.all([
    serve('--store', 'none.db', ...PORTS),
    serve('--store', 'm.db', ...PORTS, '--replication-port', String(port)),
    serve('--store', 'm.db', ...PORTS, '--tls-cert', 'c.pem'),
    serve('--store', 'm.db', ...PORTS, '--tls-cert', 'c.pem', '--tls-key', 'k.pem'),
    ...WRONG_URLS.map((url) => serve('--store', 'm.db', ...PORTS, '--public-url', url)),
    serve('--store', 'm.db', '--api-port', '65536'),
    serve('--store', 'm.db', ...PORTS, '--config', at.file('c.json', '{"console":{"outlines":"o.json"}}')),
  ]);
  taken.close();
  assert.deepEqual(
    answers.map(({ code, out }) => [code, out]),
    [1, 1, 2, 2, ...WRONG_URLS.map(() => 2), 2, 2].map((code) => [code, '']),
  );
  const messages = answers.map(({ err }) => err.split('\n')[0]);
  assert.deepEqual(messages, [
    'plat: There is no store at none.db. "plat import", "plat replicate" and "plat demo" create one.',
    `plat: Port ${port} is in use. Choose another, or 0 for any free one.`,
    'plat: --tls-cert and --tls-key must be given together.',
    'plat: c.pem cannot be read.',
    ...WRONG_URLS.map(
      (url) =>
        `plat: --public-url takes api=URL,replication=URL,floorplans=URL,admin=URL, not ${url.split(',').at(-1)}.`,
    ),
    "plat: option '--api-port <port>' argument '65536' is invalid. It takes a whole number from 0 to 65535.",
    'plat: There is no file o.json.',
  ]);
});

test('a blank address is refused, since it would be every address of the machine; so are surfaces of the same name', async (t) => {
  const at = place(t);
  await at.done(['key', 'create', '--store', 'm.db', '--name', 'X']);
  const serve = (args: readonly string[], env = {}) =>
    at.run(['serve', '--store', 'm.db', ...PORTS, ...args], { endsAtStart: true, env });
  const config = (text: string) => ['--config', at.file(`${text.length}.json`, text)];
  const blank = 'It is blank; every address of the machine is 0.0.0.0 or ::.';
  const answers = await Promise.all([
    serve(['--host', '']),
    serve(['--admin-host', ' ']),
    serve([], { PLAT_ADMIN_HOST: '' }),
    serve(config('{"adminHost":""}')),
    serve(config('{"hosts":{"api":"x.example","replication":"X.example"}}')),
  ]);
  assert.deepEqual(
    answers.map(({ code, out, err }) => [code, out, err.split('\n')[0]?.replace(/\S*\d+\.json/, 'FILE')]),
    [
      [2, '', `plat: option '--host <host>' argument '' is invalid. ${blank}`],
      [2, '', `plat: option '--admin-host <host>' argument ' ' is invalid. ${blank}`],
      [2, '', `plat: option '--admin-host <host>' value '' from env 'PLAT_ADMIN_HOST' is invalid. ${blank}`],
      [2, '', 'plat: FILE: /adminHost must NOT have fewer than 1 characters.'],
      [
        2,
        '',
        'plat: "hosts" of plat.config.json has x.example twice, but surfaces differ by their host names.',
      ],
    ],
  );
});

test('roles and host names of a configuration that cannot be are rejected with what is wrong, and nothing is changed', async (t) => {
  const at = place(t);
  await at.done(['key', 'create', '--store', 'm.db', '--name', 'k']);
  const role = (classes: readonly string[], Property: string) => ({
    roles: [{ name: 'x', classes, resources: { Property } }],
  });
  const withheld = [{ resource: 'Property', classes: ['adress'], shownWhen: 'City ne null' }];
  const classes = 'there are address, address-facts, facts, history, idx, open, private';
  const wrong: readonly (readonly [config: object, reason: string])[] = [
    [role(['idxx'], ''), `There is no field of the class idxx; ${classes}.`],
    [{ withheld }, `There is no field of the class adress; ${classes}.`],
    [
      role(['idx'], 'Ctiy eq 1'),
      'The row filter Ctiy eq 1 of Property is invalid: Property has no field Ctiy at position 1. Did you mean City?',
    ],
    [
      role(['idx'], 'City eq'),
      'The row filter City eq of Property is invalid: found the end at position 8, expected a field, a value or a function.',
    ],
    [{ stor: 'm.db' }, 'c.json: the top level has no key stor (did you mean store?).'],
    [{ budget: { kilobytes: 1 } }, 'c.json: /budget has no key kilobytes.'],
    [{ logLevel: 'all' }, 'c.json: /logLevel must be one of debug, info, warn, error, silent.'],
    [{ hosts: { api: 'a b' } }, 'c.json: /hosts/api must match pattern "^[A-Za-z0-9.-]{1,253}$".'],
  ];
  for (const [config, reason] of wrong) {
    const path = at.file('c.json', JSON.stringify(config));
    const run = await at.run(['serve', '--store', 'm.db', ...PORTS, '--config', path], { endsAtStart: true });
    assert.deepEqual([run.code, run.err], [2, `plat: ${reason}\n`]);
  }
  const own = { resource: 'Property', name: 'Own', group: 'G', label: 'L', type: 'string', class: 'own' };
  const known = { ...role(['own'], ''), dictionary: { customFields: [own] } };
  await at.done([
    'import',
    '--store',
    'm.db',
    '--config',
    at.file('c.json', JSON.stringify(known)),
    at.file('e.ndjson', ''),
  ]);
});

test('a port that was picked is printed next to the public URL of its surface, and is in the output of --json', async (t) => {
  const at = place(t);
  at.file('l.ndjson', [{ ListingKey: '1', StandardStatus: 'Active' }]);
  await at.done(['import', '--store', 'm.db', 'l.ndjson']);
  const ready = async (listens: string | undefined): Promise<number> =>
    (await fetch(`${listens}/openapi.json`)).status;
  const args = ['serve', '--store', 'm.db', ...PORTS, '--public-url', 'api=https://api.example/x'];
  const lines = await at.start(args).until(/^In a browser: .*\n/m);
  const ROOTS = 'https://api\\.example/x/Reso/OData/  https://api\\.example/x/v1/';
  const [, picked] =
    new RegExp(`^api +${ROOTS}  \\(listens on (http://127\\.0\\.0\\.1:\\d+)\\)$`, 'm').exec(lines) ?? [];
  assert.equal(await ready(picked), 200);
  assert.doesNotMatch(lines, /^(?:replication|floorplans|admin) .*listens/m);
  const { api, replication, listens } = JSON.parse(await at.start([...args, '--json']).until(/\n/));
  assert.deepEqual(api, { reso: 'https://api.example/x/Reso/OData/', native: 'https://api.example/x/v1/' });
  assert.equal(replication.native, `${listens.replication}/v1/`);
  assert.deepEqual(Object.keys(listens), ['api', 'replication', 'floorplans', 'admin']);
  assert.equal(await ready(listens.api), 200);
});

test('serve prints what links will begin with, if that may not be the address that clients use', () => {
  const at = (address: string, internal = false): NetworkInterfaceInfo => {
    const family = address.includes(':')
      ? ({ family: 'IPv6', scopeid: 0 } as const)
      : ({ family: 'IPv4' } as const);
    return { address, internal, netmask: '', mac: '', cidr: null, ...family };
  };
  const interfaces = {
    lo: [at('127.0.0.1', true)],
    eth0: [at('2001:db8::1'), at('192.0.2.7')],
    no: undefined,
  };
  const certificate = readFileSync(new URL('../service/http/tls/certificate.pem', import.meta.url));
  const own = { address: 'http://127.0.0.1:8080', anyHost: false, certificate: undefined, interfaces };
  assert.deepEqual(linkLines(own), []);
  const any = { ...own, address: 'http://localhost:8080', anyHost: true };
  const proxies =
    'If clients use a host name, a proxy or the port of a container, set --public-url or --trust-proxy.';
  const such = (base: string): string =>
    `Links in responses begin with the address on which the connection arrived, such as ${base}.`;
  assert.deepEqual(linkLines(any), [such('http://192.0.2.7:8080'), proxies]);
  assert.deepEqual(linkLines({ ...any, interfaces: {} }), [such('http://127.0.0.1:8080'), proxies]);
  const unnamed = (name: string): string =>
    `The certificate does not name ${name}, with which links begin: set --public-url to the name that clients use.`;
  assert.deepEqual(linkLines({ ...any, address: 'https://localhost:8080', certificate }), [
    such('https://192.0.2.7:8080'),
    proxies,
    unnamed('192.0.2.7'),
  ]);
  assert.deepEqual(linkLines({ ...own, address: 'https://[::1]:8080', certificate }), [unnamed('::1')]);
  assert.deepEqual(linkLines({ ...own, address: 'https://localhost:8080', certificate }), []);
});

test('invalid keys are rejected', async (t) => {
  const at = place(t);
  const create = (...args: readonly string[]) =>
    at.run(['key', 'create', '--store', 'm.db', '--name', 'X', ...args]);
  assert.equal((await create()).code, 0);
  const answers = await Promise.all([
    create('--role', 'king'),
    create('--kind', 'floorplans'),
    create('--kind', 'floorplans', '--system', ' '),
    at.run(['webhook', 'create', '--store', 'm.db', '--url', 'https://x.example/', '--system', '']),
    create('--kind', 'king'),
    create('--expires', 'soon'),
    create('--name', 'A\u001b[2J'),
    create('--name', ' '),
    create('--color', 'red'),
    at.run(['key', 'create', '--store', 'm.db']),
    at.run(['key', 'revoke', '--store', 'm.db', 'k1']),
    at.run(['key', 'rotate', '--store', 'm.db', 'k1', '--overlap', 'long']),
    at.run(['key', 'rotate', '--store', 'm.db', 'k1', '--overlap', '999999999d']),
    at.run([...COPY, '--update-every', '0s']),
    at.run([...COPY, '--token', 'plat_x\r']),
    at.run([...COPY, '--token', 'Bearer plat_x']),
    at.run([...COPY, '--token', 'plät_x']),
    at.run([...COPY, '--from', 'http://127.0.0.1:9/v1?access_token=x']),
    at.run([...COPY, '--from', 'http://me:x@127.0.0.1:9/v1']),
    at.run(['floorplans', '--from', 'http://127.0.0.1:9/Reso', '--token', '', '--system', 'S']),
  ]);
  assert.deepEqual(
    answers.map(({ code, out, err }) => [code, out, err.split('\n')[0]]),
    [
      [2, '', 'plat: There is no role king; there are private, idx, vow, public, portal.'],
      [2, '', 'plat: A floorplans key needs at least one --system.'],
      [2, '', 'plat: A --system is blank.'],
      [2, '', 'plat: A system is blank.'],
      [
        2,
        '',
        "plat: option '--kind <kind>' argument 'king' is invalid. Allowed choices are replication, api, floorplans, admin.",
      ],
      [2, '', 'plat: --expires is soon, but takes a date or a timestamp with a zone.'],
      [
        2,
        '',
        'plat: The name has a control character (U+001B) at position 2; use letters, digits and signs.',
      ],
      [2, '', 'plat: The name is blank; it must say whose key this is.'],
      [2, '', "plat: unknown option '--color'"],
      [
        2,
        '',
        'plat: --name <name> is missing; PLAT_NAME in the environment and "name" in plat.config.json also set it.',
      ],
      [1, '', 'plat: There is no key k1.'],
      [2, '', 'plat: --overlap is long, which is not a duration; write 90s, 15m, 24h or 7d.'],
      [2, '', 'plat: --overlap is 999999999d, which is more than 36500d; write 90s, 15m, 24h or 7d.'],
      [2, '', 'plat: --update-every is 0s, which is too short; write 90s, 15m, 24h or 7d.'],
      [
        2,
        '',
        'plat: The --token begins or ends with white space, such as the line break at the end of a file.',
      ],
      [2, '', 'plat: The --token is written without "Bearer".'],
      [2, '', 'plat: The --token has characters other than visible ASCII, or none.'],
      [
        2,
        '',
        'plat: --from takes the root of a service without a query; the token of the source is --token.',
      ],
      [
        2,
        '',
        'plat: --from takes the root of a service without a user name; the token of the source is --token.',
      ],
      [2, '', 'plat: The --token has characters other than visible ASCII, or none.'],
    ],
  );
});
