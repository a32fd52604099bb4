/** The clock that assigns timestamps in a store on a server. */
import { type Clock, systemClock } from '../../../shared/clock.ts';
import {
  type ClockTrust,
  NOTHING_STORED,
  type StoreClock,
  type StoredTime,
  storeClock,
} from '../../../store/time/store-clock.ts';

/** The server's clock, which all processes share, or one that is passed in. The clock of this machine is not used. */
export interface ServerClock extends StoreClock {
  /** The time to pass to statements in milliseconds since 1970; null if the server reads its own clock. */
  readonly passedTime: () => number | null;
  /**
   * Records a reading of the server's clock, and the store's record of time.
   * @param stored absent: a store that does not exist yet has none
   * @param age milliseconds that may have passed since the server read its clock
   * @returns whether the clock agrees with its earlier readings
   */
  readonly recordReading: (milliseconds: number, epoch: string, stored?: StoredTime, age?: number) => boolean;
}

/** Milliseconds after which a response no longer counts as a reading of the clock: the previous one stays in effect. */
const FRESH_READING = 10;

/** Milliseconds by which a clock may differ from the expected time without counting as having been set. */
const TOLERANCE = 1000;

export function makeServerClock(clock: Clock | undefined, trust: ClockTrust): ServerClock {
  const elapsed = trust.machine?.elapsed ?? (() => performance.now());
  /** The last reading of the server's clock, and when it was taken; absent until there is one. */
  let last: { readonly clock: number; readonly elapsed: number; readonly stored: StoredTime } | undefined;
  /** In whole milliseconds, as every clock: the store saves such moments, and SQL reads them as integers. */
  const server = (): number => (last === undefined ? 0 : Math.floor(last.clock + elapsed() - last.elapsed));
  const given = clock ?? { now: server, sleep: systemClock.sleep };
  const trusted = storeClock(
    given,
    trust,
    () => last?.stored ?? NOTHING_STORED,
    () => last !== undefined,
  );
  return {
    ...trusted,
    passedTime: () => (clock === undefined && trusted.jump() === 0 ? null : trusted.now()),
    recordReading(milliseconds, epoch, stored = NOTHING_STORED, age = 0) {
      const late = server() - milliseconds;
      const isExpected = clock !== undefined || (late >= -TOLERANCE && late <= age + TOLERANCE);
      const isReading = last === undefined || age <= FRESH_READING || !isExpected;
      last =
        isReading || last === undefined
          ? { clock: milliseconds, elapsed: elapsed(), stored }
          : { ...last, stored };
      trusted.inEpoch(epoch);
      return isExpected;
    },
  };
}

/** SQL for the server's own clock, in milliseconds since 1970. */
export const SERVER_CLOCK = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::float8';
