import { PlatError } from '../../../src/errors/index.ts';
import { clientCredentials } from '../../../src/replica/http/client-credentials.ts';
import { RequestFailure } from '../../../src/replica/http/failure.ts';
import type { Transport } from '../../../src/replica/http/transport.ts';
import type { ReplicateOptions } from '../../../src/replica/run/options.ts';
import { type ReplicateResult, replicate } from '../../../src/replica/run/replicate.ts';
import { type Checkpoints, LeaseLost } from '../../../src/store/checkpoint/checkpoints.ts';
import { TOLERATED_JUMP } from '../../../src/store/time/store-clock.ts';
import { type Fate, Killed, Mortal, mortalClock, mortalStore } from './mortal.ts';
import { aheadOf, type Plan } from './plan.ts';
import { ORIGIN, TOKEN } from './serve.ts';
import type { Stage } from './stage.ts';
import { CREDENTIALS } from './tokens.ts';

/** A consumer with one error, which lies in its connection to the source, to its store, or in its options. */
export interface Mutant {
  readonly transport?: (transport: Transport) => Transport;
  readonly checkpoints?: (checkpoints: Checkpoints) => Checkpoints;
  readonly options?: Partial<ReplicateOptions>;
}

export type End =
  | { readonly kind: 'result'; readonly result: ReplicateResult }
  | { readonly kind: 'killed' }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface Consumer {
  readonly name: string;
  readonly mortal: Mortal;
  /** Never resolves for a process that is killed. */
  readonly end: Promise<End>;
  /** The end of its last wait for the source, in milliseconds since 1970; 0: it has not waited. */
  waitsUntil(): number;
}

export interface Errand {
  readonly name: string;
  readonly fate: Fate;
  /** Moments at which its connections to the replica's database are cut, if the engine has connections. */
  readonly cuts?: readonly number[];
  /** Whether it accepts its clock, however far it was set (`--allow-clock-jump`). */
  readonly allowsJump: boolean;
  readonly options: Partial<ReplicateOptions>;
  readonly mutant?: Mutant | undefined;
}

/** The name of the source in the replica. */
export const SOURCE = 'feed';

/** The option `--follow` of a watch, by the method with which the source reports changes. */
const FOLLOW_BY = {
  stream: 'events',
  forgets: 'events',
  events: 'entity-event',
  both: 'auto',
  links: 'delta',
  all: 'auto',
  nothing: 'windows',
} as const satisfies Record<NonNullable<Plan['reports']> | 'nothing', ReplicateOptions['follow']>;

/** Starts a process of the consumer. */
export async function startConsumer(
  stage: Stage,
  { name, fate, cuts = [], allowsJump, options, mutant }: Errand,
): Promise<Consumer> {
  const { plan, time, replica, commits, network, random, log } = stage;
  const mortal = new Mortal(fate, time, cuts);
  const clock = time.clock(aheadOf(plan));
  const store = await replica.enter(clock, mortal, { allowClockJump: allowsJump }).catch(killed);
  // It died while it opened its store.
  if (store === undefined) return { name, mortal, end: new Promise(() => undefined), waitsUntil: () => 0 };
  let waitsUntil = 0;
  const watched = commits.watch(store.checkpoints, name, options.force === true);
  const transport = mortalTransport(network.transport(name), mortal);
  const say = (line: string): void => void log.push(`${new Date(time.now).toISOString()} ${name}: ${line}`);
  const running = replicate({
    from: `${ORIGIN}${plan.interface === 'reso' ? '/Reso/OData' : '/v1'}`,
    interface: plan.interface,
    token: plan.tokens === undefined ? TOKEN : clientCredentials(CREDENTIALS),
    source: SOURCE,
    resources: plan.resources,
    pageSize: plan.pageSize,
    customFields: plan.customFields,
    purgeShare: plan.purgeShare,
    limits: plan.limits,
    follow: FOLLOW_BY[plan.reports ?? 'nothing'],
    pollEvery: 60_000,
    ...options,
    ...mutant?.options,
    store: mortalStore(store, mutant?.checkpoints?.(watched) ?? watched, mortal),
    environment: {
      clock: mortalClock(clock, mortal),
      random: () => random.unit(),
      transport: mutant?.transport?.(transport) ?? transport,
      // Each process has a host of its own, so that a killed one keeps its lease until it expires.
      processes: { name: () => `host of ${name}`, isDead: () => false },
    },
    onEvent: (event) => {
      const { kind, ...facts } = event;
      if (event.kind === 'waiting') waitsUntil = time.now + event.wait;
      say(`${kind} ${JSON.stringify(facts)}`);
    },
  });
  const end = running.then(
    (result): End => ({ kind: 'result', result }),
    (error: unknown): End => ({ kind: 'failed', error }),
  );
  return { name, mortal, end, waitsUntil: () => waitsUntil };
}

function killed(error: unknown): undefined {
  if (error instanceof Killed) return undefined;
  throw error;
}

function mortalTransport(transport: Transport, mortal: Mortal): Transport {
  return (request) =>
    mortal.step(async () => {
      const response = await transport(request);
      return { ...response, body: pieces(response.body, mortal) };
    });
}

async function* pieces(body: AsyncIterable<Uint8Array>, mortal: Mortal): AsyncGenerator<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]();
  for (;;) {
    const next = await mortal.step(() => iterator.next());
    if (next.done) return;
    yield next.value;
  }
}

/** Whether a consumer may fail in this way while its source or its machine has such faults. */
export function isExpected(
  error: unknown,
  { steps, mortality, standstills }: Pick<Plan, 'steps' | 'mortality' | 'standstills'>,
): boolean {
  if (error instanceof LeaseLost) return true;
  if (error instanceof PlatError) {
    if (error.code === 'clockJumped') return steps.some(({ by }) => Math.abs(by) > TOLERATED_JUMP);
    // Another process may be suspended while it has the lock.
    if (error.code === 'storeBusy') return mortality > 0 && standstills > 0;
    const isHeld = error.code === 'failed' && /lease ends in/.test(error.message);
    return isHeld || error.code === 'storeUnavailable' || error.code === 'writeUnknown';
  }
  if (!(error instanceof RequestFailure)) return false;
  if (error.kind === 'refused') return error.message.includes('elsewhere.test');
  return error.kind === 'transient';
}
