/** IP addresses as sockets report them. This module does not know whose they are. */
import ipaddr from 'ipaddr.js';

/**
 * An address in the form in which clients write it: an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) becomes the IPv4 address, and
 * the zone index of a link-local address, which has a meaning only on its own machine, is omitted.
 */
export function normalizeIpAddress(address: string): string {
  if (!address.includes(':')) return address;
  const [bare = ''] = address.split('%');
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : bare;
}

/** The network of an address: the address itself for IPv4, the /64 prefix for IPv6. */
export function networkOf(address: string): string {
  const plain = normalizeIpAddress(address);
  if (!ipaddr.IPv6.isValid(plain)) return plain;
  const groups = ipaddr.IPv6.parse(plain).parts.slice(0, 4);
  return groups.map((group) => group.toString(16)).join(':');
}
