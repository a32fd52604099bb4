/** Which processes a history covers, and which minutes none has counted: charts show a gap there instead of zeros. */
import { clock, counted, moment } from './figures.ts';

const MINUTE = 60_000;

/** A value for each minute; null if no process is known to have counted. */
export type Series = readonly (number | null)[];

/** What every history states about its coverage. Times are milliseconds since 1970. */
export interface Covered {
  readonly from: number;
  /**
   * The processes that counted most recently, beginning with this one. Another process is covered up to the time at which it last
   * wrote.
   */
  readonly processes: readonly { readonly from: number; readonly to: number; readonly isThis: boolean }[];
  /** The number of further processes. */
  readonly more: number;
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

/** The largest number of gaps to list; a service that was often restarted has more. */
const NAMED = 4;

/** The spans of a series in which nothing was counted. */
export function gapsIn(series: Series, from: number): Gap[] {
  const gaps: Gap[] = [];
  for (const [at, value] of series.entries()) {
    if (value !== null) continue;
    const [start, last] = [from + at * MINUTE, gaps.at(-1)];
    if (last?.to === start) gaps.splice(-1, 1, { from: last.from, to: start + MINUTE });
    else gaps.push({ from: start, to: start + MINUTE });
  }
  return gaps;
}

/** @param series any series of the history */
export function CountedBy({ of, series }: { readonly of: Covered; readonly series: Series }) {
  const own = of.processes.find(({ isThis }) => isThis);
  const others = of.processes.filter(({ isThis }) => !isThis);
  const latest = Math.max(...others.map(({ to }) => to));
  const gaps = gapsIn(series, of.from);
  const more = gaps.length - NAMED;
  return (
    <>
      <p class="hint">
        {others.length === 0
          ? `Counted by this process since ${moment(of.from)}.`
          : `Counted since ${moment(of.from)} by this process, which began on ${moment(own?.from ?? of.from)}, and ${counted(others.length + of.more, 'other process', 'other processes')}. The latest of them wrote at ${clock(latest)}; if it still runs, what it did since then is missing.`}
      </p>
      {gaps.length === 0 ? null : (
        <p class="hint">
          <strong>Gaps.</strong> No process is known to have counted{' '}
          {gaps
            .slice(0, NAMED)
            .map((gap) => `from ${clock(gap.from)} to ${clock(gap.to)}`)
            .join(', ')}
          {more > 0 ? ` and in ${counted(more, 'further span')}` : ''}: there was none, or it ended before it
          could keep what it counted.
        </p>
      )}
    </>
  );
}

/** The sum of a series; minutes without a value count as zero. */
export const sum = (series: Series): number => series.reduce<number>((total, each) => total + (each ?? 0), 0);

/** The largest value of a series; 0 if there is none. */
export const highest = (series: Series): number =>
  series.reduce<number>((top, each) => Math.max(top, each ?? 0), 0);
