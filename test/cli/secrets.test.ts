/** Secrets that are printed once: if nobody can receive one, it does not remain valid. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { listing } from '../support/builders.ts';
import { type Ended, environment, PLAT, type Place, place } from './run.ts';
import { ANY_PORT, addressesOf, lineWith } from './serving.ts';

const STORE = ['--store', 'm.db'];
const FULL = 'stdout cannot be written: ENOSPC: no space left on device, write';
const noFull = existsSync('/dev/full') ? false : 'this system has no /dev/full';

/** Runs a command whose stdout is on a disk without room. */
const ontoFullDisk = (at: Place, args: readonly string[]): Ended => redirected(at, '> /dev/full', args);

/** Runs a command with a redirection of the shell. */
function redirected(at: Place, redirection: string, args: readonly string[]): Ended {
  const shell = spawnSync('sh', ['-c', `"$@" ${redirection}`, 'sh', process.execPath, PLAT, ...args], {
    cwd: at.folder,
    env: environment({}),
    encoding: 'utf8',
  });
  return { code: shell.status, out: shell.stdout, err: shell.stderr };
}

/** Runs a command whose stdout is a pipe that its reader has closed. */
async function intoClosedPipe(at: Place, args: readonly string[]): Promise<Ended> {
  const running = at.start(args);
  running.child.stdout?.destroy();
  return await running.ended;
}

async function filled(at: Place): Promise<void> {
  await at.done(['import', ...STORE, at.file('a.ndjson', [listing('A')])]);
}

const listed = async (at: Place, what: string): Promise<{ id: string; revokedAt?: string | null }[]> =>
  JSON.parse(await at.done([what, 'list', ...STORE, '--json']));

const create = ['key', 'create', ...STORE, '--name', 'n'];

test('a key whose token cannot be written is revoked', { skip: noFull }, async (t) => {
  const at = place(t);
  await filled(at);
  const failures = [
    ontoFullDisk(at, create),
    ontoFullDisk(at, [...create, '--json']),
    await intoClosedPipe(at, create),
  ];
  const keys = await listed(at, 'key');
  assert.deepEqual(
    keys.map(({ revokedAt }) => typeof revokedAt),
    ['string', 'string', 'string'],
  );
  const why = [FULL, FULL, 'stdout cannot be written: write EPIPE'];
  assert.deepEqual(
    failures,
    keys.map(({ id }, at) => ({
      code: 1,
      out: '',
      err: `plat: ${why[at]}. Nobody has the token of the key ${id}; it is revoked.\n`,
    })),
  );
});

test('a key is not replaced by one whose token cannot be written', { skip: noFull }, async (t) => {
  const at = place(t);
  const { id } = JSON.parse(await at.done([...create, '--json']));
  const { code, err } = ontoFullDisk(at, ['key', 'rotate', ...STORE, id]);
  const [old, made] = await listed(at, 'key');
  assert.equal(old?.revokedAt, null);
  assert.equal(typeof made?.revokedAt, 'string');
  assert.deepEqual(
    [code, err],
    [1, `plat: ${FULL}. Nobody has the token of the key ${made?.id}; it is revoked.\n`],
  );
});

test('a key is revoked if stdout was closed from the start, and valid if it was discarded on purpose', async (t) => {
  const at = place(t);
  await filled(at);
  const closed = redirected(at, '>&-', create);
  const discarded = redirected(at, '> /dev/null', create);
  const [lost, wanted] = await listed(at, 'key');
  assert.deepEqual([typeof lost?.revokedAt, wanted?.revokedAt], ['string', null]);
  const reason = `stdout cannot be written: it is closed. Nobody has the token of the key ${lost?.id}; it is revoked.`;
  assert.deepEqual([closed.code, closed.err.split('\n').at(-2)], [1, `plat: ${reason}`]);
  assert.equal(discarded.code, 0);
});

test('a key that cannot be revoked either is named', { skip: noFull }, async (t) => {
  const at = place(t);
  await filled(at);
  const store = new DatabaseSync(at.path('m.db'));
  store.exec(`CREATE TRIGGER refused BEFORE UPDATE ON plat_keys BEGIN SELECT raise(ABORT, 'refused'); END`);
  store.close();
  const { code, err } = ontoFullDisk(at, create);
  const [key] = await listed(at, 'key');
  assert.equal(code, 1);
  assert.ok(
    err.startsWith(
      `plat: ${FULL}. Nobody has the token of the key ${key?.id}; revoke it with "plat key revoke ${key?.id}", since that failed: `,
    ),
    err,
  );
});

test(
  'a webhook whose secret cannot be written is deleted, and keeps its secret when it is rotated',
  {
    skip: noFull,
  },
  async (t) => {
    const at = place(t);
    await filled(at);
    const make = ['webhook', 'create', ...STORE, '--url', 'https://example.com/'];
    const failed = ontoFullDisk(at, make);
    assert.equal(failed.code, 1);
    assert.match(
      failed.err,
      /^plat: stdout cannot .* Nobody has the secret of the webhook wh_\w+; it is deleted\.\n$/,
    );
    assert.deepEqual(await listed(at, 'webhook'), []);
    const { id, secret } = JSON.parse(await at.done([...make, '--json']));
    const secretsOf = () => {
      using store = new DatabaseSync(at.path('m.db'), { readOnly: true });
      const row = store.prepare('SELECT secret, former_secret, former_until FROM plat_webhooks').get();
      return { ...row };
    };
    assert.deepEqual(ontoFullDisk(at, ['webhook', 'rotate', ...STORE, id]), {
      code: 1,
      out: '',
      err: `plat: ${FULL}. Nobody has the new secret of the webhook ${id}; it keeps the previous one.\n`,
    });
    assert.deepEqual(secretsOf(), { secret, former_secret: null, former_until: null });
  },
);

test('a demo whose tokens cannot be written ends, and they are revoked', { skip: noFull }, async (t) => {
  const at = place(t);
  const demo = ['demo', ...STORE, '--listings', '5', '--log-level', 'silent', ...ANY_PORT];
  const { code, err } = ontoFullDisk(at, demo);
  assert.equal(code, 1);
  assert.ok(err.endsWith(`plat: ${FULL}. Nobody has the tokens of the demo; they are revoked.\n`), err);
  const keys = await listed(at, 'key');
  assert.deepEqual(
    keys.map(({ revokedAt }) => typeof revokedAt),
    Array(4).fill('string'),
  );
});

test('a token that a client puts into a path is not logged', async (t) => {
  const at = place(t);
  await filled(at);
  const token = (await at.done([...create, '--kind', 'api'])).trim();
  const service = at.start(['serve', ...STORE, ...ANY_PORT, '--log-level', 'debug']);
  const { api } = await addressesOf(service);
  const headers = { authorization: `Bearer ${token}` };
  for (const [path, logged] of [
    [`/v1/listings/${token}`, '/v1/listings/[hidden]'],
    [`/Reso/OData/Property(%27${token}%27)`, '/Reso/OData/Property(%27[hidden]%27)'],
  ] as const) {
    const line = lineWith(service, '"msg":"request"');
    assert.equal((await fetch(`${api}${path}`, { headers })).status, 404);
    assert.equal(JSON.parse(await line).path, logged);
  }
});
