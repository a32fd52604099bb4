/**
 * Determines the address of a surface in links: the configured one, the one that a trusted proxy reports, or the address at which
 * the connection arrived. It must not know what the links lead to.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { normalizeIpAddress } from '../../shared/ip-address.ts';

/** Where a listener accepts connections. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** The host name of the surface on a shared listener (configuration `hosts`). */
  readonly name?: string | undefined;
}

/** Whether a host means all addresses of the machine. */
export const isAnyHost = (host: string): boolean => host === '0.0.0.0' || host === '::' || host === '';

const formatAddress = (secure: boolean, host: string, port: number): string =>
  `${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** The address of a listener. If it listens on all interfaces, its host is localhost. */
export const listenerAddress = ({ host, port, secure, name }: Listener): string =>
  formatAddress(secure, name ?? (isAnyHost(host) ? 'localhost' : host), port);

/**
 * The address of a listener for a client that reached this machine, possibly on another port.
 *
 * @param arrival the local address of the client's connection; undefined if it is not known
 */
export function reachedAddress(listener: Listener, arrival: string | undefined): string {
  const { port, secure, name } = listener;
  if (name !== undefined || arrival === undefined) return listenerAddress(listener);
  return formatAddress(secure, normalizeIpAddress(arrival), port);
}

/** How a request arrived, according to its connection and its headers. */
interface RequestArrival {
  /** The local address of the connection; undefined once it is closed. */
  readonly arrival: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** The base address of a request. Headers are used only if the proxy in front of the service is trusted. */
export function baseAddress(
  listener: Listener,
  publicUrl: string | undefined,
  trustProxy: boolean,
  { arrival, headers }: RequestArrival,
): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '');
  const forwarded = trustProxy ? forwardedAddress(headers, listener.secure) : undefined;
  return forwarded ?? reachedAddress(listener, arrival);
}

/** A host name or IPv4 address, or an IPv6 address in brackets, with or without a port. */
const HOST = /^(?:[\w-]+(?:\.[\w-]+)*\.?|\[[\da-f:.]*:[\da-f:.]*\])(?::\d{1,5})?$/i;
const SCHEME = /^https?$/i;
const PORT = /^\d{1,5}$/;
/**
 * The default ports of HTTP and HTTPS. A proxy that reports the default port of the other scheme reports an earlier hop, so that
 * port is ignored.
 */
const USUAL_PORTS: ReadonlySet<string> = new Set(['80', '443']);

/**
 * The address by which clients reach the service, according to its proxy.
 *
 * @param secure whether the proxy's connection uses TLS; the client's is then assumed to, unless the proxy says otherwise
 * @returns undefined if the headers do not form an address
 */
function forwardedAddress(headers: IncomingHttpHeaders, secure: boolean): string | undefined {
  const forwarded = forwardedParts(headers);
  const { host = headers.host, scheme = secure ? 'https' : 'http', port } = forwarded;
  if (host === undefined || !HOST.test(host) || !SCHEME.test(scheme)) return undefined;
  const lacksPort = port !== undefined && PORT.test(port) && !/:\d+$/.test(host) && !USUAL_PORTS.has(port);
  return `${scheme.toLowerCase()}://${host}${lacksPort ? `:${port}` : ''}`;
}

/** The host by which clients reach the service, if the proxy reports one. */
export const forwardedHost = (headers: IncomingHttpHeaders): string | undefined =>
  forwardedParts(headers).host;

interface Forwarded {
  readonly host?: string | undefined;
  readonly scheme?: string | undefined;
  readonly port?: string | undefined;
}

/**
 * What the proxy reports. Most proxies write `X-Forwarded-*` but pass on a `Forwarded` header (RFC 7239) that their client sent, so
 * `Forwarded` counts only if there is no `X-Forwarded-*`. Of several hops, only the last one counts, because the proxy itself wrote
 * it; those before it may come from the client.
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

/** The parameters of the last hop; undefined for a header that does not conform to RFC 7239. */
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
