/** Five listings that differ in everything that the filters of the tests use; the fourth has no values. */
import { listing, member, office, openHouse, photo, room } from '../../support/builders.ts';
import type { World } from '../../support/world.ts';

export async function fillListings({ write }: World): Promise<void> {
  await write('Office', office('O1', { OfficeCity: 'Zug' }));
  await write('Member', member('A1', { MemberCity: 'Bremen', OfficeKey: 'O1' }), member('A2', {}));
  await write(
    'Property',
    listing('1', {
      StandardStatus: 'Active',
      City: 'Bremen',
      ListPrice: 250_000,
      BedroomsTotal: 3,
      LivingArea: 120,
      WaterfrontYN: true,
      ListingContractDate: '2026-03-15',
      OnMarketTimestamp: '2026-04-01T10:20:30.250Z',
      Appliances: ['Dishwasher', 'Oven'],
      Latitude: 44.76,
      Longitude: -85.62,
      ListAgentKey: 'A1',
      ListOfficeKey: 'O1',
      PublicRemarks: ' Sea view, 2 pools ',
      ParcelNumber: '123-45',
      Media: [
        photo('1-P1', { Order: 1 }),
        photo('1-P2', { Order: 2 }),
        photo('1-F1', { Order: 3, MediaCategory: 'Floor Plan' }),
      ],
      Rooms: [room('1-R1', { RoomLevel: 'First' }), room('1-R2', { RoomLevel: 'Second' })],
      OpenHouses: [openHouse('1-H1', { OpenHouseDate: '2026-06-06' })],
    }),
    listing('2', {
      StandardStatus: 'Active Under Contract',
      City: 'Åland',
      ListPrice: 400_000,
      BedroomsTotal: 4,
      LivingArea: 200,
      WaterfrontYN: false,
      ListingContractDate: '2025-12-31',
      OnMarketTimestamp: '2025-12-31T23:59:59Z',
      Appliances: ['Cooktop'],
      Latitude: 44.77,
      Longitude: -85.6,
      ListAgentKey: 'A2',
      PublicRemarks: 'Well 😀 kept',
      ParcelNumber: '9999',
      Media: [photo('2-P1', { Order: 1 })],
      OpenHouses: [openHouse('2-H1', { OpenHouseDate: '2026-05-01' })],
    }),
    listing('3', {
      StandardStatus: 'Closed',
      City: "Coeur d'Alene",
      ListPrice: 99_999.5,
      BedroomsTotal: 2,
      LivingArea: 80,
      ListingContractDate: '2024-02-29',
      OnMarketTimestamp: '2024-02-29T00:00:00Z',
      CloseDate: '2024-06-01',
      ParcelNumber: '77',
    }),
    listing('4', { StandardStatus: null }),
    listing('5', {
      StandardStatus: 'Pending',
      City: 'Zug',
      ListPrice: 1_000_000,
      BedroomsTotal: 10,
      LivingArea: 0,
      Appliances: ['Dishwasher'],
      Latitude: 47.17,
      Longitude: 8.51,
      ListAgentKey: 'A9',
    }),
  );
}
