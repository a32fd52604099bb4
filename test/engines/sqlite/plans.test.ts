/** How the embedded engine runs the statements of lists: which indexes lead to the rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing, member } from '../../support/builders.ts';
import { explainer, plannedBy } from '../../support/plans.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld, TIME } from '../../support/world.ts';

const BY_ID = ['SCAN json_each VIRTUAL TABLE INDEX 1:', 'SEARCH r USING INTEGER PRIMARY KEY (rowid=?)'];

test('the rows of a list are found by their ids, whatever index has their order', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  await world.write('Property', listing('A', { City: 'Rome', ListPrice: 1 }));
  const planned = await plannedBy(world);
  const explain = explainer(t, world);
  const among = Uint32Array.of(1);
  for (const order of ['ListPrice desc', 'ModificationTimestamp', 'City,ListPrice']) {
    const { query } = await world.request('Property', `$orderby=${order}`);
    const sorted = explain(planned.ids({ ...query, among }));
    assert.deepEqual(sorted, [...BY_ID, 'USE TEMP B-TREE FOR ORDER BY', 'SCAN q'], order);
    const after = { key: 'A', values: query.order.map(() => 1) };
    assert.deepEqual(explain(planned.count({ ...query, among, after })), BY_ID, order);
  }
  const { query } = await world.request('Property', '');
  assert.deepEqual(explain(planned.count({ ...query, among })), BY_ID);
});

test('a statement that may go through a table ends within some rows of its time', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  await world.write('Member', member('M', { MemberCity: 'Rome' }));
  const city = { City: 'Rome', ListAgentKey: 'M', Appliances: ['Oven'] };
  await world.write('Property', ...Array.from({ length: 120 }, (_, at) => listing(`L${at}`, city)));
  const outOfTime = { milliseconds: 0.001 };
  const filters = {
    'a scan': 'ListPrice eq null',
    'rows of an index': "City eq 'Rome'",
    'a join': "ListAgent/MemberCity eq 'Rome'",
    'values of rows': "Appliances/any(a:a eq 'Oven')",
  };
  for (const [what, filter] of Object.entries(filters)) {
    const request = await world.request('Property', `$filter=${filter}&$orderby=ListPrice`);
    const { query } = request;
    assert.equal((await world.store.ids(query, TIME)).length, 120, what);
    const late = { code: 'queryTimedOut' } as const;
    await assert.rejects(world.store.ids(query, outOfTime), late, `ids of ${what}`);
    await assert.rejects(world.store.count(query, outOfTime), late, `the count of ${what}`);
    await assert.rejects(world.store.page({ ...request, limit: 120 }, outOfTime), late, `a page of ${what}`);
  }
});
