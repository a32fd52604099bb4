/**
 * The HTTP client of a source: sends the token, repeats requests after transient failures, follows redirects within the origin,
 * observes the rate budget, and limits the size of responses. It does not know the content of responses.
 */
import { PlatError } from '../../errors/index.ts';
import { type Clock, LONGEST_TIMER } from '../../shared/clock.ts';
import { decodeText } from '../../shared/utf8-text.ts';
import { assertOrigin, redirectTarget, urlAtOrigin } from './egress-policy.ts';
import { asFailure, failureOf, isDirectFailure, isUnreachable, RequestFailure, stopped } from './failure.ts';
import type { Allowance } from './rate-budget.ts';
import { blockedUntil, LONGEST_BLOCK, throttledUntil } from './rate-limit-headers.ts';
import { waitAfter, withRetries } from './retry.ts';
import { type RequestContext, type TokenSource, withoutSecret } from './token-source.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

export interface ClientOptions extends RequestContext {
  /** Root of the source. The token goes to its origin and nowhere else. */
  readonly root: URL;
  /** Absent: requests contain no bearer token. */
  readonly tokens?: TokenSource;
  readonly allowance: Allowance;
  /** The maximum size of a response that is read, in bytes of content. */
  readonly largest: number;
  /** Maximum milliseconds until the headers of a response, and between two chunks of its body. */
  readonly timeout: number;
  /** Time limit of a complete response in milliseconds, even if data keeps coming. */
  readonly longest: number;
}

/** A response that was read completely. */
export interface SourceResponse {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string;
}

/** How a request differs from the usual one. */
interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of a POST, which no redirect leads elsewhere; absent: the request is a GET. */
  readonly body?: string;
  /** The number of attempts. Callers that can request less data instead use fewer than usual. */
  readonly attempts?: number | undefined;
}

/** The options of a request for a stream, which is a response without an end. */
type OpenOptions = Pick<TransportRequest, 'headers' | 'timeout' | 'signal'>;

/** The bytes of a stream are added to the budget in steps of this size. */
const COUNTED = 65_536;

/** Failures in a row, over all requests, after which no request is repeated any more. */
const BREAKER = 40;
const REDIRECTS = 5;
/** Shorter waits for the budget are not reported, in milliseconds. */
const REPORTED_WAIT = 1000;

export class SourceClient {
  readonly #options: ClientOptions;
  #failuresInARow = 0;
  #hasConnected = false;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  get clock(): Clock {
    return this.#options.environment.clock;
  }

  /** The URL that a link leads to at the origin of the source, whatever origin the link names. @throws RequestFailure `rejected` */
  resolve(link: string): string {
    return urlAtOrigin(this.#options.root, link);
  }

  /**
   * Gets a URL of the source and reads the response. A response that cannot be read is a failure like any other, and the request is
   * repeated: a source that is being restarted returns HTML pages and truncated texts.
   * @throws RequestFailure `refused`, `rejected` or `too-large` at once; `transient` after all attempts; `stopped`
   * @throws PlatError of the store that keeps the usage of the token
   */
  async get<T>(url: string, read: (answer: SourceResponse) => T, options: RequestOptions = {}): Promise<T> {
    const { backoff: usual, firstContact = usual, environment, listener, signal } = this.#options;
    const attempt = async (): Promise<T> => {
      const result = read(await this.#once(this.resolve(url), options));
      this.#failuresInARow = 0;
      this.#hasConnected = true;
      return result;
    };
    return withRetries({ clock: environment.clock, signal }, attempt, (error, failures) => {
      if (signal.aborted) throw stopped();
      // The store that keeps the usage of the token failed, not the source.
      if (error instanceof PlatError) throw error;
      const failure = asFailure(error);
      // The requests for a token have been repeated already.
      if (failure.kind !== 'transient' || !isDirectFailure(failure)) throw failure;
      this.#failuresInARow++;
      if (!isUnreachable(failure)) this.#hasConnected = true;
      const backoff = this.#hasConnected ? usual : firstContact;
      const most = options.attempts ?? backoff.attempts;
      if (failures >= most || this.#failuresInARow >= BREAKER) throw this.#inTheEnd(failure);
      const wait = waitAfter(failures, failure.retryAfter, backoff, environment.random);
      listener({ kind: 'retry', reason: failure.message, attempt: failures, wait });
      return wait;
    });
  }

  /** The error to report for the last failed attempt: its message names the address if no connection was accepted. */
  #inTheEnd(failure: RequestFailure): RequestFailure {
    if (!isUnreachable(failure)) return failure;
    const reason = `Nothing answers at ${this.#options.root.href} (${failure.message})`;
    return new RequestFailure(failure.kind, reason, { cause: failure.cause });
  }

  /**
   * Opens a stream with a single attempt. Its data is passed on as it arrives, and counts toward the budget.
   * @throws RequestFailure
   * @throws PlatError of the store that counts the use of the token
   */
  async openStream(
    url: string,
    { headers, timeout, signal }: OpenOptions,
  ): Promise<Pick<TransportResponse, 'headers' | 'body'>> {
    try {
      return await this.#respond(this.resolve(url), { headers }, { timeout, signal }, async (response) => {
        await this.#note(response, 0);
        return { headers: response.headers, body: this.#counted(response) };
      });
    } catch (error) {
      if (error instanceof PlatError) throw error;
      throw signal.aborted ? stopped() : asFailure(error);
    }
  }

  async #once(url: string, sent: RequestOptions): Promise<SourceResponse> {
    const { timeout, longest, signal } = this.#options;
    return this.#respond(url, sent, { timeout, longest, signal }, async (response, address) => ({
      text: await this.#readWhole(response),
      headers: response.headers,
      url: address,
    }));
  }

  /**
   * Sends a request, follows redirects within the origin, and passes a successful response on. If the token is rejected, the request
   * is repeated once with another one.
   */
  async #respond<T>(
    url: string,
    { headers = {}, body }: RequestOptions,
    bounds: Pick<TransportRequest, 'timeout' | 'longest' | 'signal'>,
    take: (response: TransportResponse, address: string) => Promise<T>,
  ): Promise<T> {
    const { root, tokens, environment } = this.#options;
    let address = url;
    let isRenewed = false;
    for (let redirects = 0; redirects <= REDIRECTS; ) {
      const token = await this.#waitForBudget();
      assertOrigin(root, address);
      const response = await environment.transport({
        url: address,
        headers: {
          accept: 'application/json',
          ...headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(body === undefined ? {} : { body }),
        ...bounds,
      });
      if (isSuccess(response)) return take(response, address);
      // A server may repeat what it was sent.
      const given = await this.#readWhole(response);
      const text = withoutSecret(given, token ?? '');
      if (token !== undefined && isTokenRejected(response)) {
        if (isRenewed) tokens?.noteUseless(token);
        else {
          isRenewed = true;
          if (await tokens?.replace(token, this.#context)) continue;
        }
      }
      const location = response.headers.location;
      if (response.status < 300 || response.status >= 400 || location === undefined) {
        throw failureOf(response.status, response.headers, text, environment.clock.now());
      }
      if (body !== undefined) {
        const reason = `${response.status}: it redirects to ${location.replace(/[?#].*$/s, '')}, where the request is not sent`;
        throw new RequestFailure('refused', reason);
      }
      address = redirectTarget(root, address, location);
      redirects++;
    }
    throw new RequestFailure('rejected', `${url} redirects more than ${REDIRECTS} times`);
  }

  /** How requests for a token are sent: as the requests that need it. */
  get #context(): RequestContext {
    const { environment, listener, backoff, firstContact, signal } = this.#options;
    return {
      environment,
      listener,
      backoff,
      signal,
      firstContact: this.#hasConnected ? undefined : firstContact,
    };
  }

  async #readWhole(response: TransportResponse): Promise<string> {
    const content = { bytes: 0 };
    try {
      return await this.#read(response, content);
    } finally {
      await this.#note(response, content.bytes);
    }
  }

  async *#counted({ body }: TransportResponse): AsyncGenerator<Uint8Array> {
    const { environment, allowance } = this.#options;
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes >= COUNTED) {
        await allowance.recordResponse(bytes, 0, environment.clock.now());
        bytes = 0;
      }
      yield chunk;
    }
  }

  /** Records the size of a response, and the limits that its headers state. */
  async #note({ status, headers }: TransportResponse, bytes: number): Promise<void> {
    const { environment, allowance, listener } = this.#options;
    const now = environment.clock.now();
    const asked = Math.max(blockedUntil(headers, now), throttledUntil(status, headers, now));
    const until = Math.min(asked, now + LONGEST_BLOCK);
    if (asked > until) {
      const days = Math.round((asked - now) / LONGEST_BLOCK);
      const reason = `the source requests a pause of ${days} days; plat waits one day at most`;
      listener({ kind: 'waiting', reason, wait: LONGEST_BLOCK });
    }
    await allowance.recordResponse(bytes, until, now);
  }

  /** @returns the token for the request, which is requested before the permission: a request that is permitted is sent at once */
  async #waitForBudget(): Promise<string | undefined> {
    const { environment, allowance, listener, signal, tokens } = this.#options;
    const { clock } = environment;
    for (let isReported = false; ; ) {
      if (signal.aborted) throw stopped();
      const token = await tokens?.current(this.#context);
      const wait = await allowance.take(clock.now());
      if (wait <= 0) return token;
      if (wait > REPORTED_WAIT && !isReported) {
        listener({ kind: 'waiting', reason: 'the rate limit of the source', wait });
        isReported = true;
      }
      await clock.sleep(Math.min(wait, LONGEST_TIMER), signal);
    }
  }

  async #read(response: TransportResponse, content: { bytes: number }): Promise<string> {
    const { largest } = this.#options;
    const declared = Number(response.headers['content-length'] ?? Number.NaN);
    const encoded = response.headers['content-encoding'] !== undefined;
    const isTooLarge = !encoded && declared > largest;
    const parts: Uint8Array[] = [];
    for await (const chunk of response.body) {
      content.bytes += chunk.length;
      if (isTooLarge || content.bytes > largest) {
        // For an error, only the status matters, even if its body is too large.
        if (!isSuccess(response)) break;
        const bytes = isTooLarge ? declared : content.bytes;
        const reason = `The response has at least ${bytes} bytes; plat reads at most ${largest}`;
        throw new RequestFailure('too-large', reason, { status: response.status });
      }
      parts.push(chunk);
    }
    if (isSuccess(response) && !encoded && Number.isFinite(declared) && content.bytes < declared) {
      throw new RequestFailure('transient', `The response ended after ${content.bytes} of ${declared} bytes`);
    }
    return decodeText(Buffer.concat(parts), response.headers['content-type']);
  }
}

const isSuccess = ({ status }: TransportResponse): boolean => status >= 200 && status < 300;

/** Some servers respond with another status to a token that has expired, and with this code (RFC 6750, 3.1). */
const isTokenRejected = ({ status, headers }: TransportResponse): boolean =>
  status === 401 || /\berror="?invalid_token\b/.test(headers['www-authenticate'] ?? '');
