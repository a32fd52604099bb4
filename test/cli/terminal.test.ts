/** Untrusted names and texts reach the terminal and the log with everything escaped that a terminal would interpret. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { escapeControls, escapeJson } from '../../src/cli/terminal.ts';
import { listings } from '../replica/support/feed.ts';
import { json } from '../replica/support/loopback.ts';
import { odataServer } from '../replica/support/odata-server.ts';
import { testClock } from '../support/clock.ts';
import { linesOf, place } from './run.ts';

/** Clears the screen, forges a line, sets the title by C1, deletes, and reverses the direction of the text. */
const ODD = '\u001b[2J\r\nplat: done\t\u009b31m\u007f\u202eexe\u2069\u2028';
const SHOWN = '\\u001b[2J\\r\\nplat: done\\t\\u009b31m\\u007f\\u202eexe\\u2069\\u2028';
const OBEYED = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** Whether nothing in a text is interpreted; line breaks are checked by the caller. */
const harmless = (text: string): void => assert.doesNotMatch(text, OBEYED);

test('a line escapes control characters, line breaks and directional formatting, and nothing else', () => {
  assert.equal(escapeControls(ODD), SHOWN);
  assert.equal(escapeControls('Ünï 日本 😀 \\ "x" é\u0301'), 'Ünï 日本 😀 \\ "x" é\u0301');
  for (let at = 0; at < 0x10000; at++) {
    const character = String.fromCharCode(at);
    assert.equal(
      escapeControls(character) !== character,
      OBEYED.test(character) || character === '\n',
      `U+${at}`,
    );
  }
});

test('escaping leaves the value of a JSON text the same', () => {
  const text = JSON.stringify({ [ODD]: [ODD, '\\u0080', 1] });
  harmless(escapeJson(text));
  assert.deepEqual(JSON.parse(escapeJson(text)), JSON.parse(text));
});

test('import escapes the name, keys, fields and values of a file', async (t) => {
  const at = place(t);
  at.file(
    'plain',
    linesOf([{ ListingKey: 'A', [ODD]: 1 }, { ListingKey: 'B', ListPrice: ODD }, { ListingKey: ODD }]),
  );
  const name = `in${ODD.replaceAll('/', '')}.ndjson`;
  renameSync(at.path('plain'), at.path(name));
  const { code, out, err } = await at.run(['import', '--store', 's.db', name]);
  assert.equal(code, 1);
  harmless(out + err);
  assert.equal(
    out,
    `in${SHOWN}.ndjson: Property 0 new, 0 changed, 0 unchanged, 0 children stored, 3 rejected\n`,
  );
  const own = err.split('\n').filter((line) => line.startsWith('in'));
  assert.equal(own.length, 3 + 1, err);
  assert.ok(err.includes(`Property has no field ${SHOWN}`), err);
});

test('key create, key list and errors escape names of keys, systems and stores', async (t) => {
  const at = place(t);
  const create = ['key', 'create', '--store', 's.db', '--role', 'idx', '--system', ODD];
  await at.done([...create, '--name', 'A site']);
  const refused = await at.run([...create, '--name', ODD]);
  harmless(refused.out + refused.err);
  assert.match(refused.err, /^plat: The name has a control character/m);
  // A name from before names were checked.
  const file = new DatabaseSync(at.path('s.db'));
  file.prepare('UPDATE plat_keys SET name = ?').run(ODD);
  file.close();
  const [list, asJson, unknown] = await Promise.all([
    at.done(['key', 'list', '--store', 's.db']),
    at.done(['key', 'list', '--store', 's.db', '--json']),
    at.run(['key', 'revoke', ODD, '--store', ODD]),
  ]);
  harmless(list + asJson + unknown.out + unknown.err);
  assert.equal(list.split('\n').length, 3);
  assert.ok(list.includes(SHOWN));
  assert.equal(JSON.parse(asJson)[0].name, ODD);
  assert.notEqual(unknown.code, 0);
});

test('replicate, quarantine and verify escape what a source sends in records, errors and headers', async (t) => {
  const clock = testClock(new Date().toISOString());
  const records = listings(3, clock).map((record, index) =>
    index === 1 ? { ...record, ListPrice: { [ODD]: ODD } } : record,
  );
  const server = await odataServer(t, clock, { Property: records });
  const at = place(t);
  const source = ['--from', server.root, '--interface', 'reso', '--token', 'secret', '--store', 'r.db'];
  const first = await at.run(['replicate', ...source, '--resources', 'Property']);
  harmless(first.out + first.err);
  const quarantine = await at.done(['quarantine', 'list', '--store', 'r.db']);
  assert.match(quarantine, /ListPrice/);
  harmless(quarantine);
  server.intercept = () => json({ error: { message: ODD } }, { status: 403 });
  const { code, out, err } = await at.run(['verify', ...source]);
  assert.equal(code, 1);
  harmless(out + err);
  const lines = err.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  assert.equal(lines.length, 1, err);
});
