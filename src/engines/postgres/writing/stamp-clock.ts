import { sql } from '../../../compile/fragment.ts';
import { type Clock, steadyClock, systemClock } from '../../../store/clock.ts';
import { type ClockTrust, type HeldTime, JumpGuard } from '../../../store/clock-jump.ts';
import { metaOf, metaRows, STATE, stateIn } from '../../../store/meta.ts';
import type { Session } from '../../../store/session.ts';
import type { TimeState, WriteClock } from '../../../store/writer.ts';
import { mustKnow } from '../making/layout-version.ts';

/**
 * The clock that stamps: the server's, which all processes share, or one that is passed in; as far as it can be trusted.
 * What the clock of this machine says counts for nothing.
 */
export interface StampClock extends WriteClock {
  /** Milliseconds by which it was set ahead; `now` and `raw` go on without them. */
  readonly jump: () => number;
  /** Says what another clock says. */
  readonly confirm: (other: number) => void;
  /** For statements: milliseconds since 1970; null where the server is to look itself. */
  readonly given: () => number | null;
  /** Notes what the server's clock says just now, and what the store holds of time. */
  readonly note: (milliseconds: number, epoch: string, held: HeldTime) => void;
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

const STATE_ROWS = sql`${metaRows(...STATE, 'layout', 'oldestReader')}
  UNION ALL SELECT 'clock', (${{ parts: [SERVER_CLOCK] }})::bigint::text`;

/** @throws LayoutTooNew */
export async function readState({ rows }: Pick<Session, 'rows'>, clock: StampClock): Promise<TimeState> {
  const found = await rows(STATE_ROWS);
  const meta = metaOf(found);
  mustKnow(meta.layout, meta.oldestReader);
  const state = stateIn(meta);
  const server = Number(found.find(({ name }) => name === 'clock')?.value);
  clock.note(server, state.epoch, { reading: meta.clockReading, newest: state.newest });
  return { ...state, moment: clock.given() ?? server, jump: clock.jump() };
}
