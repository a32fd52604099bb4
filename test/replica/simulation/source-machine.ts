import type { Clock } from '../../../src/shared/clock.ts';
import type { Machine } from '../../../src/store/time/store-clock.ts';
import { START, type WrongClock } from './plan.ts';
import type { VirtualTime } from './time.ts';

/** Milliseconds that the machine had been running when the history began. */
const RUNNING = 30 * 86_400_000;

/** The machine of the source: its clock may be set, which its uptime reveals. */
export interface SourceMachine {
  readonly clock: Clock;
  readonly machine: Machine;
  /** Milliseconds that its clock is ahead now. */
  readonly ahead: () => number;
  /** Milliseconds from now until its clock is right for good. */
  readonly untilRight: () => number;
}

/** The values of a machine that nobody can set. */
export function machineOf(time: VirtualTime, boot: string): Machine {
  const running = (): number => RUNNING + time.now - START;
  return { boot, uptime: running, elapsed: running };
}

export function sourceMachine(time: VirtualTime, wrong: WrongClock | undefined): SourceMachine {
  const ahead = (now: number): number => sourceAhead(wrong, now);
  return {
    clock: time.clock(ahead),
    machine: machineOf(time, 'the source’s'),
    ahead: () => ahead(time.now),
    untilRight: () => Math.max(0, START + (wrong?.right ?? 0) - time.now),
  };
}

/** How far the source's clock is ahead at a moment. */
function sourceAhead(wrong: WrongClock | undefined, now: number): number {
  if (wrong === undefined || now - START >= wrong.right) return 0;
  return wrong.steps.reduce((sum, { at, by }) => (now - START >= at ? sum + by : sum), 0);
}
