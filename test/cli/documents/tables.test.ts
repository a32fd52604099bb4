/**
 * Tables in documents that are generated from the code: `PLAT_WRITE_DOCS=1 npx node --test test/cli/documents/tables.test.ts` writes
 * them again.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { everyCommand, loadProgram } from '../../../src/cli/program.ts';
import { commandTables, configurationTable, errorTable, roleTable } from './tables.ts';

const BEGIN = '<!-- from the code -->';
const END = '<!-- end -->';

const DOCUMENTS: readonly (readonly [file: string, table: () => string | Promise<string>])[] = [
  ['docs/errors.md', errorTable],
  ['docs/commands.md', commandTables],
  ['docs/configuration.md', configurationTable],
  ['docs/roles.md', roleTable],
];

for (const [file, table] of DOCUMENTS) {
  test(`the tables of ${file} match the code`, async () => {
    const url = new URL(`../../../${file}`, import.meta.url);
    const text = readFileSync(url, 'utf8');
    const [before = '', rest = ''] = text.split(`${BEGIN}\n`);
    const [found = '', after] = rest.split(END);
    assert.ok(after !== undefined, `${file} has its marks`);
    if (process.env.PLAT_WRITE_DOCS === '1') {
      writeFileSync(url, `${before}${BEGIN}\n${await table()}\n${END}${after}`);
    } else assert.equal(found.trimEnd(), await table());
  });
}

test('every option has an environment variable and a key of the configuration', async () => {
  const schema: { properties: Record<string, unknown> } = JSON.parse(
    readFileSync(new URL('../../../plat.config.schema.json', import.meta.url), 'utf8'),
  );
  const options = [...everyCommand(await loadProgram())].flatMap((command) => command.options);
  const lacking = options.filter((each) => {
    const name = each.attributeName();
    return (
      !['config', 'version'].includes(name) && (each.envVar === undefined || !(name in schema.properties))
    );
  });
  assert.deepEqual(
    lacking.map(({ flags }) => flags),
    [],
  );
});

test('the schema of the configuration is valid, since no command checks it', () => {
  const ajv = new Ajv({ strict: false });
  const schema = readFileSync(new URL('../../../plat.config.schema.json', import.meta.url), 'utf8');
  assert.equal(ajv.validateSchema(JSON.parse(schema)), true, ajv.errorsText());
});
