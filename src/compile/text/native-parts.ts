/**
 * The sub-resources of a listing in the native interface: the form of each, the text that is written by it when a record
 * is stored, and the record that a replicator reads from such a text. A new sub-resource is a row in the dictionary's
 * table (dictionary/data/listing-parts.ts) and its form here. Nothing here knows SQL.
 */
import {
  type FieldValue,
  type FieldValues,
  type MediaKind,
  type NativePart,
  rowOfPart,
  standardDictionary,
} from '../../dictionary/index.ts';
import { clockTime, slashDate } from '../../records/local-time.ts';
import { KIND_OF_CATEGORY } from '../../records/media.ts';
import { isObject, type JsonObject } from '../../shared/json.ts';
import { servedFile, URL_MARK } from './members.ts';
import { videoHtml } from './video-html.ts';

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

/** How a member of a part follows from its record, for whoever writes it, checks what was written, or reads it. */
export type PartMember =
  /** A text, or null. */
  | { readonly kind: 'text'; readonly field: string }
  /** Whether a field is true. */
  | { readonly kind: 'flag'; readonly field: string }
  /** A list, which is never null. */
  | { readonly kind: 'list'; readonly field: string }
  | { readonly kind: 'constant'; readonly value: string | null }
  | { readonly kind: 'key' }
  /** The address of the file, or the mark for one that this service serves. */
  | { readonly kind: 'address' }
  /** Whether a tour bears a brand, as its category says. */
  | { readonly kind: 'branding' }
  /** The first of those who may see it. */
  | { readonly kind: 'privacy' }
  /** The day of a date, or else of a moment. */
  | { readonly kind: 'day'; readonly date: string; readonly moment: string }
  | { readonly kind: 'clock'; readonly field: string }
  /** One-member objects under the names of the native interface; fields without a value are left out. */
  | { readonly kind: 'named'; readonly labels: ReadonlyMap<string, string> };

/** The form of a part: where it lies, and its members after `Id` and `ResourceUri`. */
export interface PartForm {
  readonly part: NativePart;
  readonly members: Readonly<Record<string, PartMember>>;
}

const text = (field: string): PartMember => ({ kind: 'text', field });
const constant = (value: string | null): PartMember => ({ kind: 'constant', value });
const NAME = text('ShortDescription');
const CAPTION = text('LongDescription');
const ADDRESS: PartMember = { kind: 'address' };
/** By its caption, a photo is known to be a floor plan. */
const PLAN_CAPTION = 'Floor Plan';

const photo = (caption: PartMember): PartForm => ({
  part: 'photos',
  members: { Name: NAME, Caption: caption, Primary: { kind: 'flag', field: 'PreferredPhotoYN' } },
});

/** The forms of media; those of another kind are no part of a native listing. */
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

/** The own form of a floor plan. */
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

/** How rooms and units name their fields, in lists of one-member objects. */
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

/** The forms of resources other than Media. */
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
 * The renditions of a photo, and the width at which each is shown. An address elsewhere is that of all of them; a file of
 * this service is asked for with the width (`service/front/media.ts`). The largest is the photo itself.
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

/** What is asked for behind the address of a served photo, so that it comes as wide as the rendition. */
export function renditionQuery(name: string): string {
  const width = PHOTO_WIDTHS[name];
  return width === undefined ? '' : `?width=${width}`;
}

/** Members that a photo's text lacks, and its end; the mark stands for the address as JSON text. */
export const PHOTO_END = `${PHOTO_URIS.map((name) => `,"${name}":${URL_MARK}`).join('')}}`;

/** The same of a served photo; the mark stands for the address as JSON text without its quotes. */
export const SERVED_PHOTO_END = `${PHOTO_URIS.map((name) => `,"${name}":"${URL_MARK}${renditionQuery(name)}"`).join('')}}`;

/** The end of a part's stored text: that of a photo is put in when it is read. */
export const endOf = ({ part }: PartForm): string => (part === 'photos' ? '' : '}');

/** The members of a sub-resource, by which they are selected. */
export function partMembers(part: NativePart): readonly string[] {
  const forms = [...Object.values(MEDIA_FORMS), PLAN_FORM, ...PART_FORMS.values()];
  const own = forms.find((form) => form.part === part);
  const uris = part === 'photos' ? PHOTO_URIS : [];
  return ['Id', 'ResourceUri', ...Object.keys(own?.members ?? {}), ...uris];
}

/** The field of each member of a resource's parts, by which clients compare them and put them in order. */
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
  /** That of a floor plan, which has two. */
  readonly ownForm: PartForm | undefined;
}

function formsOf({ resource, kind }: Pick<PartSource, 'resource' | 'kind'>): PartForms {
  if (resource !== 'Media') return { form: PART_FORMS.get(resource), ownForm: undefined };
  const form = kind === undefined ? undefined : MEDIA_FORMS[kind];
  return { form, ownForm: kind === 'plan' ? PLAN_FORM : undefined };
}

/** Whether a text of a part tells one of these fields as it is. */
export function partTells(part: Pick<PartSource, 'resource' | 'kind'>, fields: ReadonlySet<string>): boolean {
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
      return servedFile(values.MediaURL) === undefined ? textOf(values.MediaURL) : URL_MARK;
    case 'branding':
      return String(values.MediaCategory).startsWith(UNBRANDED) ? 'unbranded' : 'branded';
    case 'privacy': {
      const { Permission: permission } = values;
      return Array.isArray(permission) && permission[0] !== undefined ? permission[0] : 'Public';
    }
    case 'day':
      return slashDate(textOf(values[member.date]), textOf(values[member.moment]), timeZone);
    case 'clock':
      return clockTime(textOf(values[member.field]), timeZone);
    case 'named':
      return [...member.labels].flatMap(([name, shown]) => {
        const value = values[name];
        return value === undefined || value === null ? [] : [{ [shown]: value }];
      });
  }
}

/** How the categories of tours without a brand begin. */
export const UNBRANDED = 'Unbranded';

/** The beginning of the address of a listing. */
export const LISTING_PATH = '/v1/listings/';

/** The members by which a native listing begins. */
export function nativeHead(key: string): string {
  return `"Id":${JSON.stringify(key)},"ResourceUri":"${LISTING_PATH}${encodeURIComponent(key)}"`;
}

function objectText(source: PartSource, form: PartForm): string {
  const { key, parent } = source;
  const uri = `${LISTING_PATH}${encodeURIComponent(parent)}/${form.part}/${encodeURIComponent(key)}`;
  let members = '';
  for (const [name, member] of membersOf(form)) {
    members += `,"${name}":${memberText(memberOf(member, source))}`;
  }
  return `{"Id":${JSON.stringify(key)},"ResourceUri":${JSON.stringify(uri)}${members}${endOf(form)}`;
}

const listed = new WeakMap<PartForm, readonly (readonly [string, PartMember])[]>();

/** The members of a form in their order: made once, not for each part. */
function membersOf(form: PartForm): readonly (readonly [string, PartMember])[] {
  const known = listed.get(form);
  if (known !== undefined) return known;
  const made = Object.entries(form.members);
  listed.set(form, made);
  return made;
}

/** The mark stands bare, as JSON itself never writes it. */
const memberText = (value: Member): string => (value === URL_MARK ? `"${URL_MARK}"` : JSON.stringify(value));

const textOf = (value: FieldValue | undefined): string | null => (typeof value === 'string' ? value : null);

/** The record that a given part is of, under the dictionary's names. A value that the part does not give is undefined. */
export function recordOfPart(part: NativePart, given: JsonObject): JsonObject {
  const { resource } = rowOfPart(part);
  const { kind, form } = formOf(part, given);
  const key = standardDictionary().resources.get(resource)?.key ?? 'Id';
  return Object.fromEntries([
    [key, given.Id],
    ...(kind === undefined ? [] : [['MediaCategory', CATEGORY_OF.get(kind)]]),
    ...(form === undefined ? [] : membersOf(form)).flatMap(([name, member]) => valuesOf(member, given[name])),
    ...(part === 'photos' ? [['MediaURL', largestOf(given)]] : []),
    ...(part === 'videos' ? videoValues(given) : []),
  ]);
}

/** The category of each kind of media that the parts give. */
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

/** The values that a member gives of its record, each with the name of its field. */
function valuesOf(member: PartMember, value: unknown): (readonly [string, unknown])[] {
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
      return [[member.date, dayOf(value)]];
    case 'named':
      return namedValues(member.labels, value);
    case 'key':
    case 'constant':
    case 'privacy':
    case 'clock':
      return [];
  }
}

/** The date of `7/4/2026`. Another text stays as it is, so that the record is quarantined and reported. */
function dayOf(value: unknown): unknown {
  const [, month = '', day = '', year] =
    /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(typeof value === 'string' ? value : '') ?? [];
  return year === undefined ? value : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/** `[{"Room Name":"Bedroom"}, …]`; labels that the dictionary does not have are left out. */
function namedValues(labels: ReadonlyMap<string, string>, list: unknown): (readonly [string, unknown])[] {
  const names = new Map([...labels].map(([name, shown]) => [shown, name]));
  const entries = Array.isArray(list) ? list.filter(isObject).flatMap((each) => Object.entries(each)) : [];
  return entries.flatMap(([shown, value]) => {
    const name = names.get(shown);
    return name === undefined ? [] : [[name, value] as const];
  });
}

const LARGEST_FIRST = PHOTO_URIS.toReversed();

/** The address of the largest rendition of a photo. */
const largestOf = (given: JsonObject): unknown =>
  LARGEST_FIRST.map((name) => given[name]).find((uri) => typeof uri === 'string');

/** A video's HTML and type, where they are not what plat gives of a video that has none of its own. */
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
