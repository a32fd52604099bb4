/** How the embedded engine runs the statements of lists: which indexes lead to the rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing } from '../../support/builders.ts';
import { explainer, plannedBy } from '../../support/plans.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld } from '../../support/world.ts';

const BY_ID = [
  'SCAN json_each VIRTUAL TABLE INDEX 1:',
  'SEARCH t USING COVERING INDEX property_texts_id (_id=?)',
  'SEARCH r USING PRIMARY KEY (_key=?)',
];

test('the rows of a list are found by their ids, whatever index has their order', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  await world.write('Property', listing('A', { City: 'Rome', ListPrice: 1 }));
  const planned = await plannedBy(world);
  const explain = explainer(t, world);
  const among = Uint32Array.of(1);
  for (const order of ['ListPrice desc', 'ModificationTimestamp', 'City,ListPrice']) {
    const { query } = await world.request('Property', `$orderby=${order}`);
    const sorted = explain(planned.ids({ ...query, among }));
    assert.deepEqual(sorted, [...BY_ID, 'USE TEMP B-TREE FOR ORDER BY'], order);
    const after = { key: 'A', values: query.order.map(() => 1) };
    assert.deepEqual(explain(planned.count({ ...query, among, after })), BY_ID, order);
  }
  const { query } = await world.request('Property', '');
  assert.deepEqual(explain(planned.count({ ...query, among })), BY_ID);
});
