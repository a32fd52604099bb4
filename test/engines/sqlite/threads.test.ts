/** A reader thread is free again whatever happened to its task. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { test } from 'node:test';
import { readerPool } from '../../../src/engines/sqlite/tasks.ts';
import type { ErrorCode } from '../../../src/errors/index.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import type { ReadTask } from '../../../src/store/read/read-task.ts';
import { BodyValidator } from '../../../src/store/whole/validate-body.ts';
import type { Scope } from '../../support/engine.ts';
import { emptyStoreFile } from '../../support/sqlite-engine.ts';

const statement = (text: string) => ({ text, values: [] });
const number = (text: string) => (): ReadTask => ({
  kind: 'number',
  statement: statement(text),
  isKept: true,
});
const ONE = number('SELECT 1 AS n');

function poolOn(scope: Scope, path: string) {
  const { shared: bodies } = new BodyValidator();
  const options = { path, secret: 's', busyTimeout: 100, cacheMegabytes: 1, bodies };
  const pool = readerPool(options, 'searches', 1);
  scope.after(() => pool.close());
  const run = async (task: () => ReadTask): Promise<unknown> => {
    const result = await pool.run({ task, milliseconds: 5000, caller: undefined });
    return result.kind === 'number' ? result.value : result.kind;
  };
  return { pool, run };
}

test('a thread is free after a task that throws, that cannot be planned or that cannot be cloned', async (t) => {
  const { run } = poolOn(t, await emptyStoreFile(DEFAULT_SETTINGS));
  const odd = Object.assign(statement('SELECT 1 AS n'), { odd: () => 1 });
  const unplanned = (): ReadTask => {
    throw new Error('no plan');
  };
  const failing = [
    [number('SELECT no_such_function() AS n'), /no_such_function/],
    [unplanned, /no plan/],
    [(): ReadTask => ({ kind: 'number', statement: odd, isKept: true }), /could not be cloned/],
  ] as const;
  for (const [task, says] of failing) {
    await assert.rejects(run(task), says);
    assert.equal(await run(ONE), 1);
  }
  assert.deepEqual(await Promise.all(Array.from({ length: 20 }, () => run(ONE))), Array(20).fill(1));
});

test('a thread that dies rejects its task, and is started again with the next', async (t) => {
  const path = await emptyStoreFile(DEFAULT_SETTINGS);
  renameSync(path, `${path}-away`);
  const { run } = poolOn(t, path);
  const ends = await Promise.allSettled([run(ONE), run(ONE), run(ONE)]);
  assert.deepEqual(
    ends.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  renameSync(`${path}-away`, path);
  assert.equal(await run(ONE), 1);
});

test('memory of pages that were sent is used again for the next pages, that of other pages is not', async (t) => {
  const { pool } = poolOn(t, await emptyStoreFile(DEFAULT_SETTINGS));
  const page = async (letter: string) => {
    const text = `SELECT CAST('"' || replace(hex(zeroblob(50000)), '0', '${letter}') || '"' AS BLOB) AS body, 1 AS n`;
    const task = (): ReadTask => ({
      kind: 'page',
      plan: { kind: 'range', limit: 1, page: statement(text) },
    });
    const result = await pool.read({ task, milliseconds: 5000, caller: undefined });
    assert.equal(result.kind, 'page');
    const { body, release } = result.page;
    return { letter: () => String.fromCharCode(body.at(-2) ?? 0), release: () => release?.() };
  };
  const pages = [await page('a'), await page('b'), await page('c')];
  const letters = (): string =>
    pages
      .map(({ letter }) => letter())
      .sort()
      .join('');
  assert.equal(letters(), 'abc');
  for (const { release } of pages) for (let time = 0; time < 2; time++) release();
  const next = [await page('d'), await page('e')];
  assert.match(letters(), /^[abc]de$/);
  next[0]?.release();
  next[0]?.release();
  // The next page takes what was released last, the memory of 'd'; when all of it is in use, a page gets memory of its own.
  for (const [letter, shown] of [
    ['f', /^[abc]ef$/],
    ['g', /^efg$/],
    ['h', /^efg$/],
  ] as const) {
    await page(letter);
    assert.match(letters(), shown);
  }
});

test('closing a pool rejects the tasks that wait', async (t) => {
  const { pool, run } = poolOn(t, await emptyStoreFile(DEFAULT_SETTINGS));
  const forever = number(
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) AS n FROM r',
  );
  const waiting = Promise.allSettled([run(forever), run(ONE), run(ONE)]);
  await pool.close();
  for (const end of await waiting) {
    assert.equal(end.status, 'rejected');
    assert.match(String(end.reason), /cannot be reached/);
  }
});

test('a task whose client disconnects ends at once, and the thread continues with the next', async (t) => {
  const { pool, run } = poolOn(t, await emptyStoreFile(DEFAULT_SETTINGS));
  const endless = number(
    'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE plat_deadline()) SELECT count(*) AS n FROM c',
  );
  for (const isGoneFirst of [true, false]) {
    let isGone = isGoneFirst;
    const nothing = () => undefined;
    const caller = { name: 'client', isGone: () => isGone, begin: nothing, made: nothing, spent: nothing };
    const running = pool.run({ task: endless, milliseconds: 20_000, caller });
    const next = run(ONE);
    setImmediate(() => {
      isGone = true;
    });
    await assert.rejects(running, { code: 'clientGone' satisfies ErrorCode });
    assert.equal(await next, 1);
  }
});
