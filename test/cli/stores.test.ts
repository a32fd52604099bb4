/** Stores that cannot be used: the error of each command, and the files that remain. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { makeWorld } from '../support/world.ts';
import { PLAT, place } from './run.ts';
import { ANY_PORT, addressesOf, get } from './serving.ts';

const FULL = process.env.PLAT_FULL === '1';

test('a missing store, another file, a newer layout and an unavailable engine are each reported', async (t) => {
  const at = place(t);
  at.file('text.db', 'This is no database, whatever its name says. '.repeat(100));
  at.file('packed.db', gzipSync('{"ListingKey":"1"}'));
  at.file('a.csv', 'ListingKey,City\n1,a\n');
  at.file('a.json', '[{"ListingKey":"1"}]');
  at.file('a.zip', 'PK\x03\x04 and what is in it');
  mkdirSync(at.path('folder'));
  const other = new DatabaseSync(at.path('other.db'));
  other.exec('CREATE TABLE mine (id)');
  other.close();
  const { store } = await makeWorld(sqliteEngine(), t);
  await store.backup(at.path('newer.db'));
  const newer = new DatabaseSync(at.path('newer.db'));
  newer.exec('PRAGMA user_version = 99');
  newer.close();
  const cases: readonly (readonly [args: readonly string[], code: number, message: string])[] = [
    [
      ['status', '--store', 'none.db'],
      1,
      'There is no store at none.db. "plat import", "plat replicate" and "plat demo" create one.',
    ],
    [['status', '--store', 'text.db'], 1, 'text.db is not a plat store: it is not an SQLite database.'],
    [
      ['status', '--store', 'packed.db'],
      1,
      'packed.db is not a plat store: it is compressed with gzip; "gzip -dc packed.db" unpacks it, and where records are in it, "plat import --store market.db packed.db" stores what is in it.',
    ],
    [
      ['status', '--store', 'a.csv'],
      1,
      'a.csv is not a plat store: it is a table (ListingKey,City…); "plat import --store market.db a.csv" stores what is in it.',
    ],
    [
      ['import', '--store', 'a.json', 'a.csv'],
      1,
      'a.json is not a plat store: it is JSON; "plat import --store market.db a.json" stores what is in it.',
    ],
    [['check', '--store', 'a.zip'], 1, 'a.zip is not a plat store: it is a ZIP archive.'],
    [
      ['copy', '--from', 'a.csv', '--to', 'new.db'],
      1,
      'a.csv is not a plat store: it is a table (ListingKey,City…); "plat import --store market.db a.csv" stores what is in it.',
    ],
    [
      ['status', '--store', 'folder'],
      1,
      'folder cannot be used: it is a folder; name a file in it, such as folder/market.db.',
    ],
    [['status', '--store', 'other.db'], 1, 'other.db is not a plat store: it is another database.'],
    [
      ['status', '--store', 'sqlite:newer.db'],
      1,
      'newer.db has layout 99, newer than the layout 4 that this plat knows. Use a newer plat.',
    ],
    [['status', '--store', 'sqlite:'], 2, 'The store has no path.'],
    [['import', '--store', ' ', 'a.json'], 2, 'The store has no path.'],
    [
      ['import', '--store', ':memory:', 'a.json'],
      2,
      ':memory: is not a store: the records of a store are in a file or on a server.',
    ],
  ];
  const answers = await Promise.all(cases.map(([args]) => at.run(args)));
  assert.deepEqual(
    answers,
    cases.map(([, code, message]) => ({ code, out: '', err: `plat: ${message}\n` })),
  );
  const again = new DatabaseSync(at.path('other.db'), { readOnly: true });
  assert.deepEqual(again.prepare('SELECT name FROM sqlite_schema').all().length, 1, 'it is left as it was');
  again.close();
});

test('a wrong use creates no store', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [{ ListingKey: '1' }]);
  at.file('empty.db', '');
  at.file(
    'taken.json',
    '{"dictionary":{"resources":[{"name":"Office","key":"OfficeKey","fields":[{"name":"Stars","type":"integer"}]}]}}',
  );
  const key = ['key', 'create', '--name', 'n'];
  const from = ['replicate', '--from', 'http://127.0.0.1:9/v1', '--interface', 'native', '--token', 't'];
  const uses: readonly (readonly [string, ...string[]])[] = [
    ['There is no resource Propert. Did you mean Property?', 'import', '--resource', 'Propert', 'a.ndjson'],
    ['There is no role nobody; there are private, idx, vow, public, portal.', ...key, '--role', 'nobody'],
    ['A floorplans key needs at least one --system.', ...key, '--kind', 'floorplans'],
    ['--expires is soon, but takes a date or a timestamp with a zone.', ...key, '--expires', 'soon'],
    ['The dictionary has no resource Propert.', ...from, '--resources', 'Propert'],
    ['The resource Office: the name is taken.', 'import', '--config', 'taken.json', 'a.ndjson'],
    ['The resource Office: the name is taken.', 'demo', '--listings', '1', '--config', 'taken.json'],
  ];
  for (const [reason, ...args] of uses) {
    for (const store of ['new.db', 'empty.db']) {
      const { code, out, err } = await at.run([...args, '--store', store]);
      assert.deepEqual([code, out, err], [2, '', `plat: ${reason}\n`], store);
    }
  }
  assert.equal(existsSync(at.path('new.db')), false);
  assert.equal(statSync(at.path('empty.db')).size, 0);
  // A resource of the store itself, which the configuration no longer declares.
  at.file(
    'plat.config.json',
    '{"dictionary":{"resources":[{"name":"Feedback","key":"FeedbackKey","fields":[{"name":"Stars","type":"integer"}]}]}}',
  );
  assert.equal((await at.run(['key', 'create', '--name', 'n', '--store', 'own.db'])).code, 0);
  rmSync(at.path('plat.config.json'));
  at.file('s.ndjson', [{ FeedbackKey: '1' }]);
  assert.equal((await at.run(['import', '--store', 'own.db', '--resource', 'Feedback', 's.ndjson'])).code, 0);
});

test('while another process writes, import waits for it', async (t) => {
  const at = place(t);
  at.file('a.ndjson', [{ ListingKey: '1' }]);
  await at.done(['import', '--store', 'm.db', 'a.ndjson']);
  const other = new DatabaseSync(at.path('m.db'));
  other.exec('BEGIN IMMEDIATE');
  at.file('b.ndjson', [{ ListingKey: '2' }]);
  const waiting = at.start(['import', '--store', 'm.db', 'b.ndjson']);
  const first = await Promise.race([waiting.ended.then(() => 'ended'), lockIsAskedFor(at.path('m.db'))]);
  assert.equal(first, 'asked');
  other.exec('COMMIT');
  other.close();
  assert.equal((await waiting.ended).code, 0);
  assert.equal((await at.exported('m.db', 'Property')).length, 2);
});

/** Resolves when a second process has opened the store. */
async function lockIsAskedFor(store: string): Promise<'asked'> {
  for (;;) {
    const holders = spawnSync('sh', ['-c', `ls -l /proc/*/fd 2>/dev/null | grep -c ' ${store}$'`]);
    // This process has it open once, the writer more often.
    if (Number(holders.stdout) > 1) return 'asked';
  }
}

test('commands that read, and a service that starts, do not wait for a process that writes', async (t) => {
  const at = place(t);
  await at.done(['import', '--store', 'm.db', at.file('a.ndjson', [{ ListingKey: '1' }])]);
  const token = (await at.done(['key', 'create', '--store', 'm.db', '--name', 'n'])).trim();
  const source = async () => {
    const { replication = '' } = await addressesOf(at.start(['serve', '--store', 'm.db', ...ANY_PORT]));
    assert.equal((await get(`${replication}/Reso/OData/Property`, token)).status, 200);
    return ['--from', `${replication}/Reso/OData`, '--interface', 'reso', '--token', token];
  };
  await at.done(['replicate', '--once', '--store', 'r.db', ...(await source())]);
  for (const store of ['m.db', 'r.db']) {
    const other = new DatabaseSync(at.path(store));
    other.exec('BEGIN IMMEDIATE');
    t.after(() => other.close());
  }
  const reading: readonly (readonly string[])[] = [
    ['status'],
    ['check'],
    ['export', '--resource', 'Property'],
    ['export', '--declarations'],
    ['backup', 'copy.db'],
    ['key', 'list'],
    ['webhook', 'list'],
    ['changes'],
    ['quarantine', 'list'],
    ['verify', ...(await source())],
  ];
  for (const command of reading) await at.done([...command, '--store', 'r.db']);
});

const slow = FULL ? false : 'takes 30 s; npm run test:full';

test('a store that stays locked is an error after 30 s', { skip: slow }, async (t) => {
  const at = place(t);
  at.file('a.ndjson', [{ ListingKey: '1' }]);
  await at.done(['import', '--store', 'm.db', 'a.ndjson']);
  const other = new DatabaseSync(at.path('m.db'));
  other.exec('BEGIN IMMEDIATE');
  at.file('b.ndjson', [{ ListingKey: '2' }]);
  assert.deepEqual(await at.run(['import', '--store', 'm.db', 'b.ndjson']), {
    code: 1,
    out: '',
    err: `plat: ${existsSync('/proc/locks') ? `Process ${process.pid}` : 'Another process'} has the write lock of m.db. Try again when it has finished. If it hangs, end it; what it has committed stays stored.\n`,
  });
  other.close();
});

/** Whether this process may mount a file system of its own, which needs Linux and user namespaces. */
const mayMount = spawnSync('unshare', ['--map-root-user', '--mount', 'true']).status === 0;
const noMount = mayMount ? false : 'a small disk cannot be mounted here (unshare)';

test(
  'a full disk: the error says so, the store is sound with complete batches, and the rest is stored once there is room',
  { skip: noMount },
  async (t) => {
    const at = place(t);
    const remarks = 'A house with a view of the sea and of the hills behind it. '.repeat(20);
    const records = Array.from({ length: 6000 }, (_, index) => ({
      ListingKey: `K${index}`,
      PublicRemarks: `${index} ${remarks}`,
    }));
    at.file('many.ndjson', records);
    mkdirSync(at.path('small'));
    const script = [
      'mount -t tmpfs -o size=9m tmpfs small',
      '"$NODE" "$PLAT" import --store small/m.db many.ndjson >out 2>err || echo $? >code',
      '"$NODE" "$PLAT" status --json --store small/m.db >status',
      'cp small/m.db* .',
      'mount -o remount,size=90m small',
      '"$NODE" "$PLAT" import --store small/m.db many.ndjson >again',
      '"$NODE" "$PLAT" export --store small/m.db --resource Property >whole',
    ].join('\n');
    execFileSync('unshare', ['--map-root-user', '--mount', 'sh', '-ec', script], {
      cwd: at.folder,
      env: { ...process.env, NODE: process.execPath, PLAT },
      stdio: 'pipe',
    });
    const read = (name: string): string => readFileSync(at.path(name), 'utf8');
    assert.equal(read('code'), '1\n');
    assert.equal(
      read('err').replace(/^\{"time":.*\n/gm, ''),
      'small/m.db is a new store: none existed here\nplat: There is no room left on the disk of small/m.db. Everything that was stored before is intact; nothing else was stored.\n',
    );
    const { resources } = JSON.parse(read('status'));
    const { rows } = resources.find(({ resource }: { resource: string }) => resource === 'Property');
    assert.ok(rows > 0 && rows < 6000 && rows % 1000 === 0, `${rows} rows`);
    const left = new DatabaseSync(at.path('m.db'));
    assert.deepEqual({ ...left.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
    left.close();
    assert.equal(
      read('again'),
      `many.ndjson: Property ${6000 - rows} new, 0 changed, ${rows} unchanged, 0 children stored, 0 rejected\n`,
    );
    assert.equal(read('whole').trimEnd().split('\n').length, 6000);
    for (const name of ['m.db', 'whole', 'many.ndjson']) rmSync(at.path(name));
  },
);

test(
  'a full disk is named with what it cannot take: a backup, a restored store, an export, a configuration, stdout, a copy of stdin or a key',
  { skip: noMount },
  async (t) => {
    const at = place(t);
    const PublicRemarks = 'A house with a view of the sea. '.repeat(1000);
    at.file(
      'many.ndjson',
      [...Array(60).keys()].map((index) => ({ ListingKey: `K${index}`, PublicRemarks })),
    );
    mkdirSync(at.path('small'));
    const script = [
      '"$NODE" "$PLAT" import --store m.db many.ndjson >out',
      '"$NODE" "$PLAT" backup --store m.db b.db >out',
      'mount -t tmpfs -o size=1m tmpfs small',
      '"$NODE" "$PLAT" backup --store m.db small/b.db 2>backup && exit 1',
      '"$NODE" "$PLAT" restore --store small/m.db b.db 2>restore && exit 1',
      'ls -A small >left',
      'PROPERTY="--store m.db --resource Property"',
      '"$NODE" "$PLAT" export $PROPERTY --out small/p.ndjson 2>exported && exit 1',
      '"$NODE" "$PLAT" export $PROPERTY 2>printed >small/p.ndjson && exit 1',
      'cat /dev/zero >small/zero 2>/dev/null || true',
      'echo \'{"ListingKey":"own","Own":1}\' | TMPDIR=small "$NODE" "$PLAT" import --infer --store m.db - 2>copied && exit 1',
      'echo \'{"ListingKey":"own","Own":1}\' >own.ndjson',
      '"$NODE" "$PLAT" import --infer --config small/c.json --store m.db own.ndjson 2>declared && exit 1',
      'umount small && mount -t tmpfs -o size=9m tmpfs small',
      'echo \'{"ListingKey":"1"}\' | "$NODE" "$PLAT" import --store small/k.db - >out 2>out',
      'cat /dev/zero >small/zero 2>/dev/null || true',
      '"$NODE" "$PLAT" key create --store small/k.db --name A >token 2>key && exit 1',
      'true',
    ].join('\n');
    execFileSync('unshare', ['--map-root-user', '--mount', 'sh', '-ec', script], {
      cwd: at.folder,
      env: { ...process.env, NODE: process.execPath, PLAT },
      stdio: 'pipe',
    });
    const read = (name: string): string => readFileSync(at.path(name), 'utf8');
    assert.equal(read('backup'), 'plat: There is no room left on the disk of small/b.db.\n');
    assert.equal(
      read('restore'),
      'plat: There is no room left on the disk of small/m.db. Nothing was changed.\n',
    );
    assert.equal(read('left'), '');
    assert.equal(read('token'), '');
    assert.equal(
      read('key'),
      'plat: There is no room left on the disk of small/k.db. Everything that was stored before is intact; nothing else was stored.\n',
    );
    const full = 'cannot be written: ENOSPC: no space left on device, write.\n';
    assert.equal(read('exported'), `plat: small/p.ndjson ${full}`);
    assert.equal(read('printed'), `plat: stdout ${full}`);
    assert.match(
      read('copied').replace(full, 'FULL'),
      /^plat: A copy of stdin in small\/plat-import-\w+ FULL$/,
    );
    assert.equal(read('declared').split('\n').at(-2), `plat: small/c.json ${full.trimEnd()}`);
  },
);
