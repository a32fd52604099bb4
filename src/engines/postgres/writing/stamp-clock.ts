/** The clock that stamps a store on a server, and what it knows of time. */

import { sql } from '../../../compile/fragment.ts';
import { type Clock, systemClock } from '../../../store/clock.ts';
import type { ClockTrust, HeldTime } from '../../../store/clock-jump.ts';
import { metaOf, metaRows, STATE, stateIn } from '../../../store/meta.ts';
import type { Session } from '../../../store/session.ts';
import { NOTHING_HELD, type StoreClock, storeClock } from '../../../store/store-clock.ts';
import type { TimeState } from '../../../store/writer.ts';
import { mustKnow } from '../migrations/layout-version.ts';

/**
 * The server's clock, which all processes share, or one that is passed in. The clock of this machine is not used.
 */
export interface StampClock extends StoreClock {
  /** The time to pass to statements in milliseconds since 1970; null where the server reads its own clock. */
  readonly given: () => number | null;
  /** Records the server's clock as of now, and what the store holds of time. */
  readonly note: (milliseconds: number, epoch: string, held: HeldTime) => void;
}

export function stampClock(clock: Clock | undefined, trust: ClockTrust): StampClock {
  const elapsed = trust.machine?.elapsed ?? (() => performance.now());
  /** The last reading of the server's clock, and when it was taken; absent until there is one. */
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
