import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { platError } from '../../errors/index.ts';
import type { Clock } from '../../store/clock.ts';
import type { Lease } from '../../store/ledger.ts';
import type { Store } from '../../store/store.ts';

/** A dead process loses its source after this long; a living one renews its lease much sooner. Milliseconds. */
export const LEASE = 60_000;

/** One process's hold on a source: nobody else writes its copy until it ends. */
export interface Hold {
  readonly name: string;
  readonly lease: () => Lease;
  readonly release: () => Promise<void>;
}

/** @throws PlatError `failed` when another process is at work on this source */
export async function holdSource(store: Store, name: string, clock: Clock): Promise<Hold> {
  const holder = `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`;
  const lease = (): Lease => ({ holder, now: clock.now(), until: clock.now() + LEASE });
  if (!(await store.ledger.lease(name, lease()))) {
    const other = await store.ledger.leaseHolder(name);
    const seconds = Math.ceil(((other?.expires ?? 0) - clock.now()) / 1000);
    throw platError('failed', {
      reason: `${other?.holder ?? 'Another process'} is replicating ${name} into this store; its lease ends in ${seconds} s unless it goes on.`,
    });
  }
  return { name, lease, release: () => store.ledger.releaseLease(name, holder) };
}
