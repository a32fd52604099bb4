/** Small records, without the fields that do not matter to tests. */
import type { Json } from './world.ts';

export const listing = (key: string, fields: Json = {}): Json => ({
  ListingKey: key,
  StandardStatus: 'Active',
  ...fields,
});

export const photo = (key: string, fields: Json = {}): Json => ({
  MediaKey: key,
  MediaCategory: 'Photo',
  MediaURL: `https://images.example/${key}.jpg`,
  ...fields,
});

export const floorPlan = (key: string, fields: Json = {}): Json => ({
  MediaKey: key,
  MediaCategory: 'Floor Plan',
  MediaURL: `plans/${key}.svg`,
  ...fields,
});

/** A photo as a separate record, not nested in its listing. */
export const photoOf = (listingKey: string, key: string, fields: Json = {}): Json =>
  photo(key, { ResourceName: 'Property', ResourceRecordKey: listingKey, ...fields });

export const room = (key: string, fields: Json = {}): Json => ({ RoomKey: key, ...fields });
export const unit = (key: string, fields: Json = {}): Json => ({ UnitTypeKey: key, ...fields });
export const openHouse = (key: string, fields: Json = {}): Json => ({ OpenHouseKey: key, ...fields });

export const member = (key: string, fields: Json = {}): Json => ({
  MemberKey: key,
  MemberFullName: `Agent ${key}`,
  MemberStatus: 'Active',
  ...fields,
});

export const office = (key: string, fields: Json = {}): Json => ({
  OfficeKey: key,
  OfficeName: `Office ${key}`,
  OfficeStatus: 'Active',
  ...fields,
});
