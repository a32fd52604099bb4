import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { nearestName, standardDictionary } from '../../src/dictionary/index.ts';
import { processorTime } from '../support/processor-time.ts';
import { runsOf } from '../support/runs.ts';

const property = [...(standardDictionary().resources.get('Property')?.fields.keys() ?? [])];

/** The number of edits between two texts by definition: optimal string alignment over the whole table. */
function edits(left: string, right: string): number {
  const table = [Array.from({ length: right.length + 1 }, (_, column) => column)];
  const cost = (row: number, column: number): number => table[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= left.length; row++) {
    const line = [row];
    table.push(line);
    for (let column = 1; column <= right.length; column++) {
      const replaced = cost(row - 1, column - 1) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
          ? cost(row - 2, column - 2) + 1
          : Number.POSITIVE_INFINITY;
      line.push(Math.min(cost(row - 1, column) + 1, cost(row, column - 1) + 1, replaced, swapped));
    }
  }
  return cost(left.length, right.length);
}

describe('nearestName', () => {
  it('returns the name that was most likely meant', () => {
    const meant: Record<string, string> = {
      Listprice: 'ListPrice',
      LsitPrice: 'ListPrice',
      ListPric: 'ListPrice',
      ListPricee: 'ListPrice',
      LstngKey: 'ListingKey',
      ModificationTimestmp: 'ModificationTimestamp',
      StandrdStatus: 'StandardStatus',
    };
    for (const [name, nearest] of Object.entries(meant))
      assert.equal(nearestName(name, property), nearest, name);
  });

  it('returns nothing if no name is near', () => {
    for (const name of ['', 'Xyz', 'Zwqkjhg', 'CompletelyDifferent', '名']) {
      assert.equal(nearestName(name, property), undefined, name);
    }
    assert.equal(nearestName('ListPrice', []), undefined);
  });

  it('allows one edit in short names, up to four in long ones', () => {
    assert.equal(nearestName('ab', ['abc']), 'abc');
    assert.equal(nearestName('ab', ['abcd']), undefined);
    assert.equal(nearestName('abcdefghijklmnop', ['abcdefghijkl']), 'abcdefghijkl');
    assert.equal(nearestName('abcdefghijklmnopq', ['abcdefghijkl']), undefined);
  });

  it('returns the nearest name, and the first of two that are equally near', () => {
    assert.equal(nearestName('abcdefx', ['abcdyyx', 'abcdefg']), 'abcdefg');
    assert.equal(nearestName('abcdefx', ['abcdefg', 'abcdefh']), 'abcdefg');
  });

  it('agrees with the definition on short words', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'B'), maxLength: 12 });
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 6 }), (name, known) => {
        const limit = Math.max(1, Math.min(4, Math.floor(name.length / 3)));
        const distances = known.map((other) => edits(name.toLowerCase(), other.toLowerCase()));
        const least = Math.min(...distances);
        const expected = least <= limit ? known[distances.indexOf(least)] : undefined;
        assert.equal(nearestName(name, known), expected);
      }),
      { seed: 21, numRuns: runsOf(3000) },
    );
  });

  it('returns at once for a very long name', () => {
    const start = processorTime();
    assert.equal(nearestName('ListPrice'.repeat(100_000), property), undefined);
    assert.ok(processorTime() - start < 200);
  });
});
