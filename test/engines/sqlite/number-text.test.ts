/** The check needs numbers as text: the engine writes them as JavaScript does, to the last digit. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import fc from 'fast-check';
import { column, render, sql } from '../../../src/compile/fragment.ts';
import { registerFunctions } from '../../../src/engines/sqlite/connection.ts';
import { sqliteDialect } from '../../../src/engines/sqlite/dialect.ts';
import { runsOf } from '../../support/runs.ts';

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  // Amounts, coordinates, sizes: a few digits before and after the point.
  fc
    .tuple(fc.integer({ min: -(10 ** 9), max: 10 ** 9 }), fc.integer({ min: 0, max: 12 }))
    .map(([digits, places]) => digits / 10 ** places),
  // One digit more than is exact.
  fc
    .tuple(fc.double({ min: 1e-5, max: 1e16, noNaN: true }), fc.integer({ min: 13, max: 17 }))
    .map(([value, digits]) => Number(value.toPrecision(digits))),
);

test('a number has the same text as in JavaScript', (t) => {
  const database = new DatabaseSync(':memory:');
  t.after(() => database.close());
  registerFunctions(database);
  const text = sqliteDialect.exactJson('decimal', column('q', 'v'), (json) => json);
  const statement = database.prepare(
    render(sql`SELECT CAST(${text} AS TEXT) AS text FROM (SELECT CAST(json(?) AS REAL) AS v) q`, () => '?')
      .text,
  );
  const check = fc.property(number, (value) => {
    assert.equal(statement.get(String(value))?.text, String(value === 0 ? 0 : value));
  });
  fc.assert(check, { seed: 20261122, numRuns: runsOf(2000) });
});
