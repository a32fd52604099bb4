/**
 * Tests of stores, services, commands and replicas, run when days, months and years end: each file begins ten seconds
 * from a midnight that somebody may have forgotten. It takes long, so `PLAT_FULL=1` asks for it.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fakeTime } from './support/postgres-server.ts';

const MOMENTS = [
  ['ten seconds before a midnight', '2027-06-30T23:59:50Z'],
  ['ten seconds after a midnight', '2027-07-01T00:00:10Z'],
  ['at the end of 29 February', '2028-02-29T23:59:50Z'],
  ['at the end of a year', '2027-12-31T23:59:50Z'],
] as const;

/** What looks at a clock; the simulation has clocks of its own. */
const FILES = ['store', 'service', 'cli', 'replica'].flatMap((room) =>
  globSync(`test/${room}/**/*.test.ts`, { exclude: (name) => name.includes('simulation') }),
);

const PRELOADED = new URL('support/other-date.js', import.meta.url);

/** A server of another time takes a library that not every machine has; without it the tests of servers are left out. */
const needsServer = (file: string): boolean => /postgres/i.test(readFileSync(file, 'utf8'));
const chosen = FILES.filter((file) => fakeTime() !== undefined || !needsServer(file));

for (const [name, moment] of process.env.PLAT_FULL === '1' ? MOMENTS : []) {
  test(`${name}: ${chosen.length} of ${FILES.length} files`, async () => {
    assert.ok(chosen.length > 50, 'the test finds the others');
    const { PLAT_FULL: _, NODE_TEST_CONTEXT: __, ...environment } = process.env;
    const child = spawn(process.execPath, ['--test', '--test-concurrency=2', ...chosen], {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      env: { ...environment, PLAT_TEST_DATE: moment, NODE_OPTIONS: `--import=${PRELOADED}` },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    for await (const text of child.stdout.setEncoding('utf8')) said += text;
    const [, failed = 'nothing was said'] = /ℹ fail (\d+)/.exec(said) ?? [];
    assert.equal(failed, '0', said.slice(said.indexOf('failing tests:')));
  });
}
