import type { Change, LiveMarket } from 'plat-demo';
import { canWriteOver, endOver, isWatched, reportJson, reportLines, reportOver } from './terminal.ts';

/** What a live market tells of itself. */
export interface LiveReport {
  onChanges(changes: readonly Change[]): void;
  onFailure(error: unknown): void;
  /** Leaves the last line where it is. */
  end(): void;
}

/** Milliseconds between two lines where nobody watches a screen, and between two looks of the one there. */
const EVERY = 10_000;
const EVERY_ON_SCREEN = 250;

/**
 * One line that is written over on a terminal (a line now and then on one that cannot); elsewhere a line of JSON with
 * what was done since the last.
 */
export function liveReport(market: LiveMarket, perMinute: number): LiveReport {
  const over = canWriteOver();
  const every = over ? EVERY_ON_SCREEN : EVERY;
  let all = 0;
  let kinds = new Map<string, number>();
  let last = Number.NEGATIVE_INFINITY;
  const show = (text: string): void => {
    const rate = `Live, ${perMinute} a minute`;
    const counts = `${market.open} open, ${market.over} over`;
    const whole = `${rate}: ${all} changes; ${counts}; ${text}`;
    if (over) reportOver([whole, `${rate}: ${all} changes; ${text}`, `Live: ${text}`]);
    else if (isWatched()) reportLines(whole);
    else {
      const time = new Date().toISOString();
      const changes = Object.fromEntries(kinds);
      const of = { open: market.open, over: market.over };
      reportJson({ time, task: 'Live market', perMinute, done: all, changes, ...of, text });
    }
  };
  return {
    onChanges(changes) {
      all += changes.length;
      for (const { kind } of changes) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      const text = changes.at(-1)?.text;
      const now = performance.now();
      if (text === undefined || now - last < every) return;
      last = now;
      show(text);
      kinds = new Map();
    },
    onFailure(error) {
      const why = error instanceof Error ? error.message : String(error);
      reportLines(`The market could not be changed, and is tried again soon: ${why}`);
    },
    end: endOver,
  };
}
