/** The lease of a source: only the process that holds it writes the copy. This module does not know what is copied. */

import { hash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { failedError } from '../../errors/index.ts';
import type { Clock } from '../../shared/clock.ts';
import { codeOf } from '../../shared/error-code.ts';
import { type Lease, LeaseLost } from '../../store/checkpoint/checkpoints.ts';
import type { Store } from '../../store/store.ts';

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
    throw failedError(
      `${displayName(other?.holder ?? 'Another process')} is replicating ${name} into this store; its lease ends in ${seconds} s unless it is renewed.`,
    );
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

/** What this process knows about itself and about other processes of its host. */
export interface Processes {
  /** Creates a unique name for a lease holder in this process. */
  name(): string;
  /** Whether the process with a name is certainly dead. */
  isDead(name: string): boolean;
}

/** The operating system, passed in so that a test can replace it. */
export interface Host {
  readonly name: string;
  readonly pid: number;
  /** The content of a small file. @throws if there is none */
  read(path: string): string;
  readLink(path: string): string;
  /** Whether a process with this ID exists, including one of another user. */
  exists(pid: number): boolean;
}

/** `host:pid:random`, followed by `:boot and namespace:start time` if they are known. */
const NAME = /^(?<shown>.*:(?<pid>\d+):[0-9a-f]{8})(?::(?<realm>[\w-]{12}):(?<begin>\d+))?$/;

/** The field with the start time in `/proc/<pid>/stat`, counted from the state, which follows the program in parentheses. */
const BEGIN = 19;
/** The states of a process that has ended and whose parent has not waited for it yet (zombies). */
const ENDED: ReadonlySet<unknown> = new Set(['Z', 'X']);

/** The part of a holder's name that is shown to users. */
export const displayName = (name: string): string => NAME.exec(name)?.groups?.shown ?? name;

/**
 * Names processes by host, process ID, boot, namespace of the ID and start time, since IDs are reused. A process about which nothing is
 * known counts as alive, so that no process loses a lease by mistake.
 */
export function processesOf(host: Host): Processes {
  const realm = attempt(() =>
    hash(
      'sha256',
      `${host.read('/proc/sys/kernel/random/boot_id').trim()} ${host.readLink('/proc/self/ns/pid')}`,
      'base64url',
    ).slice(0, 12),
  );
  const statOf = (pid: number | string): readonly string[] | undefined =>
    attempt(() => {
      const text = host.read(`/proc/${pid}/stat`);
      return text.slice(text.lastIndexOf(')') + 2).split(' ');
    });
  return {
    name() {
      const begin = statOf('self')?.[BEGIN];
      const shown = `${host.name}:${host.pid}:${randomBytes(4).toString('hex')}`;
      return realm === undefined || begin === undefined ? shown : `${shown}:${realm}:${begin}`;
    },
    isDead(name) {
      const parts = NAME.exec(name)?.groups;
      if (realm === undefined || parts?.realm !== realm) return false;
      const pid = Number(parts.pid);
      if (!host.exists(pid)) return true;
      const stat = statOf(pid);
      // A process of another user may be hidden.
      return stat !== undefined && (ENDED.has(stat[0]) || stat[BEGIN] !== parts.begin);
    },
  };
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The host that this process runs on. Only Linux has boots and namespaces to read. */
export const realProcesses = (): Processes =>
  processesOf({
    name: hostname(),
    pid: process.pid,
    read: (path) => readFileSync(path, 'utf8'),
    readLink: (path) => readlinkSync(path),
    exists: (pid) => {
      try {
        return process.kill(pid, 0);
      } catch (error) {
        return codeOf(error) !== 'ESRCH';
      }
    },
  });
