/** Which roles may know of a row, and the cache of such results. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../../src/engines/sqlite/connection.ts';
import { writeSessionOn } from '../../../src/engines/sqlite/session.ts';
import type { RowToPut } from '../../../src/records/rows.ts';
import { ChangeLog } from '../../../src/store/rows/change-log.ts';
import { Counters } from '../../../src/store/rows/counters.ts';
import { visibilityEvaluator } from '../../../src/store/rows/visibility.ts';
import { listing } from '../../support/builders.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld } from '../../support/world.ts';

const rowOf = (key: string, values: RowToPut['values']): RowToPut => ({
  key,
  values,
  stored: undefined,
  parent: null,
  parentResource: null,
  system: null,
  kind: null,
  hash: '',
});

test('visibility is exact even if a batch, or several, have more combinations of values than the cache holds', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  await world.write('Property', listing('A', { InternetEntireListingDisplayYN: true }));
  const model = await world.store.model();
  const connection = connect({ path: ':memory:', readOnly: false, busyTimeout: 0, cacheMegabytes: 1 });
  t.after(() => connection.close());
  const session = writeSessionOn(connection);
  const counters = new Counters(session);
  const context = { session, model, counters, changes: new ChangeLog(session, model, 0), source: null };
  const evaluate = visibilityEvaluator(context, model.layout('Property'), 2);
  const statuses = ['Active', 'Pending', 'Closed', 'Incomplete', 'Draft', 'Active'];
  const rows = statuses.flatMap((StandardStatus, index) =>
    [true, false].map((InternetEntireListingDisplayYN) =>
      rowOf(String(index), { StandardStatus, InternetEntireListingDisplayYN }),
    ),
  );
  const together = await evaluate(rows);
  const alone: unknown[] = [];
  // Another model shares nothing that is remembered.
  for (const row of rows) {
    const other = { ...context, model: { ...model } };
    alone.push(...(await visibilityEvaluator(other, model.layout('Property'))([row])));
  }
  assert.deepEqual(together, alone);
  for (const [index, row] of rows.entries()) assert.deepEqual(await evaluate([row]), [alone[index]]);
  assert.ok(together.every(({ visible }) => visible !== 0));
  assert.ok(new Set(together.map(({ visible }) => visible)).size > 1);
});
