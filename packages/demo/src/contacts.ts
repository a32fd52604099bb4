import type { Random } from './random.ts';

/** Area codes of western Michigan; 555-0100 to 555-0199 are kept free for fiction in each of them. */
const AREA_CODES = ['231', '616', '906', '989'];

export function drawPhone(random: Random): string {
  return `${random.pick(AREA_CODES)}-555-01${random.integer(0, 99).toString().padStart(2, '0')}`;
}

/** A name as it stands in an address or a login: lower case letters and digits. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '');
}
