/** The order in which files are fetched, by host. It knows nothing of files, and sends no requests. */

/** Concurrent files of a host that has delivered one quickly. Any other host has one at a time, in a slot that it shares. */
const AT_ONCE = 4;
/** Files at a time of all hosts together that have not delivered one yet, failed, or are slow. */
const UNPROVEN = 12;
/** Strikes after which a host is given up until the next run. */
const PATIENCE = 5;
/** A slow failure blocks a slot for all of its time, so two of them are enough. */
const SLOW = { after: 20_000, strikes: 3 } as const;
const FIRST_WAIT = 1000;
/** A host that requests a longer wait than this is skipped until the next run. Milliseconds. */
const LONGEST_WAIT = 120_000;

interface Queue<J> {
  readonly jobs: J[];
  running: number;
  /** Failures in a row, and what they count. */
  failures: number;
  strikes: number;
  notBefore: number;
  isProven: boolean;
}

interface HostFailure {
  readonly now: number;
  /** Milliseconds. */
  readonly took: number;
  /** What the host itself requested, in milliseconds. */
  readonly retryAfter?: number | undefined;
}

/**
 * Queued files, by their host. A host that works has slots of its own; all others share some: however many
 * of them are slow, hang or fail, they never delay the files of a host that works.
 */
export class HostQueues<J> {
  readonly #queues = new Map<string, Queue<J>>();
  #waiting = 0;
  #running = 0;

  /** Queued jobs. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Jobs that were taken and have not ended. */
  get running(): number {
    return this.#running;
  }

  /** Whether the host was given up; nothing may be queued for it any more. */
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

  /** The next job whose host has a free slot: of the host with the fewest strikes, and in turn among equal ones. */
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
    // The host is now the last in turn.
    this.#queues.delete(host);
    this.#queues.set(host, queue);
    return { host, job };
  }

  /** Milliseconds until a host may be asked again that waits only for time; undefined if there is none. */
  readyIn(now: number): number | undefined {
    const places = UNPROVEN - this.#unproven();
    const moments = [...this.#queues.values()]
      .filter((queue) => queue.jobs.length > 0 && hasToWait(queue, now) && hasPlace(queue, places))
      .map(({ notBefore }) => notBefore - now);
    return moments.length === 0 ? undefined : Math.min(...moments);
  }

  /** A file was delivered. @param took milliseconds */
  recordDelivery(host: string, took: number): void {
    const queue = this.#end(host);
    Object.assign(queue, { failures: 0, strikes: 0, isProven: took < SLOW.after });
    this.#tidy(host, queue);
  }

  /** The host answered, and does not have this one file. */
  recordResponse(host: string): void {
    this.#tidy(host, this.#end(host));
  }

  /** @returns the queued jobs, which are removed, if the host is given up from now on */
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

  /** A host without strikes needs no queue while it has no jobs. */
  #tidy(host: string, { jobs, running, strikes, isProven }: Queue<J>): void {
    if (jobs.length === 0 && running === 0 && strikes === 0 && !isProven) this.#queues.delete(host);
  }
}

/** A moment further away than any wait is from a clock that has been set back since. */
const hasToWait = <J>({ notBefore }: Queue<J>, now: number): boolean =>
  notBefore > now && notBefore - now <= LONGEST_WAIT;

const hasPlace = <J>({ running, isProven }: Queue<J>, unprovenPlaces: number): boolean =>
  isProven ? running < AT_ONCE : running === 0 && unprovenPlaces > 0;
