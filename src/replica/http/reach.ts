import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { RequestFailure } from './failure.ts';

/** What a request may reach: hosts of the public internet alone, or of the consumer's own networks as well. */
export type Reach = 'public' | 'any';

/** IPv4 networks that are not of the public internet (RFC 6890 and its registry). */
const OWN = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // a cloud's own service for its machines, at an address that looks public
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const;
/** IPv6 networks of the public internet; the second stands for IPv4 behind a translator (RFC 6052). */
const PUBLIC = [
  ['2000::', 3],
  ['64:ff9b::', 96],
] as const;
/** Within the first of those: Teredo and its neighbours, documentation, and 6to4, which stands for any IPv4 address. */
const NOT_PUBLIC = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const own = new BlockList();
const outside = new BlockList();
for (const [network, prefix] of OWN) {
  own.addSubnet(network, prefix, 'ipv4');
  own.addSubnet(`64:ff9b::${network}`, 96 + prefix, 'ipv6');
}
for (const [network, prefix] of NOT_PUBLIC) own.addSubnet(network, prefix, 'ipv6');
for (const [network, prefix] of PUBLIC) outside.addSubnet(network, prefix, 'ipv6');

/** Whether an address is one of the public internet: not of loopback, a link, or a private network. */
export function isPublic(address: string): boolean {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
  switch (isIP(mapped)) {
    case 4:
      return !own.check(mapped, 'ipv4');
    case 6:
      return outside.check(mapped, 'ipv6') && !own.check(mapped, 'ipv6');
    default:
      return false;
  }
}

/** Names that no public name server answers for (RFC 6761, 6762, 8375 and the reserved `internal`). */
const OWN_NAME = /^[^.]+$|(^|\.)(localhost|local|internal|home\.arpa)$/i;

/**
 * Whether a host lies in the consumer's own networks by what it is called. Its name is not looked up: whoever answers
 * for it could say so of any host.
 */
export function isOwnHost({ hostname }: URL): boolean {
  const address = literal(hostname);
  return address === undefined ? OWN_NAME.test(hostname.replace(/\.$/, '')) : !isPublic(address);
}

/** @throws RequestFailure `refused` for an address that is written out; names are looked at when they are resolved */
export function assertReach(url: string, reach: Reach): void {
  const address = literal(new URL(url).hostname);
  if (reach === 'public' && address !== undefined && !isPublic(address)) throw notPublic(address);
}

/** Resolves names to addresses of the public internet alone, at the moment of the connection. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const reachable = error === null ? addresses.filter(({ address }) => isPublic(address)) : [];
    const [first] = reachable;
    if (error !== null) callback(error, []);
    else if (first === undefined) callback(wrapped(notPublic(hostname)), []);
    else if (options.all === true) callback(null, reachable);
    else callback(null, first.address, first.family);
  });
};

const literal = (hostname: string): string | undefined => {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 0 ? undefined : bare;
};

const notPublic = (host: string): RequestFailure =>
  new RequestFailure('refused', `${host} is in a private network; --media-private-hosts lets it be asked`);

/** Errors of the network have a code of another type. */
const wrapped = (cause: RequestFailure): Error => new Error(cause.message, { cause });
