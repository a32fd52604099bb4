/** The clock that stamps a store on a server, and what it knows of time. */

import { sql } from '../../../compile/fragment.ts';
import { type Clock, systemClock } from '../../../store/clock.ts';
import type { ClockTrust, HeldTime } from '../../../store/clock-jump.ts';
import { metaOf, metaRows, STATE, stateIn } from '../../../store/meta.ts';
import type { Session } from '../../../store/session.ts';
import { NOTHING_HELD, type StoreClock, storeClock } from '../../../store/store-clock.ts';
import type { TimeState } from '../../../store/writer.ts';
import { mustKnow } from '../making/layout-version.ts';

/**
 * The server's clock, which all processes share, or one that is passed in. What the clock of this machine says counts for
 * nothing.
 */
export interface StampClock extends StoreClock {
  /** For statements: milliseconds since 1970; null where the server is to look itself. */
  readonly given: () => number | null;
  /** Notes what the server's clock says now, and what the store holds of time. */
  readonly note: (milliseconds: number, epoch: string, held: HeldTime) => void;
}

export function stampClock(clock: Clock | undefined, trust: ClockTrust): StampClock {
  const elapsed = trust.machine?.elapsed ?? (() => performance.now());
  /** What the server's clock said, and when; absent until it was asked. */
  let noted: { readonly clock: number; readonly elapsed: number; readonly held: HeldTime } | undefined;
  const server = (): number => (noted === undefined ? 0 : noted.clock + elapsed() - noted.elapsed);
  const said = clock ?? { now: server, sleep: systemClock.sleep };
  const trusted = storeClock(
    said,
    trust,
    () => noted?.held ?? NOTHING_HELD,
    () => noted !== undefined,
  );
  return {
    ...trusted,
    given: () => (clock === undefined && trusted.jump() === 0 ? null : trusted.now()),
    note(milliseconds, epoch, held) {
      noted = { clock: milliseconds, elapsed: elapsed(), held };
      trusted.inEpoch(epoch);
    },
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
