/** Records of a foreign server, and changes to them. */
import { listing, member, office, photo } from '../../support/builders.ts';
import type { TestClock } from '../../support/clock.ts';
import type { Json } from '../../support/world.ts';

/** Keys of the same length, so that numeric and byte-wise order agree. */
export const keyOf = (number: number): string => String(1000 + number);
export const keysUpTo = (count: number, from = 1): string[] =>
  Array.from({ length: count }, (_, at) => keyOf(from + at));

/** Listings 1 to n, each changed a minute after the one before, the last one an hour ago. */
export function listings(
  count: number,
  clock: TestClock,
  fields: (number: number) => Json = () => ({}),
): Json[] {
  return Array.from({ length: count }, (_, at) => {
    const number = at + 1;
    const stamp = new Date(clock.now() - 3_600_000 - (count - number) * 60_000);
    return listing(keyOf(number), {
      ListPrice: number * 1000,
      ModificationTimestamp: stamp.toISOString(),
      ...fields(number),
    });
  });
}

export const withPhotos = (number: number): Json => ({
  PhotosChangeTimestamp: '2026-05-01T00:00:00Z',
  Media: Array.from({ length: number % 3 }, (_, at) => photo(`${keyOf(number)}-${at}`, { Order: at })),
});

export const people: Readonly<Record<'Member' | 'Office', readonly Json[]>> = {
  Member: [1, 2, 3].map((number) => member(`m${number}`, { ModificationTimestamp: '2026-05-01T00:00:00Z' })),
  Office: [1, 2].map((number) => office(`o${number}`, { ModificationTimestamp: '2026-05-01T00:00:00Z' })),
};

/** Changes the listing with a key at the time of the clock. */
export function change(list: Json[], key: string, fields: Json, clock: TestClock): void {
  const at = list.findIndex(({ ListingKey }) => ListingKey === key);
  if (at < 0) throw new Error(`No listing ${key}`);
  list[at] = { ...list[at], ...fields, ModificationTimestamp: clock.text() };
}

export function take(list: Json[], ...keys: readonly string[]): void {
  const gone = new Set<unknown>(keys);
  list.splice(0, list.length, ...list.filter(({ ListingKey }) => !gone.has(ListingKey)));
}
