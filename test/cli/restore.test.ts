/** `plat backup` and `plat restore`: a store goes back to an earlier state, reports that, and replicas follow it. */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openStore, restoreStore } from '../../src/open-store.ts';
import { from, openDoor, serve } from '../replica/support/real-feed.ts';
import { listing, photo } from '../support/builders.ts';
import { type Place, place } from './run.ts';

async function epochOf(path: string): Promise<string> {
  const store = await openStore(path);
  try {
    return (await store.model()).epoch;
  } finally {
    await store.close();
  }
}

const prices = async (at: Place, store: string): Promise<Record<string, unknown>> =>
  Object.fromEntries(
    (await at.exported(store, 'Property')).map(({ ListingKey, ListPrice }) => [
      String(ListingKey),
      ListPrice,
    ]),
  );

/** A store, its backup, and later changes: a changed and a new listing, a revoked and a new key. */
async function scene(at: Place) {
  at.file('one.ndjson', [listing('1', { ListPrice: 1 }), listing('2', { ListPrice: 2 })]);
  at.file('two.ndjson', [listing('1', { ListPrice: 10 }), listing('3', { ListPrice: 3 })]);
  await at.done(['import', 'one.ndjson', '--store', 's.db']);
  await at.done(['key', 'create', '--store', 's.db', '--name', 'partner']);
  await at.done(['backup', 'b.db', '--store', 's.db']);
  await at.done(['import', 'two.ndjson', '--store', 's.db']);
  const [key] = JSON.parse(await at.done(['key', 'list', '--store', 's.db', '--json']));
  await at.done(['key', 'revoke', key.id, '--store', 's.db']);
  await at.done(['key', 'create', '--store', 's.db', '--name', 'later']);
  return { key };
}

test('restore brings a store back, reports the consequences, and no timestamp is assigned twice', async (t) => {
  const at = place(t);
  const { key } = await scene(at);
  const before = await epochOf(at.path('s.db'));
  const lastStamp = JSON.parse(await at.done(['status', '--store', 's.db', '--json'])).lastStamp;
  const text = await at.done(['restore', 'b.db', '--store', 's.db']);
  const [head, epoch, kept, again, gone, ...rest] = text.trimEnd().split('\n');
  assert.match(head ?? '', /^s\.db is what b\.db was: .*\b2 Property\b/);
  assert.match(
    epoch ?? '',
    /^its last change was at \S+; the new epoch is [\w-]{12}, and its replicas read everything again$/,
  );
  const [, file = ''] =
    /^the previous store is kept as (s\.db\.replaced-\d{8}T\d{6}Z)$/.exec(kept ?? '') ?? [];
  assert.equal(again, `keys that were revoked since the backup are valid again: partner (${key.id})`);
  assert.match(gone ?? '', /^keys that were created since the backup are gone: later \(\w+\)$/);
  assert.deepEqual(rest, []);
  const beside = readdirSync(at.folder).filter((name) => name.startsWith('b.db'));
  assert.deepEqual(beside, ['b.db'], 'no file is written next to the backup');
  assert.deepEqual(await prices(at, 's.db'), { 1: 1, 2: 2 });
  assert.deepEqual(await prices(at, file), { 1: 10, 2: 2, 3: 3 }, 'the earlier store is complete');
  assert.notEqual(await epochOf(at.path('s.db')), before);
  assert.equal(await epochOf(at.path('b.db')), before, 'the backup is unchanged');
  assert.equal(statSync(at.path('s.db')).mode & 0o777, 0o600);
  assert.deepEqual(
    readdirSync(at.folder).filter((name) => /restoring|-journal/.test(name)),
    [],
  );
  await at.done(['import', 'two.ndjson', '--store', 's.db']);
  const [changed] = (await at.exported('s.db', 'Property')).filter(({ ListingKey }) => ListingKey === '1');
  assert.ok(Date.parse(String(changed?.ModificationTimestamp)) > Date.parse(lastStamp));

  const report = JSON.parse(await at.done(['restore', 'b.db', '--store', 'new.db', '--json']));
  assert.deepEqual([report.kept, report.validAgain, report.gone, report.remarks], [undefined, [], [], []]);
  assert.deepEqual(await prices(at, 'new.db'), { 1: 1, 2: 2 });

  // On a file system without hard links the store is renamed; any other error changes nothing.
  const restoring = (code: string) => {
    const link = (): never => {
      throw Object.assign(new Error('refused'), { code });
    };
    return restoreStore({ path: at.path('s.db'), backup: at.path('b.db'), link });
  };
  await assert.rejects(restoring('ENOSPC'), { code: 'ENOSPC' });
  assert.deepEqual(await prices(at, 's.db'), { 1: 10, 2: 2, 3: 3 });
  const { kept: moved = '' } = await restoring('EPERM');
  assert.deepEqual(await prices(at, 's.db'), { 1: 1, 2: 2 });
  assert.deepEqual(await prices(at, moved), { 1: 10, 2: 2, 3: 3 });
});

test('an open store, a damaged backup and a file that is not a backup change nothing', async (t) => {
  const at = place(t);
  await scene(at);
  const open = new DatabaseSync(at.path('s.db'));
  open.prepare('SELECT count(*) FROM plat_meta').get();
  const busy = await at.run(['restore', 'b.db', '--store', 's.db']);
  open.close();
  assert.deepEqual(
    [busy.code, busy.err],
    [
      1,
      'plat: s.db is open in another process: a service, an import or a replication. End it, then restore.\n',
    ],
  );

  const bytes = readFileSync(at.path('b.db'));
  const start = Math.floor(bytes.length / 2);
  bytes.fill(0xa5, start, start + 40_000);
  writeFileSync(at.path('damaged.db'), bytes);
  const damaged = await at.run(['restore', 'damaged.db', '--store', 's.db']);
  assert.deepEqual([damaged.code, damaged.err.split('\n').length], [1, 2]);
  assert.match(damaged.err, /^plat: damaged\.db .*Nothing was changed\.$/m);
  at.file('text.db', 'no store at all, but a text that is long enough to be one');
  const text = await at.run(['restore', 'text.db', '--store', 's.db']);
  assert.equal(text.code, 1);
  assert.match(text.err, /^plat: text\.db is not a plat store: .* Nothing was changed\.\n$/);
  const missing = await at.run(['restore', 'nothing.db', '--store', 's.db']);
  assert.deepEqual([missing.code, missing.err], [2, 'plat: There is no file nothing.db.\n']);
  symlinkSync('s.db', at.path('link.db'));
  for (const [backup = '', store = ''] of ['s.db s.db', 's.db link.db', 'link.db s.db'].map((pair) =>
    pair.split(' '),
  )) {
    assert.deepEqual(await at.run(['restore', backup, '--store', store]), {
      code: 2,
      out: '',
      err: `plat: ${backup} is the store itself, not a backup of it.\n`,
    });
  }
  const server = await at.run(['restore', 'b.db', '--store', 'postgres://localhost/none']);
  assert.equal(server.code, 2);
  assert.match(server.err, /"plat restore --store STORE --new-epoch" tells replicas of it\.\n$/);

  assert.deepEqual(await prices(at, 's.db'), { 1: 10, 2: 2, 3: 3 });
  assert.deepEqual(
    readdirSync(at.folder).filter((name) => /restoring|replaced/.test(name)),
    [],
  );
});

test('a store with a medium that names another system than its listing can be backed up, restored and repaired', async (t) => {
  const at = place(t);
  at.file('one.ndjson', [listing('1', { OriginatingSystemID: 'X', Media: [photo('M1')] })]);
  await at.done(['import', 'one.ndjson', '--store', 's.db']);
  // As earlier versions of plat stored it.
  const open = new DatabaseSync(at.path('s.db'));
  const named = 'OriginatingSystemResourceRecordSystemID';
  open.exec(
    `UPDATE media_records SET ${named} = 'Y', idx_values = replace(idx_values, '"${named}":"X"', '"${named}":"Y"')`,
  );
  open.close();
  await at.done(['backup', 'b.db', '--store', 's.db']);
  await at.done(['restore', 'b.db', '--store', 's.db']);
  const { code, out } = await at.run(['check', '--store', 's.db']);
  assert.deepEqual([code, out.split('\n')[0]], [3, 'Media M1: the originating system of its listing']);
  await at.done(['check', '--repair', '--store', 's.db']);
  const [medium] = await at.exported('s.db', 'Media');
  assert.equal(medium?.[named], 'X');
});

test('a store behind a symbolic link is restored at its target, and the old one is kept next to it', async (t) => {
  const at = place(t);
  await scene(at);
  mkdirSync(at.path('volume'));
  renameSync(at.path('s.db'), at.path('volume/real.db'));
  symlinkSync('volume/real.db', at.path('s.db'));
  await at.done(['restore', 'b.db', '--store', 's.db']);
  assert.equal(readlinkSync(at.path('s.db')), 'volume/real.db');
  assert.deepEqual(await prices(at, 's.db'), { 1: 1, 2: 2 });
  const [kept = '', ...others] = readdirSync(at.path('volume')).filter((name) => /replaced/.test(name));
  assert.deepEqual(others, []);
  assert.deepEqual(await prices(at, join('volume', kept)), { 1: 10, 2: 2, 3: 3 });
  // The target of the link may be missing.
  rmSync(at.path('volume/real.db'));
  await at.done(['restore', 'b.db', '--store', 's.db']);
  assert.deepEqual(await prices(at, 'volume/real.db'), { 1: 1, 2: 2 });
});

test('a store that can no longer be read is restored, and kept as a file', async (t) => {
  const at = place(t);
  await scene(at);
  writeFileSync(at.path('s.db'), Buffer.alloc(100_000, 0x5a));
  writeFileSync(at.path('s.db-wal'), 'left behind');
  const report = JSON.parse(await at.done(['restore', 'b.db', '--store', 's.db', '--json']));
  assert.equal(existsSync(at.path('s.db-wal')), false, 'SQLite would read it as the log of the new file');
  assert.deepEqual(readFileSync(at.path(report.kept)), Buffer.alloc(100_000, 0x5a));
  assert.deepEqual(report.remarks, [
    'the previous store cannot be read, so it is not known whether a process had it open',
  ]);
  assert.deepEqual(await prices(at, 's.db'), { 1: 1, 2: 2 });
});

test('a last timestamp ahead of the clock is not carried over', async (t) => {
  const at = place(t);
  await scene(at);
  const database = new DatabaseSync(at.path('s.db'));
  database.prepare("UPDATE plat_meta SET value = '2046-01-01T00:00:00Z' WHERE name = 'last_stamp'").run();
  database.close();
  const report = JSON.parse(await at.done(['restore', 'b.db', '--store', 's.db', '--json']));
  assert.deepEqual(report.remarks, [
    'the last timestamp of the previous store, 2046-01-01T00:00:00Z, was ahead of the clock and is not carried over',
  ]);
  assert.ok(Date.parse(report.notBefore) < Date.parse('2046-01-01T00:00:00Z'));
});

test('a replica follows a source that was restored', async (t) => {
  const at = place(t);
  at.file(
    'one.ndjson',
    ['1', '2', '4'].map((key) => listing(key, { ListPrice: 1 })),
  );
  at.file('two.ndjson', [listing('1', { ListPrice: 10 }), listing('3', { ListPrice: 3 })]);
  await at.done(['import', 'one.ndjson', '--store', 's.db']);
  const token = (
    await at.done(['key', 'create', '--store', 's.db', '--name', 'k', '--role', 'private'])
  ).trim();
  await at.done(['backup', 'b.db', '--store', 's.db']);
  await at.done(['import', 'two.ndjson', '--store', 's.db']);
  await at.done(['delete', '2', '--store', 's.db', '--resource', 'Property']);
  const door = await openDoor(t);
  const run = async (): Promise<string> => {
    const feed = await serve(at, 's.db');
    door.target = feed.addresses.replication ?? '';
    const options = [...from(door.origin, 'reso', token), '--resources', 'Property', '--purge-share', '100'];
    const { code, err } = await at.run(['replicate', ...options]);
    assert.equal(code, 0, err);
    feed.process.child.kill('SIGTERM');
    await feed.process.ended;
    return err;
  };
  assert.doesNotMatch(await run(), /"refresh"/);
  assert.deepEqual(await prices(at, 'replica.db'), { 1: 10, 3: 3, 4: 1 });
  await at.done(['restore', 'b.db', '--store', 's.db']);
  assert.match(await run(), /the source went back in time/);
  assert.deepEqual(await prices(at, 'replica.db'), { 1: 1, 2: 1, 4: 1 });
});

test('--new-epoch begins a new epoch in a store that was restored by other means', async (t) => {
  const at = place(t);
  await scene(at);
  copyFileSync(at.path('b.db'), at.path('s.db'));
  const before = await epochOf(at.path('b.db'));
  const report = await at.done(['restore', '--store', 's.db', '--new-epoch']);
  const [, epoch] =
    /^s\.db is in the new epoch ([\w-]{12}); its replicas read everything again\n$/.exec(report) ?? [];
  assert.equal(await epochOf(at.path('s.db')), epoch);
  assert.notEqual(epoch, before);
});
