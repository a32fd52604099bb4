/**
 * What a service that starts says of the links in its answers. They begin with the address that a connection came in on,
 * unless its operator says how clients reach it; where that may not be what clients ask, it is better heard at the start
 * than from page 2 on.
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';

export interface Linked {
  /** Of a surface for which no public URL is configured. */
  readonly address: string;
  /** Whether it takes connections on every address of the machine. */
  readonly anyHost: boolean;
  readonly certificate: Buffer | undefined;
  readonly interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;
}

/** @returns no line where links are as the service's own address */
export function linkLines({ address, anyHost, certificate, interfaces }: Linked): string[] {
  const base = new URL(address);
  if (anyHost) base.hostname = ownAddress(interfaces);
  const name = base.hostname.replaceAll(/[[\]]/g, '');
  const lines = [];
  if (anyHost) {
    lines.push(
      `Links in answers begin with the address that the connection came in on, such as ${base.origin}.`,
      'Where clients come by a name, a proxy or the port of a container, --public-url or --trust-proxy says so.',
    );
  }
  if (certificate !== undefined && !isNamed(new X509Certificate(certificate), name)) {
    lines.push(
      `The certificate does not name ${name}, with which links begin: --public-url says by which name clients come.`,
    );
  }
  return lines;
}

const isNamed = (certificate: X509Certificate, name: string): boolean =>
  (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;

/** An address by which other machines may reach this one. */
function ownAddress(interfaces: Linked['interfaces']): string {
  const all = Object.values(interfaces).flatMap((each) => each ?? []);
  const own = all.find(({ family, internal }) => family === 'IPv4' && !internal);
  return own?.address ?? '127.0.0.1';
}
