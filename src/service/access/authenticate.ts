import { hashToken, judgeKey, type KeyRecord } from '../../access/index.ts';
import { type PlatError, platError } from '../../errors/index.ts';
import type { Store } from '../../store/store.ts';
import type { Surface } from '../surface.ts';

const SCHEME = /^(?:Bearer|OAuth)\s+(\S+)\s*$/i;

/**
 * Query parameters by which other services take tokens, without case and separators. Logs, caches and referrers would
 * keep them. No parameter of either interface has one of these names; an alias such as `@key` begins with its sign.
 */
const TOKEN_PARAMETERS = new Set([
  ...['token', 'accesstoken', 'authtoken', 'apitoken', 'oauthtoken', 'bearertoken', 'servertoken'],
  ...['idtoken', 'refreshtoken', 'sessiontoken', 'xaccesstoken', 'xauthtoken', 'jwt'],
  ...['key', 'apikey', 'xapikey', 'accesskey', 'authkey', 'secretkey', 'subscriptionkey'],
  ...['authorization', 'xauthorization', 'auth', 'oauth', 'bearer'],
  ...['secret', 'apisecret', 'clientsecret', 'password'],
]);

const SEPARATORS = /[-_.\s]/g;

/** @throws PlatError `tokenInQuery` */
export function refuseTokenInQuery(query: string): void {
  if (query === '') return;
  for (const name of new URLSearchParams(query).keys()) {
    if (TOKEN_PARAMETERS.has(name.toLowerCase().replaceAll(SEPARATORS, ''))) {
      throw platError('tokenInQuery', { name });
    }
  }
}

/** Who asks, as far as the request says: a key of the store, or the reason why there is none. */
export type Caller =
  | { readonly kind: 'known'; readonly key: KeyRecord }
  | { readonly kind: 'unknown'; readonly why: PlatError };

/** Finds the key of a request, whatever it may do. */
export async function recognize(store: Store, authorization: string | undefined): Promise<Caller> {
  const token = SCHEME.exec(authorization ?? '')?.[1];
  if (token === undefined) return { kind: 'unknown', why: platError('tokenMissing', {}) };
  const key = await store.keys.find(hashToken(token));
  return key === undefined ? { kind: 'unknown', why: platError('tokenUnknown', {}) } : { kind: 'known', key };
}

/**
 * Judges whether the key of a request may use the surface (specification 5).
 * @param now milliseconds since 1970
 * @param replicationHost named to a replication key that came to the wrong place
 * @throws PlatError 401 without a valid token, 403 with one that is for another surface
 */
export function authenticate(
  caller: Caller,
  surface: Surface,
  now: number,
  replicationHost: string,
): KeyRecord {
  if (caller.kind === 'unknown') throw caller.why;
  const { key } = caller;
  const verdict = judgeKey(key, now);
  if (!verdict.valid) throw platError(verdict.why === 'expired' ? 'tokenExpired' : 'tokenRevoked', {});
  if (key.kind === surface.keyKind) return key;
  if (surface.name === 'api' && key.kind === 'replication') {
    throw platError('replicationKeyOnApi', { host: replicationHost });
  }
  throw platError('keyNotForSurface', { kind: key.kind, surface: surface.name });
}
