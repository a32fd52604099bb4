import { type Clock, steadyClock, systemClock } from '../../../store/clock.ts';
import { type ClockTrust, type HeldTime, JumpGuard, parseReading } from '../../../store/clock-jump.ts';
import { storedDay, storedNumber, storedStamp } from '../../../store/stored-meta.ts';
import type { ServerSession } from '../connection/session.ts';
import { mustKnow } from '../making/layout-version.ts';

/**
 * The clock that stamps: the server's, which all processes share, or one that is passed in; as far as it can be trusted.
 * What the clock of this machine says counts for nothing.
 */
export interface StampClock extends Clock {
  /** What the clock says at about this moment; never less than before in an epoch. */
  readonly now: () => number;
  /** The same, also less than before. */
  readonly raw: () => number;
  /** Milliseconds by which it was set ahead; `now` and `raw` go on without them. */
  readonly jump: () => number;
  /** Milliseconds by which it was set back. */
  readonly setBack: () => number;
  /** Says that it is right, since timestamps ahead of it were brought back. */
  readonly restamped: () => void;
  /** Says what another clock says. */
  readonly confirm: (other: number) => void;
  /** For statements: milliseconds since 1970; null where the server is to look itself. */
  readonly given: () => number | null;
  /** Notes what the server's clock says just now, and what the store holds of time. */
  readonly note: (milliseconds: number, epoch: string, held: HeldTime) => void;
  /** What the store is to keep of it (clock-jump.ts). */
  readonly toKeep: () => string | undefined;
}

/** What a store holds of time before there is one. */
export const NOTHING_HELD: HeldTime = { reading: undefined, newest: 0 };

export function stampClock(
  clock: Clock | undefined,
  { machine, allowClockJump = false }: ClockTrust,
): StampClock {
  const elapsed = machine?.elapsed ?? (() => performance.now());
  /** What the server's clock said, and when; absent until it was heard of. */
  let noted: { readonly clock: number; readonly elapsed: number } | undefined;
  let held = NOTHING_HELD;
  const server = (): number => (noted === undefined ? 0 : noted.clock + elapsed() - noted.elapsed);
  const said = clock === undefined ? server : clock.now;
  const guard = machine === undefined ? undefined : new JumpGuard(machine, () => held);
  let isAllowed = allowClockJump;
  const jump = (): number => (noted === undefined ? 0 : (guard?.jump(said()) ?? 0));
  const raw = (): number => said() - jump();
  const { sleep } = clock ?? systemClock;
  const steady = steadyClock({ now: raw, sleep });
  return {
    now: steady.now,
    sleep,
    raw,
    jump,
    setBack: () => (noted === undefined ? 0 : (guard?.setBack(said()) ?? 0)),
    restamped: () => guard?.allow(said(), 'restamped'),
    confirm: (other) => guard?.confirm(said(), other),
    given: () => (clock === undefined && jump() === 0 ? null : steady.now()),
    note: (milliseconds, epoch, now) => {
      held = now;
      noted = { clock: milliseconds, elapsed: elapsed() };
      steady.inEpoch(epoch);
      guard?.inEpoch(epoch);
      if (isAllowed) guard?.allow(said());
      isAllowed = false;
    },
    toKeep: () => guard?.toKeep(said()),
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
  /** Milliseconds by which the clock was set ahead; `moment` goes on without them. */
  readonly jump: number;
  /** Empty until a first one has begun. */
  readonly epoch: string;
  readonly isRestamping: boolean;
  /** Whether large tables are laid apart by originating system. */
  readonly isPartitioned: boolean;
}

const STATE_TEXT = `SELECT ${SERVER_CLOCK} AS clock,
  max(value) FILTER (WHERE name = 'generation') AS generation, max(value) FILTER (WHERE name = 'day') AS day,
  max(value) FILTER (WHERE name = 'last_stamp') AS last_stamp, max(value) FILTER (WHERE name = 'settled') AS settled,
  max(value) FILTER (WHERE name = 'changes') AS changes,
  max(value) FILTER (WHERE name = 'epoch') AS epoch, max(value) FILTER (WHERE name = 'restamping') AS restamping,
  max(value) FILTER (WHERE name = 'clock_reading') AS reading,
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
  'epoch',
  'restamping',
  'clock_reading',
  'layout',
  'oldest_reader',
  'partitions',
];

/** @throws LayoutTooNew */
export async function readState(rows: ServerSession['rows'], clock: StampClock): Promise<State> {
  const [row] = await rows(STATE_TEXT, [STATE_NAMES]);
  mustKnow(row?.layout, row?.oldest_reader);
  const epoch = String(row?.epoch ?? '');
  const lastStamp = storedStamp(row?.last_stamp, 'its last timestamp');
  const settled = storedNumber(row?.settled ?? '0', 'the moment up to which it is settled');
  const reading = typeof row?.reading === 'string' ? parseReading(row.reading) : undefined;
  clock.note(Number(row?.clock), epoch, { reading, newest: Math.max(Date.parse(lastStamp), settled) });
  return {
    generation: storedNumber(row?.generation, 'the count of its settings'),
    day: storedDay(row?.day),
    moment: clock.given() ?? Number(row?.clock),
    lastStamp,
    changes: storedNumber(row?.changes ?? '0', 'the count of its changes'),
    settled,
    jump: clock.jump(),
    epoch,
    isRestamping: row?.restamping === 'true',
    isPartitioned: row?.partitioned === true,
  };
}
