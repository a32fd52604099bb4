import { type Clock, steadyClock, systemClock } from '../../clock.ts';
import type { Session } from '../connection/session.ts';
import { mustKnow } from '../making/layout-version.ts';

/** The clock that stamps: the server's, which all processes share, or one that is passed in. */
export interface StampClock {
  /** What the clock says at about this moment; never less than before. */
  readonly now: () => number;
  /** For statements: milliseconds since 1970; null where the server is to look itself. */
  readonly given: () => number | null;
  /** Notes what the server's clock says just now. */
  readonly note: (milliseconds: number) => void;
  readonly sleep: Clock['sleep'];
}

export function stampClock(clock: Clock | undefined): StampClock {
  if (clock !== undefined) {
    const { now, sleep } = steadyClock(clock);
    return { now, given: now, note: () => undefined, sleep };
  }
  let offset = 0;
  const { now, sleep } = steadyClock({ ...systemClock, now: () => Date.now() + offset });
  return {
    now,
    given: () => null,
    note: (milliseconds) => {
      offset = milliseconds - Date.now();
    },
    sleep,
  };
}

/** SQL of the server's own clock, in milliseconds since 1970. */
export const SERVER_CLOCK = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::float8';

/** What a process has to know before it does anything: one row, one round trip. */
export interface State {
  readonly generation: number;
  readonly day: string;
  /** Of the clock that stamps. */
  readonly moment: number;
  readonly lastStamp: string;
  readonly changes: number;
  readonly settled: number;
  /** Whether large tables are laid apart by originating system. */
  readonly isPartitioned: boolean;
}

const STATE_TEXT = `SELECT ${SERVER_CLOCK} AS clock,
  max(value) FILTER (WHERE name = 'generation') AS generation, max(value) FILTER (WHERE name = 'day') AS day,
  max(value) FILTER (WHERE name = 'last_stamp') AS last_stamp, max(value) FILTER (WHERE name = 'settled') AS settled,
  max(value) FILTER (WHERE name = 'changes') AS changes,
  max(value) FILTER (WHERE name = 'layout') AS layout,
  max(value) FILTER (WHERE name = 'oldest_reader') AS oldest_reader,
  count(*) FILTER (WHERE name = 'partitions') > 0 AS partitioned
  FROM plat_meta WHERE name = ANY($1::text[])`;

const STATE_NAMES = [
  'generation',
  'day',
  'last_stamp',
  'settled',
  'changes',
  'layout',
  'oldest_reader',
  'partitions',
];

/** @throws LayoutTooNew */
export async function readState(rows: Session['rows'], clock: StampClock): Promise<State> {
  const [row] = await rows(STATE_TEXT, [STATE_NAMES]);
  mustKnow(row?.layout, row?.oldest_reader);
  clock.note(Number(row?.clock));
  return {
    generation: Number(row?.generation),
    day: String(row?.day),
    moment: clock.given() ?? Number(row?.clock),
    lastStamp: String(row?.last_stamp),
    changes: Number(row?.changes ?? 0),
    settled: Number(row?.settled ?? 0),
    isPartitioned: row?.partitioned === true,
  };
}
