import type { BudgetLimits } from '../../../src/replica/http/rate-budget.ts';
import type { TransportRequest } from '../../../src/replica/http/transport.ts';
import { isLaterPage, walkOf } from './network.ts';
import type { Plan } from './plan.ts';
import { ORIGIN } from './serve.ts';
import type { VirtualTime } from './time.ts';
import type { Accuse } from './violation.ts';

/** How long the source answers a filter from the index that it made first. */
const INDEX = 600_000;
const HOUR = 3_600_000;
/** Requests of a history that continues for ever. */
const ENDLESS = 20_000;

interface FirstPage {
  readonly process: string;
  readonly at: number;
  /** It came whole: requested again it is another walk, not another attempt. */
  delivered: boolean;
}

/** Watches what is asked of the source. */
export class RequestWitness {
  readonly #time: VirtualTime;
  readonly #limits: BudgetLimits;
  readonly #accuse: Accuse;
  readonly #hasClock: boolean;
  readonly #firstPages = new Map<string, FirstPage>();
  #last = Number.NEGATIVE_INFINITY;
  /** Moments of the requests of the last hour. */
  #hour: number[] = [];
  #throttled = Number.NEGATIVE_INFINITY;
  readonly #heldUp = new Set<string>();
  readonly #killed = new Set<string>();
  count = 0;
  /** When the source was last asked what fields it has. */
  fieldsAskedAt = Number.NEGATIVE_INFINITY;

  /** A consumer whose clock is set cannot tell how long ago it asked: its budget and its waits are not held to it. */
  constructor(time: VirtualTime, { limits, steps }: Pick<Plan, 'limits' | 'steps'>, accuse: Accuse) {
    this.#time = time;
    this.#hasClock = steps.length === 0;
    this.#limits = this.#hasClock ? limits : {};
    this.#accuse = accuse;
  }

  asked(process: string, { url, headers }: TransportRequest): void {
    this.count++;
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
   * A process that stands still between its leave to ask and its request asks at a moment that it cannot choose; and
   * when it reads a response at last, that may be too late for it.
   */
  heldUp(process: string): void {
    this.#heldUp.add(process);
    for (const first of this.#firstPages.values()) if (first.process === process) first.delivered = false;
  }

  /** A process that is killed may not have learned that it is to wait, or not have kept it. */
  killed(process: string): void {
    this.#killed.add(process);
    this.#throttled = Number.NEGATIVE_INFINITY;
  }

  /** The source said that nothing is to be sent for a while. Its answer may come when the process that asked is dead. */
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
