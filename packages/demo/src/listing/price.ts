import { DAY } from '../dates.ts';
import type { Random } from '../random.ts';
import type { Building, Condition } from './building.ts';
import type { Premises } from './premises.ts';
import type { Timeline } from './timeline.ts';

const ACRE = 43_560;
const CONDITION: Readonly<Record<Condition, number>> = { new: 1.14, updated: 1.07, kept: 0.97, dated: 0.83 };
/** Land outside towns, dollars an acre. */
const FIELD_PRICE = 7200;

/** Prices as sellers set them: round, or just below. */
export function roundPrice(price: number, random: Random): number {
  const step = price < 200_000 ? 500 : price < 800_000 ? 1000 : 5000;
  const round = Math.max(step, Math.round(price / step) * step);
  return random.chance(0.55) ? round - 100 : round;
}

function buildingValue({ neighborhood, kind, subType }: Premises, building: Building): number {
  const kinds = { house: 1, attached: 0.97, flat: 1.04, income: 0.72, commercial: 0.8, land: 0 };
  const rate =
    subType === 'Warehouse'
      ? 96
      : subType === 'Manufactured On Land'
        ? 118
        : neighborhood.pricePerFoot * kinds[kind];
  const size = building.area / building.units;
  // The first thousand feet hold the kitchen and the baths and cost most.
  const scale = subType === 'Warehouse' ? 1 : (1500 / Math.max(600, size)) ** 0.16;
  return (
    building.area * rate * scale * CONDITION[building.condition] +
    building.basementArea * rate * 0.34 +
    building.garage * 13_500 +
    building.fireplaces * 4500 +
    (building.pool ? 32_000 : 0)
  );
}

function lotValue({ neighborhood, lot, kind, subType }: Premises): number {
  if (subType === 'Farm') return (lot / ACRE) * FIELD_PRICE;
  switch (neighborhood.setting) {
    case 'rural':
      return kind === 'land' ? 18_000 + (lot / ACRE) * FIELD_PRICE : (lot / ACRE) * FIELD_PRICE * 0.8;
    case 'lake':
      return kind === 'land' ? 60_000 + lot * 3.2 : lot * 1.4;
    default:
      return kind === 'land' ? 26_000 + lot * 1.9 : lot * 1.1;
  }
}

/** What a buyer would pay at the time of the listing; for a lease the rent of a month. */
export function marketValue(premises: Premises, { contract }: Timeline, now: number, random: Random): number {
  const { building, lease, waterfront } = premises;
  const years = (now - contract) / (365 * DAY);
  const growth = 0.957 ** years;
  if (lease && building !== undefined) {
    const rent =
      420 + building.area * premises.neighborhood.pricePerFoot * 0.0052 * CONDITION[building.condition];
    return random.near(rent, rent * 0.12) * growth;
  }
  const whole = (building === undefined ? 0 : buildingValue(premises, building)) + lotValue(premises);
  const value = whole * (waterfront ? 1.42 : 1) * growth;
  return random.near(value, value * 0.14);
}

/** The prices that a listing went through. */
export interface PriceHistory {
  readonly original: number;
  /** The one before the last change; absent when the price never changed. */
  readonly previous?: number;
  readonly list: number;
  readonly close?: number;
}

/** Draws the way from the first asking price to the last, and to the price of a sale. */
export function drawPrices(value: number, lease: boolean, timeline: Timeline, random: Random): PriceHistory {
  const round = (price: number): number => (lease ? Math.round(price / 25) * 25 : roundPrice(price, random));
  const list = round(value * random.near(1.015, 0.05));
  const cuts =
    timeline.days < 18
      ? 0
      : random.weighted([
          [0, 55],
          [1, 30],
          [2, timeline.days > 45 ? 12 : 0],
          [3, timeline.days > 80 ? 5 : 0],
        ]);
  const prices = [list];
  for (let cut = 0; cut < cuts; cut++)
    prices.push(round((prices.at(-1) ?? list) * random.between(1.015, 1.055)));
  const hurry = timeline.days < 10 ? 0.015 : timeline.days > 70 ? -0.022 : -0.006;
  return {
    original: prices.at(-1) ?? list,
    ...(prices[1] === undefined ? {} : { previous: prices[1] }),
    list,
    ...(timeline.close === undefined
      ? {}
      : { close: lease ? list : Math.round((list * (1 + random.near(hurry, 0.035))) / 100) * 100 }),
  };
}
