/**
 * The messages of a starting service about the links in its responses. By default, links begin with the address on which a
 * connection arrived. If clients may not be able to use that address, the operator should learn it at startup.
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';

interface Linked {
  /** The address of a surface without a configured public URL. */
  readonly address: string;
  /** Whether the service listens on every address of the machine. */
  readonly anyHost: boolean;
  readonly certificate: Buffer | undefined;
  readonly interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;
}

/** @returns no lines if links begin with the service's own address */
export function linkLines({ address, anyHost, certificate, interfaces }: Linked): string[] {
  const base = new URL(address);
  if (anyHost) base.hostname = externalAddress(interfaces);
  const name = base.hostname.replaceAll(/[[\]]/g, '');
  const lines = [];
  if (anyHost) {
    lines.push(
      `Links in responses begin with the address on which the connection arrived, such as ${base.origin}.`,
      'If clients use a host name, a proxy or the port of a container, set --public-url or --trust-proxy.',
    );
  }
  if (certificate !== undefined && !isNamed(new X509Certificate(certificate), name)) {
    lines.push(
      `The certificate does not name ${name}, with which links begin: set --public-url to the name that clients use.`,
    );
  }
  return lines;
}

const isNamed = (certificate: X509Certificate, name: string): boolean =>
  (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;

/** An address by which other machines can probably reach this one. */
function externalAddress(interfaces: Linked['interfaces']): string {
  const all = Object.values(interfaces).flatMap((each) => each ?? []);
  const own = all.find(({ family, internal }) => family === 'IPv4' && !internal);
  return own?.address ?? '127.0.0.1';
}
