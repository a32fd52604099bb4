/** The consumer's commands against a feed whose tokens expire: a real token endpoint, tokens in files, and what options go together. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { place } from '../../cli/run.ts';
import { testClock } from '../../support/clock.ts';
import type { Scope } from '../../support/engine.ts';
import { keysUpTo, listings } from '../support/feed.ts';
import { json } from '../support/loopback.ts';
import { type ODataServer, odataServer } from '../support/odata-server.ts';
import { CLIENT, type TokenEndpoint, tokenEndpoint } from '../support/token-endpoint.ts';

const COUNT = 60;

/** A feed whose tokens are valid for a number of requests; commands use the real clock. */
async function feed(
  scope: Scope,
  requestsPerToken: number,
): Promise<{ server: ODataServer; endpoint: TokenEndpoint }> {
  const clock = testClock(new Date().toISOString());
  const endpoint = await tokenEndpoint(scope);
  const server = await odataServer(scope, clock, { Property: listings(COUNT, clock) }, { page: 5 });
  server.intercept = (seen, count) => {
    const rejection = endpoint.rejects(seen);
    if (rejection !== undefined) return rejection;
    if (count % requestsPerToken === 0) endpoint.valid.clear();
    server.traits.token = seen.headers.authorization?.replace('Bearer ', '') ?? '';
    return undefined;
  };
  return { server, endpoint };
}

const sourceOf = ({ root }: ODataServer): string[] => [
  ...['--from', root, '--interface', 'reso', '--source', 'feed', '--store', 'replica.db'],
];

test('a copy of a feed whose tokens expire all the time is complete, and neither secret nor token is left anywhere', async (t) => {
  const { server, endpoint } = await feed(t, 4);
  const at = place(t);
  const client = ['--token-url', endpoint.url, '--client-id', CLIENT.clientId, '--scope', 'api'];
  const source = [...sourceOf(server), '--resources', 'Property', ...client];
  const env = { PLAT_CLIENT_SECRET: CLIENT.clientSecret };
  const shown: string[] = [];
  const run = async (args: readonly string[], options = {}): Promise<void> => {
    const { code, out, err } = await at.run(args, options);
    shown.push(out, err);
    assert.equal(code, 0, err);
  };
  await run(['replicate', ...source, '--requests-per-hour', '100000'], { env });
  assert.ok(endpoint.requests.length > 5, `${endpoint.requests.length} tokens`);
  assert.equal(endpoint.requests[0]?.fields.scope, 'api');
  const keys = (await at.exported('replica.db', 'Property')).map(({ ListingKey }) => ListingKey);
  assert.deepEqual(keys.toSorted(), keysUpTo(COUNT));
  writeFileSync(at.path('client.secret'), `${CLIENT.clientSecret}\n`);
  const byFile = [...source, '--client-secret-file', 'client.secret'];
  await run(['verify', ...byFile, '--json']);
  await run(['replicate', ...byFile, '--refresh']);
  const ask = [...sourceOf(server), ...client, '--client-secret-file', 'client.secret'];
  await run(['quarantine', 'retry', ...ask]);
  await run(['status', '--store', 'replica.db', '--json']);
  const config = JSON.stringify({ tokenUrl: endpoint.url, ...CLIENT, clientAuth: 'basic' });
  await run([
    'verify',
    ...sourceOf(server),
    '--resources',
    'Property',
    '--config',
    at.file('c.json', config),
  ]);
  for (const name of readdirSync(at.folder).filter((each) => /^replica/.test(each))) {
    shown.push(readFileSync(at.path(name), 'latin1'));
  }
  for (const text of shown) {
    for (const secret of [CLIENT.clientSecret, encodeURIComponent(CLIENT.clientSecret), 'issued-']) {
      assert.equal(text.includes(secret), false, secret);
    }
  }
});

test('variables without a value, as of a container, set no scope, no audience and no token', async (t) => {
  const { server, endpoint } = await feed(t, 1_000_000);
  const at = place(t);
  const client = ['--token-url', endpoint.url, '--client-id', CLIENT.clientId];
  const none = { PLAT_TOKEN: '', PLAT_TOKEN_FILE: '', PLAT_SCOPE: '', PLAT_AUDIENCE: '' };
  const env = { ...none, PLAT_CLIENT_SECRET: CLIENT.clientSecret };
  await at.done(['replicate', ...sourceOf(server), '--resources', 'Property', ...client], { env });
  assert.deepEqual(endpoint.requests[0]?.fields, { grant_type: 'client_credentials' });
});

test('floor plans are requested with the tokens of a token endpoint, too', async (t) => {
  const { server, endpoint } = await feed(t, 1);
  const answer = server.intercept;
  server.intercept = (seen, count) => answer(seen, count) ?? json({ value: [{ MediaKey: 'M1' }] });
  const at = place(t);
  const client = ['--token-url', endpoint.url, '--client-id', CLIENT.clientId];
  const options = ['--from', server.root, '--system', 'S', ...client];
  const out = await at.done(['floorplans', ...options], {
    env: { PLAT_CLIENT_SECRET: CLIENT.clientSecret },
  });
  assert.deepEqual(JSON.parse(out), { MediaKey: 'M1' });
});

test('a client that the token endpoint rejects is one line on stderr and exit code 1, and leaves no store', async (t) => {
  const { server, endpoint } = await feed(t, 4);
  const at = place(t);
  const client = ['--token-url', endpoint.url, '--client-id', 'other'];
  const { code, err } = await at.run(['replicate', ...sourceOf(server), ...client], {
    env: { PLAT_CLIENT_SECRET: CLIENT.clientSecret },
  });
  const lines = err.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  assert.deepEqual(
    [code, lines],
    [
      1,
      [
        `plat: The token endpoint ${endpoint.url}: 401 (code invalid_client): Who are you?; check --client-id and the client secret`,
      ],
    ],
  );
  assert.deepEqual([readdirSync(at.path('.')), server.seen.length], [[], 0]);
});

test('a token in a file that is rotated during a run', async (t) => {
  const { server, endpoint } = await feed(t, 1_000_000);
  const at = place(t);
  const file = at.file('token', 'first\n');
  endpoint.valid.add('first');
  const answer = server.intercept;
  server.intercept = (seen, count) => {
    if (count === 5) {
      writeFileSync(at.path(file), 'second');
      endpoint.valid.clear();
      endpoint.valid.add('second');
    }
    return answer(seen, count);
  };
  await at.done(['replicate', ...sourceOf(server), '--resources', 'Property', '--token-file', file]);
  assert.equal((await at.exported('replica.db', 'Property')).length, COUNT);
  const tokens = new Set(server.seen.map(({ headers }) => headers.authorization));
  assert.deepEqual([...tokens], ['Bearer first', 'Bearer second']);
});

const URL_OF = ['--token-url', 'https://auth.example.com/token'];
const SECRET = { PLAT_CLIENT_SECRET: 'abc' };
const WRONG: readonly (readonly [args: readonly string[], env: Record<string, string>, message: string])[] = [
  [
    [],
    {},
    '--token <token> is missing; PLAT_TOKEN in the environment and "token" in plat.config.json also set it. --token-file, or --token-url with --client-id, takes its place.',
  ],
  [['--token', 'x', ...URL_OF], {}, 'Only one of --token and --token-url can be set.'],
  [URL_OF, { ...SECRET, PLAT_TOKEN: 'x' }, 'Only one of --token and --token-url can be set.'],
  [['--token', 'x', '--scope', 'api'], {}, '--scope requires --token-url.'],
  [['--token', 'x'], SECRET, '--client-secret requires --token-url.'],
  [URL_OF, SECRET, '--token-url requires --client-id.'],
  [
    [...URL_OF, '--client-id', 'a'],
    {},
    '--token-url requires either PLAT_CLIENT_SECRET or --client-secret-file.',
  ],
  [
    [...URL_OF, '--client-id', 'a', '--client-secret-file', 's'],
    SECRET,
    '--token-url requires either PLAT_CLIENT_SECRET or --client-secret-file.',
  ],
  [
    [...URL_OF, '--client-id', 'a', '--client-secret', 'abc'],
    {},
    'Other users see command lines; --client-secret is set by PLAT_CLIENT_SECRET or "clientSecret" in plat.config.json, or read by --client-secret-file.',
  ],
  [[...URL_OF, '--client-id', 'a', '--client-secret-file', 'none'], {}, 'There is no file none.'],
  [['--token-file', 'none'], {}, 'There is no file none.'],
  [['--token-file', 'empty'], {}, 'The file empty is empty.'],
  [['--token-file', 'lines'], {}, 'The file lines has characters other than ASCII.'],
  [
    [...URL_OF, '--client-id', 'a'],
    { PLAT_CLIENT_SECRET: 'abc\n' },
    'The client secret has characters other than ASCII.',
  ],
  [
    ['--token-url', 'http://auth.example.com/token', '--client-id', 'a'],
    SECRET,
    '--token-url takes an https address, because the request contains the client secret.',
  ],
];
test('options that contradict each other or are incomplete are usage errors, and no request is sent', async (t) => {
  const at = place(t);
  at.file('empty', '\n');
  at.file('lines', 'a\nb');
  const source = ['--from', 'http://127.0.0.1:9/odata', '--interface', 'reso', '--store', 'r.db'];
  for (const [args, env, message] of WRONG) {
    const { code, err } = await at.run(['replicate', ...source, ...args], { env });
    assert.deepEqual([code, err.trim()], [2, `plat: ${message}`]);
  }
  const empty = await at.run(['replicate', ...source, ...URL_OF], { env: { PLAT_TOKEN: '' } });
  assert.match(empty.err, /--token-url requires --client-id\./);
});
