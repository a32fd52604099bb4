/**
 * Logging in to the console: the token of an admin key is sent once and exchanged for a cookie that no script can read. It must
 * not know what the console shows.
 */
import { hashToken } from '../../access/index.ts';
import { malformedError } from '../../errors/index.ts';
import { isObject, tryParseJson } from '../../shared/json.ts';
import type { Store } from '../../store/store.ts';
import { authenticate } from '../access/authenticate.ts';
import { RateLimiter, rateLimited } from '../access/rate-limits.ts';
import { type Exchange, jsonReply, type Reply } from '../exchange.ts';
import { SURFACE } from '../surface.ts';
import { refuseOtherSites } from './same-site.ts';
import { ConsoleSessions } from './sessions.ts';

/** The limit of attempts per address. It only limits the load on logs and the store, since a token cannot be guessed. */
const ATTEMPTS = { requests: 10, seconds: 60 };

/** The maximum size of a body, which is more than any token with its member name needs. */
const LONGEST_BODY = 4096;

export class ConsoleLogin {
  readonly #store: Pick<Store, 'look' | 'now'>;
  readonly #sessions = new ConsoleSessions();
  readonly #attempts = new RateLimiter();

  constructor(store: Pick<Store, 'look' | 'now'>) {
    this.#store = store;
  }

  /**
   * Begins a session with the token in the body, `{"token":"…"}`.
   * @throws PlatError as in `authenticate` and `refuseOtherSites`; `rateLimited` for an address with too many attempts
   */
  async beginSession(exchange: Exchange): Promise<Reply> {
    refuseOtherSites(exchange);
    const allowance = this.#attempts.countRequest(exchange.client, ATTEMPTS, performance.now());
    if (allowance.exceeded) throw rateLimited(allowance);
    const tokenHash = hashToken(tokenIn(await exchange.body(LONGEST_BODY)));
    const seen = await this.#store.look(tokenHash);
    const { id, name, role } = authenticate(seen, SURFACE.admin, () => '');
    const before = secretIn(exchange);
    if (before !== undefined) this.#sessions.end(before);
    const secret = this.#sessions.open(tokenHash, seen.now);
    return jsonReply({ key: { id, name, role } }, { 'set-cookie': cookie(exchange, secret) });
  }

  /** Ends the session of a request, if it has one. */
  endSession(exchange: Exchange): Reply {
    refuseOtherSites(exchange);
    const secret = secretIn(exchange);
    if (secret !== undefined) this.#sessions.end(secret);
    return { status: 204, headers: { 'set-cookie': `${cookie(exchange, '')}; Max-Age=0` }, body: [] };
  }

  /**
   * The hash of the token that the cookie of a request represents; undefined without a session.
   * @param isUse whether the session counts as used, which extends it
   * @throws PlatError as in `refuseOtherSites`, for a request that has one
   */
  async tokenHashOf(exchange: Exchange, isUse = true): Promise<string | undefined> {
    const secret = secretIn(exchange);
    if (secret === undefined) return undefined;
    const tokenHash = this.#sessions.tokenHashOf(secret, await this.#store.now(), isUse);
    if (tokenHash !== undefined) refuseOtherSites(exchange);
    return tokenHash;
  }
}

/** The name of the cookie. It contains the port, because all services of a host share their cookies, whatever their ports are. */
const cookieName = ({ base }: Pick<Exchange, 'base'>): string =>
  `plat-console-${new URL(base).port || 'https'}`;

function cookie(exchange: Exchange, secret: string): string {
  const isSecure = exchange.base.startsWith('https:');
  const rules = `HttpOnly; SameSite=Strict; Path=/${isSecure ? '; Secure' : ''}`;
  return `${cookieName(exchange)}=${secret}; ${rules}`;
}

function secretIn(exchange: Exchange): string | undefined {
  const name = `${cookieName(exchange)}=`;
  const pairs = exchange.headers.cookie?.split(/; */) ?? [];
  const secret = pairs.find((pair) => pair.startsWith(name))?.slice(name.length);
  return secret === '' ? undefined : secret;
}

/** @throws PlatError `requestMalformed` */
function tokenIn(body: Buffer): string {
  const given = tryParseJson(body.toString());
  if (isObject(given) && typeof given.token === 'string') return given.token;
  throw malformedError('the body is not {"token": "…"}');
}
