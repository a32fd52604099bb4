/**
 * The sub-resources of a listing in the native interface: the form of each, the text that is written in this form when a record is
 * stored, and the record that a replicator reads from such a text. A new sub-resource is a row in the dictionary's table
 * (dictionary/data/listing-parts.ts) and its form here. Nothing here knows SQL.
 */
import {
  type FieldValue,
  type FieldValues,
  type MediaKind,
  type NativePart,
  rowOfPart,
  standardDictionary,
} from '../../dictionary/index.ts';
import { formatTimeOfDay, formatUsDate } from '../../records/local-time.ts';
import { KIND_OF_CATEGORY } from '../../records/media.ts';
import type { RecordName } from '../../records/record-name.ts';
import { isObject, type JsonObject } from '../../shared/json.ts';
import { memoizePerObject } from '../../shared/memoize.ts';
import { servedFile, URL_MARK } from './members.ts';
import { videoHtml } from './video-html.ts';

/** The record that a part is written from. */
interface PartSource extends RecordName {
  readonly parent: string;
  readonly kind: MediaKind | undefined;
  readonly values: FieldValues;
  /** The IANA time zone for times of day. */
  readonly timeZone: string;
}

interface PartTexts {
  /** The usual text of the part; empty for records that are not part of a native listing. */
  readonly native: string;
  /** The text of a floor plan in its own form; a floor plan is also a photo. */
  readonly nativePlan: string;
}

/** How a member of a part is derived from its record. The same table serves writing, checking and reading a part. */
export type PartMember =
  /** A string, or null. */
  | { readonly kind: 'text'; readonly field: string }
  /** Whether a field is true. */
  | { readonly kind: 'flag'; readonly field: string }
  /** A list, never null. */
  | { readonly kind: 'list'; readonly field: string }
  | { readonly kind: 'constant'; readonly value: string | null }
  | { readonly kind: 'key' }
  /** The address of the file, or the mark for a file that this service serves. */
  | { readonly kind: 'address' }
  /** Whether a tour is branded, according to its category. */
  | { readonly kind: 'branding' }
  /** The first value of Permission. */
  | { readonly kind: 'privacy' }
  /** The day of a date field, or else of a timestamp field. */
  | { readonly kind: 'day'; readonly date: string; readonly moment: string }
  | { readonly kind: 'clock'; readonly field: string }
  /** A list of one-member objects under the labels of the native interface, without fields that have no value. */
  | { readonly kind: 'named'; readonly labels: ReadonlyMap<string, string> };

/** The form of a part: its name in paths, and its members after `Id` and `ResourceUri`. */
export interface PartForm {
  readonly part: NativePart;
  readonly members: Readonly<Record<string, PartMember>>;
}

const text = (field: string): PartMember => ({ kind: 'text', field });
const constant = (value: string | null): PartMember => ({ kind: 'constant', value });
const NAME = text('ShortDescription');
const CAPTION = text('LongDescription');
const ADDRESS: PartMember = { kind: 'address' };
/** The caption by which clients recognize a floor plan among the photos. */
const PLAN_CAPTION = 'Floor Plan';

const photo = (caption: PartMember): PartForm => ({
  part: 'photos',
  members: { Name: NAME, Caption: caption, Primary: { kind: 'flag', field: 'PreferredPhotoYN' } },
});

/** The forms of media by kind. Media of other kinds are not part of a native listing. */
export const MEDIA_FORMS: Readonly<Partial<Record<MediaKind, PartForm>>> = {
  photo: photo(CAPTION),
  plan: photo(constant(PLAN_CAPTION)),
  video: {
    part: 'videos',
    members: {
      Name: NAME,
      Caption: CAPTION,
      Type: text('MediaType'),
      ObjectHtml: text('MediaHTML'),
      Uri: ADDRESS,
    },
  },
  tour: {
    part: 'virtualtours',
    members: { GroupId: constant(null), Name: NAME, Uri: ADDRESS, Type: { kind: 'branding' } },
  },
  document: { part: 'documents', members: { Name: NAME, Uri: ADDRESS, Privacy: { kind: 'privacy' } } },
};

/** The form of a floor plan on its own. */
export const PLAN_FORM: PartForm = {
  part: 'floorplans',
  members: {
    MediaKey: { kind: 'key' },
    MediaType: text('MediaType'),
    GroupId: text('FloplanKey'),
    Type: { kind: 'list', field: 'FloplanImageType' },
    Caption: constant(PLAN_CAPTION),
    Uri: ADDRESS,
    ModificationTimestamp: text('ModificationTimestamp'),
  },
};

/** The labels of room and unit fields in the lists of one-member objects. */
const ROOM_LABELS: ReadonlyMap<string, string> = new Map([
  ['RoomType', 'Room Name'],
  ['RoomLevel', 'Room Level'],
  ['RoomDimensions', 'Room Dimensions'],
  ['RoomLength', 'Room Length'],
  ['RoomWidth', 'Room Width'],
  ['RoomLengthWidthUnits', 'Room Length Width Units'],
  ['RoomArea', 'Room Area'],
  ['RoomAreaUnits', 'Room Area Units'],
  ['RoomFeatures', 'Room Features'],
  ['RoomDescription', 'Room Remarks'],
]);

const UNIT_LABELS: ReadonlyMap<string, string> = new Map([
  ['UnitTypeType', 'Unit Name'],
  ['UnitTypeBedsTotal', 'Unit Bedrooms'],
  ['UnitTypeBathsTotal', 'Unit Bathrooms'],
  ['UnitTypeUnitsTotal', 'Number Of Units'],
  ['UnitTypeFurnished', 'Unit Furnished'],
  ['UnitTypeGarageSpaces', 'Unit Garage Spaces'],
  ['UnitTypeGarageAttachedYN', 'Unit Garage Attached'],
  ['UnitTypeActualRent', 'Unit Actual Rent'],
  ['UnitTypeProForma', 'Unit Pro Forma Rent'],
  ['UnitTypeTotalRent', 'Unit Total Rent'],
  ['UnitTypeDescription', 'Unit Remarks'],
]);

/** The forms of parts other than media, by resource. */
export const PART_FORMS: ReadonlyMap<string, PartForm> = new Map<string, PartForm>([
  ['PropertyRooms', { part: 'rooms', members: { Fields: { kind: 'named', labels: ROOM_LABELS } } }],
  ['PropertyUnitTypes', { part: 'units', members: { Fields: { kind: 'named', labels: UNIT_LABELS } } }],
  [
    'OpenHouse',
    {
      part: 'openhouses',
      members: {
        Date: { kind: 'day', date: 'OpenHouseDate', moment: 'OpenHouseStartTime' },
        StartTime: { kind: 'clock', field: 'OpenHouseStartTime' },
        EndTime: { kind: 'clock', field: 'OpenHouseEndTime' },
        Comments: text('OpenHouseRemarks'),
        OpenHouseStartTimestamp: text('OpenHouseStartTime'),
        OpenHouseEndTimestamp: text('OpenHouseEndTime'),
      },
    },
  ],
]);

/**
 * The renditions of a photo and their widths. A photo that is hosted elsewhere has one address for all of them; a file of this
 * service is requested with the width (`service/front/media.ts`). The largest rendition is the photo itself.
 */
const PHOTO_WIDTHS: Readonly<Record<string, number | undefined>> = {
  UriThumb: 150,
  Uri300: 300,
  Uri640: 640,
  Uri800: 800,
  Uri1024: 1024,
  Uri1280: 1280,
  Uri1600: 1600,
  Uri2048: 2048,
  UriLarge: undefined,
};

export const PHOTO_URIS: readonly string[] = Object.keys(PHOTO_WIDTHS);

/** The query that requests a served photo in the width of a rendition. */
export function renditionQuery(name: string): string {
  const width = PHOTO_WIDTHS[name];
  return width === undefined ? '' : `?width=${width}`;
}

/** The end of a photo's text with the members that are added on reading. The mark is replaced by the address as JSON text. */
export const PHOTO_END = `${PHOTO_URIS.map((name) => `,"${name}":${URL_MARK}`).join('')}}`;

/** The end of a served photo's text. The mark is replaced by the address as JSON text without its quotes. */
export const SERVED_PHOTO_END = `${PHOTO_URIS.map((name) => `,"${name}":"${URL_MARK}${renditionQuery(name)}"`).join('')}}`;

/** The end of a part's stored text; that of a photo is added on reading. */
export const endOf = ({ part }: PartForm): string => (part === 'photos' ? '' : '}');

/** The kinds of a sub-resource's members, by their names. */
export function partMembers(part: NativePart): ReadonlyMap<string, PartMember['kind']> {
  const forms = [...Object.values(MEDIA_FORMS), PLAN_FORM, ...PART_FORMS.values()];
  const own = forms.find((form) => form.part === part);
  const uris = part === 'photos' ? PHOTO_URIS : [];
  return new Map([
    ['Id', 'key'],
    ['ResourceUri', 'key'],
    ...Object.entries(own?.members ?? {}).map(([name, { kind }]) => [name, kind] as const),
    ...uris.map((name) => [name, 'address'] as const),
  ]);
}

/** The field behind each member of a resource's parts, for filters and orders. */
export function fieldsOfMembers(resource: string): ReadonlyMap<string, string> {
  const form = PART_FORMS.get(resource);
  return new Map(
    (form === undefined ? [] : membersOf(form)).flatMap(([name, member]) => {
      if (member.kind === 'day') return [[name, member.date] as const];
      return member.kind === 'text' || member.kind === 'clock' ? [[name, member.field] as const] : [];
    }),
  );
}

type Member = FieldValue | readonly Record<string, FieldValue>[];

export function nativePartTexts(source: PartSource): PartTexts {
  const { form, ownForm } = formsOf(source);
  return {
    native: form === undefined ? '' : objectText(source, form),
    nativePlan: ownForm === undefined ? '' : objectText(source, ownForm),
  };
}

interface PartForms {
  readonly form: PartForm | undefined;
  /** The form of a floor plan on its own. */
  readonly ownForm: PartForm | undefined;
}

function formsOf({ resource, kind }: Pick<PartSource, 'resource' | 'kind'>): PartForms {
  if (resource !== 'Media') return { form: PART_FORMS.get(resource), ownForm: undefined };
  const form = kind === undefined ? undefined : MEDIA_FORMS[kind];
  return { form, ownForm: kind === 'plan' ? PLAN_FORM : undefined };
}

/** Whether the text of a part contains one of these fields unchanged. */
export function partContains(
  part: Pick<PartSource, 'resource' | 'kind'>,
  fields: ReadonlySet<string>,
): boolean {
  const { form, ownForm } = formsOf(part);
  return [form, ownForm].some((each) =>
    Object.values(each?.members ?? {}).some((member) => member.kind === 'text' && fields.has(member.field)),
  );
}

function memberOf(member: PartMember, { key, values, timeZone }: PartSource): Member {
  switch (member.kind) {
    case 'text':
      return textOf(values[member.field]);
    case 'key':
      return key;
    case 'flag':
      return values[member.field] === true;
    case 'list':
      return values[member.field] ?? [];
    case 'constant':
      return member.value;
    case 'address':
      return textOf(values.MediaURL);
    case 'branding':
      return String(values.MediaCategory).startsWith(UNBRANDED) ? 'unbranded' : 'branded';
    case 'privacy': {
      const { Permission: permission } = values;
      return Array.isArray(permission) && permission[0] !== undefined ? permission[0] : 'Public';
    }
    case 'day':
      return formatUsDate(textOf(values[member.date]), textOf(values[member.moment]), timeZone);
    case 'clock':
      return formatTimeOfDay(textOf(values[member.field]), timeZone);
    case 'named':
      return [...member.labels].flatMap(([name, shown]) => {
        const value = values[name];
        return value === undefined || value === null ? [] : [{ [shown]: value }];
      });
  }
}

/** The prefix of the category of unbranded tours. */
export const UNBRANDED = 'Unbranded';

/** The beginning of the address of a listing. */
export const LISTING_PATH = '/v1/listings/';

/** The first members of a native listing. */
export function nativeHead(key: string): string {
  return `"Id":${JSON.stringify(key)},"ResourceUri":"${LISTING_PATH}${encodeURIComponent(key)}"`;
}

function objectText(source: PartSource, form: PartForm): string {
  const { key, parent } = source;
  const uri = `${LISTING_PATH}${encodeURIComponent(parent)}/${form.part}/${encodeURIComponent(key)}`;
  let members = '';
  for (const [name, member] of membersOf(form)) {
    members += `,"${name}":${memberText(member, source)}`;
  }
  return `{"Id":${JSON.stringify(key)},"ResourceUri":${JSON.stringify(uri)}${members}${endOf(form)}`;
}

/** The members of a form in order, computed once per form rather than for every part. */
const membersOf = memoizePerObject(({ members }: PartForm) => Object.entries(members));

/** The mark is unescaped, which JSON never writes, so no value can be mistaken for it. */
const memberText = (member: PartMember, source: PartSource): string =>
  member.kind === 'address' && servedFile(source.values.MediaURL) !== undefined
    ? `"${URL_MARK}"`
    : JSON.stringify(memberOf(member, source));

const textOf = (value: FieldValue | undefined): string | null => (typeof value === 'string' ? value : null);

/** Reads a part: its record under the dictionary's names. A value that the part does not contain is undefined. */
export function recordOfPart(part: NativePart, given: JsonObject): JsonObject {
  const { resource } = rowOfPart(part);
  const { kind, form } = formOf(part, given);
  const key = standardDictionary().resources.get(resource)?.key ?? 'Id';
  return Object.fromEntries([
    [key, given.Id],
    ...(kind === undefined ? [] : [['MediaCategory', CATEGORY_OF.get(kind)]]),
    ...(form === undefined ? [] : membersOf(form)).flatMap(([name, member]) =>
      fieldsFromMember(member, given[name]),
    ),
    ...(part === 'photos' ? [['MediaURL', largestOf(given)]] : []),
    ...(part === 'videos' ? videoValues(given) : []),
  ]);
}

/** The usual category of each kind of media. */
const CATEGORY_OF: ReadonlyMap<MediaKind, string> = new Map(
  [...KIND_OF_CATEGORY].toReversed().map(([category, kind]) => [kind, category]),
);

function formOf(
  part: NativePart,
  given: JsonObject,
): { readonly kind?: MediaKind | undefined; readonly form: PartForm | undefined } {
  const { resource, media } = rowOfPart(part);
  if (media === undefined) return { form: PART_FORMS.get(resource) };
  const kind = part === 'photos' && given.Caption === PLAN_CAPTION ? 'plan' : media[0];
  if (part === PLAN_FORM.part) return { kind, form: PLAN_FORM };
  return { kind, form: kind === undefined ? undefined : MEDIA_FORMS[kind] };
}

/** The values of the record that a member contains, with the names of their fields. */
function fieldsFromMember(member: PartMember, value: unknown): (readonly [string, unknown])[] {
  switch (member.kind) {
    case 'text':
    case 'list':
      return [[member.field, value]];
    case 'flag':
      return [[member.field, value === true ? true : undefined]];
    case 'address':
      return [['MediaURL', value]];
    case 'branding':
      return value === 'unbranded' ? [['MediaCategory', `${UNBRANDED} Virtual Tour`]] : [];
    case 'day':
      return [[member.date, parseUsDate(value)]];
    case 'named':
      return namedValues(member.labels, value);
    case 'key':
    case 'constant':
    case 'privacy':
    case 'clock':
      return [];
  }
}

/** Converts `7/4/2026` to a date. Any other text is passed on unchanged, so that the record is quarantined and reported. */
function parseUsDate(value: unknown): unknown {
  const [, month = '', day = '', year] =
    /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(typeof value === 'string' ? value : '') ?? [];
  return year === undefined ? value : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/** Reads `[{"Room Name":"Bedroom"}, …]`; unknown labels are ignored. */
function namedValues(labels: ReadonlyMap<string, string>, list: unknown): (readonly [string, unknown])[] {
  const names = new Map([...labels].map(([name, shown]) => [shown, name]));
  const entries = Array.isArray(list) ? list.filter(isObject).flatMap((each) => Object.entries(each)) : [];
  return entries.flatMap(([shown, value]) => {
    const name = names.get(shown);
    return name === undefined ? [] : [[name, value] as const];
  });
}

const LARGEST_FIRST = PHOTO_URIS.toReversed();

/** The address of the largest rendition that a photo has. */
const largestOf = (given: JsonObject): unknown =>
  LARGEST_FIRST.map((name) => given[name]).find((uri) => typeof uri === 'string');

/** A video's HTML and type, unless plat derived them because the video has none of its own. */
function videoValues({
  ObjectHtml: html,
  Uri: uri,
  Name: name,
  Type: type,
}: JsonObject): [string, unknown][] {
  const derived = videoHtml(typeof uri === 'string' ? uri : '', typeof name === 'string' ? name : null);
  return [
    ['MediaHTML', html === derived ? undefined : html],
    ['MediaType', type === 'branded' ? undefined : type],
  ];
}
