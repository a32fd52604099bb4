/**
 * A market in the order in which it came to be, so that its timestamps fit its dates: what changed lately is stored last.
 * Records come in batches, each with the span of time over which the changes of its records lie about evenly.
 */
import { DAY } from './dates.ts';
import { type MarketOptions, makeMarket } from './market.ts';
import type { ImportRecord, MarketResource } from './records.ts';

/** Timestamps lie over so much time before the moment of the market. */
const SPAN = 730 * DAY;
/** What is older was taken over in the first weeks of it. */
const TAKEN_OVER = 30 * DAY;
const LARGEST = 1000;
/** A batch is cut smaller where a record's own moment is further than this from what it would get: less the younger it is. */
const LOOSEST = 25 * DAY;
const TIGHTEST = DAY;
/** Nothing is stamped before it happened, so what happened last is stamped after the market's moment. */
export const AFTERWARDS = DAY;

/** Records of one resource, in the order of their changes. */
interface DatedBatch {
  readonly resource: MarketResource;
  readonly records: readonly ImportRecord[];
  /** Milliseconds since 1970. */
  readonly over: { readonly from: number; readonly to: number };
}

/** When something happened, on the clock of a system that began two years ago. */
function within(moment: number, oldest: number, now: number): number {
  const begin = now - SPAN;
  const since = begin + TAKEN_OVER;
  if (moment >= since || oldest >= since) return Math.max(begin, moment);
  return begin + ((moment - oldest) / (since - oldest)) * TAKEN_OVER;
}

/** How far moments lie at most from those that are spread evenly over the same span, wherever in their part of it. */
function unevenness(moments: readonly number[]): number {
  const from = moments[0] ?? 0;
  const step = ((moments.at(-1) ?? from) - from) / moments.length;
  return moments.reduce(
    (most, moment, index) => Math.max(most, moment - from - index * step, from + (index + 1) * step - moment),
    0,
  );
}

/** All records of a market in batches: systems, offices, agents, then listings by their last change. */
export function* datedBatches(options: MarketOptions): Generator<DatedBatch> {
  const market = makeMarket(options);
  const { now } = market;
  const spread = function* (
    resource: MarketResource,
    count: number,
    make: (serial: number) => ImportRecord,
  ): Generator<DatedBatch> {
    for (let first = 0; first < count; first += LARGEST) {
      const end = Math.min(count, first + LARGEST);
      const records = Array.from({ length: end - first }, (_, index) => make(first + index));
      const at = (serial: number): number => Math.floor(now - SPAN + (serial / count) * (SPAN - DAY));
      yield { resource, records, over: { from: at(first), to: at(end) } };
    }
  };
  const systems = market.organizations();
  yield* spread('OUID', systems.length, (serial) => systems[serial] ?? {});
  yield* spread('Office', market.offices, market.office);
  yield* spread('Member', market.members, market.member);

  const changes = market.changes();
  const oldest = changes[0]?.moment ?? now;
  const moments = changes.map(({ moment }) => within(moment, oldest, now));
  for (let first = 0; first < changes.length; ) {
    let size = LARGEST;
    let late = 0;
    for (; ; size = Math.ceil(size / 2)) {
      const part = moments.slice(first, first + size);
      late = unevenness(part);
      const tolerance = Math.max(TIGHTEST, Math.min(LOOSEST, (now - (part.at(-1) ?? now)) / 7));
      if (late <= tolerance) break;
    }
    const part = changes.slice(first, first + size);
    const stamped = (moment: number | undefined = now): number =>
      Math.floor(Math.min(now + AFTERWARDS, moment + late));
    const over = { from: stamped(moments[first]), to: stamped(moments[first + part.length - 1]) };
    yield { resource: 'Property', records: part.map(({ serial }) => market.listing(serial)), over };
    first += part.length;
  }
}
