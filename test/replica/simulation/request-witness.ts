import type { BudgetLimits } from '../../../src/replica/http/rate-budget.ts';
import type { TransportRequest } from '../../../src/replica/http/transport.ts';
import { isLaterPage, walkOf } from './network.ts';
import type { Plan } from './plan.ts';
import { ORIGIN } from './serve.ts';
import type { VirtualTime } from './time.ts';
import { CREDENTIALS } from './tokens.ts';
import type { Accuse } from './violation.ts';

/** How long the source answers a filter from the index that it built first. */
const INDEX = 600_000;
const HOUR = 3_600_000;
/** More requests than this mean that a history does not end. */
const ENDLESS = 20_000;

interface FirstPage {
  readonly process: string;
  readonly at: number;
  /** Its response arrived completely: another request is another walk, not another attempt. */
  delivered: boolean;
}

/** Observes the requests to the source, and checks invariants. */
export class RequestWitness {
  readonly #time: VirtualTime;
  readonly #limits: BudgetLimits;
  readonly #accuse: Accuse;
  readonly #hasClock: boolean;
  readonly #firstPages = new Map<string, FirstPage>();
  #last = Number.NEGATIVE_INFINITY;
  /** Times of the requests in the last hour. */
  #hour: number[] = [];
  #throttled = Number.NEGATIVE_INFINITY;
  readonly #heldUp = new Set<string>();
  readonly #killed = new Set<string>();
  count = 0;
  /** When the source was last asked for its fields. */
  fieldsAskedAt = Number.NEGATIVE_INFINITY;

  /** A consumer whose clock is set cannot know how long ago it sent a request, so that its budget and waits are not checked. */
  constructor(time: VirtualTime, { limits, steps }: Pick<Plan, 'limits' | 'steps'>, accuse: Accuse) {
    this.#time = time;
    this.#hasClock = steps.length === 0;
    this.#limits = this.#hasClock ? limits : {};
    this.#accuse = accuse;
  }

  asked(process: string, { url, headers, body }: TransportRequest): void {
    this.count++;
    const isForToken = url === CREDENTIALS.tokenUrl;
    if (
      isForToken !== (body !== undefined) ||
      isForToken === (headers.authorization?.startsWith('Bearer ') ?? false)
    )
      this.#accuse('a token goes to the source, and the client secret to the token endpoint', url);
    // The limits of the source do not count these requests.
    if (isForToken) return;
    if (new URL(url).origin !== ORIGIN)
      this.#accuse('a token goes to its own host only', `${url} with ${Object.keys(headers).join(', ')}`);
    if (/metadata|fields/.test(url)) this.fieldsAskedAt = this.#time.now;
    this.#checkBudget();
    const filter = this.#windowOf(url);
    if (filter === undefined) return;
    const before = this.#firstPages.get(filter);
    const isAnother = before !== undefined && (before.delivered || before.process !== process);
    if (isAnother && this.#time.now - before.at < INDEX)
      this.#accuse('no filter is used twice for a first page within ten minutes', filter);
    this.#firstPages.set(filter, { process, at: this.#time.now, delivered: false });
  }

  delivered(process: string, { url }: TransportRequest, status: number): void {
    const first = this.#firstPages.get(this.#windowOf(url) ?? '');
    if (first !== undefined && status === 200 && !this.#heldUp.has(process)) first.delivered = true;
  }

  /**
   * A process that is suspended between its permission to send a request and the request cannot choose the time of the request; and
   * its response may arrive too late to be used.
   */
  heldUp(process: string): void {
    this.#heldUp.add(process);
    for (const first of this.#firstPages.values()) if (first.process === process) first.delivered = false;
  }

  /** A process that is killed may not have received or stored a Retry-After. */
  killed(process: string): void {
    this.#killed.add(process);
    this.#throttled = Number.NEGATIVE_INFINITY;
  }

  /** The source requires that no request is sent for a while. The process that receives this may be dead. */
  throttled(process: string, seconds: number): void {
    if (!this.#killed.has(process)) this.#throttled = this.#time.now + seconds * 1000;
  }

  /** The filter of a window's first page. */
  #windowOf(url: string): string | undefined {
    const walk = walkOf(url);
    return walk?.includes('Timestamp') && walk.includes('ilter=') && !isLaterPage(url) ? walk : undefined;
  }

  #checkBudget(): void {
    const { now } = this.#time;
    const { requestsPerSecond, requestsPerHour } = this.#limits;
    if (this.#hasClock && this.#heldUp.size === 0 && now < this.#throttled)
      this.#accuse('Retry-After of a throttled token is waited for', `${this.#throttled - now} ms early`);
    if (this.count > ENDLESS) this.#accuse('every run ends', `${this.count} requests`);
    if (
      requestsPerSecond !== undefined &&
      this.#heldUp.size === 0 &&
      now - this.#last < 1000 / requestsPerSecond
    )
      this.#accuse('no more requests than the budget', `${now - this.#last} ms after the last one`);
    this.#last = now;
    this.#hour = [...this.#hour.filter((moment) => now - moment < HOUR), now];
    if (requestsPerHour !== undefined && this.#heldUp.size === 0 && this.#hour.length > requestsPerHour)
      this.#accuse('no more requests than the budget', `${this.#hour.length} in an hour`);
  }
}
