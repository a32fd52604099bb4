/**
 * What the proxy in front says of the address that its client asked: `X-Forwarded-*`, or `Forwarded` (RFC 7239). Of a
 * header that names several hops only the last is read, which that proxy wrote: whatever stands before it may be the
 * client's own. Whether a proxy is trusted at all, its caller must know.
 */
import type { IncomingHttpHeaders } from 'node:http';

type Given = string | string[] | undefined;

/** A name or an address of IPv4, or one of IPv6 in brackets, with or without a port. */
const HOST = /^(?:[\w-]+(?:\.[\w-]+)*\.?|\[[\da-f:.]*:[\da-f:.]*\])(?::\d{1,5})?$/i;
const SCHEME = /^https?$/i;
const PORT = /^\d{1,5}$/;
/** The one of the other scheme is that of a hop before, and says nothing. */
const USUAL_PORTS: ReadonlySet<string> = new Set(['80', '443']);

/**
 * The scheme and host by which clients reach the service.
 * @param secure whether the connection of the proxy is TLS: so is its client's where it says nothing else
 * @returns undefined where nothing that was said makes an address
 */
export function forwardedOf(headers: IncomingHttpHeaders, secure: boolean): string | undefined {
  const said = fromHeaders(headers);
  const host = said.host ?? headers.host;
  const scheme = said.scheme ?? (secure ? 'https' : 'http');
  if (host === undefined || !HOST.test(host) || !SCHEME.test(scheme)) return undefined;
  return `${scheme.toLowerCase()}://${host}${portOf(host, said.port)}`;
}

/** The host by which clients reach the service, where the proxy says so. */
export const forwardedHost = (headers: IncomingHttpHeaders): string | undefined => fromHeaders(headers).host;

interface Said {
  readonly host?: string | undefined;
  readonly scheme?: string | undefined;
  readonly port?: string | undefined;
}

/**
 * Most proxies write `X-Forwarded-*`, and pass a `Forwarded` of their client's on as it is: where any of the former is
 * there, the latter says nothing.
 */
function fromHeaders(headers: IncomingHttpHeaders): Said {
  const host = lastOf(headers['x-forwarded-host']);
  const scheme = lastOf(headers['x-forwarded-proto']);
  if (host !== undefined || scheme !== undefined) {
    return { host, scheme, port: lastOf(headers['x-forwarded-port']) };
  }
  const hop = lastHop(joined(headers.forwarded));
  return { host: hop?.get('host'), scheme: hop?.get('proto') };
}

const joined = (value: Given): string => (Array.isArray(value) ? value.join(', ') : (value ?? ''));

const lastOf = (value: Given): string | undefined =>
  value === undefined ? undefined : joined(value).split(',').at(-1)?.trim();

/** A port that the host lacks. */
function portOf(host: string, port: string | undefined): string {
  if (port === undefined || !PORT.test(port) || /:\d+$/.test(host)) return '';
  return USUAL_PORTS.has(port) ? '' : `:${port}`;
}

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
