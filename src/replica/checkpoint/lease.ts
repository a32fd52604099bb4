/**
 * The lease of a source: only the process that holds it writes the copy. This module acquires the lease, renews it while nothing is
 * committed, and releases it. It does not know what is copied.
 */
import { platError } from '../../errors/index.ts';
import type { Clock } from '../../shared/clock.ts';
import { type Lease, LeaseLost } from '../../store/checkpoint/checkpoints.ts';
import type { Store } from '../../store/store.ts';
import { displayName, type Processes, realProcesses } from './processes.ts';

/** Milliseconds after which a lease that is not renewed expires. A live process renews its lease much sooner. */
export const LEASE_DURATION = 60_000;
/** How far the clocks of hosts that share a store may differ. */
const MAX_CLOCK_SKEW = 600_000;

type LeaseHolder = NonNullable<Awaited<ReturnType<Store['checkpoints']['leaseHolder']>>>;

/** A source that a process has acquired: no other process writes its copy until it is released. */
export interface AcquiredSource {
  readonly name: string;
  readonly lease: () => Lease;
  readonly release: () => Promise<void>;
}

/** Identifies who acquires a source. An acquirer that failed to release a source can acquire it again. */
interface Acquirer {
  readonly name: string;
  readonly clock: Clock;
  readonly processes: Processes;
  readonly signal?: AbortSignal | undefined;
}

export const newAcquirer = (
  clock: Clock,
  processes: Processes = realProcesses(),
  signal?: AbortSignal,
): Acquirer => ({ name: processes.name(), clock, processes, signal });

/**
 * Acquires a source. If the current holder is a dead process of this host, it loses the lease immediately; any other holder loses
 * it when the lease expires.
 * @throws PlatError `failed` if another process is working on this source
 */
export async function acquireSource(
  { checkpoints }: Pick<Store, 'checkpoints'>,
  name: string,
  { name: holder, clock, processes, signal }: Acquirer,
): Promise<AcquiredSource> {
  const lease = (): Lease => ({ holder, now: clock.now(), until: clock.now() + LEASE_DURATION });
  const take = (): Promise<boolean> => checkpoints.lease(name, lease());
  /** A lease that ends later than any valid lease was written with a wrong clock; if nobody renews it, it is void. */
  const isAbandoned = async ({ holder: other, expires }: LeaseHolder): Promise<boolean> => {
    if (expires - clock.now() <= LEASE_DURATION + MAX_CLOCK_SKEW) return false;
    await clock.sleep(LEASE_DURATION, signal);
    const now = await checkpoints.leaseHolder(name);
    return signal?.aborted !== true && now?.holder === other && now.expires === expires;
  };
  const takeOver = async (): Promise<boolean> => {
    const other = await checkpoints.leaseHolder(name);
    if (other === undefined) return take();
    if (!processes.isDead(other.holder) && !(await isAbandoned(other))) return false;
    await checkpoints.releaseLease(name, other.holder);
    return take();
  };
  if (!(await take()) && !(await takeOver())) {
    const other = await checkpoints.leaseHolder(name);
    const seconds = Math.ceil(((other?.expires ?? 0) - clock.now()) / 1000);
    throw platError('failed', {
      reason: `${displayName(other?.holder ?? 'Another process')} is replicating ${name} into this store; its lease ends in ${seconds} s unless it is renewed.`,
    });
  }
  return { name, lease, release: () => checkpoints.releaseLease(name, holder) };
}

/**
 * Runs work while this process holds the lease of a source, and releases the lease afterwards.
 * @throws LeaseLost as soon as another process has acquired it
 */
export async function whileAcquired<T extends string>(
  { checkpoints }: Pick<Store, 'checkpoints'>,
  { name, lease, release }: AcquiredSource,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const ended = new AbortController();
  const renew = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(LEASE_DURATION / 3, ended.signal);
      if (ended.signal.aborted) return;
      try {
        await checkpoints.commit(name, { lease: lease() });
      } catch (error) {
        // If the store is unreachable, the next operation on it reports that.
        if (error instanceof LeaseLost) return lost.abort(error);
      }
    }
  };
  const renewing = renew();
  try {
    const result = await work(AbortSignal.any([signal, lost.signal]));
    if (lost.signal.aborted && result === 'stopped') throw lost.signal.reason;
    return result;
  } catch (error) {
    throw lost.signal.aborted ? lost.signal.reason : error;
  } finally {
    ended.abort();
    // Wait for a renewal in progress before the lease is released.
    await renewing;
    // If the store is unreachable, the lease expires by itself.
    if (!lost.signal.aborted) await release().catch(() => undefined);
  }
}
