/** A small handmade market: 25 listings of one system and five of another, all visible to every role. */
import { floorPlan, listing, member, office, openHouse, photo, room, unit } from '../../support/builders.ts';
import type { Json, World } from '../../support/world.ts';

export const SYSTEM = 'M00000571';
export const OTHER_SYSTEM = 'M00000628';

const STATUSES = ['Active', 'Pending', 'Closed', 'Active Under Contract', 'Coming Soon'] as const;
const FEATURES = ['Accessible Doors', 'Accessible Kitchen', 'Accessible Entrance'] as const;
const CITIES = ['Bremen', 'Åland', 'Zug', "Coeur d'Alene"] as const;

export interface MarketRow {
  readonly key: string;
  readonly system: string;
  readonly status: (typeof STATUSES)[number];
  readonly price: number;
  readonly bedrooms: number | null;
  readonly contractDate: string;
  readonly entered: string;
  readonly features: readonly string[];
  readonly city: string;
  /** The time when the listing is stored. */
  readonly modified: string;
}

const minute = (index: number): string => new Date(Date.UTC(2026, 5, 1, 12, index, 0, 900)).toISOString();

function marketRow(index: number): MarketRow {
  const own = index < 25;
  return {
    key: own ? String(1001 + index) : String(index - 23),
    system: own ? SYSTEM : OTHER_SYSTEM,
    status: STATUSES[index % STATUSES.length] ?? 'Active',
    price: 100_000 + ((index * 7) % 30) * 12_500.5,
    bedrooms: index % 6 === 5 ? null : index % 6,
    contractDate: `2026-0${1 + (index % 5)}-${String(1 + (index % 28)).padStart(2, '0')}`,
    entered: `2026-01-${String(1 + (index % 28)).padStart(2, '0')}T08:30:00.${String(index).padStart(3, '0')}Z`,
    features: FEATURES.filter((_, bit) => (index >> bit) & 1),
    city: CITIES[index % CITIES.length] ?? '',
    modified: minute(index),
  };
}

/** In bytewise order of the keys: 1001 … 1025, then 2 … 6. */
export const MARKET: readonly MarketRow[] = Array.from({ length: 30 }, (_, index) => marketRow(index));

export const KEYS: readonly string[] = MARKET.map(({ key }) => key);

/** The keys of the rows for which `holds` is true. */
export const keysWhere = (holds: (row: MarketRow) => boolean): string[] =>
  MARKET.filter(holds).map(({ key }) => key);

export function marketListing(row: MarketRow, fields: Json = {}): Json {
  return listing(row.key, {
    OriginatingSystemID: row.system,
    StandardStatus: row.status,
    ...(row.status === 'Closed' ? { CloseDate: '2026-03-01' } : {}),
    ListPrice: row.price,
    BedroomsTotal: row.bedrooms,
    ListingContractDate: row.contractDate,
    OriginalEntryTimestamp: row.entered,
    AccessibilityFeatures: row.features,
    City: row.city,
    ListAgentKey: `A${1 + (Number(row.key) % 3)}`,
    ListOfficeKey: `O${1 + (Number(row.key) % 2)}`,
    ...fields,
  });
}

export const MEMBERS: readonly Json[] = [
  member('A1', { MemberPreferredPhone: '555-0101', MemberEmail: 'one@agents.example', OfficeKey: 'O1' }),
  member('A2', { MemberPreferredPhone: '555-0102', OfficeKey: 'O1' }),
  member('A3', { MemberPreferredPhone: '555-0103', OfficeKey: 'O2', MemberStatus: 'Inactive' }),
];

export const OFFICES: readonly Json[] = [
  office('O1', { OfficePhone: '555-0201', OfficeEmail: 'desk@office.example' }),
  office('O2', { OfficePhone: '555-0202', MainOfficeKey: 'O1' }),
];

/** The sub-resources of listing 1001. */
export const PARTS: Json = {
  Media: [
    photo('1001-P2', { Order: 2 }),
    photo('1001-P1', { Order: 1, PreferredPhotoYN: true }),
    floorPlan('1001-F1', { Order: 3, FloplanKey: '77', FloplanImageType: ['all_in_one_png'] }),
  ],
  Rooms: [
    room('1001-R1', { RoomType: 'Kitchen', RoomLevel: 'First' }),
    room('1001-R2', { RoomType: 'Bedroom' }),
  ],
  UnitTypes: [unit('1001-U1', { UnitTypeBedsTotal: 2 })],
  OpenHouses: [openHouse('1001-H1', { OpenHouseDate: '2026-06-06' })],
};

/** Stores the market, one listing a minute from 2026-06-01 12:00 on, and sets the clock to 13:00. */
export async function fillMarket({ write, clock }: World): Promise<void> {
  clock.set('2026-06-01T11:59:00Z');
  await write('Office', ...OFFICES);
  await write('Member', ...MEMBERS);
  for (const row of MARKET) {
    clock.set(row.modified);
    await write('Property', marketListing(row, row.key === '1001' ? PARTS : {}));
  }
  clock.set('2026-06-01T13:00:00Z');
}
