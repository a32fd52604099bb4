/**
 * Documents that hold what the code says: `PLAT_WRITE_DOCS=1 npx node --test test/cli/documents/tables.test.ts` writes
 * their tables anew.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { commandTables, configurationTable, errorTable } from './tables.ts';

const BEGIN = '<!-- from the code -->';
const END = '<!-- end -->';

const DOCUMENTS: readonly (readonly [file: string, table: () => string])[] = [
  ['docs/errors.md', errorTable],
  ['docs/commands.md', commandTables],
  ['docs/configuration.md', configurationTable],
];

for (const [file, table] of DOCUMENTS) {
  test(`${file} says what the code says`, () => {
    const url = new URL(`../../../${file}`, import.meta.url);
    const text = readFileSync(url, 'utf8');
    const [before = '', rest = ''] = text.split(`${BEGIN}\n`);
    const [found = '', after] = rest.split(END);
    assert.ok(after !== undefined, `${file} has its marks`);
    if (process.env.PLAT_WRITE_DOCS === '1') {
      writeFileSync(url, `${before}${BEGIN}\n${table()}\n${END}${after}`);
    } else assert.equal(found.trimEnd(), table());
  });
}
