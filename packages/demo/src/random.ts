/**
 * Numbers that look drawn by lot and are the same at every run:
 * xoshiro128** (Blackman and Vigna, 2018), its state filled by splitmix32.
 */
export interface Random {
  /** From 0 up to, but not, 1. */
  unit(): number;
  /** A whole number, both ends included. */
  integer(low: number, high: number): number;
  /** A number between the two. */
  between(low: number, high: number): number;
  /** True in `probability` of all cases. */
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** One of the values, each as often as its weight says. */
  weighted<T>(choices: readonly (readonly [value: T, weight: number])[]): T;
  /** Up to `count` different ones, in the order of the list. */
  some<T>(list: readonly T[], count: number): T[];
  /** Near `mean`: the sum of three draws, so that extremes are rare; never further off than `reach`. */
  near(mean: number, reach: number): number;
}

/** A bijective scramble of 32 bits: different numbers stay different. */
function scramble(value: number): number {
  let mixed = value | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return mixed ^ (mixed >>> 15);
}

/** FNV-1a, 32 bits. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/**
 * The stream of one purpose and index. No two indexes below 2^32 of one seed and purpose share a state,
 * so record i can be made without the records before it.
 */
export function makeRandom(seed: number, purpose = '', index = 0): Random {
  let a = scramble((seed | 0) + 0x9e3779b9);
  let b = scramble(index + 0x3c6ef372);
  let c = scramble(a ^ hashText(purpose));
  let d = scramble(Math.imul(b, 0x01000193) ^ c) | 1;

  const next = (): number => {
    const product = Math.imul(b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result;
  };
  // The first outputs still show the pattern of the index.
  for (let round = 0; round < 8; round++) next();

  const unit = (): number => next() / 0x1_0000_0000;
  const integer = (low: number, high: number): number => low + Math.floor(unit() * (high - low + 1));
  const at = <T>(list: readonly T[], position: number): T => {
    const value = list[position];
    if (value === undefined) throw new RangeError('a choice was asked from an empty list');
    return value;
  };
  return {
    unit,
    integer,
    between: (low, high) => low + unit() * (high - low),
    chance: (probability) => unit() < probability,
    pick: (list) => at(list, Math.floor(unit() * list.length)),
    weighted: (choices) => {
      let total = 0;
      for (const [, weight] of choices) total += weight;
      let rest = unit() * total;
      for (const [value, weight] of choices) {
        rest -= weight;
        if (rest < 0) return value;
      }
      return at(choices, choices.length - 1)[0];
    },
    some: (list, count) => {
      const chosen = [];
      let wanted = Math.min(count, list.length);
      let left = list.length;
      for (const value of list) {
        if (wanted === 0) break;
        if (unit() * left < wanted) {
          chosen.push(value);
          wanted--;
        }
        left--;
      }
      return chosen;
    },
    near: (mean, reach) => mean + ((unit() + unit() + unit()) / 1.5 - 1) * reach,
  };
}
