/**
 * The sub-resources of a listing in the native interface (reference: native-v1, sub-resources), written once when
 * the record is stored. `Id` is the record's RESO key.
 */
import {
  type FieldValue,
  type FieldValues,
  type MediaKind,
  type NativePart,
  ROOM_LABELS,
  UNIT_LABELS,
} from '../../dictionary/index.ts';
import { clockTime, slashDate } from '../../records/local-time.ts';
import { servedFile, URL_MARK } from './members.ts';

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

/** How a member of a part follows from the record, for whoever writes it or checks what was written. */
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

const photo = (caption: PartMember): PartForm => ({
  part: 'photos',
  members: { Name: NAME, Caption: caption, Primary: { kind: 'flag', field: 'PreferredPhotoYN' } },
});

/** The forms of media; those of another kind are no part of a native listing. */
export const MEDIA_FORMS: Readonly<Partial<Record<MediaKind, PartForm>>> = {
  photo: photo(CAPTION),
  plan: photo(constant('Floor Plan')),
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
    Caption: constant('Floor Plan'),
    Uri: ADDRESS,
    ModificationTimestamp: text('ModificationTimestamp'),
  },
};

/** The forms of what is no medium, by resource. */
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
 * this service is asked for with the width (`service/files/served-file.ts`). The largest is the photo itself.
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

/** The members by which a native listing begins. */
export function nativeHead(key: string): string {
  return `"Id":${JSON.stringify(key)},"ResourceUri":"/v1/listings/${encodeURIComponent(key)}"`;
}

function objectText(source: PartSource, form: PartForm): string {
  const { key, parent } = source;
  const uri = `/v1/listings/${encodeURIComponent(parent)}/${form.part}/${encodeURIComponent(key)}`;
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
