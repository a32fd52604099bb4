/**
 * The requests for pages of records over each interface, and their responses. A page is requested by the number of records to skip,
 * or by the link of the page before it.
 */
import { type About, pathSeenBy } from '../../app/api.ts';
import { hereOf } from '../../parts/every-page.ts';
import type { ResourceInfo } from './schema.ts';
import { namesIn, type View } from './view.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface Page {
  readonly rows: readonly Row[];
  /** The total number of records, if the response includes it. */
  readonly count?: number;
  /** The address of the next page, on this service; absent: the response has none. */
  readonly next?: string;
}

export interface Place {
  readonly skip: number;
  /** The link of the page before it. */
  readonly link?: string;
}

/** The number of records in a page. The regular native interface returns at most 25. */
export const pageSize = ({ interface: name, surface }: View): number =>
  name === 'native' && surface === 'api' ? 25 : 100;

/** An option, encoded for an address, except for characters that are valid and easier to read unencoded. */
const encoded = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll('%2C', ',')
    .replaceAll('%3A', ':')
    .replaceAll('%2F', '/')
    .replaceAll('%24', '$');

function address(path: string, options: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encoded(value)}`],
  );
  return given.length === 0 ? path : `${path}?${given.join('&')}`;
}

/** The root path of an interface on its surface. */
export function rootOf({ interface: name, surface }: View, { surfaces }: About): string {
  const found = surfaces.find((each) => each.name === surface);
  return (name === 'native' ? found?.nativeRoot : found?.resoRoot) ?? '/';
}

const orAbsent = (text: string): string | undefined => (text === '' ? undefined : text);

/** The path of the first page on its surface, as a client requests it. @param columns the selected columns */
export function pathOf(
  view: View,
  root: string,
  columns: readonly string[],
  place: Place,
  rows = pageSize(view),
): string {
  const select = view.select === '*' ? undefined : orAbsent(columns.join(','));
  const size = String(rows);
  const skip = place.skip === 0 ? undefined : String(place.skip);
  const count = place.skip === 0;
  if (view.interface === 'native') {
    return address(`${root}${view.resource}`, {
      _filter: orAbsent(view.filter),
      _select: select === undefined ? undefined : withParts(select, view.expand),
      _orderby: orAbsent(view.order),
      _expand: orAbsent(view.expand),
      _limit: size,
      _skip: skip,
      _pagination: count ? '1' : undefined,
    });
  }
  return address(`${root}${view.resource}`, {
    $filter: orAbsent(view.filter),
    $select: select,
    $orderby: orAbsent(view.order),
    $expand: orAbsent(view.expand),
    $count: count ? 'true' : undefined,
    $skip: skip,
    maxpagesize: size,
  });
}

/** The native interface returns an expansion only if it is also selected. */
const withParts = (select: string, expand: string): string =>
  [...namesIn(select), ...namesIn(expand)].join(',');

interface OdataBody {
  readonly value: readonly Row[];
  readonly '@odata.count'?: number;
  readonly '@odata.nextLink'?: string;
}

interface NativeBody {
  readonly D: {
    readonly Results: readonly Row[];
    readonly SkipToken?: string;
    readonly Pagination?: { readonly TotalRows: number };
  };
}

/** A native listing with its fields next to its key. */
function flat(record: Row): Row {
  const { StandardFields: fields, CustomFields: custom } = record;
  if (typeof fields !== 'object' || fields === null) return record;
  return { ...fields, ...customOf(custom), ...(custom === undefined ? {} : { CustomFields: custom }) };
}

/** Custom fields, by the names that filters and selections use: `"Group"."Field"`. */
function customOf(custom: unknown): Row {
  const found: Record<string, unknown> = {};
  const groupsOf = (part: unknown): readonly Row[] => (Array.isArray(part) ? part : []);
  for (const parts of groupsOf(custom))
    for (const part of Object.values(parts))
      for (const groups of groupsOf(part))
        for (const [group, fields] of Object.entries(groups))
          for (const field of groupsOf(fields))
            for (const [name, value] of Object.entries(field)) found[`"${group}"."${name}"`] = value;
  return found;
}

/** The page in a response. @param asked the path of the request, on this service */
export function pageOf(view: View, body: OdataBody | NativeBody, asked: string): Page {
  if ('D' in body) {
    const { Results, SkipToken, Pagination } = body.D;
    const next = new URL(asked, location.origin);
    next.searchParams.delete('_skip');
    next.searchParams.delete('_pagination');
    if (SkipToken !== undefined) next.searchParams.set('_skiptoken', SkipToken);
    return {
      rows: Results.map(flat),
      ...(Pagination === undefined ? {} : { count: Pagination.TotalRows }),
      ...(SkipToken === undefined || view.order !== '' ? {} : { next: next.pathname + next.search }),
    };
  }
  const { value, '@odata.count': count, '@odata.nextLink': link } = body;
  return {
    rows: value,
    ...(count === undefined ? {} : { count }),
    ...(link === undefined ? {} : { next: hereOf(link) }),
  };
}

export type Body = OdataBody | NativeBody;

/** The default columns, of those that exist. */
const FIRST_COLUMNS: readonly string[] = [
  'UnparsedAddress',
  'City',
  'StandardStatus',
  'PropertySubType',
  'ListPrice',
  'BedroomsTotal',
  'BathroomsTotalInteger',
  'LivingArea',
  'YearBuilt',
  'ListAgentFullName',
  'ListOfficeName',
  'MemberFullName',
  'MemberType',
  'MemberStatus',
  'MemberCity',
  'OfficeName',
  'OfficeType',
  'OfficeStatus',
  'OfficeCity',
  'OfficePhone',
  'ResourceName',
  'ResourceRecordKey',
  'MediaCategory',
  'MediaType',
  'ImageOf',
  'ShortDescription',
  'Order',
  'FloplanKey',
  'FloplanImageType',
  'RoomType',
  'RoomLevel',
  'RoomArea',
  'RoomAreaUnits',
  'UnitTypeType',
  'UnitTypeUnitsTotal',
  'OpenHouseDate',
  'OpenHouseStartTime',
  'OpenHouseEndTime',
  'OpenHouseStatus',
  'OpenHouseType',
  'LookupName',
  'LookupValue',
  'StandardLookupValue',
  'ModificationTimestamp',
];

/** The first fields of every table: the key, and the listing that a record belongs to. */
const leading = ({ key, fields, name }: ResourceInfo): readonly string[] => [
  ...key,
  ...(name !== 'listings' &&
  fields.some((field) => field.name === 'ListingKey') &&
  !key.includes('ListingKey')
    ? ['ListingKey']
    : []),
];

/** The names of the columns, beginning with the key. */
export function columnsOf(view: View, resource: ResourceInfo): readonly string[] {
  const all = resource.fields.map(({ name }) => name);
  const first = FIRST_COLUMNS.filter((name) => all.includes(name));
  const chosen =
    view.select === '*'
      ? all
      : view.select !== ''
        ? namesIn(view.select).filter((name) => resource.isSample || all.includes(name))
        : first.length > 2
          ? first
          : all.slice(0, 12);
  return [...new Set([...leading(resource), ...chosen])];
}

/** The address on the admin port for a path, as the role or key of the view sees it. */
export const hereFor = (view: View, path: string): string => pathSeenBy(view.as, view.surface, path);

/** The address at which a client of the interface gets the same. */
export const publicAddress = (view: View, { surfaces }: About, path: string): string =>
  `${(surfaces.find(({ name }) => name === view.surface)?.address ?? '').replace(/\/$/, '')}${path}`;
