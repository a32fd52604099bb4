import { videoHtml } from '../../../compile/text/video-html.ts';
import { type Resource, ROOM_LABELS, UNIT_LABELS } from '../../../dictionary/index.ts';
import { isObject } from '../../json.ts';

/** What stands in the place of a value that the key may not see; never data (reference: consumer, trap 12). */
const MASK = '********';

export interface MappedListing {
  readonly json: Readonly<Record<string, unknown>>;
  readonly masked: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

/** From group and label of a custom field to its API name. */
export type NameOf = (group: string, label: string) => string;

/** An expansion of a listing: the collection it belongs to, and how one of its records becomes one of that. */
interface Part {
  readonly collection: string;
  readonly map: (part: Json) => Json;
}

const PARTS: ReadonlyMap<string, Part> = new Map([
  ['Photos', { collection: 'Media', map: photo }],
  ['FloorPlans', { collection: 'Media', map: floorPlan }],
  ['Videos', { collection: 'Media', map: video }],
  ['VirtualTours', { collection: 'Media', map: tour }],
  ['Documents', { collection: 'Media', map: document }],
  ['Rooms', { collection: 'Rooms', map: (part) => ({ RoomKey: part.Id, ...labelled(part, ROOM_LABELS) }) }],
  [
    'Units',
    { collection: 'UnitTypes', map: (part) => ({ UnitTypeKey: part.Id, ...labelled(part, UNIT_LABELS) }) },
  ],
  ['OpenHouses', { collection: 'OpenHouses', map: openHouse }],
]);

/**
 * A native listing under the dictionary's names. Collections are given as far as the listing was expanded with them.
 * @param names from native names to those of the dictionary
 */
export function listingJson(
  listing: Json,
  names: ReadonlyMap<string, string>,
  nameOf: NameOf,
): MappedListing | undefined {
  const { StandardFields: fields } = listing;
  if (!isObject(fields)) return undefined;
  // A source's names are entries here, never members of an object: some mean something there.
  const json = new Map<string, unknown>();
  const masked: string[] = [];
  const collections = new Map<string, Members>();
  for (const [name, value] of Object.entries(fields)) {
    const part = PARTS.get(name);
    if (part !== undefined && Array.isArray(value)) addPart(collections, part, value);
    else if (value === MASK) masked.push(name);
    else json.set(names.get(name) ?? name, value);
  }
  for (const [collection, { records, others }] of collections) {
    json.set(collection, [...records.values(), ...others]);
  }
  for (const [name, value] of customValues(listing, nameOf)) {
    if (value === MASK) masked.push(name);
    else json.set(name, value);
  }
  return { json: Object.fromEntries(json), masked };
}

/** Members of a collection, by their keys, and what is no record: it is put aside where the listing is read. */
interface Members {
  readonly records: Map<unknown, Json>;
  readonly others: unknown[];
}

/** A floor plan is a photo, too: the form that says more wins. */
function addPart(
  collections: Map<string, Members>,
  { collection, map }: Part,
  parts: readonly unknown[],
): void {
  const members = collections.get(collection) ?? { records: new Map<unknown, Json>(), others: [] };
  const { records, others } = members;
  collections.set(collection, members);
  for (const [place, part] of parts.entries()) {
    if (!isObject(part)) {
      others.push(part);
      continue;
    }
    const mapped = Object.fromEntries(Object.entries(map(part)).filter(([, value]) => value !== undefined));
    // The interface gives media in their order, and no number for it.
    const order = collection === 'Media' ? { Order: place } : {};
    // Records without a key are not one record.
    const key = part.Id ?? part;
    records.set(key, { ...order, ...records.get(key), ...mapped });
  }
}

const PHOTO_URIS = [
  'UriLarge',
  'Uri2048',
  'Uri1600',
  'Uri1280',
  'Uri1024',
  'Uri800',
  'Uri640',
  'Uri300',
  'UriThumb',
];
const PLAN_CAPTION = 'Floor Plan';

function photo(part: Json): Json {
  const isPlan = part.Caption === PLAN_CAPTION;
  return {
    MediaKey: part.Id,
    MediaCategory: isPlan ? 'Floor Plan' : 'Photo',
    MediaURL: PHOTO_URIS.map((name) => part[name]).find((uri) => typeof uri === 'string'),
    ShortDescription: part.Name,
    LongDescription: isPlan ? undefined : part.Caption,
    PreferredPhotoYN: part.Primary === true ? true : undefined,
  };
}

function floorPlan(part: Json): Json {
  return {
    MediaKey: part.Id,
    MediaCategory: 'Floor Plan',
    MediaURL: part.Uri,
    MediaType: part.MediaType,
    FloplanKey: part.GroupId,
    FloplanImageType: part.Type,
    ModificationTimestamp: part.ModificationTimestamp,
  };
}

/** What the type of a video says of one of which nothing is known. */
const BRANDED = 'branded';

/** Whether the HTML is what any plat makes of the address and the name, and no data. */
function isDerivedHtml({ ObjectHtml: html, Uri: uri, Name: name }: Json): boolean {
  const address = typeof uri === 'string' ? uri : '';
  return html === videoHtml(address, typeof name === 'string' ? name : null);
}

function video(part: Json): Json {
  return {
    MediaKey: part.Id,
    MediaCategory: 'Video',
    MediaURL: part.Uri,
    MediaHTML: isDerivedHtml(part) ? undefined : part.ObjectHtml,
    MediaType: part.Type === BRANDED ? undefined : part.Type,
    ShortDescription: part.Name,
    LongDescription: part.Caption,
  };
}

function tour(part: Json): Json {
  return {
    MediaKey: part.Id,
    MediaCategory: part.Type === 'unbranded' ? 'Unbranded Virtual Tour' : 'Branded Virtual Tour',
    MediaURL: part.Uri,
    ShortDescription: part.Name,
  };
}

function document(part: Json): Json {
  return { MediaKey: part.Id, MediaCategory: 'Document', MediaURL: part.Uri, ShortDescription: part.Name };
}

function openHouse(part: Json): Json {
  const [, month = '', day = '', year] =
    /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(typeof part.Date === 'string' ? part.Date : '') ?? [];
  return {
    OpenHouseKey: part.Id,
    // What is no date in the interface's form is given on as it is: as such it is put aside, and told.
    OpenHouseDate:
      year === undefined ? part.Date : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`,
    OpenHouseStartTime: part.OpenHouseStartTimestamp,
    OpenHouseEndTime: part.OpenHouseEndTimestamp,
    OpenHouseRemarks: part.Comments,
  };
}

/** `Fields: [{"Room Name":"Bedroom"}, …]` under the dictionary's names; labels that it does not have are kept. */
function labelled(part: Json, labels: ReadonlyMap<string, string>): Record<string, unknown> {
  const names = new Map([...labels].map(([name, label]) => [label, name]));
  const fields: unknown[] = Array.isArray(part.Fields) ? part.Fields : [];
  const entries = fields.filter(isObject).flatMap((field) => Object.entries(field));
  return Object.fromEntries(
    entries.flatMap(([label, value]) => {
      const name = names.get(label);
      return name === undefined ? [] : [[name, value]];
    }),
  );
}

/** `CustomFields: [{"Main": [{"Group": [{"Field": value}]}], "Details": [...]}]` as names and values. */
export function customValues(listing: Json, nameOf: NameOf): [string, unknown][] {
  const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
  return objects(listing.CustomFields)
    .flatMap((sections) => Object.values(sections).flatMap(objects))
    .flatMap((groups) => Object.entries(groups))
    .flatMap(([group, fields]) =>
      objects(fields).flatMap((field) =>
        Object.entries(field).map(([label, value]): [string, unknown] => [nameOf(group, label), value]),
      ),
    );
}

/** From the native names of a resource's fields to those of the dictionary. */
export function nativeToReso(resource: Resource): ReadonlyMap<string, string> {
  return new Map([...resource.fields.values()].map((field) => [field.nativeName, field.name]));
}
