import type { Clock } from '../store/clock.ts';
import type { Processes } from './checkpoint/processes.ts';
import type { Transport } from './http/transport.ts';

/** Everything outside of the consumer, passed in so that a test can drive it. */
export interface Environment {
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly transport: Transport;
  /** Other processes of this host; those that there are if it is not given. */
  readonly processes?: Processes;
}
