import { hashText, makeRandom, type Random } from '../random.ts';
import type { FieldValues } from '../values.ts';
import { wordOf } from './facts.ts';

type Season = 'spring' | 'summer' | 'autumn' | 'winter';

/** The colours of a place, the same in all its pictures. */
interface Look {
  readonly season: Season;
  readonly sky: readonly [top: string, bottom: string];
  readonly grass: readonly [far: string, near: string];
  readonly leaves: readonly [dark: string, light: string];
  readonly siding: readonly [light: string, shade: string];
  readonly roof: readonly [light: string, dark: string];
  readonly trim: string;
  readonly door: string;
  readonly wall: readonly [light: string, shade: string];
  readonly floor: readonly [light: string, dark: string];
  readonly cabinet: readonly [light: string, shade: string];
  readonly counter: string;
  readonly accent: string;
  readonly second: string;
}

/** What a scene is drawn from. */
export interface SceneContext {
  readonly listing: FieldValues;
  readonly look: Look;
  readonly random: Random;
  /** Begins the ids inside the drawing, so that two scenes can share a page. */
  readonly id: string;
}

type Pair = readonly [string, string];

const SKIES: Readonly<Record<Season, readonly Pair[]>> = {
  spring: [
    ['#7fb8e6', '#e4f2fb'],
    ['#93c3e0', '#f5f3e4'],
    ['#b4c3ce', '#e6ebee'],
    ['#8d9fd0', '#fbd9c4'],
  ],
  summer: [
    ['#5fa6e2', '#dcf0fb'],
    ['#74b3e8', '#fdf3dd'],
    ['#4f93d8', '#c9e6f7'],
    ['#7d86c4', '#ffd2a6'],
  ],
  autumn: [
    ['#8fb4d6', '#fbeedb'],
    ['#9dbbd2', '#f4e7d8'],
    ['#a7b0b8', '#e5e2dc'],
    ['#6f7fb0', '#f9c79a'],
  ],
  winter: [
    ['#a9c3d9', '#eef3f7'],
    ['#9fb6cc', '#f6ece6'],
    ['#b9c2c9', '#e3e7ea'],
    ['#8b9cc4', '#f5d5cc'],
  ],
};
const GRASS: Readonly<Record<Season, Pair>> = {
  spring: ['#a9cf7a', '#7fb356'],
  summer: ['#98c56b', '#6aa147'],
  autumn: ['#c3bf7a', '#93984f'],
  winter: ['#f3f6f9', '#dde5ec'],
};
const LEAVES: Readonly<Record<Season, readonly Pair[]>> = {
  spring: [
    ['#5d9a4b', '#8fc76c'],
    ['#6aa556', '#a3d47e'],
  ],
  summer: [
    ['#3f7d3c', '#66a653'],
    ['#35733f', '#5c9d55'],
  ],
  autumn: [
    ['#b5652a', '#dd9a3f'],
    ['#a8502f', '#d97b3d'],
  ],
  winter: [
    ['#5b7368', '#8fa69b'],
    ['#4f6a63', '#88a099'],
  ],
};
const SIDINGS: readonly Pair[] = [
  ['#f1ede3', '#d9d3c5'],
  ['#dfe6e8', '#c2ccd0'],
  ['#c9d4c5', '#aebba9'],
  ['#d8cbb5', '#bfb097'],
  ['#b9c7d6', '#9caec0'],
  ['#e9dcc3', '#d2c2a3'],
  ['#a9b3b6', '#8f9a9e'],
  ['#f5f3ee', '#dddad2'],
  ['#b5694f', '#9a553e'],
  ['#8c3f38', '#74322c'],
  ['#6f8296', '#5b6d80'],
  ['#e6c98f', '#cfb078'],
  ['#5f6f5c', '#4d5c4b'],
];
const ROOFS: readonly Pair[] = [
  ['#5c5f66', '#44474e'],
  ['#6e5d52', '#54463d'],
  ['#4d5a63', '#38434b'],
  ['#7a6a60', '#5f5149'],
  ['#8a4b3c', '#6c382c'],
  ['#3f4a44', '#2e3833'],
];
const FLOORS: readonly Pair[] = [
  ['#c99a66', '#a87a49'],
  ['#b98a5e', '#946a42'],
  ['#d9bf98', '#bb9d73'],
  ['#9d7a5a', '#7d5e42'],
];
const WALLS: readonly Pair[] = [
  ['#f4f1ea', '#e3ded3'],
  ['#eef1ef', '#dbe1dd'],
  ['#f0ede6', '#ddd7cb'],
  ['#e9eef2', '#d5dde4'],
  ['#e3e8da', '#ccd3c0'],
  ['#f3e2d3', '#e0cbb8'],
  ['#dbe4ea', '#c2cfd8'],
  ['#efe6c9', '#dcd0ab'],
  ['#e8dce2', '#d3c4cc'],
];
const CABINETS: readonly Pair[] = [
  ['#fbfaf7', '#dedbd3'],
  ['#7f95a1', '#667c88'],
  ['#a9784e', '#8a5f3b'],
  ['#8a9a84', '#71826b'],
];
const COUNTERS = ['#e9e6e0', '#4a4a4d', '#c9beb0', '#d9dbdc'];
const DOORS = ['#8e2f2a', '#22405c', '#2f5d4a', '#c58a2b', '#3b3b40', '#7a4b2c'];
const ACCENTS = ['#c76b4a', '#2f6f7e', '#d2a24c', '#7d8f69', '#8c5a7a', '#4a6fa5'];

/** The look of one room: bedrooms and baths of a house are painted and furnished differently. */
export function roomLook(look: Look, random: Random): Look {
  const [accent, second] = random.chance(0.5) ? [look.accent, look.second] : [look.second, look.accent];
  return {
    ...look,
    wall: random.pick(WALLS),
    floor: random.pick([look.floor, random.pick(FLOORS)]),
    accent,
    second,
  };
}

/** Listings are photographed when they are entered; the key begins with year and month. */
function seasonOf(key: string): Season {
  const month = Number(key.slice(4, 6));
  if (month === 12 || month <= 2) return 'winter';
  if (month <= 5) return 'spring';
  return month <= 8 ? 'summer' : 'autumn';
}

/** The look of a listing follows from its key alone, so it stays whatever else changes. */
export function lookOf(listing: FieldValues): Look {
  const key = wordOf(listing, 'ListingKey');
  const random = makeRandom(hashText(key), 'look');
  const season = seasonOf(key);
  const accent = random.pick(ACCENTS);
  return {
    season,
    sky: random.pick(SKIES[season]),
    grass: GRASS[season],
    leaves: random.pick(LEAVES[season]),
    siding: random.pick(SIDINGS),
    roof: random.pick(ROOFS),
    trim: random.pick(['#ffffff', '#f7f4ec', '#fbfbfb']),
    door: random.pick(DOORS),
    wall: random.pick(WALLS),
    floor: random.pick(FLOORS),
    cabinet: random.pick(CABINETS),
    counter: random.pick(COUNTERS),
    accent,
    second: random.pick(ACCENTS.filter((color) => color !== accent)),
  };
}
