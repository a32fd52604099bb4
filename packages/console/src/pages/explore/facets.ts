/**
 * The market at a glance as data: which fields are counted, the request for their counts, and the conditions of values and ranges.
 * This module must not know how they are displayed.
 */
import { pathSeenBy } from '../../app/api.ts';
import { csvOf } from '../../parts/csv.ts';
import { conditionText, narrowed } from './conditions.ts';
import type { FieldInfo, ResourceInfo } from './schema.ts';
import { namesIn, type View } from './view.ts';

type FacetValue = string | number | boolean;

export interface Facet {
  readonly field: string;
  readonly values: readonly { readonly value: FacetValue; readonly records: number }[];
  /** The number of further values. */
  readonly more: number;
  readonly none: number;
}

export interface Spread {
  readonly field: string;
  readonly edges: readonly number[];
  /** The numbers of records below the first edge, between two edges, and from the last one on. */
  readonly records: readonly number[];
  readonly none: number;
  readonly least: number | null;
  readonly greatest: number | null;
}

export interface Facets {
  readonly resource: string;
  readonly records: number;
  readonly fields: readonly Facet[];
  readonly histogram?: Spread;
}

/** The fields that people look for first, of any resource. */
const FIRST_FIELDS: readonly string[] = [
  'StandardStatus',
  'PropertyType',
  'City',
  'BedroomsTotal',
  'MemberType',
  'MemberStatus',
  'MemberCity',
  'OfficeType',
  'OfficeStatus',
  'OfficeCity',
  'ResourceName',
  'MediaCategory',
  'ImageOf',
  'RoomType',
  'RoomLevel',
  'UnitTypeType',
  'OpenHouseStatus',
  'OpenHouseType',
  'OpenHouseDate',
  'LookupName',
  'UserType',
  'Status',
  'Mls',
];
const FIRST_SPREADS: readonly string[] = ['ListPrice', 'RoomArea', 'UnitTypeActualRent', 'Order'];

/** Fields that are not worth counting: long texts, and values that only one record has. */
const ALONE = /Remarks|Description|Directions|Instructions|Comments|URL|Key$|Id$|ID$|Address$|Token|Hash/;

/** The members of native accounts that both agents and offices have and whose values repeat. */
const OF_ACCOUNTS: ReadonlySet<string> = new Set(['UserType', 'Status', 'Mls']);

/** The fields whose values can be counted. */
export const countable = ({ name: resource, fields }: ResourceInfo): readonly FieldInfo[] =>
  fields.filter(({ name, kind, isList, lookup }) =>
    resource === 'accounts'
      ? OF_ACCOUNTS.has(name)
      : isList || lookup !== undefined || (kind !== 'timestamp' && kind !== 'other' && !ALONE.test(name)),
  );

/** The fields whose values can be divided into ranges. */
export const measurable = ({ fields }: ResourceInfo): readonly FieldInfo[] =>
  fields.filter(({ kind, isList }) => !isList && (kind === 'decimal' || kind === 'integer'));

export interface Asked {
  readonly fields: readonly FieldInfo[];
  readonly spread: FieldInfo | undefined;
}

/** The fields that the address names, or the default fields. */
export function askedIn(query: URLSearchParams, resource: ResourceInfo): Asked {
  const byName = new Map(resource.fields.map((field) => [field.name, field]));
  const usual = FIRST_FIELDS.filter((name) => byName.has(name));
  const given = query.get('facets');
  const names = given === null ? usual : namesIn(given);
  const spread = query.get('spread') ?? FIRST_SPREADS.find((name) => byName.has(name)) ?? '';
  return { fields: names.flatMap((name) => byName.get(name) ?? []), spread: byName.get(spread) };
}

/** The address of the counts for the records that match the filter of the view. */
export function facetsPath(view: View, { fields, spread }: Asked): string {
  const isNative = view.interface === 'native';
  const options = new URLSearchParams();
  if (fields.length > 0) options.set('fields', fields.map(({ name }) => name).join(','));
  if (spread !== undefined) options.set('histogram', spread.name);
  if (view.filter !== '') options.set(isNative ? '_filter' : '$filter', view.filter);
  const path = `${isNative ? 'v1/' : ''}${encodeURIComponent(view.resource)}`;
  return pathSeenBy(view.as, view.surface, `/facets/${path}?${options}`);
}

/** The condition for a value; undefined stands for no value. */
export const conditionOf = (view: View, field: FieldInfo, value: FacetValue | undefined): string =>
  value === undefined
    ? conditionText(view.interface, field, 'empty', '')
    : conditionText(view.interface, field, 'is', String(value));

/** A filter with the condition that a number lies between two edges; undefined: no bound on that side. */
export function between(
  view: View,
  field: FieldInfo,
  from: number | undefined,
  to: number | undefined,
): string {
  const narrow = (filter: string, operator: 'least' | 'less', edge: number | undefined): string =>
    edge === undefined
      ? filter
      : narrowed(view.interface, filter, conditionText(view.interface, field, operator, String(edge)));
  return narrow(narrow(view.filter, 'least', from), 'less', to);
}

/** A value for people. */
export function valueInWords(value: FacetValue): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return value === '' ? '(blank)' : String(value);
}

const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 });

/** A number on an axis; years are not abbreviated. */
export const shortNumber = (field: FieldInfo, number: number): string =>
  /Year/.test(field.name) ? String(number) : SHORT.format(number);

interface Range {
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly records: number;
  readonly text: string;
}

/** The ranges of a histogram. The outer ranges are omitted if they are empty. */
export function rangesOf({ edges, records }: Spread, field: FieldInfo): readonly Range[] {
  const short = (edge: number | undefined): string => (edge === undefined ? '' : shortNumber(field, edge));
  return records.flatMap((count, index): Range[] => {
    const [from, to] = [edges[index - 1], edges[index]];
    const isBeyond = from === undefined || to === undefined;
    if (isBeyond && count === 0) return [];
    const text =
      from === undefined
        ? `under ${short(to)}`
        : to === undefined
          ? `${short(from)} and more`
          : `${short(from)} to ${short(to)}`;
    return [{ from, to, records: count, text }];
  });
}

/** The counts as a CSV file, with a line for each value and for each range. */
export function csvOfFacets({ fields, histogram }: Facets): string {
  const values = fields.flatMap(({ field, values: own, none }) => [
    ...own.map(({ value, records }) => ({ field, value, records })),
    ...(none === 0 ? [] : [{ field, value: null, records: none }]),
  ]);
  const ranges =
    histogram?.records.map((records, index) => ({
      field: histogram.field,
      from: histogram.edges[index - 1] ?? null,
      to: histogram.edges[index] ?? null,
      records,
    })) ?? [];
  return csvOf(['field', 'value', 'from', 'to', 'records'], [...values, ...ranges]);
}
