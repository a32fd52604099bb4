import type { Random } from 'plat-demo';
import type { CustomFieldDeclaration } from '../../../src/dictionary/index.ts';
import type { Json } from '../../support/world.ts';

/** Collections of a listing, with the key fields of their members. */
export const COLLECTIONS = {
  Media: 'MediaKey',
  Rooms: 'RoomKey',
  UnitTypes: 'UnitTypeKey',
  OpenHouses: 'OpenHouseKey',
} as const;
export type Collection = keyof typeof COLLECTIONS;
export const COLLECTION_NAMES: readonly Collection[] = ['Media', 'Rooms', 'UnitTypes', 'OpenHouses'];

export const KEY_FIELDS: Readonly<Record<string, string>> = {
  Property: 'ListingKey',
  Member: 'MemberKey',
  Office: 'OfficeKey',
};

/** Every field that a record of these histories may have. */
export const FIELDS_IN_USE: readonly string[] = [
  ...[
    ...['ListPrice', 'City', 'StreetNumber', 'PublicRemarks', 'PrivateRemarks', 'BedroomsTotal'],
    ...['StandardStatus', 'CloseDate', 'InternetEntireListingDisplayYN', 'InternetAddressDisplayYN'],
    ...['ListAgentKey', 'ListOfficeKey', 'Appliances', 'Latitude', 'LivingArea'],
  ].map((name) => `Property.${name}`),
  ...['MediaCategory', 'MediaURL', 'ShortDescription', 'Permission', 'Order'].map((name) => `Media.${name}`),
  ...['PropertyRooms.RoomDescription', 'PropertyRooms.RoomType', 'PropertyUnitTypes.UnitTypeDescription'],
  ...['PropertyUnitTypes.UnitTypeBedsTotal', 'OpenHouse.OpenHouseDate', 'OpenHouse.OpenHouseRemarks'],
  ...['FullName', 'Email', 'PreferredPhone', 'Status'].map((name) => `Member.Member${name}`),
  ...['Member.OfficeKey', 'Office.OfficeName', 'Office.OfficePhone', 'Office.OfficeStatus'],
];

export const CUSTOM_FIELDS: readonly CustomFieldDeclaration[] = [
  custom('Site_Shore', 'Site', 'Shore', 'string(50)', 'idx'),
  custom('Site_Sign', 'Site', 'Sign', 'boolean', 'private'),
];
export const LATER_FIELD = custom('Site_Slope', 'Site', 'Slope', 'decimal(10,2)', 'idx');

function custom(name: string, group: string, label: string, type: string, visibility: string) {
  return { resource: 'Property', name, section: 'Main', group, label, type, class: visibility } as const;
}

/** Keys of digits of different lengths, whose numeric order differs from their byte-wise order. */
export const listingKeys = (random: Random): string => String(random.integer(1, 130));
export const memberKeys = (random: Random): string => String(random.integer(1, 12));
export const officeKeys = (random: Random): string => String(random.integer(1, 5));

const STATUSES = [
  ['Active', 4],
  ['Pending', 1],
  ['Coming Soon', 1],
  ['Closed', 1],
  ['Withdrawn', 2],
  ['Expired', 1],
] as const;

export function drawStatus(random: Random): Json {
  const status = random.weighted(STATUSES);
  // Closed listings leave the idx role's view three years after their close date.
  const closed =
    status === 'Closed' ? { CloseDate: random.pick(['2023-06-01', '2023-06-02', '2026-05-01']) } : {};
  return { StandardStatus: status, ...closed };
}

/** Values of a listing, without status, display and children. */
export function drawFacts(random: Random): Json {
  return {
    ListPrice: random.pick([450000, 99.5, 1250000.25]),
    City: random.pick(['Ely', 'Orr', 'Tower']),
    PublicRemarks: `Remark ${random.integer(1, 999)}`,
    Latitude: random.pick([47.9031, 48.1]),
    ListOfficeKey: officeKeys(random),
    ...optional(random, 'ListAgentKey', () => memberKeys(random)),
    ...optional(random, 'StreetNumber', () => String(random.integer(1, 99))),
    ...optional(random, 'PrivateRemarks', () => `Secret ${random.integer(1, 999)}`),
    ...optional(random, 'BedroomsTotal', () => random.integer(0, 9)),
    ...optional(random, 'Appliances', () => random.some(['Dishwasher', 'Dryer', 'Range'], 2)),
    ...optional(random, 'LivingArea', () => random.integer(500, 5000)),
    ...optional(random, 'Site_Shore', () => random.pick(['Sand', 'Rock'])),
    ...optional(random, 'Site_Sign', () => random.chance(0.5)),
  };
}

export function drawDisplay(random: Random): Json {
  return {
    ...optional(random, 'InternetEntireListingDisplayYN', () => random.chance(0.7)),
    ...optional(random, 'InternetAddressDisplayYN', () => random.chance(0.5)),
  };
}

/** A member of a collection. No key is ever used twice. */
export function drawChild(random: Random, collection: Collection, number: number): Json {
  const text = `${collection} ${random.integer(1, 999)}`;
  switch (collection) {
    case 'Media':
      return {
        MediaKey: `m${number}`,
        MediaCategory: random.pick(['Photo', 'Photo', 'Video', 'Document', 'Branded Virtual Tour']),
        MediaURL: `https://images.example/${number}.jpg`,
        ShortDescription: text,
        Order: random.integer(1, 20),
        ...optional(random, 'Permission', () => [random.pick(['Private', 'IDX'])]),
      };
    case 'Rooms':
      return { RoomKey: `r${number}`, RoomType: random.pick(['Bedroom', 'Kitchen']), RoomDescription: text };
    case 'UnitTypes':
      return {
        UnitTypeKey: `u${number}`,
        UnitTypeDescription: text,
        UnitTypeBedsTotal: random.integer(1, 4),
      };
    case 'OpenHouses':
      return { OpenHouseKey: `o${number}`, OpenHouseDate: '2026-06-20', OpenHouseRemarks: text };
  }
}

export function drawMember(random: Random, key: string): Json {
  return {
    MemberKey: key,
    MemberFullName: `Agent ${random.integer(1, 999)}`,
    MemberStatus: random.weighted([
      ['Active', 4],
      ['Inactive', 1],
    ]),
    OfficeKey: officeKeys(random),
    ...optional(random, 'MemberEmail', () => `agent${random.integer(1, 99)}@example.com`),
    ...optional(random, 'MemberPreferredPhone', () => `555-01${random.integer(10, 99)}`),
  };
}

export function drawOffice(random: Random, key: string): Json {
  return {
    OfficeKey: key,
    OfficeName: `Office ${random.integer(1, 999)}`,
    OfficeStatus: random.weighted([
      ['Active', 4],
      ['Inactive', 1],
    ]),
    ...optional(random, 'OfficePhone', () => `555-02${random.integer(10, 99)}`),
  };
}

const optional = (random: Random, name: string, draw: () => unknown): Json =>
  random.chance(0.6) ? { [name]: draw() } : {};

/** Changes to a member of a collection. */
export function described(collection: string, number: number): Json {
  switch (collection) {
    case 'Rooms':
      return { RoomDescription: `Changed ${number}` };
    case 'UnitTypes':
      return { UnitTypeDescription: `Changed ${number}` };
    case 'OpenHouses':
      return { OpenHouseRemarks: `Changed ${number}` };
    default:
      return { ShortDescription: `Changed ${number}` };
  }
}

/** The first change adds a field; later ones rename it, and its data stays. */
export function nextFields(fields: readonly CustomFieldDeclaration[]): CustomFieldDeclaration[] {
  if (fields.length === CUSTOM_FIELDS.length) return [...fields, LATER_FIELD];
  return fields.map((field) =>
    field.name === 'Site_Shore' ? { ...field, label: field.label === 'Shore' ? 'Beach' : 'Shore' } : field,
  );
}
