/** Media: their kinds, the fields in which they name their listing, and the counts of a listing's media. */
import {
  CHILD_COUNTS,
  countFieldOfMediaKind,
  type FieldValue,
  type FieldValues,
  type MediaKind,
  type Resource,
} from '../dictionary/index.ts';

/** The kinds of the categories of media. */
export const KIND_OF_CATEGORY: ReadonlyMap<string, MediaKind> = new Map([
  ['Photo', 'photo'],
  ['Floor Plan', 'plan'],
  ['FloorPlan', 'plan'],
  ['Video', 'video'],
  ['Branded Virtual Tour', 'tour'],
  ['Unbranded Virtual Tour', 'tour'],
  ['BrandedVirtualTour', 'tour'],
  ['UnbrandedVirtualTour', 'tour'],
  ['Document', 'document'],
]);

/** The kind of a medium. Media without a category are photos. */
export function mediaKind(values: FieldValues): MediaKind {
  const category = values.MediaCategory;
  if (typeof category !== 'string') return 'photo';
  return KIND_OF_CATEGORY.get(category) ?? 'other';
}

export function isMediaOfListing(resource: Resource, values: FieldValues): boolean {
  return resource.name === 'Media' && values.ResourceName === 'Property';
}

/** The fields in which a listing's media name the listing's key and originating system (specification 2.1). */
export function systemFieldsOfMedia(
  listingKey: string | undefined,
  system: string | undefined,
): [string, string][] {
  const fields: [string, string][] = [];
  if (listingKey !== undefined) fields.push(['OriginatingSystemResourceRecordKey', listingKey]);
  if (system !== undefined) fields.push(['OriginatingSystemResourceRecordSystemID', system]);
  return fields;
}

/**
 * The fields of a listing that count its children (Data Dictionary 2.0). An authority derives them from its records
 * and ignores the values of an import. They count what everyone may see, so that they reveal nothing hidden: media
 * without a Permission, and media with one for the public. A replica keeps the counts of its source.
 */

/** The resource whose records are counted, and the resource with the counts. */
export const COUNTED_RESOURCE = 'Media';
export const COUNTING_RESOURCE = 'Property';

/** The field that counts a medium. */
export const countFieldOf = (kind: MediaKind | null): string | undefined =>
  countFieldOfMediaKind(kind ?? 'other');

export const isChildCount = ({
  resource,
  name,
}: {
  readonly resource: string;
  readonly name: string;
}): boolean => resource === COUNTING_RESOURCE && CHILD_COUNTS.includes(name);

/** The field that determines who may see a medium. */
export const PERMISSION = 'Permission';
/** The value of this field for media that everyone may see. */
export const PUBLIC_PERMISSION = 'Public';

/** A medium to count. */
export interface CountedChild {
  readonly kind: MediaKind | null;
  readonly values: FieldValues;
}

const isPublic = (permission: FieldValue | undefined): boolean =>
  !Array.isArray(permission) || permission.length === 0 || permission.includes(PUBLIC_PERMISSION);

/** @param fields the counts that are in use */
export function countChildren(
  children: Iterable<CountedChild>,
  fields: readonly string[],
): Readonly<Record<string, number>> {
  const counts: Record<string, number> = Object.fromEntries(fields.map((name) => [name, 0]));
  for (const { kind, values } of children) {
    const name = countFieldOf(kind);
    const count = name === undefined ? undefined : counts[name];
    if (name !== undefined && count !== undefined && isPublic(values[PERMISSION])) counts[name] = count + 1;
  }
  return counts;
}
