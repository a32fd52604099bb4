import { type Clock, type SteadyClock, steadyClock } from '../clock.ts';
import { type ClockTrust, JumpGuard } from '../clock-jump.ts';
import type { Connection } from './connection.ts';
import { readClockReading } from './meta.ts';

/** The clock that stamps a store in a file: the machine's, as far as it can be trusted. */
export interface StoreClock extends SteadyClock {
  /** Milliseconds by which it was set ahead; `now` goes on without them. */
  readonly jump: () => number;
  /** What the store is to keep of it (clock-jump.ts). */
  readonly toKeep: () => string | undefined;
}

export function storeClock(
  clock: Clock,
  reading: Connection | undefined,
  { machine, allowClockJump = false }: ClockTrust,
): StoreClock {
  const { now, sleep } = clock;
  if (machine === undefined || reading === undefined) {
    return { ...steadyClock(clock), jump: () => 0, toKeep: () => undefined };
  }
  const guard = new JumpGuard(machine, () => readClockReading(reading));
  if (allowClockJump) guard.allow(now());
  const jump = (): number => guard.jump(now());
  const trusted = steadyClock({
    now: () => {
      const said = now();
      return said - guard.jump(said);
    },
    sleep,
  });
  return { ...trusted, jump, toKeep: () => guard.toKeep(now()) };
}
