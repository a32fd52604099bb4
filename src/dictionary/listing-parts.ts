/** Lookups in the table of a listing's parts, by the names that each interface uses for them. */
import { LISTING_PARTS, type ListingPartRow, type MediaKind } from './data/listing-parts.ts';

type NativeRow = Extract<(typeof LISTING_PARTS)[number], { readonly part: string }>;
/** A sub-resource, by its name in native paths. */
export type NativePart = NativeRow['part'];
/** The name of a sub-resource in `_expand`. */
export type PartExpansion = NativeRow['expansion'];

const ROWS: readonly ListingPartRow[] = LISTING_PARTS;
const NATIVE = LISTING_PARTS.flatMap((row) => ('part' in row ? [row] : []));

export const NATIVE_PARTS: readonly NativePart[] = NATIVE.map(({ part }) => part);
export const PART_EXPANSIONS: readonly PartExpansion[] = NATIVE.map(({ expansion }) => expansion);

/** The expansions that the specification lists (4.3). */
export const SPECIFIED_EXPANSIONS: readonly PartExpansion[] = NATIVE.flatMap((row) =>
  'own' in row ? [] : [row.expansion],
);

const byPart = new Map<NativePart, ListingPartRow & NativeRow>(NATIVE.map((row) => [row.part, row]));
const byExpansion = new Map<PartExpansion, NativePart>(
  NATIVE.map(({ part, expansion }) => [expansion, part]),
);

/** The row of a sub-resource. */
export function rowOfPart(part: NativePart): ListingPartRow {
  const row = byPart.get(part);
  if (row === undefined) throw new Error(`${part} is not a part of a listing`);
  return row;
}

export function partOfExpansion(expansion: PartExpansion): NativePart {
  const part = byExpansion.get(expansion);
  if (part === undefined) throw new Error(`${expansion} is not an expansion of a listing`);
  return part;
}

/** Collections whose name in the native interface differs from the navigation to their records. */
export const NATIVE_COLLECTIONS: readonly (readonly [native: string, navigation: string])[] = ROWS.flatMap(
  ({ expansion, navigation }) =>
    expansion === undefined || expansion === navigation ? [] : [[expansion, navigation] as const],
);

/** Maps the other names of a listing's collections to their navigations. */
export const NAVIGATION_BY_OTHER_NAME: ReadonlyMap<string, string> = new Map(
  ROWS.flatMap(({ navigation, otherNames = [] }) => otherNames.map((name) => [name, navigation] as const)),
);

/** The navigations to a listing's collections in the native interface, each with every name that sources use. */
export const NAMES_OF_COLLECTIONS: readonly (readonly string[])[] = [
  ...Map.groupBy(NATIVE as readonly ListingPartRow[], ({ navigation }) => navigation),
].map(([navigation, rows]) => [
  navigation,
  ...new Set(rows.flatMap(({ otherNames = [], sourceNames = [] }) => [...otherNames, ...sourceNames])),
]);

/**
 * Resources whose records belong to one listing and are deleted with it. Media are not included, since they can also belong to
 * other records.
 */
export const PARTS_OF_LISTINGS: ReadonlySet<string> = new Set(
  ROWS.flatMap(({ media, resource }) => (media === undefined ? [resource] : [])),
);

/** The navigation from a listing to the records of a resource. */
export const navigationTo = (resource: string): string | undefined =>
  ROWS.find((row) => row.resource === resource)?.navigation;

const rowOfMediaKind = (kind: MediaKind): ListingPartRow | undefined =>
  ROWS.find(({ media }) => media?.includes(kind));

/**
 * The listing's timestamp that moves when one of its records changes; undefined if only ModificationTimestamp moves.
 * @param kind the kind of a medium; null: a photo
 */
export function changeTimestampOf(resource: string, kind: MediaKind | null): string | undefined {
  return resource === 'Media'
    ? rowOfMediaKind(kind ?? 'photo')?.changes
    : ROWS.find((row) => row.resource === resource)?.changes;
}

/** The field of a listing that counts media of a kind. */
export const countFieldOfMediaKind = (kind: MediaKind): string | undefined => rowOfMediaKind(kind)?.count;

/** The timestamps of a listing that move with one of its counts. */
export const COUNTED_CHANGE_TIMESTAMPS: ReadonlySet<string | undefined> = new Set(
  ROWS.flatMap(({ count, changes }) => (count === undefined ? [] : [changes])),
);

/** The fields of a listing that count its media. */
export const CHILD_COUNTS: readonly string[] = [
  ...new Set(ROWS.flatMap(({ media, count }) => (media === undefined || count === undefined ? [] : [count]))),
];
