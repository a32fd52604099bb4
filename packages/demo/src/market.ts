import type { MarketContext } from './context.ts';
import { serialOf } from './keys.ts';
import { listingChange, listingKey, makeFreshListing, makeListing } from './listing/listing.ts';
import { makeFreshMember, makeMember } from './members.ts';
import { makeOffice } from './offices.ts';
import { makeOrganizations } from './organizations.ts';
import type { ImportRecord, MarketRecord } from './records.ts';
import type { FieldValues } from './values.ts';

export interface MarketOptions {
  /** Markets of one seed, size and moment are equal to the byte. */
  readonly seed: number;
  readonly listings: number;
  /** All dates lead up to this moment. */
  readonly now?: Date;
}

/** The moment of a market that names none. */
export const REFERENCE_DATE = new Date('2026-06-01T12:00:00Z');

/** A market whose records are made on demand, each from its serial alone, counted from 0. */
export interface Market {
  /** The moment that all dates lead up to, milliseconds since 1970. */
  readonly now: number;
  readonly listings: number;
  readonly members: number;
  readonly offices: number;
  organizations(): readonly FieldValues[];
  office(serial: number): FieldValues;
  member(serial: number): FieldValues;
  listing(serial: number): ImportRecord;
  /** A listing that comes to the market later, at this moment; its serial is beyond those of the market. */
  freshListing(serial: number, now: number): ImportRecord;
  /** An agent who joins later, at this moment. */
  freshMember(serial: number, now: number): FieldValues;
  /** Serials of all listings in the order of their keys, in which a store takes them fastest. */
  serialsByKey(): readonly number[];
  /** When each listing last changed, the longest ago first. */
  changes(): readonly { readonly serial: number; readonly moment: number }[];
  /** The Member record of a key of this market as it was at the beginning; undefined for any other key. */
  memberOf(key: string): FieldValues | undefined;
}

/** 300 agents and 60 offices for 2,000 listings, and never fewer than a small town has. */
function sizeOf({ seed, listings, now = REFERENCE_DATE }: MarketOptions): MarketContext {
  return {
    seed,
    listings,
    now: now.getTime(),
    members: Math.max(15, Math.round(listings * 0.15)),
    offices: Math.max(6, Math.round(listings * 0.03)),
  };
}

/** A market of invented places and people; what it holds depends on the options alone. */
export function makeMarket(options: MarketOptions): Market {
  const context = sizeOf(options);
  return {
    now: context.now,
    listings: context.listings,
    members: context.members,
    offices: context.offices,
    organizations: () => makeOrganizations(context),
    office: (serial) => makeOffice(context, serial),
    member: (serial) => makeMember(context, serial),
    listing: (serial) => makeListing(context, serial),
    freshListing: (serial, now) => makeFreshListing(context, serial, now),
    freshMember: (serial, now) => makeFreshMember(context, serial, now),
    serialsByKey: () => {
      const keys = Array.from({ length: context.listings }, (_, serial) => listingKey(context, serial));
      return [...keys.keys()].sort((left, right) => ((keys[left] ?? '') < (keys[right] ?? '') ? -1 : 1));
    },
    changes: () =>
      Array.from({ length: context.listings }, (_, serial) => ({
        serial,
        moment: listingChange(context, serial),
      })).sort((a, b) => a.moment - b.moment || a.serial - b.serial),
    memberOf: (key) => {
      const serial = serialOf('member', key);
      if (serial === undefined || serial >= context.members) return undefined;
      const member = makeMember(context, serial);
      return member.MemberKey === key ? member : undefined;
    },
  };
}

/** Every record of a market in the order of an import: systems, offices, agents, then listings by key. */
export function* marketRecords(options: MarketOptions): Generator<MarketRecord> {
  const market = makeMarket(options);
  for (const record of market.organizations()) yield { resource: 'OUID', record };
  for (let serial = 0; serial < market.offices; serial++) {
    yield { resource: 'Office', record: market.office(serial) };
  }
  for (let serial = 0; serial < market.members; serial++) {
    yield { resource: 'Member', record: market.member(serial) };
  }
  for (const serial of market.serialsByKey()) yield { resource: 'Property', record: market.listing(serial) };
}
