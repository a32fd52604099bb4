import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { makeRandom } from 'plat-demo';

const draws = (seed: number, purpose: string, index: number): number[] => {
  const random = makeRandom(seed, purpose, index);
  return Array.from({ length: 8 }, () => random.unit());
};

describe('random streams', () => {
  it('are the same for the same seed, purpose and index', () => {
    assert.deepEqual(draws(7, 'listing', 12), draws(7, 'listing', 12));
  });

  it('differ when seed, purpose or index differ', () => {
    const streams = [
      draws(7, 'listing', 12),
      draws(8, 'listing', 12),
      draws(7, 'member', 12),
      draws(7, 'listing', 13),
    ];
    assert.equal(new Set(streams.map((stream) => stream.join())).size, streams.length);
  });

  it('never begin with the same numbers within 100,000 neighboring indexes', () => {
    const seen = new Set<string>();
    for (let index = 0; index < 100_000; index++) {
      const random = makeRandom(1, 'listing', index);
      seen.add(`${random.unit()} ${random.unit()}`);
    }
    assert.equal(seen.size, 100_000);
  });

  it('are uniform: each tenth of the range occurs equally often, also as the first number of neighboring streams', () => {
    const within = makeRandom(3);
    const [inside, across] = [new Array<number>(10).fill(0), new Array<number>(10).fill(0)];
    for (let index = 0; index < 20_000; index++) {
      const [a, b] = [Math.floor(within.unit() * 10), Math.floor(makeRandom(3, 'x', index).unit() * 10)];
      inside[a] = (inside[a] ?? 0) + 1;
      across[b] = (across[b] ?? 0) + 1;
    }
    for (const count of [...inside, ...across]) assert.ok(count > 1800 && count < 2200, `${count} of 2000`);
  });
});

describe('choices', () => {
  const options = { seed: 20260601, numRuns: 300 } as const;

  it('integer() includes both ends', () => {
    const random = makeRandom(5);
    const seen = new Set(Array.from({ length: 400 }, () => random.integer(-2, 3)));
    assert.deepEqual(
      [...seen].sort((a, b) => a - b),
      [-2, -1, 0, 1, 2, 3],
    );
  });

  it('near() stays within its range', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer({ min: -1000, max: 1000 }),
        fc.integer({ min: 0, max: 500 }),
        (seed, mean, reach) => {
          const value = makeRandom(seed).near(mean, reach);
          return value >= mean - reach && value <= mean + reach;
        },
      ),
      options,
    );
  });

  it('some() returns the requested number of elements, each once, in the order of the list', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.uniqueArray(fc.integer(), { maxLength: 12 }),
        fc.integer({ min: 0, max: 15 }),
        (seed, list, count) => {
          const chosen = makeRandom(seed).some(list, count);
          assert.equal(chosen.length, Math.min(count, list.length));
          assert.deepEqual(
            chosen,
            list.filter((value) => chosen.includes(value)),
          );
        },
      ),
      options,
    );
  });

  it('weighted() follows the weights and never returns an element of weight zero', () => {
    const random = makeRandom(11);
    const counts = { a: 0, b: 0, c: 0 };
    for (let draw = 0; draw < 10_000; draw++) {
      counts[
        random.weighted([
          ['a', 3],
          ['b', 1],
          ['c', 0],
        ] as const)
      ]++;
    }
    assert.equal(counts.c, 0);
    assert.ok(counts.a > 7300 && counts.a < 7700, `${counts.a} of 7500`);
  });

  it('a choice from an empty list is an error', () => {
    assert.throws(() => makeRandom(1).pick([]), {
      name: 'RangeError',
      message: 'a choice was asked from an empty list',
    });
  });
});
