import { PlatError } from '../../errors/index.ts';
import { LONGEST_TIMER } from '../../store/clock.ts';
import type { Environment } from '../environment.ts';
import type { Listener } from '../events.ts';
import { addressAt, assertOrigin, redirected } from './address.ts';
import type { Allowance } from './allowance.ts';
import { type BackoffOptions, waitAfter } from './backoff.ts';
import { asFailure, failureOf, isUnreached, RequestFailure } from './failure.ts';
import { blockedUntil, LONGEST_BLOCK, throttledUntil } from './told-limits.ts';
import type { TransportResponse } from './transport.ts';

export interface ClientOptions {
  /** Root of the source; the token goes to its origin and nowhere else. */
  readonly root: URL;
  readonly token: string;
  readonly environment: Environment;
  readonly listener: Listener;
  readonly backoff: BackoffOptions;
  /** In its place for as long as nothing took a connection; absent: the same. */
  readonly firstContact?: BackoffOptions | undefined;
  readonly allowance: Allowance;
  /** Largest answer that is read, in bytes of content. */
  readonly largest: number;
  /** Milliseconds for the head of an answer, and between two pieces of it. */
  readonly timeout: number;
  /** Milliseconds for the whole of an answer: one that drips is given up. */
  readonly longest: number;
  readonly signal: AbortSignal;
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

/** A wish for so many attempts; as many as usual if it is not said. */
export const attemptsOf = (attempts: number | undefined): Wish =>
  attempts === undefined ? {} : { attempts };

/** Failures in a row, over all requests, after which the consumer stops and says so. */
const BREAKER = 40;
const REDIRECTS = 5;
/** Waits that are worth telling, in milliseconds. */
const TOLD_WAIT = 1000;

/** Asks a source, as often as it takes and as seldom as it wants. */
export class SourceClient {
  readonly #options: ClientOptions;
  #failuresInARow = 0;
  #hasConnected = false;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** An address of the source, whatever origin a link names. @throws RequestFailure `rejected` */
  resolve(link: string): string {
    return addressAt(this.#options.root, link);
  }

  /**
   * Gets an address of the source and reads the answer. What cannot be read counts as a failure like any other: a
   * source that is being restarted gives pages of HTML and texts that break off.
   * @throws RequestFailure `refused`, `rejected` or `too-large` at once; `transient` after all attempts; `stopped`
   * @throws PlatError of the store that keeps what the token has used
   */
  async get<T>(url: string, read: (answer: Answer) => T, wish: Wish = {}): Promise<T> {
    const { backoff: usual, firstContact = usual, environment, listener, signal } = this.#options;
    for (let failures = 1; ; failures++) {
      try {
        const result = read(await this.#once(this.resolve(url), wish.headers ?? {}));
        this.#failuresInARow = 0;
        this.#hasConnected = true;
        return result;
      } catch (error) {
        if (signal.aborted) throw new RequestFailure('stopped', 'It was told to stop');
        // The store that keeps the use of the token: the source has answered, or was not asked.
        if (error instanceof PlatError) throw error;
        const failure = asFailure(error);
        if (failure.kind !== 'transient') throw failure;
        this.#failuresInARow++;
        if (!isUnreached(failure)) this.#hasConnected = true;
        const backoff = this.#hasConnected ? usual : firstContact;
        const most = wish.attempts ?? backoff.attempts;
        if (failures >= most || this.#failuresInARow >= BREAKER) throw failure;
        const wait = waitAfter(failures, failure.retryAfter, backoff, environment.random);
        listener({ kind: 'retry', reason: failure.message, attempt: failures, wait });
        await environment.clock.sleep(wait, signal);
      }
    }
  }

  async #once(url: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const { root, token, environment, timeout, longest, signal } = this.#options;
    let address = url;
    for (let redirects = 0; redirects <= REDIRECTS; redirects++) {
      await this.#pause();
      assertOrigin(root, address);
      const response = await environment.transport({
        url: address,
        headers: { accept: 'application/json', ...headers, authorization: `Bearer ${token}` },
        timeout,
        longest,
        signal,
      });
      const content = { bytes: 0 };
      let text: string;
      try {
        text = await this.#read(response, content);
      } finally {
        await this.#note(response, content.bytes);
      }
      const now = environment.clock.now();
      if (isSuccess(response)) return { text, headers: response.headers, url: address };
      const location = response.headers.location;
      if (response.status < 300 || response.status >= 400 || location === undefined) {
        throw failureOf(response.status, response.headers, text, now);
      }
      address = redirected(root, address, location);
    }
    throw new RequestFailure('rejected', `${url} redirects more than ${REDIRECTS} times`);
  }

  /** Notes what an answer weighed, and what it tells of the limits of its source. */
  async #note({ status, headers }: TransportResponse, bytes: number): Promise<void> {
    const { environment, allowance, listener } = this.#options;
    const now = environment.clock.now();
    const asked = Math.max(blockedUntil(headers, now), throttledUntil(status, headers, now));
    const until = Math.min(asked, now + LONGEST_BLOCK);
    if (asked > until) {
      const days = Math.round((asked - now) / LONGEST_BLOCK);
      const reason = `the source wants nothing for ${days} days; one is the longest that is waited`;
      listener({ kind: 'waiting', reason, wait: LONGEST_BLOCK });
    }
    await allowance.note(bytes, until, now);
  }

  async #pause(): Promise<void> {
    const { environment, allowance, listener, signal } = this.#options;
    const { clock } = environment;
    let isTold = false;
    for (;;) {
      if (signal.aborted) throw new RequestFailure('stopped', 'It was told to stop');
      const wait = await allowance.take(clock.now());
      if (wait <= 0) return;
      if (wait > TOLD_WAIT && !isTold)
        listener({ kind: 'waiting', reason: 'the rate limit of the source', wait });
      isTold ||= wait > TOLD_WAIT;
      await clock.sleep(Math.min(wait, LONGEST_TIMER), signal);
    }
  }

  async #read(response: TransportResponse, content: { bytes: number }): Promise<string> {
    const { largest } = this.#options;
    const declared = Number(response.headers['content-length'] ?? Number.NaN);
    const encoded = response.headers['content-encoding'] !== undefined;
    const isTooLarge = !encoded && declared > largest;
    const decoder = new TextDecoder();
    const parts: string[] = [];
    for await (const chunk of response.body) {
      content.bytes += chunk.length;
      // Whatever is said beyond this, an error is an error: its status tells what to do.
      if (!isSuccess(response) && (isTooLarge || content.bytes > largest)) return parts.join('');
      if (isTooLarge || content.bytes > largest)
        throw tooLarge(response, isTooLarge ? declared : content.bytes, largest);
      parts.push(decoder.decode(chunk, { stream: true }));
    }
    if (!encoded && Number.isFinite(declared) && content.bytes < declared) {
      throw new RequestFailure('transient', `The answer ended after ${content.bytes} of ${declared} bytes`);
    }
    parts.push(decoder.decode());
    return parts.join('');
  }
}

const isSuccess = ({ status }: TransportResponse): boolean => status >= 200 && status < 300;

const tooLarge = ({ status }: TransportResponse, bytes: number, largest: number): RequestFailure =>
  new RequestFailure('too-large', `The answer has ${bytes} bytes or more, and ${largest} are read`, {
    status,
  });
