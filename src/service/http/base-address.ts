/**
 * How clients reach a surface, for every link in a response: as the operator configured, or as a trusted proxy says, or
 * by the address that the connection came in on. It must not know what the links lead to.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { plainAddress } from '../../shared/ip-address.ts';

/** Where a listener is. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** The host name of the surface on a shared listener (configuration `hosts`). */
  readonly name?: string | undefined;
}

/** A host that takes connections on every address of the machine. */
export const isAnyHost = (host: string): boolean => host === '0.0.0.0' || host === '::' || host === '';

const written = (secure: boolean, host: string, port: number): string =>
  `${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** The address of a listener itself; one on all interfaces is named by this machine's own loopback name. */
export const listenerAddress = ({ host, port, secure, name }: Listener): string =>
  written(secure, name ?? (isAnyHost(host) ? 'localhost' : host), port);

/**
 * The address of a listener for a client that reached this machine, on whatever port.
 * @param arrival the address of this machine that its connection came in on; undefined where that is not known
 */
export function reachedAddress(listener: Listener, arrival: string | undefined): string {
  const { port, secure, name } = listener;
  if (name !== undefined || arrival === undefined) return listenerAddress(listener);
  return written(secure, plainAddress(arrival), port);
}

/** What a request says of how it came here. */
interface Came {
  /** The address of this machine that its connection came in on; undefined once that is closed. */
  readonly arrival: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** What a request says of itself counts only when the proxy before it is trusted. */
export function baseAddress(
  listener: Listener,
  publicUrl: string | undefined,
  trustProxy: boolean,
  { arrival, headers }: Came,
): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '');
  const forwarded = trustProxy ? forwardedAddress(headers, listener.secure) : undefined;
  return forwarded ?? reachedAddress(listener, arrival);
}

/** A name or an address of IPv4, or one of IPv6 in brackets, with or without a port. */
const HOST = /^(?:[\w-]+(?:\.[\w-]+)*\.?|\[[\da-f:.]*:[\da-f:.]*\])(?::\d{1,5})?$/i;
const SCHEME = /^https?$/i;
const PORT = /^\d{1,5}$/;
/** The usual port of the other scheme is that of an earlier hop, and means nothing. */
const USUAL_PORTS: ReadonlySet<string> = new Set(['80', '443']);

/**
 * The address by which clients reach the service, by what its proxy says.
 * @param secure whether the connection of the proxy is TLS: so is its client's unless it says otherwise
 * @returns undefined where what was said makes no address
 */
function forwardedAddress(headers: IncomingHttpHeaders, secure: boolean): string | undefined {
  const forwarded = forwardedParts(headers);
  const { host = headers.host, scheme = secure ? 'https' : 'http', port } = forwarded;
  if (host === undefined || !HOST.test(host) || !SCHEME.test(scheme)) return undefined;
  const lacksPort = port !== undefined && PORT.test(port) && !/:\d+$/.test(host) && !USUAL_PORTS.has(port);
  return `${scheme.toLowerCase()}://${host}${lacksPort ? `:${port}` : ''}`;
}

/** The host by which clients reach the service, where the proxy says so. */
export const forwardedHost = (headers: IncomingHttpHeaders): string | undefined =>
  forwardedParts(headers).host;

interface Forwarded {
  readonly host?: string | undefined;
  readonly scheme?: string | undefined;
  readonly port?: string | undefined;
}

/**
 * Most proxies write `X-Forwarded-*` and pass a `Forwarded` (RFC 7239) of their client's on as it is, so `Forwarded` counts
 * only where none of the former is there. Of a header that names several hops only the last is read, which that proxy wrote:
 * whatever stands before it may be the client's own.
 */
function forwardedParts(headers: IncomingHttpHeaders): Forwarded {
  const host = lastOf(headers['x-forwarded-host']);
  const scheme = lastOf(headers['x-forwarded-proto']);
  if (host !== undefined || scheme !== undefined) {
    return { host, scheme, port: lastOf(headers['x-forwarded-port']) };
  }
  const hop = lastHop(headers.forwarded ?? '');
  return { host: hop?.get('host'), scheme: hop?.get('proto') };
}

const lastOf = (value: string | string[] | undefined): string | undefined =>
  value?.toString().split(',').at(-1)?.trim();

const PAIR = /\s*(?:([!#$%&'*+.^_`|~\w-]+)=(?:([!#$%&'*+.^_`|~\w-]+)|"((?:[^"\\]|\\.)*)")\s*)?([;,]|$)/y;

/** The parameters of the last hop; undefined for a header that is not as RFC 7239 says. */
function lastHop(header: string): ReadonlyMap<string, string> | undefined {
  let hop = new Map<string, string>();
  PAIR.lastIndex = 0;
  for (let more = header !== ''; more; ) {
    const found = PAIR.exec(header);
    if (found === null) return undefined;
    const [, name, token, quoted, end] = found;
    if (name !== undefined) {
      const key = name.toLowerCase();
      if (hop.has(key)) return undefined;
      hop.set(key, token ?? (quoted ?? '').replaceAll(/\\(.)/g, '$1'));
    }
    if (end === ',') hop = new Map();
    more = end !== '';
  }
  return hop;
}
