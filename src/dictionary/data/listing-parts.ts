/**
 * What a listing consists of in addition to its own fields, with a row for each sub-resource. Paths, expansions, navigations,
 * views, change timestamps and counts of both interfaces and of the replicator are derived from these rows; to add a sub-resource,
 * add a row here and the form of its text (compile/text/native-parts.ts). This module knows only names, no records.
 */

/** The content of a media record, in the terms of both interfaces. */
export const MEDIA_KINDS = ['photo', 'plan', 'video', 'tour', 'document', 'other'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

export interface ListingPartRow {
  /** The sub-resource in native paths, `/v1/listings/<key>/photos`; absent where the native interface has none. */
  readonly part?: string;
  /** The name of the sub-resource in `_expand`. */
  readonly expansion?: string;
  /** The RESO navigation from a listing to its records. */
  readonly navigation: string;
  /** Other names that plat's own interface accepts, and names that only other sources use. */
  readonly otherNames?: readonly string[];
  readonly sourceNames?: readonly string[];
  readonly resource: string;
  /** The kinds of media that it contains; a kind belongs to the first row that lists it. */
  readonly media?: readonly MediaKind[];
  /** The listing's timestamp that moves when such a record changes; absent: only ModificationTimestamp moves. */
  readonly changes?: string;
  /** The field of the listing that counts such records. */
  readonly count?: string;
  /** Whether plat provides it in addition to the specification (4.3). */
  readonly own?: true;
}

export const LISTING_PARTS = [
  {
    part: 'photos',
    expansion: 'Photos',
    navigation: 'Media',
    resource: 'Media',
    media: ['photo', 'plan'],
    changes: 'PhotosChangeTimestamp',
    count: 'PhotosCount',
  },
  {
    part: 'videos',
    expansion: 'Videos',
    navigation: 'Media',
    resource: 'Media',
    media: ['video'],
    changes: 'VideosChangeTimestamp',
    count: 'VideosCount',
  },
  {
    part: 'virtualtours',
    expansion: 'VirtualTours',
    navigation: 'Media',
    resource: 'Media',
    media: ['tour'],
    changes: 'VideosChangeTimestamp',
    // The dictionary counts tours as videos.
    count: 'VideosCount',
  },
  {
    part: 'rooms',
    expansion: 'Rooms',
    navigation: 'Rooms',
    otherNames: ['Room'],
    sourceNames: ['PropertyRooms'],
    resource: 'PropertyRooms',
  },
  {
    part: 'units',
    expansion: 'Units',
    navigation: 'UnitTypes',
    otherNames: ['Unit'],
    sourceNames: ['UnitType', 'Units', 'PropertyUnitTypes'],
    resource: 'PropertyUnitTypes',
  },
  {
    part: 'openhouses',
    expansion: 'OpenHouses',
    navigation: 'OpenHouses',
    otherNames: ['OpenHouse'],
    resource: 'OpenHouse',
    changes: 'OpenHousesChangeTimestamp',
  },
  {
    part: 'documents',
    expansion: 'Documents',
    navigation: 'Media',
    resource: 'Media',
    media: ['document'],
    changes: 'DocumentsChangeTimestamp',
    count: 'DocumentsCount',
  },
  {
    part: 'floorplans',
    expansion: 'FloorPlans',
    navigation: 'Media',
    resource: 'Media',
    media: ['plan'],
    changes: 'PhotosChangeTimestamp',
    count: 'PhotosCount',
    own: true,
  },
  {
    navigation: 'GreenBuildingVerifications',
    otherNames: ['GreenBuildingVerification'],
    resource: 'PropertyGreenVerification',
  },
  { navigation: 'PowerProduction', resource: 'PropertyPowerProduction' },
] as const satisfies readonly ListingPartRow[];
