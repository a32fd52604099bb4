import type { MarketContext } from '../context.ts';
import { makeKey } from '../keys.ts';
import { makeRandom, type Random } from '../random.ts';
import { type ImportRecord, withChildren } from '../records.ts';
import { buildingFields, lotFields } from './building-fields.ts';
import { customValues } from './custom-values.ts';
import { exteriorFields, interiorFields } from './feature-fields.ts';
import { financeFields } from './finance-fields.ts';
import { historyFields } from './history-fields.ts';
import { drawMedia } from './media.ts';
import { drawOpenHouses } from './open-houses.ts';
import { drawParties } from './parties.ts';
import { placeFields } from './place-fields.ts';
import { drawPremises } from './premises.ts';
import { drawPrices, marketValue } from './price.ts';
import { writeRemarks } from './remarks.ts';
import { drawRooms, roomRecords } from './rooms.ts';
import { displayFields, showingFields } from './showing-fields.ts';
import { drawTimeline, freshTimeline, lastChange, type Timeline } from './timeline.ts';
import { drawUnits } from './units.ts';

/** Every fourth listing has a floor plan, so it has rooms. */
const hasPlan = (listing: number): boolean => listing % 4 === 3;

/** Listing numbers and floor plan numbers begin here. */
const FIRST_NUMBER = 240_001;
const FIRST_PLAN = 2001;

/** The key of the listing with this serial, without making the rest of it. */
export function listingKey({ seed, now }: MarketContext, listing: number): string {
  return makeKey('listing', drawTimeline(now, makeRandom(seed, 'listing', listing)).entered, listing);
}

/** When the listing with this serial last changed, without making the rest of it. */
export function listingChange({ seed, now }: MarketContext, listing: number): number {
  return lastChange(now, drawTimeline(now, makeRandom(seed, 'listing', listing)));
}

/** The Property record with this serial, with its media, rooms, unit types and open houses. */
export function makeListing(market: MarketContext, listing: number): ImportRecord {
  const random = makeRandom(market.seed, 'listing', listing);
  return listingOf(market, listing, drawTimeline(market.now, random), market.now, random);
}

/**
 * A Property record that comes to the market at this moment, which may be long after the market was made.
 * @param listing a serial beyond those of the market
 */
export function makeFreshListing(market: MarketContext, listing: number, now: number): ImportRecord {
  const random = makeRandom(market.seed, 'fresh listing', listing);
  return listingOf(market, listing, freshTimeline(now, random), now, random);
}

function listingOf(
  market: MarketContext,
  listing: number,
  timeline: Timeline,
  now: number,
  random: Random,
): ImportRecord {
  const premises = drawPremises(random, new Date(timeline.contract).getUTCFullYear(), hasPlan(listing));
  const value = marketValue(premises, timeline, now, random);
  const prices = drawPrices(value, premises.lease, timeline, random);
  const parties = drawParties(market, timeline, random);
  const { system } = parties;
  const key = makeKey('listing', timeline.entered, listing);
  const rooms = drawRooms(premises, random, hasPlan(listing));
  const { building, neighborhood } = premises;
  const units = building && drawUnits(key, building, neighborhood.pricePerFoot, random);
  const media = drawMedia(
    {
      listing: key,
      system: system.id,
      entered: timeline.entered,
      ...(hasPlan(listing) ? { plan: FIRST_PLAN + listing } : {}),
    },
    premises,
    rooms,
    random,
  );
  const children = {
    Media: media.records,
    Rooms: roomRecords(rooms, key, random),
    UnitTypes: units?.records ?? [],
    OpenHouses: drawOpenHouses(key, parties.agentKey, timeline, now, random),
  };
  return withChildren(
    children,
    {
      ListingKey: key,
      ListingId: `${system.prefix}${(FIRST_NUMBER + listing).toString()}`,
      OriginatingSystemID: system.id,
      OriginatingSystemName: system.name,
      OriginatingSystemKey: key,
      PropertyType: premises.propertyType,
      PropertySubType: premises.subType,
    },
    historyFields(timeline, prices, random),
    placeFields(premises, random),
    lotFields(premises, random),
    buildingFields(premises, rooms, random),
    interiorFields(premises, random),
    exteriorFields(premises, random),
    financeFields(premises, timeline, value, units?.rent ?? 0, random),
    parties.fields,
    displayFields(random),
    showingFields(premises, random),
    customValues(premises, timeline.contract, random),
    {
      PublicRemarks: writeRemarks(premises, rooms, random),
      PhotosCount: media.photos,
      VideosCount: media.videos,
      DocumentsCount: media.documents,
    },
  );
}
