/**
 * Determines which interface a request is for, whether it needs a key, and in which envelope errors are reported. It must not know
 * the responses.
 */
import { adminPathAllowsAnonymous } from './admin/router.ts';
import { CONSOLE_ROOT } from './console/console-files.ts';
import { FACETS_ROOT } from './console/facets.ts';
import { EVENTS_PATH } from './events/events.ts';
import type { Exchange } from './exchange.ts';
import { type Front, frontOf } from './front/paths.ts';
import { responseVersion } from './http/negotiation.ts';
import { isNativePath } from './reply/errors.ts';

const MEDIA = '/media/';

/** The interface that a request is for, and the path below the root of that interface. */
export type Route =
  | {
      readonly kind: 'reso' | 'native' | 'events' | 'facets' | 'media' | 'console' | 'admin' | 'none';
      readonly path: string;
    }
  | { readonly kind: 'front'; readonly path: string; readonly front: Front };

/** Matches a key in parentheses. A slash in a key does not end a segment, even if a client or a proxy has not encoded it. */
const QUOTED_KEY = /(?:\(|%28)(?:\w+=)?(?:'|%27)(?:[^'%]|%(?!27)|(?:'|%27){2})*(?:'|%27)(?:\)|%29)(?=\/|$)/g;

/**
 * Matches letters and digits that are percent-encoded, which means the same (RFC 3986, 6.2.2.2), unless they would complete a broken
 * escape.
 */
const NEEDLESSLY_ENCODED = /(?<!%[\dA-F]?)%(?:3\d|[46][1-9A-F]|[57][\dA])/gi;

export function routeOf({ surface, path, headers, as }: Exchange): Route {
  const read = path.includes('%') ? path.replace(NEEDLESSLY_ENCODED, decodeURIComponent) : path;
  const whole = read.replace(QUOTED_KEY, (key) => key.replaceAll('/', '%2F'));
  const plain = whole.includes('//') ? whole.replaceAll(/\/{2,}/g, '/') : whole;
  const named = plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain;
  const front = frontOf(named, headers.accept);
  if (front !== undefined) return { kind: 'front', path: named, front };
  if (surface.name === 'admin') {
    if (!`${named}/`.startsWith(`${CONSOLE_ROOT}/`)) return { kind: 'admin', path: named };
    return { kind: 'console', path: named.slice(CONSOLE_ROOT.length + 1) };
  }
  if (as !== undefined && named.startsWith(FACETS_ROOT)) {
    return { kind: 'facets', path: named.slice(FACETS_ROOT.length) };
  }
  if (surface.name === 'replication' && named === EVENTS_PATH) return { kind: 'events', path: '' };
  if (path.startsWith(MEDIA)) return { kind: 'media', path: path.slice(MEDIA.length) };
  for (const [kind, root] of [['reso', surface.resoRoot] as const, ['native', surface.nativeRoot] as const]) {
    if (root === undefined) continue;
    if (plain.startsWith(root)) return { kind, path: plain.slice(root.length) };
    if (`${plain}/` === root) return { kind, path: '' };
  }
  return { kind: 'none', path };
}

/** The path of an interface that differs from a path of none in its capitals only, such as `/reso/odata/Property`. */
export function nearestPath({ surface, path }: Exchange): string | undefined {
  const roots = [surface.resoRoot, surface.nativeRoot].filter((root) => root !== undefined);
  const root = roots.find((each) => `${path}/`.toLowerCase().startsWith(each.toLowerCase()));
  const nearest = root === undefined ? path : `${root}${path.slice(root.length)}`;
  return nearest === path ? undefined : nearest;
}

/** Whether the response is in the envelope of the native interface. An unknown path belongs to the interface that it resembles. */
export const isNativeRoute = ({ path }: Exchange, { kind }: Route): boolean =>
  kind === 'native' || (kind === 'none' && isNativePath(path));

/** Whether the response is in the envelope of the RESO interface, which is also used for paths of no interface. */
const isOdata = (exchange: Exchange, route: Route): boolean =>
  route.kind === 'reso' || (route.kind === 'none' && !isNativeRoute(exchange, route));

export const odataVersionHeader = (exchange: Exchange, route: Route): Record<string, string> =>
  isOdata(exchange, route) ? { 'odata-version': responseVersion(exchange.headers) } : {};

/** Whether no key is needed: files have a signature in their URL, and probes have no key. */
export function allowsAnonymous(exchange: Exchange, route: Route): boolean {
  switch (route.kind) {
    case 'media':
    case 'console':
      return true;
    case 'admin':
      return adminPathAllowsAnonymous(exchange, route.path);
    case 'front':
      // A request with a key gets the description of what that key sees.
      return route.front.kind !== 'description' || exchange.headers.authorization === undefined;
    default:
      return false;
  }
}

/**
 * Whether to answer with the last known state of the store and verify it afterwards: the request must be safe to repeat, and most
 * of its response must come from the store.
 */
export const mayAssume = ({ method }: Exchange, { kind }: Route): boolean =>
  (method === 'GET' || method === 'HEAD') && (kind === 'reso' || kind === 'native');
