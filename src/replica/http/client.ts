import type { Environment } from '../environment.ts';
import type { Listener } from '../events.ts';
import { type BackoffOptions, waitAfter } from './backoff.ts';
import { type BudgetLimits, type BudgetUse, blockedUntil, spend, waitFor } from './budget.ts';
import { failureOf, RequestFailure } from './failure.ts';
import type { TransportResponse } from './transport.ts';

export interface ClientOptions {
  /** Root of the source; the token goes to its origin and nowhere else. */
  readonly root: URL;
  readonly token: string;
  readonly environment: Environment;
  readonly listener: Listener;
  readonly backoff: BackoffOptions;
  readonly limits: BudgetLimits;
  /** What was used so far, from the store. */
  readonly used: BudgetUse;
  /** Largest answer that is read, in bytes of content. */
  readonly largest: number;
  /** Milliseconds for the head of an answer, and between two pieces of it. */
  readonly timeout: number;
}

/** An answer that came whole. */
export interface Answer {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string;
}

/** How a request differs from the usual one. */
export interface Wish {
  readonly headers?: Readonly<Record<string, string>>;
  /** Fewer than usual where the caller can ask for less instead. */
  readonly attempts?: number;
}

/** Failures in a row, over all requests, after which the consumer stops and says so. */
const BREAKER = 25;
const REDIRECTS = 5;

/** Asks a source, as often as it takes and as seldom as it wants. */
export class SourceClient {
  readonly #options: ClientOptions;
  #use: BudgetUse;
  #lastSent = 0;
  #failuresInARow = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#use = options.used;
  }

  /** What was used of the budget by now, to be kept. */
  get use(): BudgetUse {
    return this.#use;
  }

  /** An address of the source, whatever origin a link names (a proxy in between may not know its own). */
  resolve(link: string): string {
    const { root } = this.#options;
    const url = new URL(link, root);
    return `${root.origin}${url.pathname}${url.search}`;
  }

  /**
   * Gets an address of the source and reads the answer. What cannot be read counts as a failure like any other: a
   * source that is being restarted gives pages of HTML and texts that break off.
   * @throws RequestFailure `refused`, `rejected` or `too-large` at once; `transient` after all attempts
   */
  async get<T>(url: string, read: (answer: Answer) => T, wish: Wish = {}): Promise<T> {
    const { backoff, environment, listener } = this.#options;
    const most = wish.attempts ?? backoff.attempts;
    for (let failures = 1; ; failures++) {
      try {
        const result = read(await this.#once(this.resolve(url), wish.headers ?? {}));
        this.#failuresInARow = 0;
        return result;
      } catch (error) {
        const failure = asFailure(error);
        if (failure.kind !== 'transient') throw failure;
        this.#failuresInARow++;
        if (failures >= most) throw failure;
        if (this.#failuresInARow >= BREAKER) {
          throw new RequestFailure(
            'refused',
            `The source failed ${BREAKER} times in a row, last with ${failure.message}`,
          );
        }
        const wait = waitAfter(failures, failure.retryAfter, backoff, environment.random);
        listener({ kind: 'retry', reason: failure.message, attempt: failures, wait });
        await environment.clock.sleep(wait);
      }
    }
  }

  async #once(url: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const { token, environment, timeout } = this.#options;
    let address = url;
    for (let redirects = 0; redirects <= REDIRECTS; redirects++) {
      await this.#pause();
      const response = await environment.transport({
        url: address,
        headers: { accept: 'application/json', ...headers, authorization: `Bearer ${token}` },
        timeout,
      });
      const text = await this.#read(response);
      const now = environment.clock.now();
      const blocked = blockedUntil(response.headers, now);
      this.#use = {
        ...spend(this.#use, text.length, now),
        blockedUntil: Math.max(this.#use.blockedUntil, blocked),
      };
      if (response.status >= 200 && response.status < 300)
        return { text, headers: response.headers, url: address };
      if (response.status === 304) return { text: '', headers: response.headers, url: address };
      const location = response.headers.location;
      if (response.status < 300 || response.status >= 400 || location === undefined) {
        throw failureOf(response.status, response.headers, text, now);
      }
      address = this.#redirected(address, location);
    }
    throw new RequestFailure('rejected', `${url} redirects more than ${REDIRECTS} times`);
  }

  /** The token is for one origin; a redirect to another is followed by nobody. */
  #redirected(from: string, location: string): string {
    const target = new URL(location, from);
    if (target.origin !== this.#options.root.origin) {
      throw new RequestFailure(
        'refused',
        `The source redirects to ${target.origin}, which is not where the token is for`,
      );
    }
    return target.href;
  }

  async #pause(): Promise<void> {
    const { environment, limits, listener } = this.#options;
    const { clock } = environment;
    const wait = waitFor(limits, this.#use, this.#lastSent, clock.now());
    if (wait > 1000) listener({ kind: 'waiting', reason: 'the rate limit of the source', wait });
    if (wait > 0) await clock.sleep(wait);
    this.#lastSent = clock.now();
  }

  async #read(response: TransportResponse): Promise<string> {
    const { largest } = this.#options;
    const declared = Number(response.headers['content-length'] ?? Number.NaN);
    const encoded = response.headers['content-encoding'] !== undefined;
    const decoder = new TextDecoder();
    let text = '';
    let read = 0;
    for await (const chunk of response.body) {
      read += chunk.length;
      if (read > largest) {
        throw new RequestFailure('too-large', `The answer is larger than ${largest} bytes`, {
          status: response.status,
        });
      }
      text += decoder.decode(chunk, { stream: true });
    }
    if (!encoded && Number.isFinite(declared) && read < declared) {
      throw new RequestFailure('transient', `The answer ended after ${read} of ${declared} bytes`);
    }
    return text + decoder.decode();
  }
}

/** What the network throws is transient, unless it says that it cannot be otherwise. */
function asFailure(error: unknown): RequestFailure {
  if (error instanceof RequestFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isTls = /CERT|SSL|TLS|SELF_SIGNED/i.test(code);
  return new RequestFailure(isTls ? 'refused' : 'transient', code === '' ? message : `${code}: ${message}`, {
    cause: error,
  });
}
