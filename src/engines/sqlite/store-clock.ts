import { type Clock, type SteadyClock, steadyClock } from '../../store/clock.ts';
import { type ClockTrust, JumpGuard } from '../../store/clock-jump.ts';
import type { WriteClock } from '../../store/writer.ts';
import type { Connection } from './connection.ts';
import { readTimes } from './meta.ts';

/** The clock that stamps a store in a file: the machine's, as far as it can be trusted. */
export interface StoreClock extends SteadyClock, WriteClock {
  /** Milliseconds by which it was set ahead; `now` goes on without them. */
  readonly jump: () => number;
  /** Says what another clock says. */
  readonly confirm: (other: number) => void;
}

export function storeClock(
  clock: Clock,
  reading: Connection | undefined,
  { machine, allowClockJump = false }: ClockTrust,
): StoreClock {
  const { now, sleep } = clock;
  if (machine === undefined || reading === undefined) {
    return {
      ...steadyClock(clock),
      jump: () => 0,
      setBack: () => 0,
      restamped: () => undefined,
      confirm: () => undefined,
      toKeep: () => undefined,
    };
  }
  const held = () => {
    const { clockReading, newest } = readTimes(reading);
    return { reading: clockReading, newest };
  };
  const guard = new JumpGuard(machine, held);
  if (allowClockJump) guard.allow(now());
  const jump = (): number => guard.jump(now());
  const trusted = steadyClock({
    now: () => {
      const said = now();
      return said - guard.jump(said);
    },
    sleep,
  });
  return {
    ...trusted,
    inEpoch: (epoch) => {
      trusted.inEpoch(epoch);
      guard.inEpoch(epoch);
    },
    jump,
    setBack: () => guard.setBack(now()),
    restamped: () => guard.allow(now(), 'restamped'),
    confirm: (other) => guard.confirm(now(), other),
    toKeep: () => guard.toKeep(now()),
  };
}
