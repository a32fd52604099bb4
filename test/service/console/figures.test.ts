/** Figures of the console that need no browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isolated } from '../../../packages/console/src/parts/figures.ts';

test('a value between two gaps, or between a gap and an end, is isolated: a chart draws it as a point', () => {
  assert.deepEqual(isolated([4, null, 0, null, 2, 3, null, undefined, 5]), [0, 2, 8]);
  assert.deepEqual(isolated([7]), [0]);
  assert.deepEqual(isolated([1, 2]), []);
  assert.deepEqual(isolated([]), []);
});
