/**
 * Determines whether the cookie of a session is valid for a request: only for requests of the console's own pages. A browser sends
 * the cookie by itself, so neither a page of another site nor a host name that was pointed at this machine (DNS rebinding) must be
 * able to use it.
 */
import { isIP } from 'node:net';
import { platError } from '../../errors/index.ts';
import type { Exchange } from '../exchange.ts';

type BrowserRequest = Pick<Exchange, 'method' | 'headers' | 'base'>;

/** The host of an address, without its port and without the brackets of IPv6. */
const nameOf = (host: string): string =>
  host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();

/** Whether the Host header rules out DNS rebinding: it is a local name, an IP address or the host of this service. */
function isOwnHost(host: string, base: string): boolean {
  const name = nameOf(host);
  const isLocal = name === 'localhost' || name.endsWith('.localhost');
  return isLocal || isIP(name) > 0 || name === nameOf(new URL(base).host);
}

/**
 * Rejects requests that do not come from the console's own pages.
 * @throws PlatError 421 for a host that is not this service's, 403 for a request of another site
 */
export function refuseOtherSites({ method, headers, base }: BrowserRequest): void {
  const { host = '', origin, 'sec-fetch-site': site } = headers;
  if (!isOwnHost(host, base)) throw platError('hostUnknown', { host: nameOf(host) });
  const isOwnOrigin = origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
  const isReading = method === 'GET' || method === 'HEAD';
  // Current browsers report the origin of a request. A browser that does not may only read, because pages of other origins cannot
  // see the response.
  const isSameSite =
    site === undefined ? isOwnOrigin || (isReading && origin === undefined) : OWN_SITES.includes(site);
  if (!isSameSite || (origin !== undefined && !isOwnOrigin)) throw platError('otherSite', {});
}

/** `none`: a person typed the address. */
const OWN_SITES = ['same-origin', 'none'];
