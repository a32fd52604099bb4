/** Records with unusual content: empty fields, boundary values, unusual characters, links to missing records. */
import type { FieldValue } from '../../../src/dictionary/index.ts';
import { makeRandom, type Random } from '../random.ts';
import {
  FINE_DECIMALS,
  LARGE_DECIMALS,
  ODD_DATES,
  ODD_DECIMALS,
  ODD_INTEGERS,
  ODD_KEYS,
  ODD_MOMENTS,
  ODD_PLACES,
  ODD_TEXTS,
  ODD_YEARS,
} from './odd-values.ts';

export type Values = Readonly<Record<string, FieldValue>>;
/** A listing with its children, by navigation. */
export interface OddListing {
  readonly values: Values;
  readonly children: Readonly<Record<string, readonly Values[]>>;
}

const SYSTEMS = ['M00000412', 'M00000587'] as const;
const LISTINGS = 60;

type Fill = (random: Random) => FieldValue;

const one =
  (values: readonly FieldValue[]): Fill =>
  (random) =>
    random.pick(values);
const some =
  (values: readonly string[]): Fill =>
  (random) =>
    values.filter(() => random.chance(0.3));
const text: Fill = one(ODD_TEXTS);
const flag: Fill = one([true, false]);
const long: Fill = (random) =>
  random.chance(0.2)
    ? `${'\u{1f3e0} long '.repeat(570)}${random.pick(ODD_TEXTS)}`.slice(0, 4100)
    : `${random.pick(ODD_TEXTS)} ${random.pick(ODD_TEXTS)} ${random.pick(ODD_TEXTS)}`;

/** Lookup values in both spellings, and a text that is not in the lookup. */
const STATUSES = [
  'Active',
  'Active Under Contract',
  'ActiveUnderContract',
  'ComingSoon',
  'Closed',
  'Pending',
  'Hold',
];
const APPLIANCES = [
  'Dishwasher',
  'Gas Oven',
  'GasOven',
  'Washer/Dryer',
  'WasherDryer',
  'Oven',
  "Chef's *",
  '',
];

const LISTING: Readonly<Record<string, Fill>> = {
  StandardStatus: one(STATUSES),
  MlsStatus: one(['Active', 'ActiveUnderContract', 'Sold', '']),
  PropertyType: one(['Residential', 'ResidentialLease', 'Residential Lease', 'Land']),
  City: text,
  StreetName: text,
  UnparsedAddress: text,
  SubdivisionName: text,
  ParcelNumber: text,
  OwnerName: text,
  PublicRemarks: long,
  PrivateRemarks: long,
  Appliances: some(APPLIANCES),
  View: some(['Lake', 'City', 'CityLights', 'City Lights', 'None']),
  Levels: some(['Bi-Level', 'BiLevel', 'One']),
  LakeLiving_Uses: some(['Fishing', 'No Wake', '\u{1f600}']),
  BedroomsTotal: one(ODD_INTEGERS),
  BathroomsTotalInteger: one(ODD_INTEGERS),
  YearBuilt: one(ODD_YEARS),
  StreetNumberNumeric: one([0, 2_147_483_647, -2_147_483_648, 9_999_999_999]),
  ListPrice: one([...ODD_DECIMALS, ...LARGE_DECIMALS]),
  ClosePrice: one([...ODD_DECIMALS, ...LARGE_DECIMALS]),
  LivingArea: one(ODD_DECIMALS),
  LotSizeAcres: one([...ODD_DECIMALS, ...FINE_DECIMALS].map((number) => number)),
  Winter_HeatingCost: one(ODD_DECIMALS),
  WaterfrontYN: flag,
  PoolPrivateYN: flag,
  InternetEntireListingDisplayYN: flag,
  InternetAddressDisplayYN: flag,
  ListingContractDate: one(ODD_DATES),
  OnMarketDate: one(ODD_DATES),
  CloseDate: one(ODD_DATES),
  ModificationTimestamp: one(ODD_MOMENTS),
  OriginalEntryTimestamp: one(ODD_MOMENTS),
  StatusChangeTimestamp: one(ODD_MOMENTS),
};

const MEDIA: Readonly<Record<string, Fill>> = {
  MediaCategory: one(['Photo', 'Floor Plan', 'FloorPlan', 'Document']),
  MediaURL: text,
  ShortDescription: one(ODD_TEXTS.filter((value) => [...value].length <= 50)),
  LongDescription: text,
  Order: one(ODD_INTEGERS),
  ImageWidth: one([0, 1, 99_999_999]),
  PreferredPhotoYN: flag,
  Permission: some(['Public', 'IDX', 'Idx', 'Private', 'VOW']),
  MediaModificationTimestamp: one(ODD_MOMENTS),
  ModificationTimestamp: one(ODD_MOMENTS),
};

const ROOM: Readonly<Record<string, Fill>> = {
  RoomType: one(['Kitchen', 'Living Room', 'LivingRoom', 'Bedroom', '']),
  RoomLevel: one(['Main', 'Upper', 'Lower']),
  RoomDescription: text,
  RoomArea: one(ODD_DECIMALS),
  RoomLength: one(ODD_DECIMALS),
  RoomFeatures: some(['Pantry', 'Walk-In Closet(s)', 'WalkInClosets', '%']),
};

const UNIT: Readonly<Record<string, Fill>> = {
  UnitTypeType: one(['Studio', '1 Bedroom', 'OneBedroom']),
  UnitTypeDescription: text,
  UnitTypeBedsTotal: one(ODD_INTEGERS),
  UnitTypeActualRent: one(ODD_DECIMALS),
  UnitTypeGarageAttachedYN: flag,
};

const OPEN_HOUSE: Readonly<Record<string, Fill>> = {
  OpenHouseDate: one(ODD_DATES),
  OpenHouseStartTime: one(ODD_MOMENTS),
  OpenHouseEndTime: one(ODD_MOMENTS),
  OpenHouseRemarks: text,
  OpenHouseStatus: one(['Active', 'Canceled', 'Ended']),
  AppointmentRequiredYN: flag,
};

const MEMBER: Readonly<Record<string, Fill>> = {
  MemberFirstName: one(ODD_TEXTS.filter((value) => [...value].length <= 50)),
  MemberLastName: text,
  MemberFullName: text,
  MemberEmail: text,
  MemberCity: text,
  MemberLanguages: some(['English', 'French', "O'odham"]),
  MemberStatus: one(['Active', 'Inactive']),
  MemberDesignation: some(['CRS', 'GRI']),
  ModificationTimestamp: one(ODD_MOMENTS),
};

const OFFICE: Readonly<Record<string, Fill>> = {
  OfficeName: text,
  OfficeCity: text,
  OfficeStatus: one(['Active', 'Inactive']),
  OfficePhone: one(['555', '', '%']),
  NumberOfBranches: one(ODD_INTEGERS),
  ModificationTimestamp: one(ODD_MOMENTS),
};

/** Fills each field with the probability `full`, in the order of the table. */
function filled(random: Random, table: Readonly<Record<string, Fill>>, full: number): Values {
  const values: Record<string, FieldValue> = {};
  for (const [name, fill] of Object.entries(table)) if (random.chance(full)) values[name] = fill(random);
  return values;
}

const keyOf = (index: number, kind: string): string => `${ODD_KEYS[index % ODD_KEYS.length]}-${kind}${index}`;

function children(
  random: Random,
  parent: string,
  kind: string,
  key: string,
  table: Readonly<Record<string, Fill>>,
) {
  const count = random.chance(0.45) ? 0 : random.between(1, 4);
  return Array.from({ length: count }, (_, index) => ({
    ...filled(random, table, index === 0 ? 0.2 : 0.7),
    [key]: `${parent}/${kind}${index}`,
  }));
}

export interface OddRecords {
  readonly members: readonly Values[];
  readonly offices: readonly Values[];
  readonly listings: readonly OddListing[];
  /** Media of members, and of listings that do not exist. */
  readonly media: readonly Values[];
}

/** @param agents keys of the market's members that odd listings may also refer to */
export function makeOddRecords(agents: readonly string[]): OddRecords {
  const random = makeRandom(2026);
  const offices = Array.from({ length: 6 }, (_, index) => ({
    ...filled(random, OFFICE, index === 0 ? 0 : 0.7),
    OfficeKey: keyOf(index, 'office'),
    OriginatingSystemID: SYSTEMS[index % 2] ?? SYSTEMS[0],
  }));
  const officeKey = (): FieldValue =>
    random.pick([...offices.map((office) => office.OfficeKey), 'no such office', null]);
  const members = Array.from({ length: 12 }, (_, index) => ({
    ...filled(random, MEMBER, index === 0 ? 0 : 0.7),
    MemberKey: keyOf(index, 'member'),
    OriginatingSystemID: SYSTEMS[index % 2] ?? SYSTEMS[0],
    OfficeKey: officeKey(),
  }));
  const memberKey = (): FieldValue =>
    random.pick([
      ...members.map((member) => member.MemberKey),
      random.pick(agents),
      'no such agent',
      null,
      null,
    ]);
  const listings = Array.from({ length: LISTINGS }, (_, index): OddListing => {
    const key = keyOf(index, 'listing');
    // The first ones are nearly empty; the last ones have a value in every field.
    const full = index < 3 ? 0 : index > LISTINGS - 4 ? 1 : 0.65;
    const [latitude, longitude] = random.pick(ODD_PLACES);
    const values: Values = {
      ...filled(random, LISTING, full),
      ...(random.chance(0.6) ? { Latitude: latitude, Longitude: longitude } : {}),
      ...(random.chance(0.1) ? { Latitude: latitude, Longitude: null } : {}),
      ListingKey: key,
      OriginatingSystemID: random.pick([...SYSTEMS, null]),
      ListAgentKey: memberKey(),
      CoListAgentKey: memberKey(),
      BuyerAgentKey: memberKey(),
      ListOfficeKey: officeKey(),
    };
    return {
      values,
      children: {
        Media: children(random, key, 'media', 'MediaKey', MEDIA),
        Rooms: children(random, key, 'room', 'RoomKey', ROOM),
        UnitTypes: children(random, key, 'unit', 'UnitTypeKey', UNIT),
        OpenHouses: children(random, key, 'open', 'OpenHouseKey', OPEN_HOUSE).map((open) => ({
          ...open,
          ShowingAgentKey: memberKey(),
        })),
      },
    };
  });
  const media = ['member', 'listing'].flatMap((kind) =>
    Array.from({ length: 3 }, (_, index) => ({
      ...filled(random, MEDIA, 0.7),
      MediaKey: `${kind}-media${index}`,
      ResourceName: kind === 'member' ? 'Member' : 'Property',
      ResourceRecordKey: kind === 'member' ? (members[index]?.MemberKey ?? null) : `gone ${index}`,
    })),
  );
  return { members, offices, listings, media };
}
