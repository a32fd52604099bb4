/** The ids in the row of their statement, as the list of a filter. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DamagedRecord } from '../../../src/records/damage.ts';
import { ownMemory } from '../../../src/store/read/page-memory.ts';
import { makeReadContextFactory, runSync, taskSteps } from '../../../src/store/read/read-task.ts';
import type { Row } from '../../../src/store/session.ts';

const makeContext = makeReadContextFactory(async () => assert.fail('Nothing is deflated'));

function idsIn(row: Row | undefined, isSent = true): number[] {
  const context = makeContext({ isSent, memory: ownMemory });
  const steps = taskSteps({ kind: 'ids', statement: { text: '', values: [] } }, context);
  const result = runSync(steps, () => ({ rows: row === undefined ? [] : [row] }));
  assert.ok(result.kind === 'ids');
  return [...result.ids];
}

test('ids of all lengths keep their order, and each group is reversed', () => {
  assert.deepEqual(idsIn({ ids: '7' }), [7]);
  assert.deepEqual(
    idsIn({ ids: '12,3,999999999,1000000000,4294967295,4' }),
    [12, 3, 999_999_999, 1_000_000_000, 4_294_967_295, 4],
  );
  assert.deepEqual(idsIn({ groups: '1,2,3;4;5,4294967295' }), [3, 2, 1, 4, 4_294_967_295, 5]);
  for (const none of [undefined, { ids: null }, { groups: null }]) assert.deepEqual(idsIn(none), []);
});

test('a number that plat never writes is damage in a list that is sent, and no id in any other', () => {
  for (const number of ['4294967296', '12345678901234', '-1', '1.5', '5x']) {
    for (const list of [number, `${number},8`, `8,${number}`]) {
      const named = `The record with the number ${Number(number)}`;
      assert.throws(() => idsIn({ ids: list }), new DamagedRecord(named), list);
      assert.deepEqual(idsIn({ ids: list }, false), list === number ? [] : [8], list);
      assert.deepEqual(
        idsIn({ groups: `9,10;${list}` }, false),
        list === number ? [10, 9] : [10, 9, 8],
        list,
      );
    }
  }
});

test('ids that a scan returns are looked up in their own order, whichever index it read them by, and stay in that of the statement', () => {
  const scan = { text: 'scan', values: [] };
  const steps = taskSteps(
    { kind: 'ids', statement: { text: 'sorted', values: [], scan } },
    makeContext({ isSent: true, memory: ownMemory }),
  );
  const found = [{ id: '30' }, { id: null }, { id: '4' }, { id: '4294967295' }, { id: '5' }];
  const result = runSync(steps, ({ statement: { text }, slots, isScan = false }) => {
    assert.equal(isScan, text === 'scan');
    if (isScan) return { rows: found };
    assert.deepEqual(slots, { ids: '[4,5,30,4294967295]' });
    return { rows: [{ ids: '5,30,4,4294967295' }] };
  });
  assert.ok(result.kind === 'ids');
  assert.deepEqual([...result.ids], [5, 30, 4, 4_294_967_295]);
});
