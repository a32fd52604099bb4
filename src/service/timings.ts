/** The steps of a request, for the header `Server-Timing` and the metrics. */
export type Step = 'auth' | 'parse' | 'plan' | 'store' | 'encode';

export interface Timings {
  /** Ends the running step and begins another. */
  start(step: Step): void;
  /** Milliseconds of each step. */
  list(): readonly (readonly [Step, number])[];
  header(): string;
}

/** @param now milliseconds of a clock that only runs forward */
export function makeTimings(now: () => number = () => performance.now()): Timings {
  const spent = new Map<Step, number>();
  let current: { step: Step; since: number } | undefined;
  const stop = (): void => {
    if (current === undefined) return;
    spent.set(current.step, (spent.get(current.step) ?? 0) + now() - current.since);
    current = undefined;
  };
  return {
    start(step) {
      stop();
      current = { step, since: now() };
    },
    list() {
      stop();
      return [...spent];
    },
    header() {
      stop();
      return [...spent].map(([step, milliseconds]) => `${step};dur=${milliseconds.toFixed(2)}`).join(', ');
    },
  };
}
