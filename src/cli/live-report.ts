/** Reports the changes of a live demo market: the last change, and the number of changes of each kind. */
import type { Change, LiveMarket } from 'plat-demo';
import { messageOf } from '../shared/error-code.ts';
import { type Intervals, makeThrottle, reportProgress } from './progress.ts';
import { keepBottomLine, reportLines } from './terminal.ts';

const INTERVALS: Intervals = { lines: 10_000, screen: 250 };

export function liveReport(market: LiveMarket, perMinute: number) {
  const isDue = makeThrottle(INTERVALS);
  let done = 0;
  let kinds = new Map<string, number>();
  return {
    onChanges(changes: readonly Change[]): void {
      done += changes.length;
      for (const { kind } of changes) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      const text = changes.at(-1)?.text;
      if (text === undefined || !isDue()) return;
      const { open, over } = market;
      const rate = `Live, ${perMinute} a minute: ${done} changes`;
      const whole = `${rate}; ${open} open, ${over} over; ${text}`;
      reportProgress([whole, `${rate}; ${text}`, `Live: ${text}`], whole, {
        task: 'Live market',
        ...{ perMinute, done, changes: Object.fromEntries(kinds), open, over, text },
      });
      kinds = new Map();
    },
    onFailure: (error: unknown): void =>
      reportLines(`The market could not be changed, and is retried soon: ${messageOf(error)}`),
    /** Ends the report, and leaves the last line on the screen. */
    end: keepBottomLine,
  };
}
