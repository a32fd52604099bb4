/** The file of a store: who may read it, that none is created by mistake, and what happens when it is deleted. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { PLAT, type Place, place } from './run.ts';
import { ANY_PORT, addressesOf } from './serving.ts';

const modeOf = (at: Place, name: string): string => (statSync(at.path(name)).mode & 0o777).toString(8);

/** The loosest and the strictest umask; with `PLAT_FULL=1` also one between them. */
const MASKS = process.env.PLAT_FULL === '1' ? ['0', '0777', '0277'] : ['0', '0777'];

for (const mask of MASKS) {
  test(`files with records are readable by their owner only, whatever the umask: ${mask}`, async (t) => {
    const at = place(t);
    at.file('a.ndjson', [{ ListingKey: '1', ListPrice: 'much' }, { ListingKey: '2' }]);
    const script = [
      `umask ${mask}`,
      '"$NODE" "$PLAT" import --store m.db a.ndjson || true',
      '"$NODE" "$PLAT" export --store m.db --resource Property --out m.ndjson',
      '"$NODE" "$PLAT" backup --store m.db copy.db',
      '"$NODE" "$PLAT" copy --from m.db --to other.db',
    ].join('\n');
    execFileSync('sh', ['-ec', script], {
      cwd: at.folder,
      env: { ...process.env, NODE: process.execPath, PLAT },
      stdio: 'pipe',
    });
    const names = ['m.db', 'a.ndjson.rejected.ndjson', 'm.ndjson', 'copy.db', 'other.db'];
    assert.deepEqual(
      names.map((name) => [name, modeOf(at, name)]),
      names.map((name) => [name, '600']),
    );
  });
}

test('a store that was made readable for others stays so, and is reported', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [{ ListingKey: '1' }]);
  await at.done(['import', '--store', 'm.db', 'a.ndjson']);
  chmodSync(at.path('m.db'), 0o644);
  const { code, err } = await at.run(['status', '--store', 'm.db']);
  assert.deepEqual(
    { code, err },
    { code: 0, err: 'm.db has mode 0644, so others can read it; "chmod 600" restricts it to its owner\n' },
  );
  assert.equal(modeOf(at, 'm.db'), '644');
});

test('import reports a new store, and with --no-create creates none', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [{ ListingKey: '1' }]);
  const refused = await at.run(['import', '--store', 'm.db', '--no-create', 'a.ndjson']);
  assert.deepEqual(refused, {
    code: 1,
    out: '',
    err: 'plat: There is no store at m.db. "plat import", "plat replicate" and "plat demo" create one.\n',
  });
  const byVariable = await at.run(['import', '--store', 'm.db', 'a.ndjson'], {
    env: { PLAT_NO_CREATE: '1' },
  });
  assert.deepEqual(byVariable, refused);
  assert.equal(statSync(at.path('m.db'), { throwIfNoEntry: false }), undefined);
  const first = await at.run(['import', '--store', 'm.db', 'a.ndjson']);
  assert.equal(first.err, 'm.db is a new store: none existed here\n');
  const second = await at.run(['import', '--store', 'm.db', '--no-create', 'a.ndjson']);
  assert.deepEqual([second.code, second.err], [0, '']);
});

test('a store whose file is deleted or replaced under a service is not ready, and the service no longer writes to it', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [{ ListingKey: '1' }]);
  await at.done(['import', '--store', 'm.db', 'a.ndjson']);
  await at.done(['backup', '--store', 'm.db', 'copy.db']);
  const service = at.start(['serve', '--store', 'm.db', ...ANY_PORT]);
  const { admin } = await addressesOf(service);
  const ready = async (): Promise<unknown> => {
    const response = await fetch(`${admin}/ready`);
    return { status: response.status, body: await response.json() };
  };
  const unfit = (store: string) => ({ status: 503, body: { ready: false, problems: { store } } });
  assert.deepEqual(await ready(), { status: 200, body: { ready: true } });
  renameSync(at.path('m.db-wal'), at.path('away-wal'));
  // A connection of the service that opens the store only now creates a new log.
  const withoutLog = JSON.stringify(await ready());
  assert.match(
    withoutLog,
    /"status":503.*the store's log \(-wal\) was (?:deleted|replaced) while it was in use/,
  );
  renameSync(at.path('away-wal'), at.path('m.db-wal'));
  assert.deepEqual(await ready(), { status: 200, body: { ready: true } });
  renameSync(at.path('m.db'), at.path('away.db'));
  assert.deepEqual(await ready(), unfit("the store's file was deleted while it was in use"));
  copyFileSync(at.path('copy.db'), at.path('m.db'));
  assert.deepEqual(await ready(), unfit("the store's file was replaced while it was in use"));
  service.child.kill('SIGTERM');
  assert.equal((await service.ended).code, 0);
});

/** The locks of processes, as Linux lists them. */
const seesLocks = existsSync('/proc/locks');

test('a store is not created again while a process has the deleted one open, nor from a log that remains', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [{ ListingKey: '1' }, { ListingKey: '2' }]);
  at.file('b.ndjson', [{ ListingKey: '3' }]);
  await at.done(['import', '--store', 'm.db', 'a.ndjson']);
  await at.done(['backup', '--store', 'm.db', 'copy.db']);
  const key = ['key', 'create', '--store', 'm.db', '--name', 'k', '--kind', 'api', '--role', 'private'];
  const token = (await at.done(key)).trim();
  const service = at.start(['serve', '--store', 'm.db', ...ANY_PORT]);
  const { admin, api } = await addressesOf(service);
  const keys = async (): Promise<unknown> => {
    const response = await fetch(`${api}/Reso/OData/Property?$select=ListingKey`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return [...(await response.text()).matchAll(/"ListingKey":"(\d)"/g)].map(([, found]) => found);
  };
  assert.deepEqual(await keys(), ['1', '2']);
  await at.done(['delete', '--store', 'm.db', '--resource', 'Property', '2']);
  rmSync(at.path('m.db'));
  if (seesLocks) {
    const why = `its file was deleted while process ${service.child.pid} has it open. End that process first`;
    const refused = { code: 1, out: '', err: `plat: m.db cannot be used: ${why}.\n` };
    const commands = [
      ['import', '--store', 'm.db', 'b.ndjson'],
      ['status', '--store', 'm.db'],
      ['restore', '--store', 'm.db', 'copy.db'],
      ['copy', '--from', 'copy.db', '--to', 'm.db'],
    ];
    for (const command of commands) assert.deepEqual(await at.run(command), refused, command.join(' '));
  }
  assert.equal((await fetch(`${admin}/live`)).status, 200);
  assert.equal((await fetch(`${admin}/ready`)).status, 503);
  assert.deepEqual(await keys(), ['1']);
  service.child.kill('SIGTERM');
  assert.equal((await service.ended).code, 0);
  const exists = await at.run(['backup', '--store', 'copy.db', 'm.db']);
  assert.equal(
    exists.err,
    'plat: m.db-wal already exists and would be treated as part of m.db. Move it away.\n',
  );
  const made = await at.run(['import', '--store', 'm.db', 'b.ndjson']);
  assert.match(
    made.err,
    /^m\.db is a new store: none existed here; the log of a deleted file is kept as (m\.db\.replaced-\d{8}T\d{6}Z-wal)\n$/,
  );
  const stored = await at.exported('m.db', 'Property');
  assert.deepEqual(
    stored.map((record) => record.ListingKey),
    ['3'],
  );
  const files = readdirSync(at.folder).filter((name) => name.startsWith('m.db'));
  assert.deepEqual(files.sort(), ['m.db', String(made.err.match(/\S+-wal/)?.[0])]);
});

test('a backup that is copied over a served store is detected, and no process writes the old log into it', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [{ ListingKey: '1' }]);
  at.file('b.ndjson', [{ ListingKey: '2' }]);
  await at.done(['import', '--store', 'm.db', 'a.ndjson']);
  await at.done(['backup', '--store', 'm.db', 'copy.db']);
  const service = at.start(['serve', '--store', 'm.db', ...ANY_PORT]);
  const { admin } = await addressesOf(service);
  await at.done(['import', '--store', 'm.db', 'b.ndjson']);
  assert.equal((await fetch(`${admin}/ready`)).status, 200);
  copyFileSync(at.path('copy.db'), at.path('m.db'));
  const backup = readFileSync(at.path('copy.db'));
  const ready = await fetch(`${admin}/ready`);
  const problems = { store: "the store's file was overwritten while it was in use" };
  assert.deepEqual([ready.status, await ready.json()], [503, { ready: false, problems }]);
  const why =
    'a backup was put in its place, but the log next to it belongs to the previous file. End all processes that have it open, remove m.db-wal and m.db-shm, and run "plat restore --store m.db --new-epoch"';
  const refused = { code: 1, out: '', err: `plat: m.db cannot be used: ${why}.\n` };
  assert.deepEqual(await at.run(['import', '--store', 'm.db', 'b.ndjson']), refused);
  service.child.kill('SIGTERM');
  assert.equal((await service.ended).code, 0);
  assert.deepEqual(await at.run(['status', '--store', 'm.db']), refused);
  assert.ok(readFileSync(at.path('m.db')).equals(backup), 'the file equals the backup');
  for (const end of ['-wal', '-shm']) rmSync(at.path(`m.db${end}`));
  await at.done(['restore', '--store', 'm.db', '--new-epoch']);
  const stored = await at.exported('m.db', 'Property');
  assert.deepEqual(
    stored.map((record) => record.ListingKey),
    ['1'],
  );
});

test('a copy without a write-ahead log gets one', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [{ ListingKey: '1' }]);
  await at.done(['import', '--store', 'm.db', 'a.ndjson']);
  const modeOfLog = (name: string, ...statements: readonly string[]): unknown => {
    using database = new DatabaseSync(at.path(name));
    for (const statement of statements) database.exec(statement);
    return database.prepare('PRAGMA journal_mode').get()?.journal_mode;
  };
  modeOfLog('m.db', `VACUUM INTO '${at.path('copy.db')}'`);
  assert.equal(modeOfLog('copy.db'), 'delete');
  await at.done(['status', '--store', 'copy.db']);
  assert.equal(modeOfLog('copy.db'), 'wal');
});

test('a path that is not a file, and an empty file, are reported as such', async (t) => {
  const at = place(t);
  mkdirSync(at.path('folder.db'));
  at.file('empty.db', '');
  const cases = [
    [
      'folder.db',
      'folder.db cannot be used: it is a folder; name a file in it, such as folder.db/market.db.',
    ],
    ['empty.db', 'empty.db is not a plat store: it is empty.'],
    [
      'empty.db/m.db',
      'There is no store at empty.db/m.db. "plat import", "plat replicate" and "plat demo" create one.',
    ],
  ] as const;
  const answers = await Promise.all(cases.map(([store]) => at.run(['status', '--store', store])));
  assert.deepEqual(
    answers,
    cases.map(([, message]) => ({ code: 1, out: '', err: `plat: ${message}\n` })),
  );
});

/** Whether this process may mount a file system of its own, which needs Linux and user namespaces. */
const mayMount = spawnSync('unshare', ['--map-root-user', '--mount', 'true']).status === 0;

test(
  'commands that write name a read-only file system in their error; a backup can be restored from one',
  { skip: mayMount ? false : 'nothing can be mounted here (unshare)' },
  async (t) => {
    const at = place(t);
    at.file('a.ndjson', [{ ListingKey: '1' }]);
    mkdirSync(at.path('disk'));
    await at.done(['import', '--store', 'disk/m.db', 'a.ndjson']);
    const script = [
      'mount --bind disk disk',
      'mount -o remount,ro,bind disk',
      'for store in m.db new.db; do "$NODE" "$PLAT" import --store disk/$store a.ndjson 2>>err || echo $? >>codes; done',
      '"$NODE" "$PLAT" status --store disk/m.db 2>>err || echo $? >>codes',
      '"$NODE" "$PLAT" restore --store back.db disk/m.db',
    ].join('\n');
    execFileSync('unshare', ['--map-root-user', '--mount', 'sh', '-ec', script], {
      cwd: at.folder,
      env: { ...process.env, NODE: process.execPath, PLAT },
      stdio: 'pipe',
    });
    const why = 'it is on a read-only file system, and even reading a store writes to it';
    const said = ['m.db', 'new.db', 'm.db'].map((name) => `plat: disk/${name} cannot be used: ${why}.\n`);
    assert.equal(readFileSync(at.path('err'), 'utf8'), said.join(''));
    assert.equal(readFileSync(at.path('codes'), 'utf8'), '1\n1\n1\n');
    assert.equal((await at.exported('back.db', 'Property')).length, 1);
    rmSync(at.path('disk'), { recursive: true });
  },
);
