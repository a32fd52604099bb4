/**
 * The sub-resources of a listing in the native interface (reference: native-v1, sub-resources), written once when
 * the record is stored. `Id` is the record's RESO key.
 */
import { type FieldValue, type FieldValues, ROOM_LABELS, UNIT_LABELS } from '../../dictionary/index.ts';
import type { MediaKind } from '../record/media.ts';
import { clockTime, slashDate } from './local-time.ts';
import { servedFile, URL_MARK } from './served-files.ts';

/** The names of sub-resources as they stand in paths. */
export const NATIVE_PARTS = [
  'photos',
  'videos',
  'virtualtours',
  'rooms',
  'units',
  'openhouses',
  'documents',
  'floorplans',
] as const;
export type NativePart = (typeof NATIVE_PARTS)[number];

/** What a part is made of. */
export interface PartSource {
  readonly resource: string;
  readonly key: string;
  readonly parent: string;
  readonly kind: MediaKind | undefined;
  readonly values: FieldValues;
  /** IANA time zone of times of day. */
  readonly timeZone: string;
}

export interface PartTexts {
  /** The part's usual form; empty for records that are no part of a native listing. */
  readonly native: string;
  /** A floor plan's own form; it is a photo, too. */
  readonly nativePlan: string;
}

const PART_OF_KIND: Readonly<Record<MediaKind, NativePart | undefined>> = {
  photo: 'photos',
  plan: 'photos',
  video: 'videos',
  tour: 'virtualtours',
  document: 'documents',
  other: undefined,
};

/** All renditions of a photo are the photo itself: their address is put in when the photo is read. */
const PHOTO_URIS = [
  'UriThumb',
  'Uri300',
  'Uri640',
  'Uri800',
  'Uri1024',
  'Uri1280',
  'Uri1600',
  'Uri2048',
  'UriLarge',
];

/** Members that a photo's text lacks, and its end; the mark stands for the address as JSON text. */
export const PHOTO_END = `${PHOTO_URIS.map((name) => `,"${name}":${URL_MARK}`).join('')}}`;

type Member = FieldValue | readonly Record<string, FieldValue>[];

export function nativePartTexts(source: PartSource): PartTexts {
  const part = partOf(source);
  if (part === undefined) return { native: '', nativePlan: '' };
  const plan = source.kind === 'plan' ? objectText(source, 'floorplans', floorPlan(source)) : '';
  return { native: objectText(source, part, membersOf(part, source)), nativePlan: plan };
}

function partOf({ resource, kind }: PartSource): NativePart | undefined {
  switch (resource) {
    case 'Media':
      return kind === undefined ? undefined : PART_OF_KIND[kind];
    case 'PropertyRooms':
      return 'rooms';
    case 'PropertyUnitTypes':
      return 'units';
    case 'OpenHouse':
      return 'openhouses';
    default:
      return undefined;
  }
}

function membersOf(part: NativePart, source: PartSource): Record<string, Member> {
  const { values, timeZone } = source;
  switch (part) {
    case 'photos': {
      const caption = source.kind === 'plan' ? 'Floor Plan' : textOf(values.LongDescription);
      return {
        Name: textOf(values.ShortDescription),
        Caption: caption,
        Primary: values.PreferredPhotoYN === true,
      };
    }
    case 'videos':
      return {
        Name: textOf(values.ShortDescription),
        Caption: textOf(values.LongDescription),
        Type: textOf(values.MediaType),
        ObjectHtml: textOf(values.MediaHTML),
        Uri: addressOf(values),
      };
    case 'virtualtours': {
      const unbranded = String(values.MediaCategory).startsWith('Unbranded');
      return {
        GroupId: null,
        Name: textOf(values.ShortDescription),
        Uri: addressOf(values),
        Type: unbranded ? 'unbranded' : 'branded',
      };
    }
    case 'documents': {
      const permission = values.Permission;
      return {
        Name: textOf(values.ShortDescription),
        Uri: addressOf(values),
        Privacy: Array.isArray(permission) && permission[0] !== undefined ? permission[0] : 'Public',
      };
    }
    case 'openhouses': {
      const start = textOf(values.OpenHouseStartTime);
      const end = textOf(values.OpenHouseEndTime);
      return {
        Date: slashDate(textOf(values.OpenHouseDate), start, timeZone),
        StartTime: clockTime(start, timeZone),
        EndTime: clockTime(end, timeZone),
        Comments: textOf(values.OpenHouseRemarks),
        OpenHouseStartTimestamp: start,
        OpenHouseEndTimestamp: end,
      };
    }
    case 'rooms':
      return { Fields: namedFields(values, ROOM_LABELS) };
    case 'units':
      return { Fields: namedFields(values, UNIT_LABELS) };
    case 'floorplans':
      return floorPlan(source);
  }
}

function floorPlan({ key, values }: PartSource): Record<string, Member> {
  return {
    MediaKey: key,
    MediaType: textOf(values.MediaType),
    GroupId: textOf(values.FloplanKey),
    Type: values.FloplanImageType ?? [],
    Caption: 'Floor Plan',
    Uri: addressOf(values),
    ModificationTimestamp: textOf(values.ModificationTimestamp),
  };
}

/** Rooms and units are lists of one-member objects; fields without a value are left out. */
function namedFields(values: FieldValues, labels: ReadonlyMap<string, string>): Record<string, FieldValue>[] {
  return [...labels].flatMap(([name, shown]) => {
    const value = values[name];
    return value === undefined || value === null ? [] : [{ [shown]: value }];
  });
}

/** The members by which a native listing begins. */
export function nativeHead(key: string): string {
  return `"Id":${JSON.stringify(key)},"ResourceUri":"/v1/listings/${encodeURIComponent(key)}"`;
}

function objectText({ key, parent }: PartSource, part: NativePart, members: Record<string, Member>): string {
  const uri = `/v1/listings/${encodeURIComponent(parent)}/${part}/${encodeURIComponent(key)}`;
  const all = Object.entries({ Id: key, ResourceUri: uri, ...members });
  const text = all.map(([name, value]) => `"${name}":${memberText(value)}`).join(',');
  return part === 'photos' ? `{${text}` : `{${text}}`;
}

/** The mark stands bare, as JSON itself never writes it. */
const memberText = (value: Member): string => (value === URL_MARK ? `"${URL_MARK}"` : JSON.stringify(value));

function addressOf(values: FieldValues): string | null {
  return servedFile(values.MediaURL) === undefined ? textOf(values.MediaURL) : URL_MARK;
}

const textOf = (value: FieldValue | undefined): string | null => (typeof value === 'string' ? value : null);
