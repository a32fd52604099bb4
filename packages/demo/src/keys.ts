import { stampDigits } from './dates.ts';

/** The last digits of a key tell what it is a key of, so that no two resources share one. */
const KINDS = { listing: '0', member: '1', office: '2' } as const;

/** Scatters a serial number over six digits; one to one, since the factor shares no divisor with 10^6. */
const SCATTER = 607_373;
const MILLION = 1_000_000;

/**
 * A key of 26 digits: the second of entry, six scattered digits, one digit of kind, five of range.
 * Unique for serials below 10^11.
 */
export function makeKey(kind: keyof typeof KINDS, time: number, serial: number): string {
  const low = (((serial % MILLION) * SCATTER) % MILLION).toString().padStart(6, '0');
  const high = Math.floor(serial / MILLION)
    .toString()
    .padStart(5, '0');
  return `${stampDigits(time)}${low}${KINDS[kind]}${high}`;
}

/** The factor that undoes SCATTER modulo 10^6. */
const GATHER = 586_437;
const KEY = /^\d{14}(\d{6})(\d)(\d{5})$/;

/** The serial that a key of this kind was made from; undefined for any other text. */
export function serialOf(kind: keyof typeof KINDS, key: string): number | undefined {
  const [, low, digit, high] = KEY.exec(key) ?? [];
  if (digit !== KINDS[kind]) return undefined;
  return ((Number(low) * GATHER) % MILLION) + Number(high) * MILLION;
}
