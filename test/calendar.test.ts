/**
 * The other tests at ends of days, months and years: each file by itself, beginning ten seconds before or after a midnight that code
 * might mishandle. It takes long, so that only `PLAT_FULL=1` runs it. To run one file at one time:
 * `PLAT_TEST_DATE=2028-02-29T00:00:10Z NODE_OPTIONS=--import=$PWD/test/support/other-date.js node --test FILE`.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { fakeTime } from './support/other-clock.ts';
import { startServer } from './support/postgres-server.ts';
import { TOGETHER } from './support/together.ts';

/** Both sides of a midnight, a leap day from both ends, and the end of a year. */
const MOMENTS = [
  ['at the beginning of 29 February', '2028-02-29T00:00:10Z'],
  ['at the end of 29 February', '2028-02-29T23:59:50Z'],
  ['at the end of a year', '2027-12-31T23:59:50Z'],
] as const;

const PLACE = fileURLToPath(new URL('..', import.meta.url));
/** The environment of a process whose clock is off by that many milliseconds. */
const clockOff = (milliseconds: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${new URL('support/other-date.js', import.meta.url)}`,
  PLAT_TEST_DATE_OFFSET: String(milliseconds),
});

/** Files that run others, and the simulation, which has its own clocks. */
const isLeftOut = (file: string): boolean =>
  file === 'test/calendar.test.ts' ||
  file.startsWith('test/replica/simulation/') ||
  Object.keys(TOGETHER).some((name) => file === `test/${name}.test.ts`);

const FILES = globSync('test/**/*.test.ts', { cwd: PLACE })
  .filter((file) => !isLeftOut(file))
  .toSorted();

/** A server at another time needs a library that not every machine has; without it the tests of servers are skipped. */
const needsServer = (file: string): boolean => /postgres/i.test(readFileSync(`${PLACE}${file}`, 'utf8'));
const chosen = FILES.filter((file) => fakeTime() !== undefined || !needsServer(file));

/** The time limit of a file, next to all others on a slow machine: one that waits without end is a failure. */
const LONGEST = 600_000;

/** Runs one file in a process at the given time. @returns how it ended, and its output */
async function runAt(moment: string, file: string): Promise<{ readonly end: string; readonly said: string }> {
  const { PLAT_FULL: _, NODE_TEST_CONTEXT: __, ...environment } = process.env;
  const child = spawn(process.execPath, [file], {
    cwd: PLACE,
    env: { ...environment, ...clockOff(Date.parse(moment) - Date.now()) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  let end = '';
  const limit = setTimeout(() => {
    end = `no end after ${LONGEST / 1000} s`;
    child.kill('SIGTERM');
  }, LONGEST);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(limit);
  return { end: end === '' ? `exit code ${code}` : end, said };
}

for (const [name, moment] of process.env.PLAT_FULL === '1' ? MOMENTS : [])
  test(`${name}: ${chosen.length} of ${FILES.length} files`, { concurrency: 2 }, async (t) => {
    const runs = chosen.map((file) =>
      t.test(`${file} ${name}`, async () => {
        const { end, said } = await runAt(moment, file);
        const failing = said.indexOf('failing tests:');
        assert.equal(end, 'exit code 0', failing === -1 ? said : said.slice(failing));
        assert.match(said, /ℹ fail 0/);
      }),
    );
    await Promise.all(runs);
  });

/** Ten seconds before the end of the next leap day. */
const OFFSET = Date.parse('2028-02-29T23:59:50Z') - Date.now();
const skip = fakeTime() === undefined ? 'there is no libfaketime here' : false;

test('a process runs at the other time, and so does its server, whose timeouts work', { skip }, async () => {
  const isThere = (moment: unknown): void => {
    const wrong = Math.abs(Number(moment) - Date.now() - OFFSET);
    assert.ok(wrong < 60_000, `${moment}`);
  };
  const env = { ...process.env, ...clockOff(OFFSET) };
  const { stdout } = await promisify(execFile)(process.execPath, ['-p', '+new Date()'], { env });
  isThere(stdout);
  // A server has the clock of the process that starts it.
  process.env.PLAT_TEST_DATE_OFFSET = String(OFFSET);
  const server = await startServer();
  delete process.env.PLAT_TEST_DATE_OFFSET;
  const client = new Client({ connectionString: server.address('postgres') });
  await client.connect();
  try {
    const { rows } = await client.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS moment');
    isThere(rows[0].moment);
    // The server reads the clock in a signal handler while it waits.
    await assert.rejects(client.query('SET statement_timeout = 20; SELECT pg_sleep(3600)'), {
      code: '57014',
    });
  } finally {
    await client.end();
    await server.stop('crash');
  }
});
