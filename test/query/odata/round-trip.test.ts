import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalText } from '../../../src/query/canonical.ts';
import { runsOf } from '../../support/runs.ts';
import { filter } from './fixture.ts';
import { type Hand, print } from './print.ts';
import { conditions } from './trees.ts';

const RUNS = { seed: 20_260_314, numRuns: runsOf(2_000) };
const PLAIN: Hand = { space: ' ', upper: false };
const WIDE: Hand = { space: ' \t ', upper: true };

test('a tree that is written and parsed is the same tree', () => {
  fc.assert(
    fc.property(conditions(4, 0), fc.constantFrom(PLAIN, WIDE), (tree, hand) => {
      assert.deepEqual(filter(print(tree, hand)), tree);
    }),
    RUNS,
  );
});

test('the canonical text depends on the tree, not on how it was written', () => {
  fc.assert(
    fc.property(conditions(4, 0), (tree) => {
      const text = canonicalText(tree);
      assert.equal(canonicalText(filter(print(tree, PLAIN))), text);
      assert.equal(canonicalText(filter(print(tree, WIDE))), text);
    }),
    RUNS,
  );
});

test('different trees have different canonical texts', () => {
  const seen = new Map<string, unknown>();
  for (const tree of fc.sample(conditions(2, 0), RUNS)) {
    const text = canonicalText(tree);
    if (seen.has(text)) assert.deepEqual(tree, seen.get(text), text);
    seen.set(text, tree);
  }
  assert.ok(seen.size > RUNS.numRuns / 4, `only ${seen.size} texts`);
});
