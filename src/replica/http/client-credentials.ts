/**
 * Tokens that a server issues by the client credentials grant of OAuth 2.0 (RFC 6749, 4.4). A token is renewed before it expires, and
 * when the source rejects it. The client secret goes to the token endpoint and nowhere else: it is in no message.
 */
import { usageError } from '../../errors/index.ts';
import { messageOf } from '../../shared/error-code.ts';
import { isObject, tryParseJson } from '../../shared/json.ts';
import type { Listener } from '../events.ts';
import { SourceClient, type SourceResponse } from './client.ts';
import { isPrivateHost } from './egress-policy.ts';
import { AuxiliaryFailure, failureOf, RequestFailure } from './failure.ts';
import { UNLIMITED } from './rate-budget.ts';
import {
  formEncoded,
  isSendable,
  type RequestContext,
  type TokenSource,
  withoutSecret,
} from './token-source.ts';

/** How the client authenticates itself (RFC 6749, 2.3.1): in the header Authorization, or in the body of the request. */
type Authentication = 'basic' | 'post';

/** The methods that `--client-auth` takes; `auto`: with `basic`, and if the server rejects that, with `post`. */
export const CLIENT_AUTHENTICATION = ['auto', 'basic', 'post'] as const;

export interface ClientCredentials {
  /** The token endpoint. */
  readonly tokenUrl: string;
  readonly clientId: string;
  /** The secret, or a function that reads it for each request of a token: it may be rotated. */
  readonly clientSecret: string | (() => Promise<string>);
  readonly scope?: string | undefined;
  /** The service that the token is for, for servers that ask for it. */
  readonly audience?: string | undefined;
  /** Default: `auto`. */
  readonly authentication?: (typeof CLIENT_AUTHENTICATION)[number] | undefined;
}

/** A token that was issued. Times are milliseconds since 1970. */
interface Issued {
  readonly token: string;
  readonly at: number;
  /** When it is renewed ahead of its end, and its end; infinite if the server does not say how long it is valid. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

/** A response of a token endpoint is short. */
const LIMITS = { largest: 1024 * 1024, timeout: 30_000, longest: 60_000 } as const;
/** A token is renewed this many milliseconds before it expires, or when a tenth of its lifetime is left. */
const EARLY = 300_000;
/** After a renewal that did not help, 401 causes none for this many milliseconds. */
const PAUSE = 60_000;

/** Error codes that a server sends only after it has authenticated the client: another method of authentication would not help. */
const AUTHENTICATED: ReadonlySet<unknown> = new Set([
  'invalid_scope',
  'unauthorized_client',
  'unsupported_grant_type',
]);

const REMEDIES = new Map<unknown, string>([
  ['invalid_client', 'check --client-id and the client secret'],
  ['invalid_scope', 'check --scope'],
  ['unauthorized_client', 'the client may not use the client credentials grant'],
  ['unsupported_grant_type', 'the server does not offer the client credentials grant'],
]);

/**
 * Tokens that a server issues to a client. The object keeps the current token, so that all runs that use it share one.
 * @throws PlatError `usage` for a URL to which no secret may be sent
 */
export function clientCredentials(credentials: ClientCredentials): TokenSource {
  return new IssuedTokens(credentials);
}

class IssuedTokens implements TokenSource {
  readonly identity: string;
  readonly #credentials: ClientCredentials;
  readonly #url: URL;
  #held: Issued | undefined;
  #renewal: { readonly isEarly: boolean; readonly token: Promise<Issued> } | undefined;
  #authentication: Authentication | undefined;
  #useless: string | undefined;

  constructor(credentials: ClientCredentials) {
    this.#credentials = credentials;
    this.#url = tokenEndpoint(credentials.tokenUrl);
    this.identity = `client ${credentials.clientId} ${this.#url.href}`;
  }

  async current(context: RequestContext): Promise<string> {
    const now = context.environment.clock.now();
    const held = this.#held;
    if (held === undefined || now >= held.expiresAt) return (await this.#renew(context)).token;
    if (now >= held.renewAt && this.#renewal === undefined) void this.#renewAhead(held, context);
    return held.token;
  }

  /** Renews a token that is still valid. No request waits for it: an endpoint may take a minute to fail. Never rejects. */
  async #renewAhead(held: Issued, context: RequestContext): Promise<void> {
    try {
      await this.#renew(context, true);
    } catch (error) {
      const now = context.environment.clock.now();
      const left = held.expiresAt - now;
      // Once the token has expired, the next request renews it and fails itself.
      if (context.signal.aborted || left <= 0 || this.#held !== held) return;
      const floor = error instanceof RequestFailure ? error.retryAfter : undefined;
      const wait = Math.min(left, Math.max(floor ?? 0, Math.ceil(left / 4)));
      this.#held = { ...held, renewAt: now + wait };
      context.listener({ kind: 'retry', reason: messageOf(error), attempt: 1, wait });
    }
  }

  async replace(rejected: string, context: RequestContext): Promise<boolean> {
    const held = this.#held;
    if (held !== undefined && held.token !== rejected) return true;
    const age = context.environment.clock.now() - (held?.at ?? 0);
    if (this.#useless === rejected && age >= 0 && age < PAUSE) return false;
    const { token } = await this.#renew(context);
    // A server may return the same token again, as long as it considers it valid.
    if (token === rejected) this.#useless = token;
    return token !== rejected;
  }

  noteUseless(token: string): void {
    this.#useless = token;
  }

  /**
   * Requests a token. Requests that need one at the same time share the renewal.
   * @param isEarly whether the current token is still valid, so that nothing has to wait for further attempts
   */
  async #renew(context: RequestContext, isEarly = false): Promise<Issued> {
    const { backoff } = context;
    for (;;) {
      this.#renewal ??= {
        isEarly,
        token: this.#request(isEarly ? { ...context, backoff: { ...backoff, attempts: 1 } } : context),
      };
      const renewal = this.#renewal;
      try {
        return await renewal.token;
      } catch (error) {
        const isEnd =
          !(error instanceof RequestFailure) || error.kind === 'refused' || context.signal.aborted;
        // The client that began the renewal may have been stopped, or may have needed no further attempt.
        const isOfOther = !isEnd && (error.kind === 'stopped' || (renewal.isEarly && !isEarly));
        if (!isOfOther) throw error;
      } finally {
        if (this.#renewal === renewal) this.#renewal = undefined;
      }
    }
  }

  /** @throws AuxiliaryFailure `refused` if the server issues no token to this client; `transient` after all attempts */
  async #request(context: RequestContext): Promise<Issued> {
    const { authentication = 'auto', clientSecret } = this.#credentials;
    const secret = typeof clientSecret === 'string' ? clientSecret : await this.#readSecret(clientSecret);
    const first = this.#authentication ?? (authentication === 'auto' ? 'basic' : authentication);
    const mayBeOther = this.#authentication === undefined && authentication === 'auto';
    try {
      this.#held = await this.#ask(first, secret, context).catch((error: unknown) => {
        if (!mayBeOther || !isOfAuthentication(error)) throw error;
        return this.#askByPost(secret, context, error);
      });
    } catch (error) {
      if (!(error instanceof RequestFailure) || error.kind === 'stopped') throw error;
      throw this.#explain(error, secret);
    }
    return this.#held;
  }

  /** @param failure what the server responded to the other method */
  async #askByPost(secret: string, context: RequestContext, failure: RequestFailure): Promise<Issued> {
    try {
      return await this.#ask('post', secret, context);
    } catch (error) {
      // Only one of the methods may be what the server expects. That response says what is wrong with the client.
      const isOfClient = error instanceof RequestFailure && error.code === 'invalid_client';
      throw !isOfAuthentication(error) || (isOfClient && failure.code !== error.code) ? error : failure;
    }
  }

  async #readSecret(read: () => Promise<string>): Promise<string> {
    try {
      return await read();
    } catch (error) {
      throw new AuxiliaryFailure('The client secret', new RequestFailure('refused', messageOf(error)));
    }
  }

  async #ask(method: Authentication, secret: string, context: RequestContext): Promise<Issued> {
    const { clientId, scope, audience } = this.#credentials;
    const { clock } = context.environment;
    const root = new URL(this.#url.origin + this.#url.pathname);
    const listener: Listener = (event) => {
      if (event.kind !== 'retry' && event.kind !== 'waiting') context.listener(event);
      else
        context.listener({ ...event, reason: `${this.#what}: ${this.#withoutSecret(event.reason, secret)}` });
    };
    const client = new SourceClient({ ...context, ...LIMITS, root, listener, allowance: UNLIMITED });
    const fields = new URLSearchParams({ grant_type: 'client_credentials' });
    if (scope !== undefined) fields.set('scope', scope);
    if (audience !== undefined) fields.set('audience', audience);
    if (method === 'post') {
      fields.set('client_id', clientId);
      fields.set('client_secret', secret);
    }
    const sent = {
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(method === 'basic' ? { authorization: `Basic ${basicOf(clientId, secret)}` } : {}),
      },
      body: fields.toString(),
    };
    const issued = await client.get(this.#url.href, (answer) => issuedIn(answer, clock.now()), sent);
    this.#authentication = method;
    return issued;
  }

  /**
   * The failure of a request for a token, for the request that needs the token. It has no status, which would be taken for the
   * response of the source, and no kind but `refused` or `transient`: the request that needs the token is not at fault.
   */
  #explain({ kind, message, code, retryAfter, cause }: RequestFailure, secret: string): RequestFailure {
    const remedy = REMEDIES.get(code);
    const reason = `${this.#withoutSecret(message, secret)}${remedy === undefined ? '' : `; ${remedy}`}`;
    const facts = { code, retryAfter, cause };
    return new AuxiliaryFailure(
      this.#what,
      new RequestFailure(kind === 'transient' ? kind : 'refused', reason, facts),
    );
  }

  /** A text from the server, which may repeat what it was sent. */
  #withoutSecret(text: string, secret: string): string {
    return withoutSecret(text.replaceAll(basicOf(this.#credentials.clientId, secret), '[hidden]'), secret);
  }

  get #what(): string {
    return `The token endpoint ${this.#url.origin}${this.#url.pathname}`;
  }
}

/** @throws PlatError `usage` */
function tokenEndpoint(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The message does not quote the URL, because it may contain a secret.
  const wrong = (what: string): Error => usageError(`--token-url ${what}.`);
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw wrong('takes the address of a token endpoint');
  if (url.username !== '' || url.password !== '') {
    throw wrong('takes an address without a user name; the client has --client-id and a client secret');
  }
  if (url.protocol === 'http:' && !isPrivateHost(url)) {
    throw wrong('takes an https address, because the request contains the client secret');
  }
  url.hash = '';
  return url;
}

/** Whether the server may accept the client if it authenticates itself in another way. */
const isOfAuthentication = (error: unknown): error is RequestFailure =>
  error instanceof RequestFailure &&
  [400, 401, 403].includes(error.status ?? 0) &&
  !AUTHENTICATED.has(error.code);

const basicOf = (clientId: string, secret: string): string =>
  Buffer.from(`${formEncoded(clientId)}:${formEncoded(secret)}`).toString('base64');

/** @throws RequestFailure for a response without a bearer token */
function issuedIn({ text, headers }: SourceResponse, now: number): Issued {
  const body = tryParseJson(text);
  // A server that is being restarted may return an HTML page.
  if (!isObject(body)) throw new RequestFailure('transient', 'the response is not a JSON object');
  // Some servers send errors with status 200.
  if (typeof body.error === 'string') throw failureOf(400, headers, text, now);
  const { access_token: token, token_type: type = 'Bearer', expires_in: lifetime } = body;
  if (typeof token !== 'string' || !isSendable(token)) {
    throw new RequestFailure('rejected', 'the response has no access_token');
  }
  if (String(type).toLowerCase() !== 'bearer') {
    throw new RequestFailure('rejected', 'the token is not a bearer token, and plat sends no others');
  }
  const milliseconds = millisecondsOf(lifetime);
  const expiresAt = now + milliseconds;
  return { token, at: now, expiresAt, renewAt: expiresAt - Math.min(EARLY, milliseconds / 10) };
}

/** The lifetime of a token. If it is missing or makes no sense, also 0, the token is used until the source rejects it. */
function millisecondsOf(lifetime: unknown): number {
  const seconds = typeof lifetime === 'string' && /^\d+$/.test(lifetime) ? Number(lifetime) : lifetime;
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY;
}
