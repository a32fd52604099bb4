/** A small handmade market for tests of the native interface. */
import { floorPlan, listing, member, office, openHouse, photo, room, unit } from '../../support/builders.ts';
import type { Json, World } from '../../support/world.ts';

export const SYSTEM = 'M00000571';
export const OTHER_SYSTEM = 'M00000628';

/** Keys in bytewise order, which is neither that of numbers nor that of a language's collation. */
export const KEYS = [
  '20260101000000000000000001',
  '20260101000000000000000002',
  '20260101000000000000000003',
  '20260101000000000000000004',
  '20260101000000000000000005',
  '20260101000000000000000006',
  '20260101000000000000000007',
  '3',
  'A B/1',
  'a',
  'Ä',
  '日',
] as const;

/** Listings of the same market that only the private role sees. */
export const HIDDEN_KEYS = ['20260101000000000000000002x', '4'] as const;

export const cities = ['Fargo', 'Moorhead', "Land O'Lakes"] as const;

const at = (minute: number): string => new Date(Date.UTC(2026, 5, 1, 12, minute, 0, 900)).toISOString();

export const MODIFIED: ReadonlyMap<string, string> = new Map(KEYS.map((key, index) => [key, at(index)]));

export const [FIRST, SECOND, THIRD] = KEYS;

/** The sub-resources of the first listing. */
export const PARTS: Json = {
  Media: [
    floorPlan('F1', {
      Order: 0,
      MediaType: 'svg',
      FloplanKey: '2355',
      FloplanImageType: ['all_in_one_png'],
      ShortDescription: 'Ground floor',
    }),
    photo('P2', { Order: 2, ShortDescription: 'Kitchen', LongDescription: 'The kitchen' }),
    photo('P1', { Order: 1, PreferredPhotoYN: true }),
    photo('P9', { Order: 9, Permission: ['Private'] }),
    { MediaKey: 'V1', MediaCategory: 'Video', MediaType: 'mp4', MediaURL: 'https://videos.example/1' },
    { MediaKey: 'T1', MediaCategory: 'Unbranded Virtual Tour', MediaURL: 'https://tours.example/1' },
    { MediaKey: 'T2', MediaCategory: 'Branded Virtual Tour', MediaURL: 'https://tours.example/2' },
    {
      MediaKey: 'D1',
      MediaCategory: 'Document',
      MediaURL: 'https://docs.example/1.pdf',
      ShortDescription: 'Deed',
    },
  ],
  Rooms: [
    room('R2', { RoomType: 'Bedroom', RoomLevel: 'Upper', RoomLength: 12.5, RoomFeatures: ['Closet'] }),
    room('R1', { RoomType: 'Kitchen' }),
  ],
  UnitTypes: [unit('U1', { UnitTypeType: '1 Bedroom', UnitTypeBedsTotal: 1 })],
  OpenHouses: [
    openHouse('H1', {
      OpenHouseDate: '2026-06-06',
      OpenHouseStartTime: '2026-06-06T14:00:00Z',
      OpenHouseEndTime: '2026-06-06T16:30:00Z',
      OpenHouseRemarks: 'Coffee & cake',
    }),
  ],
};

export const MEMBERS: readonly Json[] = [
  member('K1', {
    MemberFullName: 'John Miller',
    MemberFirstName: 'John',
    MemberLastName: 'Miller',
    MemberPreferredPhone: '555-0101',
    MemberMobilePhone: '555-0102',
    MemberEmail: 'john@agents.example',
    MemberStateLicense: 'L-1',
    OfficeKey: 'O1',
    OfficeName: 'Lake Homes',
    OriginatingSystemID: SYSTEM,
    Media: [photo('K1P', { MediaURL: 'https://images.example/john.jpg' })],
  }),
  member('B2', { MemberFullName: 'Ann Berg', MemberStatus: null, OfficeKey: 'O1' }),
  member('M3', { MemberFullName: 'Zoe Quinn', MemberStatus: 'Inactive' }),
];

export const OFFICES: readonly Json[] = [
  office('O1', {
    OfficeName: 'Lake Homes',
    OfficePhone: '555-0201',
    OfficeEmail: 'desk@lake.example',
    FranchiseAffiliation: 'Great Lakes',
    MainOfficeKey: 'O1',
    OfficeAddress1: '1 Main',
    OfficeCity: 'Fargo',
    OriginatingSystemID: SYSTEM,
  }),
  office('K1', { OfficeName: 'Kay One' }),
  office('O9', { OfficeName: 'Closed Office', OfficeStatus: 'Inactive' }),
];

export function marketListing(key: string, fields: Json = {}): Json {
  const index = Math.max(0, (KEYS as readonly string[]).indexOf(key));
  return listing(key, {
    OriginatingSystemID: index === 11 ? OTHER_SYSTEM : SYSTEM,
    StandardStatus: index % 4 === 3 ? 'Pending' : 'Active',
    ListPrice: index === 5 ? null : 100_000 + ((index * 5) % 12) * 10_000,
    BedroomsTotal: index % 5,
    City: cities[index % 3] ?? '',
    PostalCode: '58102',
    ListAgentKey: index % 2 === 0 ? 'K1' : 'B2',
    ListOfficeKey: 'O1',
    PrivateRemarks: `Call first, ${index}`,
    Appliances: index % 2 === 0 ? ['Dishwasher', 'Oven'] : [],
    ...fields,
  });
}

/** Stores the market, one listing a minute from 2026-06-01 12:00 on, and sets the clock to 13:00. */
export async function fillMarket({ write, clock }: World): Promise<void> {
  clock.set('2026-06-01T12:00:00.500Z');
  await write('Office', ...OFFICES);
  await write('Member', ...MEMBERS);
  for (const [key, modified] of MODIFIED) {
    clock.set(modified);
    await write('Property', marketListing(key, key === FIRST ? PARTS : {}));
  }
  clock.set('2026-06-01T12:30:00.900Z');
  const [withdrawn, undisplayed] = HIDDEN_KEYS;
  await write(
    'Property',
    marketListing(withdrawn, { StandardStatus: 'Withdrawn', Media: [photo('W1')] }),
    marketListing(undisplayed, { InternetEntireListingDisplayYN: false }),
  );
  clock.set('2026-06-01T13:00:00Z');
}
