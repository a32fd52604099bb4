/** Time and waiting, passed in so that a test can drive them. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

export const systemClock: Clock = {
  now: Date.now,
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/** The same clock, but one that never goes back while the process runs, also when it is set back. */
export function steadyClock({ now, sleep }: Clock): Clock {
  let highest = Number.NEGATIVE_INFINITY;
  return {
    now: () => {
      highest = Math.max(highest, now());
      return highest;
    },
    sleep,
  };
}
