/** A client of a server on loopback, with a clock of its own. */
import type { ReplicaEvent } from '../../../src/replica/events.ts';
import { type ClientOptions, SourceClient } from '../../../src/replica/http/client.ts';
import { RequestFailure } from '../../../src/replica/http/failure.ts';
import type { Allowance } from '../../../src/replica/http/rate-budget.ts';
import { tokenSourceOf } from '../../../src/replica/http/token-source.ts';
import { networkTransport, type Transport } from '../../../src/replica/http/transport.ts';
import { type TestClock, testClock } from '../../support/clock.ts';
import type { Scope } from '../../support/engine.ts';
import { virtualTime } from './virtual-clock.ts';

export interface TestClient {
  readonly client: SourceClient;
  readonly clock: TestClock;
  readonly network: Transport;
  readonly events: ReplicaEvent[];
  readonly slept: readonly number[];
  /** The body of the response. */
  text(path: string, attempts?: number): Promise<string>;
  /** The failure of a request that must fail: kind and message. */
  fault(path: string, attempts?: number): Promise<[string, string]>;
}

export const UNLIMITED: Allowance = { take: async () => 0, recordResponse: async () => undefined };

/** A client of this origin. Half of each of its waits is random; a constant stands in for that half, so that waits are known. */
export function clientOf(scope: Scope, origin: string, options: Partial<ClientOptions> = {}): TestClient {
  const clock = testClock('2026-06-01T12:00:00Z');
  const time = virtualTime(clock);
  const network = networkTransport();
  scope.after(() => network.close());
  const events: ReplicaEvent[] = [];
  const client = new SourceClient({
    root: new URL(`${origin}/feed/`),
    tokens: tokenSourceOf('secret'),
    environment: { clock: time.clock, random: () => 0.5, transport: time.watched(network) },
    listener: (event) => void events.push(event),
    backoff: { base: 1000, longest: 60_000, attempts: 4 },
    allowance: UNLIMITED,
    largest: 1_000_000,
    timeout: 10_000,
    longest: 300_000,
    signal: new AbortController().signal,
    ...options,
  });
  const text = (path: string, attempts?: number): Promise<string> =>
    client.get(path, (answer) => answer.text, attempts === undefined ? {} : { attempts });
  return {
    client,
    clock,
    network,
    events,
    slept: time.slept,
    text,
    async fault(path, attempts) {
      const failure: unknown = await text(path, attempts).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure instanceof RequestFailure) return [failure.kind, failure.message];
      throw new Error('The request did not fail', { cause: failure });
    },
  };
}
