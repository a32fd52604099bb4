/** Reproducible random choices: the same seed gives the same sequence. */
export interface Random {
  /** From 0 to below 1. */
  unit(): number;
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  /** One of at least one choice. */
  pick<const T>(choices: readonly T[]): T;
  /** Undefined if there are no choices. */
  among<T>(choices: readonly T[]): T | undefined;
}

/** The generator "mulberry32". */
export function makeRandom(seed: number): Random {
  let state = seed >>> 0;
  const unit = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number => least + Math.floor(unit() * (most - least + 1));
  const among = <T>(choices: readonly T[]): T | undefined => choices[between(0, choices.length - 1)];
  return {
    unit,
    between,
    chance: (probability) => unit() < probability,
    among,
    pick: (choices) => {
      const chosen = among(choices);
      if (chosen === undefined) throw new Error('nothing to pick from');
      return chosen;
    },
  };
}

/** Always takes the first choice: for texts without variations. */
export const PLAIN: Random = {
  unit: () => 0,
  between: (least) => least,
  chance: () => false,
  among: (choices) => choices[0],
  pick: (choices) => {
    const [first] = choices;
    if (first === undefined) throw new Error('nothing to pick from');
    return first;
  },
};
