/** The commands in the documents exist with their options, and the README's example of the library runs. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Command } from 'commander';
import { loadProgram } from '../../../src/cli/program.ts';
import { place } from '../run.ts';

const text = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');

/** The documents for users, by their path. */
const documents = (): [path: string, text: string][] => {
  const root = new URL('../../../', import.meta.url);
  const paths = ['README.md', ...globSync('docs/*.md', { cwd: root.pathname })];
  return paths.map((path) => [path, readFileSync(new URL(path, root), 'utf8')]);
};

/** The command that the words begin with, such as `plat key create`; undefined for no command. */
function commandIn(program: Command, words: readonly string[]): Command | undefined {
  const next = program.commands.find((each) => each.name() === words[0]);
  return next === undefined || next.commands.length === 0 ? next : (commandIn(next, words.slice(1)) ?? next);
}

test('every command in the documents exists, and so do its options', async () => {
  const program = await loadProgram();
  const always = ['--help', '--version'];
  let found = 0;
  for (const [path, all] of documents()) {
    const lines = all.replaceAll('\\\n', ' ').matchAll(/(?:^|`|\| )(?:npx )?plat ([a-z][^`\n|;&#]*)/gm);
    for (const [line, rest = ''] of lines) {
      const command = commandIn(program, rest.trim().split(/\s+/));
      const flags = [...rest.matchAll(/(?<=^|\s|\[)--[a-z][a-z-]*/g)].map(([flag]) => flag);
      if (command === undefined && flags.length === 0) continue; // prose
      const known = [...always, ...(command?.options ?? []).map((option) => option.long)];
      for (const flag of flags) assert.ok(known.includes(flag), `${path}: ${line}: ${flag}`);
      found++;
    }
  }
  assert.ok(found > 100, String(found));
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
