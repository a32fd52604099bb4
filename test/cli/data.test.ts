/** Commands that delete, export, back up and count what a store contains. */
import assert from 'node:assert/strict';
import { readFileSync, symlinkSync } from 'node:fs';
import { test } from 'node:test';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { makeWorld } from '../support/world.ts';
import { type Place, place } from './run.ts';

const LISTINGS = [
  {
    ListingKey: '1',
    City: 'Ütrecht',
    ListPrice: 450000.25,
    Media: [{ MediaKey: 'M1', MediaCategory: 'Photo', MediaURL: 'https://i.example/1.jpg' }],
  },
  { ListingKey: '2', City: 'Oslo', Rooms: [{ RoomKey: 'R1', RoomType: 'Kitchen' }, { RoomKey: 'R2' }] },
];

async function filled(at: Place): Promise<void> {
  at.file('l.ndjson', LISTINGS);
  await at.done(['import', '--store', 'm.db', 'l.ndjson']);
}

const keysIn = async (at: Place, resource: string, key: string, store = 'm.db'): Promise<unknown[]> =>
  (await at.exported(store, resource)).map((record) => record[key]);

test('delete removes records with everything that belongs to them, and reports keys that do not exist', async (t) => {
  const at = place(t);
  await filled(at);
  const [missing, json] = [
    await at.run(['delete', '--store', 'm.db', '--resource', 'Property', '2', '7']),
    await at.run(['delete', '--store', 'm.db', '--resource', 'Media', '--json', 'M1']),
  ];
  assert.deepEqual(missing, { code: 1, out: 'deleted 1 Property, 2 children; 1 were not there\n', err: '' });
  assert.deepEqual(json, { code: 0, out: '{"deleted":1,"children":0,"missing":0,"failed":0}\n', err: '' });
  assert.deepEqual(
    [await keysIn(at, 'Property', 'ListingKey'), await keysIn(at, 'PropertyRooms', 'RoomKey')],
    [['1'], []],
  );
  assert.deepEqual(await keysIn(at, 'Media', 'MediaKey'), []);
});

test('a replica rejects imports, and deletes without --force', async (t) => {
  const at = place(t);
  const { store, write } = await makeWorld(sqliteEngine(), t, { settings: { owner: 'replica' } });
  await write('Property', { ListingKey: '1' }, { ListingKey: '2' });
  await store.backup(at.path('r.db'));
  at.file('l.ndjson', LISTINGS);
  const rejection = (reason: string) => ({ code: 2, out: '', err: `plat: ${reason}\n` });
  const [imported, refused] = await Promise.all([
    at.run(['import', '--store', 'r.db', 'l.ndjson']),
    at.run(['delete', '--store', 'r.db', '--resource', 'Property', '1']),
  ]);
  assert.deepEqual(
    imported,
    rejection('r.db is a replica: plat replicate fetches its records from its source.'),
  );
  assert.deepEqual(
    refused,
    rejection('This store is a replica; its records are deleted at their source. --force deletes them here.'),
  );
  assert.equal(
    await at.done(['delete', '--store', 'r.db', '--resource', 'Property', '--force', '1']),
    'deleted 1 Property, 0 children\n',
  );
});

test('a new store that is imported from an export has the same content', async (t) => {
  const at = place(t);
  await filled(at);
  const out = await at.done(['export', '--store', 'm.db', '--resource', 'Property']);
  await at.done(['export', '--store', 'm.db', '--resource', 'Media', '--out', 'media.ndjson']);
  await at.done(['import', '--store', 'n.db', '-'], { input: out });
  await at.done(['import', '--store', 'n.db', '--resource', 'Media', 'media.ndjson']);
  const plain = ({ City, ListPrice, ListingKey }: Record<string, unknown>) => ({
    City,
    ListPrice,
    ListingKey,
  });
  assert.deepEqual(
    (await at.exported('n.db', 'Property')).map(plain),
    (await at.exported('m.db', 'Property')).map(plain),
  );
  assert.deepEqual(await keysIn(at, 'Media', 'MediaKey', 'n.db'), ['M1']);
  assert.equal(
    out
      .split('\n')[0]
      ?.startsWith('{"ListingKey":"1","City":"Ütrecht","DocumentsCount":0,"ListPrice":450000.25,'),
    true,
    out,
  );
  assert.equal(readFileSync(at.path('media.ndjson'), 'utf8').split('\n').length, 2);
});

test('an export never replaces a store, whatever its name, nor the log of one', async (t) => {
  const at = place(t);
  await filled(at);
  symlinkSync(at.path('m.db'), at.path('link.ndjson'));
  const folder = await at.run(['export', '--store', 'm.db', '--resource', 'Property', '--out', '.']);
  assert.deepEqual(folder, { code: 2, out: '', err: 'plat: . is a folder, not a file.\n' });
  const ways = ['m.db', 'link.ndjson', 'm.db-wal'].flatMap((out) => [
    [out, '--resource', 'Property'],
    [out, '--declarations'],
  ]);
  for (const [out = '', ...what] of ways) {
    assert.deepEqual(await at.run(['export', '--store', 'm.db', '--out', out, ...what]), {
      code: 2,
      out: '',
      err: `plat: ${out} belongs to an SQLite database, which an export does not replace.\n`,
    });
  }
  assert.deepEqual(await keysIn(at, 'Property', 'ListingKey'), ['1', '2']);
});

test('backup writes a complete store next to the live one, and never overwrites anything', async (t) => {
  const at = place(t);
  await filled(at);
  assert.equal(await at.done(['backup', '--store', 'm.db', 'copy.db']), 'copy.db is a copy of m.db\n');
  assert.deepEqual(await keysIn(at, 'Property', 'ListingKey', 'copy.db'), ['1', '2']);
  const [again, nowhere] = await Promise.all([
    at.run(['backup', '--store', 'm.db', 'copy.db']),
    at.run(['backup', '--store', 'm.db', 'no/copy.db']),
  ]);
  assert.deepEqual(again, { code: 2, out: '', err: 'plat: copy.db already exists.\n' });
  assert.deepEqual(nowhere, {
    code: 2,
    out: '',
    err: 'plat: There is no folder no to write no/copy.db to.\n',
  });
});

test('status counts the stored records', async (t) => {
  const at = place(t);
  await filled(at);
  const status = JSON.parse(await at.done(['status', '--store', 'm.db', '--json']));
  assert.deepEqual(
    [status.store, status.engine, status.owner, status.layout, status.keys, status.danglingLinks],
    ['m.db', 'sqlite', 'authority', 4, { valid: 0, all: 0 }, []],
  );
  const members =
    'store engine owner layout generation bytes lastStamp changes resources danglingLinks keys sources';
  assert.equal(Object.keys(status).join(' '), members);
  const rows = Object.fromEntries(
    status.resources.map((each: { resource: string; rows: number }) => [each.resource, each.rows]),
  );
  assert.deepEqual([rows.Property, rows.Media, rows.PropertyRooms, rows.Member], [2, 1, 2, 0]);
  const text = await at.done(['status', '--store', 'm.db']);
  assert.match(text, /^m\.db \(sqlite, authority, layout 4, \d+\.\d MB\)$/m);
  assert.match(text, /^sequence of changes: last number \d+, \d+ entries$/m);
  assert.match(text, /^Property +2 +0 +0 +20\d\d-/m);
});

test('an expired key and a revoked one are invalid, one that was rotated is valid until its end', async (t) => {
  const at = place(t);
  const create = async (name: string, ...more: readonly string[]): Promise<string> =>
    JSON.parse(await at.done(['key', 'create', '--store', 'm.db', '--name', name, '--json', ...more])).id;
  await create('usual');
  await create('ends', '--expires', '2999-01-01');
  await create('ended', '--expires', '2020-01-01');
  await at.done(['key', 'revoke', '--store', 'm.db', await create('revoked')]);
  await at.done(['key', 'rotate', '--store', 'm.db', await create('rotated'), '--overlap', '1h']);
  const status = JSON.parse(await at.done(['status', '--store', 'm.db', '--json']));
  assert.deepEqual(status.keys, { valid: 4, all: 6 });
  const listed = await at.done(['key', 'list', '--store', 'm.db']);
  const stateOf = (name: string): string[] =>
    [...listed.matchAll(new RegExp(` ${name} +replication +idx +all +(.*?)  `, 'g'))].map(([, state = '']) =>
      state.replace(/20\d\d-.*/, 'at'),
    );
  assert.deepEqual(
    ['usual', 'ends', 'ended', 'revoked'].map((name) => stateOf(name)),
    [['valid'], ['until 2999-01-01T00:00:00Z'], ['expired at'], ['revoked at']],
  );
  assert.deepEqual(stateOf('rotated').sort(), ['until at', 'valid']);
});

test('an export whose reader goes away ends without a stack trace', async (t) => {
  const at = place(t);
  at.file(
    'many.ndjson',
    Array.from({ length: 5000 }, (_, index) => ({ ListingKey: `K${index}`, City: 'A'.repeat(50) })),
  );
  await at.done(['import', '--store', 'm.db', 'many.ndjson']);
  const { child, ended } = at.start(['export', '--store', 'm.db', '--resource', 'Property']);
  child.stdout?.once('data', () => child.stdout?.destroy());
  const { code, err } = await ended;
  assert.deepEqual([code, err], [1, '']);
});

test('with --json, the commands that act on a key, a webhook or a backup report in JSON what they did', async (t) => {
  const at = place(t);
  const run = async (...args: readonly string[]) =>
    JSON.parse(await at.done([...args, '--store', 'm.db', '--json']));
  const { id: key } = await run('key', 'create', '--name', 'A');
  const { id: webhook } = await run('webhook', 'create', '--url', 'https://a.example/');
  assert.deepEqual(await run('webhook', 'pause', webhook), { id: webhook, outcome: 'paused' });
  assert.deepEqual(await run('webhook', 'resume', webhook), { id: webhook, outcome: 'resumed' });
  assert.deepEqual(await run('webhook', 'replay', webhook, '--since', 'start'), {
    ...{ id: webhook, outcome: 'replayed', since: 'start' },
  });
  assert.deepEqual(await run('webhook', 'delete', webhook), { id: webhook, outcome: 'deleted' });
  assert.deepEqual(await run('key', 'revoke', key), { id: key, outcome: 'revoked' });
  assert.deepEqual(await run('backup', 'copy.db'), { store: 'm.db', file: 'copy.db' });
});
