import { DAY, HOUR, startOfDay } from '../dates.ts';
import type { Random } from '../random.ts';

export type Status =
  | 'Active'
  | 'Active Under Contract'
  | 'Pending'
  | 'Coming Soon'
  | 'Closed'
  | 'Expired'
  | 'Canceled'
  | 'Withdrawn'
  | 'Hold';

/** When what happened to a listing. Days are the beginnings of days; `entered` is a moment. */
export interface Timeline {
  readonly status: Status;
  readonly contract: number;
  readonly entered: number;
  readonly onMarket: number;
  readonly expiration: number;
  /** A buyer's contract was signed. */
  readonly purchase?: number;
  readonly close?: number;
  /** Sales ended without a buyer, or rest. */
  readonly stopped?: number;
  readonly backOnMarket?: number;
  /** Days that count as days on the market. */
  readonly days: number;
}

const STATUSES: readonly (readonly [Status, number])[] = [
  ['Active', 45],
  ['Active Under Contract', 8],
  ['Pending', 10],
  ['Coming Soon', 3],
  ['Closed', 27],
  ['Expired', 3],
  ['Canceled', 1.5],
  ['Withdrawn', 1.5],
  ['Hold', 1],
];

/** Many young, few old. */
const skewed = (random: Random, low: number, high: number): number =>
  low + Math.floor(random.unit() ** 1.7 * (high - low + 1));

/** Days since closing: most within a year, a fifth beyond the three years that IDX shows. */
function daysSinceClose(random: Random): number {
  const [low, high] = random.weighted([
    [[2, 365], 45],
    [[366, 1094], 34],
    [[1096, 1900], 21],
  ] as const);
  return random.integer(low, high);
}

/** Draws the status of a listing and the dates that fit it, all up to `now` (a planned start excepted). */
export function drawTimeline(now: number, random: Random): Timeline {
  const today = startOfDay(now);
  const status = random.weighted(STATUSES);
  const lead = random.integer(0, 6);
  const term = random.pick([120, 180, 180, 270, 365]);

  const build = (onMarket: number, end: number, more: Partial<Timeline>): Timeline => {
    const contract = onMarket - lead * DAY;
    return {
      status,
      contract,
      // Between eight in the morning and six in the evening, local time.
      entered: contract + random.integer(13 * 3600, 22 * 3600) * 1000,
      onMarket,
      expiration: Math.max(contract + term * DAY, today + random.integer(20, 90) * DAY),
      days: Math.max(0, Math.round((end - onMarket) / DAY)),
      ...more,
    };
  };

  switch (status) {
    case 'Active': {
      const onMarket = today - skewed(random, 1, 170) * DAY;
      const days = (today - onMarket) / DAY;
      const returned = days > 30 && random.chance(0.08);
      return build(
        onMarket,
        today,
        returned ? { backOnMarket: today - random.integer(1, Math.floor(days / 3)) * DAY } : {},
      );
    }
    case 'Active Under Contract':
    case 'Pending': {
      const purchase = today - random.integer(1, status === 'Pending' ? 40 : 24) * DAY;
      return build(purchase - skewed(random, 3, 110) * DAY, purchase, { purchase });
    }
    case 'Coming Soon': {
      const contract = today - random.integer(1, 14) * DAY;
      const onMarket = today + random.integer(1, 18) * DAY;
      return {
        ...build(onMarket, onMarket, {}),
        contract,
        entered: contract + random.integer(13, 22) * HOUR + random.integer(0, 3599) * 1000,
      };
    }
    case 'Closed': {
      const close = today - daysSinceClose(random) * DAY;
      const purchase = close - random.integer(24, 56) * DAY;
      const onMarket = purchase - skewed(random, 2, 120) * DAY;
      const expiration = Math.max(onMarket + term * DAY, close + 20 * DAY);
      return build(onMarket, purchase, { purchase, close, expiration });
    }
    case 'Expired': {
      const stopped = today - random.integer(1, 500) * DAY;
      return build(stopped - (term - lead) * DAY, stopped, { stopped, expiration: stopped });
    }
    case 'Canceled':
    case 'Withdrawn': {
      const stopped = today - random.integer(1, 400) * DAY;
      const onMarket = stopped - random.integer(9, 118) * DAY;
      return build(onMarket, stopped, { stopped, expiration: onMarket + 200 * DAY });
    }
    case 'Hold': {
      const stopped = today - random.integer(1, 30) * DAY;
      return build(stopped - random.integer(9, 100) * DAY, stopped, { stopped });
    }
  }
}

/** The dates of a listing that comes to the market at this moment; it was entered in the hours before. */
export function freshTimeline(now: number, random: Random): Timeline {
  const today = startOfDay(now);
  const status = random.weighted([
    ['Active', 85],
    ['Coming Soon', 15],
  ] as const);
  const onMarket = status === 'Active' ? today : today + random.integer(1, 14) * DAY;
  return {
    status,
    contract: today - random.integer(0, 5) * DAY,
    entered: Math.floor((now - random.between(1, 4) * HOUR) / 1000) * 1000,
    onMarket,
    expiration: today + random.pick([120, 180, 180, 270, 365]) * DAY,
    days: 0,
  };
}

/** In the evening of a day, local time, all that happened on it is known. */
const EVENING = 23 * HOUR;

/** When a listing last changed, as far as its dates tell: a sale that is closed changes no more. */
export function lastChange(now: number, timeline: Timeline): number {
  const { status, close, purchase, stopped, backOnMarket, onMarket, entered } = timeline;
  const begun = status === 'Coming Soon' ? startOfDay(entered) : onMarket;
  const day = close ?? purchase ?? stopped ?? backOnMarket ?? begun;
  return Math.min(now, Math.max(entered, day + EVENING));
}
