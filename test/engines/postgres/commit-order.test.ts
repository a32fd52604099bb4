/** I2 on the server: four processes write at once, their commits are delayed on purpose, and no window gains a record. */
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { timestampFrom } from '../../../src/dictionary/index.ts';
import { openStore } from '../../../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { testClock } from '../../support/clock.ts';
import { emptyDatabase } from '../../support/postgres-engine.ts';
import { runOn } from '../../support/postgres-server.ts';
import { operations } from '../../support/world.ts';

const WRITER = fileURLToPath(new URL('writer-process.ts', import.meta.url));

const FULL = process.env.PLAT_FULL === '1';
/** The number of windows with records that are read while the writers write. */
const WINDOWS = FULL ? 600 : 12;
/** Long enough for any machine: a store on which nothing settles fails the test instead of hanging. Milliseconds. */
const LONGEST = FULL ? 600_000 : 120_000;

/** Delays every third commit, after its timestamp was assigned. */
const SLOW_COMMITS = [
  `CREATE FUNCTION plat.slow_commit() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     IF NEW.name = 'last_stamp' AND random() < 0.3 THEN PERFORM pg_sleep(random() * 0.3); END IF;
     RETURN NULL;
   END $$`,
  `CREATE CONSTRAINT TRIGGER slow_commit AFTER UPDATE ON plat.plat_meta
   DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION plat.slow_commit()`,
];

test('four processes write while commits are delayed: no settled window gains a record', async () => {
  const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
  await runOn(address, ...SLOW_COMMITS);
  const store = await openStore(address);
  after(async () => {
    await store.close();
    await drop();
  });
  const { keys } = operations(store, testClock());
  const writers = ['w1', 'w2', 'w3', 'w4'].map((name) => {
    const child = spawn(process.execPath, [WRITER, address, name]);
    child.stderr.pipe(process.stderr);
    after(() => void child.kill('SIGKILL'));
    return { child, lines: linesOf(child) };
  });
  for (const { lines } of writers) assert.equal((await lines.next()).value, 'ready');
  for (const { child } of writers) child.stdin.write('begin\n');
  const inWindow = (from: number, to: number): Promise<string[]> =>
    keys(
      'Property',
      `$filter=ModificationTimestamp ge ${timestampFrom(from)} and ModificationTimestamp lt ${timestampFrom(to)}`,
    );
  const windows: { from: number; to: number; seen: readonly string[] }[] = [];
  let from = (await store.horizon()).settled;
  let waited = 0;
  let filled = 0;
  const began = performance.now();
  while ((filled < WINDOWS || waited === 0) && performance.now() - began < LONGEST) {
    const { now, settled } = await store.horizon();
    assert.ok(settled <= now);
    if (settled < now) waited++;
    if (settled <= from) continue;
    const seen = await inWindow(from, settled);
    windows.push({ from, to: settled, seen });
    if (seen.length > 0) filled++;
    from = settled;
  }
  for (const { child } of writers) child.stdin.end();
  const rounds = await Promise.all(writers.map(async ({ lines }) => Number((await lines.next()).value)));
  assert.ok(
    filled >= WINDOWS && waited > 0,
    `${filled} windows with records, ${waited} times a writer was at work`,
  );
  assert.ok(
    rounds.every((round) => round > 0),
    `each process wrote: ${rounds}`,
  );
  for (const { from: start, to, seen } of windows) {
    const known = new Set(seen);
    const gained = (await inWindow(start, to)).filter((key) => !known.has(key));
    assert.deepEqual(gained, [], `${timestampFrom(start)} to ${timestampFrom(to)}`);
  }
  // A reader of these windows has seen everything that was settled by then.
  const all = new Set(windows.flatMap(({ seen }) => seen));
  const first = windows[0]?.from ?? 0;
  const settled = await inWindow(first, from);
  assert.deepEqual(
    settled.filter((key) => !all.has(key)),
    [],
  );
  const written = rounds.reduce((sum, round) => sum + 2 * round, 1);
  assert.equal((await keys('Property')).length, written);
});

async function* linesOf({ stdout }: ChildProcessWithoutNullStreams): AsyncGenerator<string> {
  yield* createInterface({ input: stdout });
}
