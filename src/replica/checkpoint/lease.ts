import { platError } from '../../errors/index.ts';
import type { Clock } from '../../store/clock.ts';
import type { Lease } from '../../store/ledger.ts';
import type { Store } from '../../store/store.ts';
import { type Processes, realProcesses, shownName } from './processes.ts';

/** A dead process loses its source after this long; a living one renews its lease much sooner. Milliseconds. */
export const LEASE = 60_000;
/** How far the clocks of hosts that share a store may be apart. */
const CLOCKS_DIFFER = 600_000;

type Held = NonNullable<Awaited<ReturnType<Store['ledger']['leaseHolder']>>>;

/** One process's hold on a source: nobody else writes its copy until it ends. */
export interface Hold {
  readonly name: string;
  readonly lease: () => Lease;
  readonly release: () => Promise<void>;
}

/** Who takes a hold: the same one takes again what it could not give back. */
export interface Holder {
  readonly name: string;
  readonly clock: Clock;
  readonly processes: Processes;
  readonly signal?: AbortSignal | undefined;
}

export const newHolder = (
  clock: Clock,
  processes: Processes = realProcesses(),
  signal?: AbortSignal,
): Holder => ({ name: processes.name(), clock, processes, signal });

/**
 * Takes a source. A process of this host that is dead loses it at once, any other when its lease ends.
 * @throws PlatError `failed` when another process is at work on this source
 */
export async function holdSource(
  store: Store,
  name: string,
  { name: holder, clock, processes, signal }: Holder,
): Promise<Hold> {
  const lease = (): Lease => ({ holder, now: clock.now(), until: clock.now() + LEASE });
  const take = (): Promise<boolean> => store.ledger.lease(name, lease());
  /** Whether a lease that ends later than any does was written by a clock that was wrong, and is renewed by nobody. */
  const isForsaken = async ({ holder: other, expires }: Held): Promise<boolean> => {
    if (expires - clock.now() <= LEASE + CLOCKS_DIFFER) return false;
    await clock.sleep(LEASE, signal);
    const now = await store.ledger.leaseHolder(name);
    return signal?.aborted !== true && now?.holder === other && now.expires === expires;
  };
  const takeOver = async (): Promise<boolean> => {
    const other = await store.ledger.leaseHolder(name);
    if (other === undefined) return take();
    if (!processes.isDead(other.holder) && !(await isForsaken(other))) return false;
    await store.ledger.releaseLease(name, other.holder);
    return take();
  };
  if (!(await take()) && !(await takeOver())) {
    const other = await store.ledger.leaseHolder(name);
    const seconds = Math.ceil(((other?.expires ?? 0) - clock.now()) / 1000);
    throw platError('failed', {
      reason: `${shownName(other?.holder ?? 'Another process')} is replicating ${name} into this store; its lease ends in ${seconds} s unless it goes on.`,
    });
  }
  return { name, lease, release: () => store.ledger.releaseLease(name, holder) };
}
