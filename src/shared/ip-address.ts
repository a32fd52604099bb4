/** Addresses of the internet as sockets report them. This module knows nothing of who has them. */
import ipaddr from 'ipaddr.js';

/**
 * An address as clients write it: one of IPv4 that came as one of IPv6 (`::ffff:192.0.2.1`) is given as what it is, and
 * the zone of a link-local one, which only its own machine knows, is omitted.
 */
export function plainAddress(address: string): string {
  if (!address.includes(':')) return address;
  const [bare = ''] = address.split('%');
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : bare;
}

/** The network of an address: an address of IPv4, or the half of one of IPv6 that a network has to itself (a /64). */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (!ipaddr.IPv6.isValid(plain)) return plain;
  const groups = ipaddr.IPv6.parse(plain).parts.slice(0, 4);
  return groups.map((group) => group.toString(16)).join(':');
}
