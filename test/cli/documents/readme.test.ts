/** The commands in the README exist, and its example of the library runs. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { everyCommand, loadProgram } from '../../../src/cli/program.ts';
import { place } from '../run.ts';

const text = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');

test('every command in the README exists, and so do its options', async () => {
  const commands = [...everyCommand(await loadProgram())];
  const lines = [...text.matchAll(/^npx plat ((?:[a-z]+ )+)(.*)$/gm)];
  assert.ok(lines.length >= 5);
  for (const [line, names = '', rest = ''] of lines) {
    const [name = ''] = names.trim().split(' ').slice(-1);
    const command = commands.find((each) => each.name() === name);
    assert.ok(command, line);
    const known = command.options.map((option) => option.long);
    for (const [flag] of rest.matchAll(/--[a-z-]+/g)) assert.ok(known.includes(flag), `${line}: ${flag}`);
  }
});

test('the example of the library runs', (t) => {
  const at = place(t);
  const [, example = ''] = /```js\n(.*?)```/s.exec(text) ?? [];
  const runnable = example
    .replace("from 'plat'", `from '${new URL('../../../src/index.ts', import.meta.url).href}'`)
    .replace("from 'pino'", `from '${import.meta.resolve('pino')}'`)
    .replaceAll(/: 808\d/g, ': 0');
  at.file('example.mjs', runnable);
  const out = execFileSync(process.execPath, ['example.mjs'], { cwd: at.folder, encoding: 'utf8' });
  assert.match(out, /^http:\/\/127\.0\.0\.1:\d+$/m);
});
