/** Statements of whole records are composed once for a view, and requests only differ in the values that they bind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planList, planPage } from '../../src/compile/page-plan.ts';
import { sqliteDialect } from '../../src/engines/sqlite/dialect.ts';
import { listing } from '../support/builders.ts';
import type { Scope } from '../support/engine.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { makeWorld } from '../support/world.ts';

test('the plan of a page serves every page of as many whole records to the same view', async (t) => {
  const { planner, asked, selected } = await requests(t);
  const after = (key: string, limit: number, request = asked) => {
    const plan = planPage(planner, { ...request, limit, position: { kind: 'after-key', key } });
    assert.ok(plan.kind === 'range' && plan.more !== undefined);
    return { more: plan.more, values: plan.page.values };
  };
  const [first, second, longer] = [after('A', 10), after('B', 10), after('A', 11)];
  assert.equal(first.more, second.more);
  assert.deepEqual(
    [first.values, second.values],
    [
      ['A', 10],
      ['B', 10],
    ],
  );
  assert.deepEqual(longer.values, ['A', 11]);
  assert.notEqual(after('A', 10, selected).more, after('A', 10, selected).more);
});

test('the plan of a page of a list serves every list in key order', async (t) => {
  const { planner, asked, ordered } = await requests(t);
  const listed = (ids: number[], request = asked) => {
    const plan = planList(planner, { ...request, ids: Uint32Array.from(ids) });
    assert.ok(plan.kind === 'list');
    return plan;
  };
  const [first, second] = [listed([1, 2]), listed([3])];
  assert.equal(first.body, second.body);
  assert.deepEqual([...first.ids, ...second.ids], [1, 2, 3]);
  assert.notEqual(first.look.text, listed([1], ordered).look.text);
});

/** The same request of one view for whole listings, for selected fields, and in an order. */
async function requests(scope: Scope) {
  const { store, write, request } = await makeWorld(sqliteEngine(), scope);
  await write('Property', listing('L1'));
  const planner = { dialect: sqliteDialect, model: await store.model() };
  const asked = await request('Property', '', { limit: 10 });
  const { shape } = await request('Property', '$select=City');
  const { order } = (await request('Property', '$orderby=ListPrice')).query;
  return {
    planner,
    asked,
    selected: { ...asked, shape },
    ordered: { ...asked, query: { ...asked.query, order } },
  };
}
