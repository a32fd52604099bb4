import assert from 'node:assert/strict';
import { makeMarket, REFERENCE_DATE } from '../../packages/demo/src/market.ts';
import { type ImportRecord, textOf } from '../../packages/demo/src/records.ts';

/** One market for several tests. */
export const SIZE = 2000;
const market = makeMarket({ seed: 20260601, listings: SIZE });
export const listings: ImportRecord[] = Array.from({ length: SIZE }, (_, serial) => market.listing(serial));
export const members: ReadonlyMap<string, ImportRecord> = new Map(
  Array.from({ length: market.members }, (_, serial) => market.member(serial)).map((member) => [
    String(member.MemberKey),
    member,
  ]),
);
export const offices: ReadonlyMap<string, ImportRecord> = new Map(
  Array.from({ length: market.offices }, (_, serial) => market.office(serial)).map((office) => [
    String(office.OfficeKey),
    office,
  ]),
);
export const TODAY = REFERENCE_DATE.toISOString().slice(0, 10);

export const share = (holds: (listing: ImportRecord) => boolean): number =>
  listings.filter(holds).length / SIZE;
export const status = (listing: ImportRecord): string => textOf(listing, 'StandardStatus') ?? '';

export function between(value: number, low: number, high: number, what: string): void {
  assert.ok(value >= low && value <= high, `${what} is ${value}, not from ${low} to ${high}`);
}
