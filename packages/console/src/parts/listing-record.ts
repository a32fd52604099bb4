/** A listing with its parts, as the RESO interface returns it to a role or key, and the request for it. */
import type { InContext } from './files.tsx';

export type Fields = Readonly<Record<string, unknown>>;
export type ListingRecord = Fields & InContext;

/** Makes the interface list the fields that it hides. */
export const WITH_HIDDEN = { prefer: 'odata.include-annotations="Core.Permissions"' };

const HIDDEN = '@Core.Permissions';

/** The parts of a listing, by the entity set that a role must see. */
const PARTS: readonly (readonly [set: string, navigations: readonly string[]])[] = [
  ['Media', ['Media']],
  ['PropertyRooms', ['Rooms']],
  ['PropertyUnitTypes', ['UnitTypes']],
  ['OpenHouse', ['OpenHouses']],
  ['Member', ['ListAgent', 'CoListAgent', 'BuyerAgent', 'CoBuyerAgent']],
  ['Office', ['ListOffice', 'CoListOffice', 'BuyerOffice', 'CoBuyerOffice']],
];

const NAVIGATIONS = new Set(PARTS.flatMap(([, navigations]) => navigations));

export interface ServiceDocument {
  readonly value: readonly { readonly name: string }[];
}

/** A text in a filter or key of OData. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export const recordPath = (key: string): string => `/Reso/OData/Property(${encodeURIComponent(quoted(key))})`;

/** @param sets the entity sets that the role or key sees */
export function listingPath(key: string, { value: sets }: ServiceDocument): string {
  const names = new Set(sets.map(({ name }) => name));
  const expanded = PARTS.filter(([set]) => names.has(set)).flatMap(([, navigations]) => navigations);
  const expand = expanded.length === 0 ? '' : `?$expand=${expanded.join(',')}`;
  return `${recordPath(key)}${expand}`;
}

/** The own fields of a listing, without its parts and annotations. */
export const ownFields = (record: Fields): readonly (readonly [string, unknown])[] =>
  Object.entries(record).filter(([name]) => !name.includes('@') && !NAVIGATIONS.has(name));

/** The fields that the interface reports as hidden. */
export const hiddenFields = (record: Fields): ReadonlySet<string> =>
  new Set(
    Object.entries(record)
      .filter(([name, value]) => name.endsWith(HIDDEN) && value === 'None')
      .map(([name]) => name.slice(0, -HIDDEN.length)),
  );

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The records of a part; none if the role does not see them. */
export function partOf(record: Fields, navigation: string): readonly Fields[] {
  const part = record[navigation];
  return Array.isArray(part) ? part.filter(isFields) : [];
}

export function linkedOf(record: Fields, navigation: string): Fields | undefined {
  const linked = record[navigation];
  return isFields(linked) ? linked : undefined;
}

export const textOf = (record: Fields, field: string): string | undefined => {
  const value = record[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

export const numberOf = (record: Fields, field: string): number | undefined => {
  const value = record[field];
  return typeof value === 'number' ? value : undefined;
};

/** The address of a listing, or the best substitute. */
export function addressOf(record: Fields): string {
  const whole = textOf(record, 'UnparsedAddress');
  if (whole !== undefined) return whole;
  const street = ['StreetNumber', 'StreetDirPrefix', 'StreetName', 'StreetSuffix']
    .map((field) => textOf(record, field))
    .filter((part) => part !== undefined)
    .join(' ');
  const place = textOf(record, 'City');
  const known = [street, place].filter((part) => part !== undefined && part !== '').join(', ');
  return known === '' ? 'Address not shown' : known;
}

/** Media in the order of the listing. */
export function mediaOf(record: Fields, isWanted: (category: string) => boolean): readonly Fields[] {
  return partOf(record, 'Media')
    .filter((each) => isWanted(textOf(each, 'MediaCategory') ?? ''))
    .toSorted((left, right) => (numberOf(left, 'Order') ?? 1e9) - (numberOf(right, 'Order') ?? 1e9));
}

export const isPlan = (category: string): boolean => /^floor ?plan$/i.test(category);
/** Media without a category are photos. */
export const isPhoto = (category: string): boolean => /^(?:photos?)?$/i.test(category);

/** The name of a medium for people: a text of its record, or its key. */
export const nameOfMedia = (media: Fields): string =>
  textOf(media, 'ShortDescription') ??
  textOf(media, 'ImageOf') ??
  textOf(media, 'LongDescription') ??
  textOf(media, 'MediaKey') ??
  'File';
