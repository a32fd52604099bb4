import type { FieldValues, MediaKind, Resource } from '../dictionary/index.ts';

/** What the categories of media mean. */
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

/** Media without a category are photos. */
export function mediaKind(values: FieldValues): MediaKind {
  const category = values.MediaCategory;
  if (typeof category !== 'string') return 'photo';
  return KIND_OF_CATEGORY.get(category) ?? 'other';
}

export function isMediaOfListing(resource: Resource, values: FieldValues): boolean {
  return resource.name === 'Media' && values.ResourceName === 'Property';
}

/** The specification's names of a listing's media (2.1): the listing's key, and its originating system. */
export function systemFieldsOfMedia(
  listingKey: string | undefined,
  system: string | undefined,
): [string, string][] {
  const fields: [string, string][] = [];
  if (listingKey !== undefined) fields.push(['OriginatingSystemResourceRecordKey', listingKey]);
  if (system !== undefined) fields.push(['OriginatingSystemResourceRecordSystemID', system]);
  return fields;
}
