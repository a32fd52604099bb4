/** The egress policy: a token is sent only to its own origin, and requests for untrusted URLs only to the public internet. */
import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { RequestFailure } from './failure.ts';

/**
 * The URL that a link leads to, at the origin of the root. The origin that the link itself names is ignored, because a server
 * behind a proxy may not know its public address. Only the path and the query are copied, separately, so that no text can become
 * part of the host.
 * @param base the URL that a relative link is relative to; the root by default
 * @throws RequestFailure `rejected` for a link that is not an http(s) URL
 */
export function urlAtOrigin(root: URL, link: string, base: URL | string = root): string {
  const target = URL.canParse(link, base) ? new URL(link, base) : undefined;
  // Other schemes, such as `file:` or `data:`, have no host.
  if (target === undefined || !/^https?:$/.test(target.protocol)) {
    throw new RequestFailure('rejected', `The source links to ${link}, which is not a web URL`);
  }
  const address = new URL(root.origin);
  address.pathname = target.pathname;
  address.search = target.search;
  return address.href;
}

/**
 * The target of a redirect. The token is for one origin, so a redirect to another origin is not followed.
 * @throws RequestFailure `rejected` for a target that is not an http(s) URL, `refused` for one of another origin
 */
export function redirectTarget(root: URL, from: string, location: string): string {
  const address = urlAtOrigin(root, location, from);
  const { origin } = new URL(location, from);
  if (origin === root.origin) return address;
  const { protocol, hostname } = new URL(origin);
  const isSecured = root.protocol === 'http:' && protocol === 'https:' && hostname === root.hostname;
  const hint = isSecured ? `; --from ${origin}${root.pathname} may be its address` : '';
  const reason = `The source redirects to ${origin}, which is not the origin of the token${hint}`;
  throw new RequestFailure('refused', reason);
}

/** The last check before a token is sent. @throws RequestFailure `refused` for an address of another origin */
export function assertOrigin(root: URL, address: string): void {
  const { origin, username, password } = new URL(address);
  if (origin === root.origin && username === '' && password === '') return;
  throw new RequestFailure('refused', `${origin} is not the origin of the token`);
}

/** What a request may connect to: hosts of the public internet only, or hosts of private networks as well. */
export type Egress = 'public' | 'any';

/** A platform service of a cloud (Azure) for its own machines. The address looks public. */
const CLOUD_SERVICE = '168.63.129.16';
/**
 * The IPv6 addresses that are assigned to the public internet. ipaddr.js does not call special networks within this range
 * `unicast`.
 */
const ASSIGNED = ipaddr.IPv6.parseCIDR('2000::/3');
/** IPv4 addresses that are embedded in IPv6 by a translator (RFC 6052). */
const TRANSLATED = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** Whether an address belongs to the public internet: not to loopback, a link, or a private or reserved network. */
export function isPublic(text: string): boolean {
  // ipaddr.js also reads forms that no resolver returns, such as `0x7f.1`.
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv4) {
    return address.range() === 'unicast' && address.toString() !== CLOUD_SERVICE;
  }
  if (address.match(TRANSLATED)) return isPublic(address.toByteArray().slice(12).join('.'));
  return address.range() === 'unicast' && address.match(ASSIGNED);
}

/** Host names that public DNS does not resolve (RFC 6761, 6762, 8375 and the reserved `internal`). */
const PRIVATE_NAME = /^[^.]+$|(^|\.)(localhost|local|internal|home\.arpa)$/i;

/** Whether a host's name or address shows that it is in a private network. Names are not resolved. */
export function isPrivateHost({ hostname }: URL): boolean {
  const address = literal(hostname);
  return address === undefined ? PRIVATE_NAME.test(hostname.replace(/\.$/, '')) : !isPublic(address);
}

/**
 * Checks a URL whose host is an IP address or a private name; other names are checked when they are resolved.
 * @throws RequestFailure `refused`
 */
export function assertEgress(url: string, egress: Egress): void {
  const address = literal(new URL(url).hostname);
  if (egress === 'public' && address !== undefined && !isPublic(address))
    throw privateNetworkFailure(address);
}

/** Resolves names only to addresses of the public internet. It runs for each connection. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const allowed = error === null ? addresses.filter(({ address }) => isPublic(address)) : [];
    const [first] = allowed;
    if (error !== null) callback(error, []);
    else if (first === undefined) {
      // The type of the callback requires an error with a code.
      const cause = privateNetworkFailure(hostname);
      callback(new Error(cause.message, { cause }), []);
    } else if (options.all === true) callback(null, allowed);
    else callback(null, first.address, first.family);
  });
};

const literal = (hostname: string): string | undefined => {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 0 ? undefined : bare;
};

const privateNetworkFailure = (host: string): RequestFailure =>
  new RequestFailure('refused', `${host} is in a private network; --media-private-hosts allows it`);
