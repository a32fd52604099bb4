/** Clock, randomness, network and processes of the consumer, passed in so that a test can control them. */
import { type Clock, systemClock } from '../shared/clock.ts';
import type { Processes } from './checkpoint/lease.ts';
import { networkTransport, type Transport } from './http/transport.ts';

export interface Environment {
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly transport: Transport;
  /** Other processes of this host; by default the real ones. */
  readonly processes?: Processes;
}

/** The given environment, or else the real one, which the caller has to close. */
export function environmentOf(given: Environment | undefined): {
  readonly environment: Environment;
  readonly close: () => Promise<void>;
} {
  if (given !== undefined) return { environment: given, close: async () => undefined };
  const transport = networkTransport();
  return {
    environment: { clock: systemClock, random: Math.random, transport },
    close: () => transport.close(),
  };
}
