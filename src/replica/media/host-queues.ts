/** Schedules the fetching of files by host. This module knows nothing about files, and sends no requests. */

/**
 * The number of concurrent fetches from a host that has delivered a file quickly. Any other host gets one at a time, in a shared
 * slot.
 */
const AT_ONCE = 4;
/** The number of shared slots, for all hosts together that have not delivered a file yet, have failed, or are slow. */
const UNPROVEN = 12;
/** Strikes after which a host is given up until the next run. */
const PATIENCE = 5;
/** A failure that takes longer than `after` milliseconds counts as several strikes, because it blocks a slot for that long. */
const SLOW = { after: 20_000, strikes: 3 } as const;
const FIRST_WAIT = 1000;
/** A host that requests a longer wait than this is skipped until the next run. Milliseconds. */
const LONGEST_WAIT = 120_000;

interface Queue<J> {
  readonly jobs: J[];
  running: number;
  /** The number of failures in a row, and their strikes. */
  failures: number;
  strikes: number;
  notBefore: number;
  isProven: boolean;
}

interface HostFailure {
  readonly now: number;
  /** Milliseconds. */
  readonly took: number;
  /** The wait that the host requested, in milliseconds. */
  readonly retryAfter?: number | undefined;
}

/**
 * Queued files by host. A host that works has slots of its own, and all others share a few slots. However many of those are slow,
 * hang or fail, they never delay the files of a host that works.
 */
export class HostQueues<J> {
  readonly #queues = new Map<string, Queue<J>>();
  #waiting = 0;
  #running = 0;

  /** Queued jobs. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Jobs that have been taken and have not ended. */
  get running(): number {
    return this.#running;
  }

  /** Whether the host has been given up; nothing may be queued for it any more. */
  isGivenUp(host: string): boolean {
    return (this.#queues.get(host)?.strikes ?? 0) >= PATIENCE;
  }

  failuresOf(host: string): number {
    return this.#queues.get(host)?.failures ?? 0;
  }

  add(host: string, job: J): void {
    this.#queueOf(host).jobs.push(job);
    this.#waiting++;
  }

  /**
   * Takes the next job of the host with the fewest strikes that has a free slot. Hosts with the same number of strikes take turns.
   */
  take(now: number): { readonly host: string; readonly job: J } | undefined {
    const places = UNPROVEN - this.#unproven();
    let best: readonly [string, Queue<J>] | undefined;
    for (const each of this.#queues) {
      const [, queue] = each;
      if (queue.jobs.length === 0 || hasToWait(queue, now) || !hasPlace(queue, places)) continue;
      if (best === undefined || queue.strikes < best[1].strikes) best = each;
    }
    if (best === undefined) return undefined;
    const [host, queue] = best;
    const job = queue.jobs.shift();
    if (job === undefined) return undefined;
    queue.running++;
    this.#running++;
    this.#waiting--;
    // Move the host to the end of the order.
    this.#queues.delete(host);
    this.#queues.set(host, queue);
    return { host, job };
  }

  /** Milliseconds until the first of the hosts that only wait for time may be requested again; undefined if there is none. */
  readyIn(now: number): number | undefined {
    const places = UNPROVEN - this.#unproven();
    const moments = [...this.#queues.values()]
      .filter((queue) => queue.jobs.length > 0 && hasToWait(queue, now) && hasPlace(queue, places))
      .map(({ notBefore }) => notBefore - now);
    return moments.length === 0 ? undefined : Math.min(...moments);
  }

  /** Records that a host delivered a file. @param took milliseconds */
  recordDelivery(host: string, took: number): void {
    const queue = this.#end(host);
    Object.assign(queue, { failures: 0, strikes: 0, isProven: took < SLOW.after });
    this.#tidy(host, queue);
  }

  /** Records that a host responded, but does not have this file. */
  recordResponse(host: string): void {
    this.#tidy(host, this.#end(host));
  }

  /** Records a failure of a host. @returns the queued jobs of the host, which are removed, if it is given up from now on */
  recordFailure(host: string, { now, took, retryAfter = 0 }: HostFailure): readonly J[] {
    const queue = this.#end(host);
    queue.failures++;
    queue.isProven = false;
    const isTooLong = retryAfter > LONGEST_WAIT;
    queue.strikes += isTooLong ? PATIENCE : took >= SLOW.after ? SLOW.strikes : 1;
    queue.notBefore = Math.max(
      queue.notBefore,
      now + Math.max(retryAfter, FIRST_WAIT * 2 ** (queue.failures - 1)),
    );
    if (queue.strikes < PATIENCE) return [];
    const left = queue.jobs.splice(0);
    this.#waiting -= left.length;
    return left;
  }

  #unproven(): number {
    let running = 0;
    for (const queue of this.#queues.values()) if (!queue.isProven) running += queue.running;
    return running;
  }

  #queueOf(host: string): Queue<J> {
    const fresh = { jobs: [], running: 0, failures: 0, strikes: 0, notBefore: 0, isProven: false };
    return this.#queues.getOrInsert(host, fresh);
  }

  #end(host: string): Queue<J> {
    const queue = this.#queueOf(host);
    queue.running--;
    this.#running--;
    return queue;
  }

  /** Removes the queue of a host that has neither jobs nor strikes. */
  #tidy(host: string, { jobs, running, strikes, isProven }: Queue<J>): void {
    if (jobs.length === 0 && running === 0 && strikes === 0 && !isProven) this.#queues.delete(host);
  }
}

/** A time further ahead than any wait was recorded before the clock was set back. */
const hasToWait = <J>({ notBefore }: Queue<J>, now: number): boolean =>
  notBefore > now && notBefore - now <= LONGEST_WAIT;

const hasPlace = <J>({ running, isProven }: Queue<J>, unprovenPlaces: number): boolean =>
  isProven ? running < AT_ONCE : running === 0 && unprovenPlaces > 0;
