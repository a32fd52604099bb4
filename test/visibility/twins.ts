/** Two markets that look the same to a role: they differ in hidden rows, hidden children, hidden fields and withheld values. */
import {
  listing,
  member,
  office,
  openHouse,
  photo,
  room,
  floorPlan as servedPlan,
  unit,
} from '../support/builders.ts';
import type { Json, World } from '../support/world.ts';

export const SYSTEM = 'M00000571';

/** Words and values that occur only in hidden places of one twin. */
export const SECRETS = {
  first: { word: 'Quartz', price: 777_001, key: 'H1', phone: '555-7001', latitude: 44.111 },
  second: { word: 'Basalt', price: 888_002, key: 'H9', phone: '555-8002', latitude: 45.222 },
} as const;

export type Twin = keyof typeof SECRETS;

/** The roles for which the twins are the same. */
export const ROLES = ['idx', 'public', 'portal'] as const;

const CITIES = ['Bremen', 'Zug', 'Åland'] as const;

/** Keys by which the native language refers to the location of a record: a hidden one, and one whose location is withheld. */
export const PLACED = {
  hidden: '20260101000000000000000002',
  withheld: '20260101000000000000000013',
} as const;

/** From the fourth on, the address of every fourth is withheld. */
export const VISIBLE: readonly string[] = Array.from({ length: 15 }, (_, index) =>
  index === 3 ? PLACED.withheld : `V${10 + index}`,
);

/** A plan with an external address: that of a plan in the store would be signed with the store's secret. */
const floorPlan = (key: string, fields: Json): Json =>
  servedPlan(key, { MediaURL: `https://plans.example/${key}.svg`, ...fields });

/** Present in both twins, in one of them, or in neither; none is visible. */
export const HIDDEN: readonly string[] = ['H1', PLACED.hidden, 'H3', 'H4', 'H9', 'none'];

/** Fields that no role of the test sees. */
const hiddenFields = (word: string, index: number): Json => ({
  PrivateRemarks: `${word} gate code ${index}`,
  OwnerName: `${word} ${index % 3}`,
  LockBoxLocation: index % 2 === 0 ? word : `${word} door`,
  ShowingInstructions: `Call ${word}`,
});

/** Fields that are null for the roles if the address is not displayed. */
const addressFields = (word: string, index: number, latitude: number): Json => ({
  StreetName: `${word} Street`,
  StreetNumber: String(index),
  UnparsedAddress: `${index} ${word} Street`,
  PostalCode: `1${String(index).padStart(4, '0')}`,
  ParcelNumber: `${word}-${index}`,
  Directions: `Left at ${word}`,
  Latitude: latitude,
  Longitude: -85.5,
});

function visibleListing(key: string, index: number, twin: Twin): Json {
  const { word, latitude } = SECRETS[twin];
  const withheld = index % 4 === 3;
  const address = withheld
    ? addressFields(word, index, latitude)
    : addressFields('Granite', index, 44.5 + index / 100);
  return listing(key, {
    OriginatingSystemID: SYSTEM,
    StandardStatus: index % 5 === 4 ? 'Pending' : 'Active',
    ListPrice: 100_000 + ((index * 7) % 15) * 10_000,
    City: CITIES[index % CITIES.length],
    PublicRemarks: `A house of granite, number ${index}`,
    InternetAddressDisplayYN: !withheld,
    ListAgentKey: `A${1 + (index % 2)}`,
    ListOfficeKey: 'O1',
    BedroomsTotal: index % 4,
    ...address,
    ...hiddenFields(word, index),
    Media: [
      photo(`${key}-P1`, { Order: 1 }),
      photo(`${key}-P2`, { Order: 2, ShortDescription: 'kitchen' }),
      photo(`${key}-S`, { Order: 3, Permission: ['Private'], ShortDescription: word }),
      floorPlan(`${key}-F`, { Order: 4, FloplanKey: `G${index}` }),
      floorPlan(`${key}-FS`, { Order: 5, FloplanKey: word, Permission: ['Private'] }),
    ],
    Rooms: [room(`${key}-R`, { RoomType: 'Kitchen' })],
    UnitTypes: [unit(`${key}-U`, { UnitTypeBedsTotal: 2 })],
    OpenHouses: [openHouse(`${key}-O`, { OpenHouseDate: '2026-06-06' })],
  });
}

function hiddenListing(key: string, index: number, twin: Twin): Json {
  const { word, price, latitude } = SECRETS[twin];
  return listing(key, {
    OriginatingSystemID: SYSTEM,
    ...(index % 2 === 0 ? { StandardStatus: 'Incomplete' } : { InternetEntireListingDisplayYN: false }),
    ListPrice: price + index,
    City: index === 2 ? 'Bremen' : word,
    PublicRemarks: `${word} and granite`,
    ListAgentKey: 'A3',
    ListOfficeKey: 'O1',
    BedroomsTotal: 9,
    ...addressFields(word, index, latitude),
    ...hiddenFields(word, index),
    Media: [photo(`${key}-P1`, { Order: 1 }), floorPlan(`${key}-F`, { FloplanKey: word })],
    Rooms: [room(`${key}-R`, { RoomType: 'Bedroom' })],
    UnitTypes: [unit(`${key}-U`, { UnitTypeBedsTotal: 7 })],
    OpenHouses: [openHouse(`${key}-O`, { OpenHouseDate: '2026-06-07' })],
  });
}

/** Stores a twin. What the roles see is stored at the same times in both. */
export async function fillTwin({ write, clock }: World, twin: Twin): Promise<void> {
  const { word, phone, key: own } = SECRETS[twin];
  const at = (minute: number): void => clock.set(new Date(Date.UTC(2026, 5, 1, 12, minute)).toISOString());
  at(0);
  await write('Office', office('O1', { OfficePhone: '555-0201', OfficeAssociationComments: phone }));
  at(1);
  await write('Office', office('O2', { OfficeStatus: 'Inactive', OfficeName: `${word} Homes` }));
  at(2);
  await write(
    'Member',
    member('A1', { OfficeKey: 'O1', MemberPreferredPhone: '555-0101', MemberHomePhone: phone }),
    member('A2', { OfficeKey: 'O1', MemberEmail: 'two@agents.example', MemberHomePhone: phone }),
  );
  at(3);
  await write('Member', member('A3', { MemberStatus: 'Inactive', MemberFullName: word, OfficeKey: 'O2' }));
  for (const [index, key] of VISIBLE.entries()) {
    at(10 + 2 * index);
    await write('Property', visibleListing(key, index, twin));
    if (index % 5 === 0) {
      at(11 + 2 * index);
      const hidden = [own, PLACED.hidden, 'H3', 'H4'][index / 5] ?? 'H4';
      await write('Property', hiddenListing(hidden, index / 5, twin));
    }
  }
  clock.set('2026-06-01T14:00:00Z');
}

/**
 * Changes a twin. What the roles see changes at the same times in both; in between, hidden records change, more of them in one twin
 * than in the other.
 */
export async function changeTwin({ write, store, clock }: World, twin: Twin, round: number): Promise<void> {
  const { word, phone, key: own } = SECRETS[twin];
  const isFirst = twin === 'first';
  const at = (minute: number): void =>
    clock.set(new Date(Date.UTC(2026, 5, 1, 15 + round, minute)).toISOString());
  const hide = async (): Promise<void> => {
    for (let more = isFirst ? 1 : 9; more > 0; more--) {
      await write('Property', { ...hiddenListing(own, round, twin), ListPrice: more });
    }
    if (isFirst) await store.remove('Property', ['H3']);
    await write('Property', hiddenListing('H3', round + 1, twin));
    await write(
      'Member',
      member('A3', { MemberStatus: 'Inactive', MemberFullName: `${word}${round}`, OfficeKey: 'O2' }),
    );
    await write('Office', office('O2', { OfficeStatus: 'Inactive', OfficeName: `${word} ${round}` }));
  };
  at(0);
  await hide();
  at(1);
  await write('Property', { ...visibleListing('V10', 0, twin), ListPrice: 1 + round });
  await hide();
  at(2);
  // The secret address of one twin changes, and the record becomes visible or hidden.
  await write('Property', {
    ...visibleListing(PLACED.withheld, 3, twin),
    ...addressFields(`${word}${round}`, 3, 44),
  });
  await write('Property', {
    ...visibleListing('V14', 4, twin),
    InternetEntireListingDisplayYN: round % 2 === 1,
  });
  await hide();
  at(3);
  if (round === 1) await store.remove('Property', ['V15']);
  await write(
    'Member',
    member('A1', { OfficeKey: 'O1', MemberPreferredPhone: `555-020${round}`, MemberHomePhone: phone }),
  );
  at(4);
  await hide();
}
