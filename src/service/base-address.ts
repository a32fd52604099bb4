import type { IncomingHttpHeaders } from 'node:http';

/** Where a listener is. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
}

/** The address of a listener itself; one on all interfaces is named by this machine's own loopback name. */
export function listenerAddress({ host, port, secure }: Listener): string {
  const any = host === '0.0.0.0' || host === '::' || host === '';
  const name = any ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${secure ? 'https' : 'http'}://${name}:${port}`;
}

/**
 * How clients reach a surface: as configured, or as a trusted proxy says, or by the listener's own address. What a
 * request says of itself counts only when the proxy before it is trusted.
 */
export function baseAddress(
  listener: Listener,
  publicUrl: string | undefined,
  trustProxy: boolean,
  headers: IncomingHttpHeaders,
): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '');
  if (!trustProxy) return listenerAddress(listener);
  const first = (value: string | string[] | undefined): string | undefined =>
    (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim();
  const host = first(headers['x-forwarded-host']) ?? headers.host;
  const scheme = first(headers['x-forwarded-proto']) ?? (listener.secure ? 'https' : 'http');
  return host !== undefined && /^[\w.:[\]-]+$/.test(host) && /^https?$/.test(scheme)
    ? `${scheme}://${host}`
    : listenerAddress(listener);
}
