/** Files of one host at a time once it has brought one quickly. A host that has not has one, and shares. */
const AT_ONCE = 4;
/** Files at a time of all hosts together that have not brought one yet, failed, or are slow. */
const UNPROVEN = 12;
/** Strikes after which a host is left alone until the next run. */
const PATIENCE = 5;
/** A failure that took long costs a place for as long, so two of them are enough. */
const SLOW = { after: 20_000, strikes: 3 } as const;
const FIRST_WAIT = 1000;
/** A host that wants more time than this is left alone until the next run. Milliseconds. */
const LONGEST_WAIT = 120_000;

interface Line<J> {
  readonly jobs: J[];
  running: number;
  /** In a row, and what they weigh. */
  failures: number;
  strikes: number;
  notBefore: number;
  isProven: boolean;
}

export interface HostFailure {
  readonly now: number;
  /** Milliseconds. */
  readonly took: number;
  /** What the host itself asked for, in milliseconds. */
  readonly retryAfter?: number | undefined;
}

/**
 * Files in line, by their host. A host that works has places of its own; all others share some, so that however many
 * of them drip, hang or fail, the files of the first never wait for one of theirs.
 */
export class HostLines<J> {
  readonly #lines = new Map<string, Line<J>>();
  #waiting = 0;
  #running = 0;

  /** Jobs in line, and those that were taken and have not ended. */
  get waiting(): number {
    return this.#waiting;
  }

  get running(): number {
    return this.#running;
  }

  /** Whether the host is left alone; else nothing is added to its line any more. */
  isGivenUp(host: string): boolean {
    return (this.#lines.get(host)?.strikes ?? 0) >= PATIENCE;
  }

  failuresOf(host: string): number {
    return this.#lines.get(host)?.failures ?? 0;
  }

  add(host: string, job: J): void {
    this.#line(host).jobs.push(job);
    this.#waiting++;
  }

  /** The next job whose host has a place: of the host with the fewest strikes, and among those by turns. */
  take(now: number): { readonly host: string; readonly job: J } | undefined {
    const places = UNPROVEN - this.#unproven();
    let best: readonly [string, Line<J>] | undefined;
    for (const each of this.#lines) {
      const [, line] = each;
      if (line.jobs.length === 0 || hasToWait(line, now) || !hasPlace(line, places)) continue;
      if (best === undefined || line.strikes < best[1].strikes) best = each;
    }
    if (best === undefined) return undefined;
    const [host, line] = best;
    const job = line.jobs.shift();
    if (job === undefined) return undefined;
    line.running++;
    this.#running++;
    this.#waiting--;
    // To the end of the row.
    this.#lines.delete(host);
    this.#lines.set(host, line);
    return { host, job };
  }

  /** Milliseconds until a host that waits for time alone may be asked again; undefined if there is none. */
  readyIn(now: number): number | undefined {
    const places = UNPROVEN - this.#unproven();
    const moments = [...this.#lines.values()]
      .filter((line) => line.jobs.length > 0 && hasToWait(line, now) && hasPlace(line, places))
      .map(({ notBefore }) => notBefore - now);
    return moments.length === 0 ? undefined : Math.min(...moments);
  }

  /** A file came. @param took milliseconds */
  delivered(host: string, took: number): void {
    const line = this.#end(host);
    Object.assign(line, { failures: 0, strikes: 0, isProven: took < SLOW.after });
    this.#tidy(host, line);
  }

  /** The host answered, and this one file is not to be had. */
  answered(host: string): void {
    this.#tidy(host, this.#end(host));
  }

  /** @returns the jobs in line, taken out of it, if the host is left alone from now on */
  failed(host: string, { now, took, retryAfter = 0 }: HostFailure): readonly J[] {
    const line = this.#end(host);
    line.failures++;
    line.isProven = false;
    const isTooLong = retryAfter > LONGEST_WAIT;
    line.strikes += isTooLong ? PATIENCE : took >= SLOW.after ? SLOW.strikes : 1;
    line.notBefore = Math.max(
      line.notBefore,
      now + Math.max(retryAfter, FIRST_WAIT * 2 ** (line.failures - 1)),
    );
    if (line.strikes < PATIENCE) return [];
    const left = line.jobs.splice(0);
    this.#waiting -= left.length;
    return left;
  }

  #unproven(): number {
    let running = 0;
    for (const line of this.#lines.values()) if (!line.isProven) running += line.running;
    return running;
  }

  #line(host: string): Line<J> {
    const known = this.#lines.get(host);
    if (known !== undefined) return known;
    const made: Line<J> = { jobs: [], running: 0, failures: 0, strikes: 0, notBefore: 0, isProven: false };
    this.#lines.set(host, made);
    return made;
  }

  #end(host: string): Line<J> {
    const line = this.#line(host);
    line.running--;
    this.#running--;
    return line;
  }

  /** A host that nothing bad is known of needs no line while nothing is in it. */
  #tidy(host: string, { jobs, running, strikes, isProven }: Line<J>): void {
    if (jobs.length === 0 && running === 0 && strikes === 0 && !isProven) this.#lines.delete(host);
  }
}

/** What lies further off than any wait is of a clock that has been set back since. */
const hasToWait = <J>({ notBefore }: Line<J>, now: number): boolean =>
  notBefore > now && notBefore - now <= LONGEST_WAIT;

const hasPlace = <J>({ running, isProven }: Line<J>, unprovenPlaces: number): boolean =>
  isProven ? running < AT_ONCE : running === 0 && unprovenPlaces > 0;
