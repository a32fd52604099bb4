import { RequestFailure } from './failure.ts';

/** Schemes whose addresses have a host; all others could name anything. */
const WEB = /^https?:$/;

/**
 * The address that a link leads to, at the origin of the root whatever origin the link names: a proxy in between may
 * not know its own. Path and query alone are taken over, each by itself, so that no text can become part of the host.
 * @param base what a relative link is relative to; the root if it is not given
 * @throws RequestFailure `rejected` for a link that is no address of the web
 */
export function addressAt(root: URL, link: string, base: URL | string = root): string {
  const target = URL.canParse(link, base) ? new URL(link, base) : undefined;
  if (target === undefined || !WEB.test(target.protocol)) {
    throw new RequestFailure('rejected', `The source links to ${link}, which is no address of the web`);
  }
  const address = new URL(root.origin);
  address.pathname = target.pathname;
  address.search = target.search;
  return address.href;
}

/**
 * Where a redirect leads. The token is for one origin; a redirect to another is followed by nobody.
 * @throws RequestFailure `rejected` for what is no address of the web, `refused` for one of another origin
 */
export function redirected(root: URL, from: string, location: string): string {
  const address = addressAt(root, location, from);
  const { origin } = new URL(location, from);
  if (origin === root.origin) return address;
  throw new RequestFailure(
    'refused',
    `The source redirects to ${origin}, which is not where the token is for`,
  );
}

/** The last look before a token is sent. @throws RequestFailure `refused` for an address of another origin */
export function assertOrigin(root: URL, address: string): void {
  const { origin, username, password } = new URL(address);
  if (origin === root.origin && username === '' && password === '') return;
  throw new RequestFailure('refused', `${origin} is not where the token is for`);
}
