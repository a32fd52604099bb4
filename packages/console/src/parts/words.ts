/**
 * Names and values of records in a broker's words. They are derived from the names of fields, so that custom fields have words as
 * well. This module must not know where they are displayed.
 */

/** Words for names whose parts are less clear than what brokers say. */
const WORDS: Readonly<Record<string, string>> = {
  BathroomsTotalInteger: 'Bathrooms',
  BedroomsTotal: 'Bedrooms',
  ListingId: 'MLS number',
  MLSAreaMajor: 'Area',
  MlsStatus: 'Local status',
  StandardStatus: 'Status',
  UnparsedAddress: 'Address',
};

const CAPITALS = new Set([
  'AOR',
  'AVM',
  'BLM',
  'DOH1',
  'DOH2',
  'DOH3',
  'FHA',
  'ID',
  'IDX',
  'MLS',
  'TV',
  'URL',
  'VOW',
]);

/** The parts of `LotSizeArea`. The suffix YN is omitted, since the values are yes and no. */
const spaced = (name: string): string =>
  name.replace(/YN$/, '').replaceAll(/([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$2 ');

/** `ListPrice` as a title: List Price. The group of a custom field is included. */
export const titleOf = (field: string): string => spaced(field.replaceAll('_', ' '));

/** `LotSizeArea`: Lot size area. The group of a custom field, before its underscore, is omitted. */
export function wordsOf(field: string): string {
  const known = WORDS[field];
  if (known !== undefined) return known;
  const words = spaced(field.slice(field.indexOf('_') + 1))
    .split(' ')
    .map((word) => (CAPITALS.has(word.toUpperCase()) ? word.toUpperCase() : word.toLowerCase()))
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const MONEY = /(?:Price|Amount|Fee2?|Expense|Income|Rent|ProForma|AssessedValue|HeatingCost)$/;
const PLAIN = /(?:Year\w*|Key|Id|ID|Latitude|Longitude|Number\w*)$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z$/;

const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });
const DOLLARS = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 0,
});
const CENTS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' });

export const money = (amount: number): string => (Number.isInteger(amount) ? DOLLARS : CENTS).format(amount);

/** A calendar day, or a time in a time zone. @param zone of the place; absent or unknown: the reader's */
export function whenOf(text: string, zone?: string): string {
  if (DATE.test(text)) return DAY.format(new Date(text));
  const options = { dateStyle: 'medium', timeStyle: 'short' } as const;
  return inZone(zone, options).format(new Date(text));
}

/** @param zone from a record; it may be invalid */
export function inZone(zone: string | undefined, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      ...options,
      ...(zone === undefined ? {} : { timeZone: zone }),
    });
  } catch {
    return new Intl.DateTimeFormat('en-US', options);
  }
}

export const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** A value for people; a dash if it is empty. */
export function shownValue(field: string, value: unknown): string {
  if (isEmpty(value)) return '–';
  if (Array.isArray(value)) return value.map((each) => shownValue(field, each)).join(', ');
  switch (typeof value) {
    case 'boolean':
      return value ? 'Yes' : 'No';
    case 'number':
      if (MONEY.test(field)) return money(value);
      return PLAIN.test(field) ? String(value) : NUMBER.format(value);
    case 'string':
      return DATE.test(value) || MOMENT.test(value) ? whenOf(value) : value;
    default:
      return JSON.stringify(value);
  }
}

/** The words of a search, each of which must be found. */
export const searchWords = (search: string): readonly string[] =>
  search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
