/**
 * How clients reach a surface, for every link that an answer holds: as the operator says, or as a trusted proxy says, or
 * by the address that the connection came in on. It must not know what the links lead to.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { forwardedOf } from './http/forwarded.ts';

/** Where a listener is. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** The host name by which a shared listener tells the surface from others (configuration `hosts`). */
  readonly name?: string | undefined;
}

/** A host that takes connections on every address of the machine. */
export const isAnyHost = (host: string): boolean => host === '0.0.0.0' || host === '::' || host === '';

const written = (secure: boolean, host: string, port: number): string =>
  `${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** The address of a listener itself; one on all interfaces is named by this machine's own loopback name. */
export function listenerAddress({ host, port, secure, name }: Listener): string {
  return written(secure, name ?? (isAnyHost(host) ? 'localhost' : host), port);
}

/**
 * An address of IPv4 that came as one of IPv6 is given as what it is. The zone of a link-local address means something
 * to its own machine alone.
 */
const plainAddress = (address: string): string =>
  address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '').replace(/%.*$/, '');

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
export interface Came {
  /** The address of this machine that its connection came in on; undefined once that is closed. */
  readonly arrival: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/**
 * How clients reach a surface: as configured, or as a trusted proxy says, or by the address that the connection came in
 * on. What a request says of itself counts only when the proxy before it is trusted.
 */
export function baseAddress(
  listener: Listener,
  publicUrl: string | undefined,
  trustProxy: boolean,
  { arrival, headers }: Came,
): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '');
  const said = trustProxy ? forwardedOf(headers, listener.secure) : undefined;
  return said ?? reachedAddress(listener, arrival);
}
