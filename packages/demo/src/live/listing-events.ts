/** What happens to one listing of a market, or to its agent: the record as it was becomes the record to import. */

import { drawPhone } from '../contacts.ts';
import { DAY, dateText, startOfDay, timestampText } from '../dates.ts';
import { mlsStatus } from '../listing/history-fields.ts';
import { photoRecord } from '../listing/media.ts';
import { nextSaturday, openHouseRecord } from '../listing/open-houses.ts';
import { roundPrice } from '../listing/price.ts';
import type { Status } from '../listing/timeline.ts';
import { SCENES } from '../media-keys.ts';
import type { Random } from '../random.ts';
import { childrenOf, type ImportRecord, type MarketRecord, numberOf, textOf } from '../records.ts';
import type { FieldValues } from '../values.ts';

export type EventKind =
  | 'price change'
  | 'status move'
  | 'photo added'
  | 'photo removed'
  | 'open house added'
  | 'open house canceled'
  | 'agent phone changed';

/** What happened, and the record to import because of it: whole, as an import replaces what it names. */
export interface MarketEvent extends MarketRecord {
  readonly kind: EventKind;
}

interface Context {
  /** The Member record of the listing agent, where there is one. */
  readonly agent: FieldValues | undefined;
  /** When it happens. */
  readonly now: Date;
}

/** The next statuses of each, with their weights. What is over stays over. */
const MOVES: Readonly<Record<Status, readonly (readonly [Status, number])[]>> = {
  'Coming Soon': [
    ['Active', 9],
    ['Withdrawn', 1],
  ],
  Active: [
    ['Active Under Contract', 30],
    ['Pending', 45],
    ['Hold', 6],
    ['Withdrawn', 8],
    ['Canceled', 6],
    ['Expired', 5],
  ],
  'Active Under Contract': [
    ['Pending', 8],
    ['Active', 2],
  ],
  Pending: [
    ['Closed', 9],
    ['Active', 1],
  ],
  Hold: [
    ['Active', 8],
    ['Canceled', 2],
  ],
  Withdrawn: [
    ['Active', 5],
    ['Canceled', 5],
  ],
  Closed: [],
  Expired: [],
  Canceled: [],
};

/** Whether a listing of this status stays as it is. */
export const isOver = (status: Status): boolean => MOVES[status].length === 0;

/** The status of a listing; undefined when it has none of this market's. */
export function statusOf(listing: ImportRecord): Status | undefined {
  const status = textOf(listing, 'StandardStatus');
  return status !== undefined && isStatus(status) ? status : undefined;
}

/** Whether a text is a status of the market. */
function isStatus(status: string): status is Status {
  return Object.hasOwn(MOVES, status);
}

const days = (from: string | undefined, to: number): number =>
  from === undefined ? 0 : Math.max(0, Math.round((startOfDay(to) - Date.parse(from)) / DAY));

function changePrice(random: Random, listing: ImportRecord): ImportRecord {
  const price = numberOf(listing, 'ListPrice') ?? 0;
  const factor = random.chance(0.85) ? random.between(0.94, 0.985) : random.between(1.01, 1.04);
  const lease = textOf(listing, 'PropertyType') === 'Residential Lease';
  const step = lease ? 25 : 500;
  const wanted = lease ? Math.round((price * factor) / 25) * 25 : roundPrice(price * factor, random);
  const changed = Math.max(step, wanted === price ? price - step : wanted);
  return { ...listing, ListPrice: changed, PreviousListPrice: price, MajorChangeType: 'Price Change' };
}

function without(listing: ImportRecord, ...fields: readonly string[]): ImportRecord {
  return Object.fromEntries(Object.entries(listing).filter(([field]) => !fields.includes(field)));
}

const CONTRACT_FIELDS = [
  'PurchaseContractDate',
  'PendingTimestamp',
  'ContingentDate',
  'OffMarketDate',
  'OffMarketTimestamp',
];

function moveStatus(random: Random, listing: ImportRecord, from: Status, now: number): ImportRecord {
  const to = random.weighted(MOVES[from]);
  const today = dateText(now);
  const moved: ImportRecord = {
    ...listing,
    StandardStatus: to,
    MlsStatus: mlsStatus(to),
    MajorChangeType: to,
    ContractStatusChangeDate: today,
  };
  const offMarket = { OffMarketDate: today, OffMarketTimestamp: timestampText(now) };
  const counted = { DaysOnMarket: days(textOf(listing, 'OnMarketDate'), now) };
  switch (to) {
    case 'Active': {
      const again = from !== 'Coming Soon';
      const open = without(moved, ...CONTRACT_FIELDS, 'WithdrawnDate', 'ActivationDate');
      return again
        ? { ...open, MajorChangeType: 'Back On Market', BackOnMarketDate: today }
        : { ...open, MajorChangeType: 'New Listing', OnMarketDate: today };
    }
    case 'Active Under Contract':
      return { ...moved, ...counted, PurchaseContractDate: today, ContingentDate: today };
    case 'Pending': {
      const signed = textOf(listing, 'PurchaseContractDate') ?? today;
      return {
        ...without(moved, 'ContingentDate'),
        ...counted,
        ...offMarket,
        PurchaseContractDate: signed,
        PendingTimestamp: timestampText(now),
      };
    }
    case 'Closed': {
      const price = numberOf(listing, 'ListPrice') ?? 0;
      const lease = textOf(listing, 'PropertyType') === 'Residential Lease';
      return {
        ...moved,
        CloseDate: today,
        ClosePrice: lease ? price : Math.round((price * random.between(0.96, 1.02)) / 100) * 100,
        // The listing agent has found the buyer too, unless another is named already.
        BuyerAgentKey: listing.BuyerAgentKey ?? listing.ListAgentKey ?? null,
        BuyerOfficeKey: listing.BuyerOfficeKey ?? listing.ListOfficeKey ?? null,
      };
    }
    case 'Withdrawn':
      return { ...moved, ...counted, ...offMarket, WithdrawnDate: today };
    case 'Canceled':
      return { ...moved, ...counted, ...offMarket, CancellationDate: today };
    case 'Expired':
      return { ...moved, ...counted, ...offMarket, ExpirationDate: today };
    case 'Hold':
    case 'Coming Soon':
      return { ...moved, ...offMarket };
  }
}

const isPhoto = (media: FieldValues): boolean => media.MediaCategory === 'Photo';

/** The number after the highest that the keys of these children carry. */
function nextSerial(children: readonly FieldValues[], key: string, pattern: RegExp): number {
  const numbers = children.map((child) => Number(pattern.exec(String(child[key]))?.[1] ?? 0));
  return Math.max(0, ...numbers) + 1;
}

/** Photos in their order, numbered from 0, the first one preferred; other media after them. */
function arrange(photos: readonly FieldValues[], others: readonly FieldValues[]): FieldValues[] {
  return [
    ...photos.map((photo, order) => ({ ...photo, Order: order, PreferredPhotoYN: order === 0 })),
    ...others.map((media, index) => ({ ...media, Order: photos.length + index })),
  ];
}

function changePhotos(random: Random, listing: ImportRecord, add: boolean, now: number): ImportRecord {
  const media = childrenOf(listing, 'Media');
  const photos = media.filter(isPhoto);
  const others = media.filter((record) => !isPhoto(record));
  const kept = add ? photos : photos.toSpliced(random.integer(0, photos.length - 1), 1);
  if (add) {
    const serial = nextSerial(photos, 'MediaKey', /-P(\d+)-/);
    const scene = random.pick(SCENES.filter((known) => known !== 'lot'));
    const land = textOf(listing, 'PropertyType') === 'Land';
    const photo = photoRecord(textOf(listing, 'ListingKey') ?? '', serial - 1, land ? 'lot' : scene, random);
    kept.push({ ...photo, MediaModificationTimestamp: timestampText(now) });
  }
  return { ...listing, Media: arrange(kept, others), PhotosCount: kept.length };
}

/** The open houses that are still to come; those of the past leave with the next change. */
function comingHouses(listing: ImportRecord, now: number): readonly FieldValues[] {
  const today = dateText(now);
  return childrenOf(listing, 'OpenHouses').filter(({ OpenHouseDate }) => String(OpenHouseDate) >= today);
}

function addOpenHouse(random: Random, listing: ImportRecord, now: number): ImportRecord {
  const serial = nextSerial(childrenOf(listing, 'OpenHouses'), 'OpenHouseKey', /-O(\d+)$/);
  const day = nextSaturday(now) + random.integer(0, 3) * 7 * DAY + random.integer(0, 1) * DAY;
  const agent = textOf(listing, 'ListAgentKey') ?? '';
  const house = openHouseRecord(textOf(listing, 'ListingKey') ?? '', serial, day, agent, random);
  return { ...listing, OpenHouses: [...comingHouses(listing, now), house] };
}

function cancelOpenHouse(random: Random, listing: ImportRecord, now: number): ImportRecord {
  const coming = comingHouses(listing, now);
  return { ...listing, OpenHouses: coming.toSpliced(random.integer(0, coming.length - 1), 1) };
}

/** The most photos that events lead to; the more there are, the rarer another one is. */
const MOST_PHOTOS = 40;
/** The most open houses of one listing that are still to come. */
const MOST_HOUSES = 4;

/** What may happen to a listing as it is, with weights. */
function possible(
  listing: ImportRecord,
  status: Status | undefined,
  hasAgent: boolean,
  now: number,
): [EventKind, number][] {
  const photos = childrenOf(listing, 'Media').filter(isPhoto).length;
  const listed = 'Media' in listing;
  const selling = status === 'Active' || status === 'Coming Soon';
  const houses = comingHouses(listing, now).length;
  const shown = status === 'Active' && 'OpenHouses' in listing;
  return [
    ['price change', selling ? 30 : 0],
    ['status move', status !== undefined && !isOver(status) ? 25 : 0],
    ['photo added', listed ? 15 * (1 - Math.min(1, photos / MOST_PHOTOS)) : 0],
    ['photo removed', photos > 1 ? 8 : 0],
    ['open house added', shown && houses < MOST_HOUSES ? 12 : 0],
    ['open house canceled', houses > 0 ? 3 : 0],
    ['agent phone changed', hasAgent ? 5 : 0],
  ];
}

/**
 * Draws what happens next to a listing: the same stream, listing and moment give the same event. Photos and open houses change
 * only where the record carries its children; what an event returns for a listing may be handed in again for the one after it.
 * @returns undefined when nothing can happen to it any more
 */
export function nextEvent(
  random: Random,
  listing: ImportRecord,
  { agent, now }: Context,
): MarketEvent | undefined {
  const status = statusOf(listing);
  const time = now.getTime();
  const choices = possible(listing, status, agent !== undefined, time).filter(([, weight]) => weight > 0);
  if (choices.length === 0) return undefined;
  const kind = random.weighted(choices);
  const changed = (record: ImportRecord): MarketEvent => ({ kind, resource: 'Property', record });
  switch (kind) {
    case 'price change':
      return changed(changePrice(random, listing));
    case 'status move':
      return status && changed(moveStatus(random, listing, status, time));
    case 'photo added':
    case 'photo removed':
      return changed(changePhotos(random, listing, kind === 'photo added', time));
    case 'open house added':
      return changed(addOpenHouse(random, listing, time));
    case 'open house canceled':
      return changed(cancelOpenHouse(random, listing, time));
    case 'agent phone changed': {
      const phone = drawPhone(random);
      return {
        kind,
        resource: 'Member',
        record: { ...agent, MemberMobilePhone: phone, MemberPreferredPhone: phone },
      };
    }
  }
}
