/** Whose figures a history adds up, and which minutes nobody counted: there the charts have a gap rather than zeros. */
import { clock, counted, moment } from './figures.ts';

const MINUTE = 60_000;

/** A figure for each minute; null where no process is known to have counted. */
export type Series = readonly (number | null)[];

/** What every history says of itself. Moments are milliseconds since 1970. */
export interface Covered {
  readonly from: number;
  /** Those that counted last, this one first. Of another: up to when it has written. */
  readonly processes: readonly { readonly from: number; readonly to: number; readonly isThis: boolean }[];
  /** Further processes. */
  readonly more: number;
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Gaps that are named; of a service that began again and again there are more. */
const NAMED = 4;

/** The spans of a series that nobody counted. */
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

/** The sum of a series, without what nobody counted. */
export const sum = (series: Series): number => series.reduce<number>((total, each) => total + (each ?? 0), 0);

/** The highest of a series; 0 where there is none. */
export const highest = (series: Series): number =>
  series.reduce<number>((top, each) => Math.max(top, each ?? 0), 0);
