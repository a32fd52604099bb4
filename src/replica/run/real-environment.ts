import { systemClock } from '../../store/clock.ts';
import type { Environment } from '../environment.ts';
import { networkTransport } from '../http/transport.ts';

/** The environment that was given, or the real one, to be closed by whoever asked. */
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
