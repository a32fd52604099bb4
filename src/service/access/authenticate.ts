/** Finds the key of a request, and checks whether it may use the surface (specification 5). It must not know what is requested. */
import { hashToken, type KeyRecord, keyValidity, looksLikeToken } from '../../access/index.ts';
import { type PlatError, platError } from '../../errors/index.ts';
import type { AssumedLook, Look, Store } from '../../store/store.ts';
import type { Surface } from '../surface.ts';

const SCHEME = /^(Bearer|OAuth|Basic)\s+(\S+)\s*$/i;

/**
 * Query parameters in which other services accept tokens, in lower case and without separators. Logs, caches and Referer headers
 * would expose such tokens. Of the parameters of both interfaces, only the skip and delta tokens have such names; the name of an
 * alias such as `@key` includes its sign, and does not match.
 */
const TOKEN_PARAMETER =
  /token$|(?:api|app|auth|access|secret|subscription|client|user|plat|licen[cs]e|account)key$|^key$|jwt|bearer|authori[sz]ation|^x?o?auth$|secret|^(?:app|client|user)?passw(?:or)?d$|passphrase|^(?:pwd|pass)$|credentials?$|^session(?:id)?$/;

/** Parameters of OData that contain a position, not a key's token. */
const PLACE_TOKEN = /(?:skip|delta)token$/;
const BETWEEN_LETTERS = /[^a-z0-9@]/g;

const isTokenParameter = (name: string): boolean => {
  const plain = name.toLowerCase().replaceAll(BETWEEN_LETTERS, '');
  return !plain.startsWith('@') && !PLACE_TOKEN.test(plain) && TOKEN_PARAMETER.test(plain);
};

/**
 * Rejects a query that contains a token, recognized by the name of a parameter or by the form of its value.
 * @throws PlatError `tokenInQuery`
 */
export function refuseTokenInQuery(query: string): void {
  if (query === '') return;
  for (const [name, value] of new URLSearchParams(query)) {
    // The message does not repeat the token.
    if (looksLikeToken(name)) throw platError('tokenInQuery', { name: 'without a name' });
    if (isTokenParameter(name) || looksLikeToken(value)) throw platError('tokenInQuery', { name });
  }
}

/** The caller, as far as the request shows: a key of the store, or the reason why there is none. */
export type Caller =
  | {
      readonly kind: 'known';
      readonly key: KeyRecord;
      /** The current state of the store: the one in which the key was found, or a new one if that is no longer fresh. */
      readonly look: () => Promise<Look>;
      /** The state in which the key was found, as long as it is fresh. */
      readonly lately?: () => Look | undefined;
      /** The last known state of the store, if the request may begin with it. */
      readonly assume?: () => AssumedLook | undefined;
    }
  | { readonly kind: 'unknown'; readonly why: PlatError };

/** Milliseconds for which a state of the store counts as fresh. */
const FRESH = 50;

/**
 * Finds the key of a request, whether or not it may use the surface. On a database server, this is a round trip, so a single query
 * returns everything that a request must know about the store. A request that has waited since then queries the store again.
 * @param hash the hash of the request's token; undefined: it has none
 * @param mayAssume whether the request may begin with the last known state, and is valid only if that has not changed
 */
export async function identifyCaller(
  store: Pick<Store, 'look' | 'assume'>,
  hash: string | undefined,
  mayAssume = false,
): Promise<Caller> {
  if (hash === undefined) return { kind: 'unknown', why: platError('tokenMissing', {}) };
  const began = performance.now();
  const assume = () => store.assume?.(hash);
  const assumed = mayAssume ? assume() : undefined;
  if (assumed !== undefined) return { kind: 'known', key: assumed.key, look: () => store.look(hash), assume };
  const seen = await store.look(hash);
  const { key } = seen;
  if (key === undefined) return { kind: 'unknown', why: platError('tokenUnknown', {}) };
  const lately = (): Look | undefined => (performance.now() - began < FRESH ? seen : undefined);
  return { kind: 'known', key, look: async () => lately() ?? store.look(hash), lately };
}

/** The number of headers whose hashes are remembered: clients send the same one with each request. */
const MOST_HASHES = 1000;
const hashes = new Map<string, string>();

/** The hash of the token in the header `Authorization` of a request. */
export function sentTokenHash(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const known = hashes.get(authorization);
  if (known !== undefined) return known;
  const token = tokenIn(authorization);
  if (token === undefined) return undefined;
  if (hashes.size >= MOST_HASHES) hashes.clear();
  const made = hashToken(token);
  hashes.set(authorization, made);
  return made;
}

/** Spreadsheets and statistics tools support only Basic: the token is the password, whatever the user name. */
function tokenIn(authorization: string): string | undefined {
  const [, scheme, credentials] = SCHEME.exec(authorization) ?? [];
  if (credentials === undefined || scheme?.toLowerCase() !== 'basic') return credentials;
  const pair = Buffer.from(credentials, 'base64').toString();
  return pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : undefined;
}

/**
 * Checks that the key of a request is valid and for this surface.
 * @param replicationHost returns the host that is named to a replication key at the wrong surface
 * @throws PlatError 401 without a valid token, 403 with one that is for another surface
 */
export function authenticate(
  { key, now }: Pick<Look, 'key' | 'now'>,
  surface: Surface,
  replicationHost: () => string,
): KeyRecord {
  if (key === undefined) throw platError('tokenUnknown', {});
  const validity = keyValidity(key, now);
  if (!validity.valid) throw platError(validity.why === 'expired' ? 'tokenExpired' : 'tokenRevoked', {});
  if (key.kind === surface.keyKind) return key;
  if (surface.name === 'api' && key.kind === 'replication') {
    throw platError('replicationKeyOnApi', { host: replicationHost() });
  }
  throw platError('keyNotForSurface', { kind: key.kind, surface: surface.name });
}
