import { hashToken, judgeKey, type KeyRecord } from '../../access/index.ts';
import { platError } from '../../errors/index.ts';
import type { Store } from '../../store/store.ts';
import type { Surface } from '../surface.ts';

const SCHEME = /^(?:Bearer|OAuth)\s+(\S+)\s*$/i;

/** Query parameters by which other services take tokens. Logs and caches would keep them. */
const TOKEN_PARAMETERS = new Set([
  'access_token',
  'accesstoken',
  'token',
  'api_key',
  'apikey',
  'bearer',
  'authorization',
]);

/** @throws PlatError `tokenInQuery` */
export function refuseTokenInQuery(query: string): void {
  if (query === '') return;
  for (const name of new URLSearchParams(query).keys()) {
    if (TOKEN_PARAMETERS.has(name.toLowerCase())) throw platError('tokenInQuery', { name });
  }
}

/**
 * Finds the key of a request and judges whether it may use the surface (specification 5).
 * @param now milliseconds since 1970
 * @param replicationHost named to a replication key that came to the wrong place
 * @throws PlatError 401 without a valid token, 403 with one that is for another surface
 */
export async function authenticate(
  store: Store,
  surface: Surface,
  authorization: string | undefined,
  now: number,
  replicationHost: string,
): Promise<KeyRecord> {
  if (authorization === undefined) throw platError('tokenMissing', {});
  const token = SCHEME.exec(authorization)?.[1];
  if (token === undefined) throw platError('tokenMissing', {});
  const key = await store.keys.find(hashToken(token));
  if (key === undefined) throw platError('tokenUnknown', {});
  const verdict = judgeKey(key, now);
  if (!verdict.valid) throw platError(verdict.why === 'expired' ? 'tokenExpired' : 'tokenRevoked', {});
  if (key.kind === surface.keyKind) return key;
  if (surface.name === 'api' && key.kind === 'replication') {
    throw platError('replicationKeyOnApi', { host: replicationHost });
  }
  throw platError('keyNotForSurface', { kind: key.kind, surface: surface.name });
}
