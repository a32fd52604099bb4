/** plat check and --repair from the command line; backups of a damaged store, and a service on one. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { from, serve } from '../replica/support/real-feed.ts';
import { type Place, place } from './run.ts';
import { ANY_PORT, addressesOf, lineWith } from './serving.ts';

const LISTINGS = ['A', 'B', 'C'].map((ListingKey) => ({
  ListingKey,
  YearBuilt: 1900,
  City: `Town ${ListingKey}`,
  PublicRemarks: `A house ${ListingKey}`,
  Media: [{ MediaKey: `M${ListingKey}`, MediaURL: `https://media.example/${ListingKey}.jpg` }],
}));

async function market(at: Place): Promise<void> {
  at.file('a.ndjson', LISTINGS);
  await at.done(['import', '--store', 'm.db', 'a.ndjson']);
}

function damage(at: Place, ...statements: readonly string[]): void {
  const database = new DatabaseSync(at.path('m.db'));
  for (const statement of statements) database.exec(statement);
  database.close();
}

/** Changes bytes of the file, which no SQL statement would. */
function overwrite(at: Place, from: string, to: string): void {
  const bytes = readFileSync(at.path('m.db'));
  const place = bytes.indexOf(from);
  assert.ok(place > 0, `${from} is in the file`);
  bytes.write(to, place);
  writeFileSync(at.path('m.db'), bytes);
}

test('a repair creates missing tables anew, and names those whose content is lost', async (t) => {
  const at = place(t);
  await market(at);
  await at.done(['key', 'create', '--store', 'm.db', '--name', 'n']);
  damage(at, 'DROP TABLE plat_keys', 'DROP TABLE plat_counters', 'DROP TABLE property_search');
  const repaired = await at.run(['check', '--store', 'm.db', '--repair']);
  assert.match(repaired.out, /^m\.db: nothing is wrong, \d+ rows read\n$/);
  assert.equal(repaired.err, 'm.db: there is no table plat_keys; it is recreated without its content\n');
  assert.deepEqual(JSON.parse(await at.done(['key', 'list', '--store', 'm.db', '--json'])), []);
  damage(at, 'DROP TABLE media_records');
  const torn = await at.run(['check', '--store', 'm.db', '--repair']);
  assert.equal(torn.code, 3);
  assert.match(torn.out, /^there is no table media_records\n/);
  assert.match(torn.out, /\nThe rest cannot be rebuilt: restore a backup with "plat restore"\.\n$/);
});

test('a sound store passes; each fault is one line, and --repair repairs it', async (t) => {
  const at = place(t);
  await market(at);
  const sound = await at.run(['check', '--store', 'm.db']);
  assert.equal(sound.code, 0);
  assert.match(sound.out, /^m\.db: nothing is wrong, \d+ rows read\n$/);
  const before = await at.exported('m.db', 'Property');
  damage(
    at,
    `UPDATE property_records SET "City" = 'Elsewhere' WHERE _key = 'A'`,
    `UPDATE property_texts SET address_values = '{' WHERE _key = 'B'`,
    `UPDATE plat_counters SET rows = 7 WHERE resource = 'Media'`,
    'DROP INDEX "property_search_walk"',
  );
  const found = await at.run(['check', '--store', 'm.db']);
  assert.equal(found.code, 3);
  assert.deepEqual(found.out.split('\n').slice(0, -3), [
    'there is no index property_search_walk',
    'the index of words does not have the words of 1 Property, such as A',
    'Property A: its search row, address_values, _hash',
    'Property B: address_values',
    'Media (counters): the stored counts of rows are wrong',
    'Lookup (values): the stored counts of values in use are wrong',
  ]);
  assert.match(
    found.out,
    /\nm\.db: 6 things are wrong, \d+ rows read\n--repair rebuilds what can be rebuilt\.\n$/,
  );
  const json = await at.run(['check', '--store', 'm.db', '--json']);
  assert.deepEqual(JSON.parse(json.out.split('\n')[2] ?? ''), {
    place: 'row',
    resource: 'Property',
    key: 'A',
    what: ['its search row', 'address_values', '_hash'],
  });
  const mended = await at.run(['check', '--store', 'm.db', '--repair']);
  assert.equal(mended.code, 0, mended.out);
  assert.match(mended.out, /^m\.db: nothing is wrong, \d+ rows read\n$/);
  assert.deepEqual(await at.exported('m.db', 'Property'), before);
});

test('changed bytes: check exits with 3, backup with 1 and without a file, and after --repair a backup succeeds', async (t) => {
  const at = place(t);
  await market(at);
  overwrite(at, 'A house B', 'A mouse B');
  const found = await at.run(['check', '--store', 'm.db']);
  assert.equal(found.code, 3);
  const words = 'the index of words does not have the words of 1 Property, such as B';
  assert.deepEqual(found.out.split('\n').slice(0, 2), [words, 'Property B: idx_values, _hash']);
  const backup = await at.run(['backup', '--store', 'm.db', 'copy.db']);
  assert.equal(backup.code, 1);
  assert.match(
    backup.err,
    /^plat: m\.db is damaged: its copy does not pass the check \(the index of words [^)]*\), and was not kept\. [^\n]*\n$/,
  );
  assert.equal(existsSync(at.path('copy.db')) || existsSync(at.path('copy.db.partial')), false);
  const mended = await at.run(['check', '--store', 'm.db', '--repair']);
  assert.equal(mended.code, 0, mended.out);
  await at.done(['backup', '--store', 'm.db', 'copy.db']);
  assert.equal(
    (await at.exported('copy.db', 'Property')).find(({ ListingKey }) => ListingKey === 'B')?.PublicRemarks,
    'A house B',
  );
});

test('a copy of a damaged store is identical and reported as damaged; an export is complete or not written', async (t) => {
  const at = place(t);
  await market(at);
  await at.done(['copy', '--from', 'm.db', '--to', 'sound.db']);
  overwrite(at, 'Town B"', 'Gown B"');
  const { code, out, err } = await at.run(['copy', '--from', 'm.db', '--to', 'other.db']);
  assert.equal(code, 1);
  assert.match(out, /^other\.db is the same as m\.db: /);
  assert.match(
    err,
    /^plat: other\.db is damaged: its source is damaged as well \(Property B: address_values\)\. [^\n]*\n$/,
  );
  writeFileSync(at.path('p.ndjson.partial'), 'stale');
  writeFileSync(at.path('p.ndjson'), 'before', { mode: 0o640 });
  await at.done(['export', '--store', 'm.db', '--resource', 'Property', '--out', 'p.ndjson']);
  assert.deepEqual(readFileSync(at.path('p.ndjson'), 'utf8').split('\n').length, LISTINGS.length + 1);
  assert.equal(statSync(at.path('p.ndjson')).mode & 0o777, 0o640);
  assert.equal(existsSync(at.path('p.ndjson.partial')), false);
  damage(at, `UPDATE property_records SET "YearBuilt" = ${2 ** 62} WHERE _key = 'C'`);
  const broken = await at.run(['export', '--store', 'm.db', '--resource', 'Property', '--out', 'p.ndjson']);
  assert.equal(broken.code, 1);
  assert.deepEqual(readFileSync(at.path('p.ndjson'), 'utf8').split('\n').length, LISTINGS.length + 1);
  assert.equal(existsSync(at.path('p.ndjson.partial')), false);
});

test('damaged settings: every command prints one line without a stack trace', async (t) => {
  const at = place(t);
  await market(at);
  damage(at, "UPDATE plat_meta SET value = '{' WHERE name = 'settings'");
  const commands = [
    ['status', '--store', 'm.db'],
    ['export', '--store', 'm.db', '--resource', 'Property'],
    ['backup', '--store', 'm.db', 'copy.db'],
    ['import', '--store', 'm.db', 'a.ndjson'],
    ['delete', '--store', 'm.db', '--resource', 'Property', 'A'],
    ['key', 'list', '--store', 'm.db'],
    ['key', 'create', '--store', 'm.db', '--name', 'x'],
    ['quarantine', 'list', '--store', 'm.db'],
    ['copy', '--from', 'm.db', '--to', 'other.db'],
    ['serve', '--store', 'm.db', '--api-port', '0'],
  ];
  const answers = await Promise.all(commands.map((args) => at.run(args)));
  const words = '"plat check" reports the damage, and --repair repairs what it can.';
  assert.deepEqual(
    answers,
    commands.map(() => ({
      code: 1,
      out: '',
      err: `plat: m.db is damaged: its settings are not valid JSON. ${words}\n`,
    })),
  );
  const check = await at.run(['check', '--store', 'm.db']);
  assert.deepEqual(
    [check.code, check.out],
    [
      3,
      `m.db is damaged: its settings are not valid JSON. ${words}\nm.db: 1 things are wrong, 0 rows read\n`,
    ],
  );
});

test('check names invalid notes on a source, and --refresh recreates them', async (t) => {
  const at = place(t);
  await market(at);
  const created = await at.done(['key', 'create', '--store', 'm.db', '--name', 'k', '--role', 'private']);
  const feed = await serve(at, 'm.db');
  const options = from(feed.addresses.replication ?? '', 'reso', created.trim());
  await at.done(['replicate', ...options]);
  const replica = new DatabaseSync(at.path('replica.db'));
  const put = replica.prepare('UPDATE plat_ledger_state SET value = ? WHERE name = ?');
  const notes = {
    capabilities: '{}',
    'load Property': '{"kind":"zzz"}',
    'sweep Property': '{',
    schedule: '5',
  };
  for (const [name, value] of Object.entries(notes)) assert.equal(put.run(value, name).changes, 1, name);
  replica.exec("DELETE FROM property_records WHERE _key = 'A'");
  replica.close();
  const check = () => at.run(['check', '--store', 'replica.db']);
  const found = await check();
  assert.equal(found.code, 3);
  for (const name of Object.keys(notes)) {
    assert.match(
      found.out,
      new RegExp(`^feed: the note "${name}" of the checkpoint is no[^\\n]*--refresh`, 'm'),
    );
  }
  const refused = await at.run(['replicate', ...options]);
  assert.deepEqual([refused.code, refused.err.match(/\n\s+at /)], [1, null]);
  const refreshed = await at.run(['replicate', ...options, '--refresh']);
  assert.equal(refreshed.code, 0, refreshed.err);
  assert.deepEqual((await check()).code, 0);
  const keys = (await at.exported('replica.db', 'Property')).map((record) => record.ListingKey);
  assert.deepEqual(keys, ['A', 'B', 'C']);
  feed.process.child.kill('SIGTERM');
  await feed.process.ended;
});

test('a service detects damage that no read of a page shows, logs it, and is not ready', async (t) => {
  const at = place(t);
  await market(at);
  overwrite(at, 'Town B"', 'Gown B"');
  at.file('plat.config.json', JSON.stringify({ scrub: { hours: 1, share: 100 } }));
  const service = at.start(['serve', '--store', 'm.db', ...ANY_PORT]);
  const log = lineWith(service, 'found damage in the store');
  const { admin } = await addressesOf(service);
  const { resource, key, what } = JSON.parse(await log);
  assert.deepEqual({ resource, key, what }, { resource: 'Property', key: 'B', what: ['address_values'] });
  const ready = async (): Promise<unknown> => (await fetch(`${admin}/ready`)).json();
  const records = 'Property B is damaged: address_values; run "plat check" for details';
  assert.deepEqual(await ready(), { ready: false, problems: { records } });
});
