/** Listings of the native interface under the dictionary's names, with their collections. It asks nobody. */
import { videoHtml } from '../../../compile/text/video-html.ts';
import { type Resource, ROOM_LABELS, UNIT_LABELS } from '../../../dictionary/index.ts';
import { isObject, type JsonObject } from '../../../shared/json.ts';
import { MASK } from '../source.ts';
import { customValues, type NameOf } from './custom-fields.ts';

/** An expansion of a listing: the collection that it belongs to, and how one of its records is mapped. */
interface Expansion {
  readonly collection: string;
  readonly map: (part: JsonObject) => JsonObject;
}

const EXPANSIONS: ReadonlyMap<string, Expansion> = new Map([
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

/** From the native names of a resource's fields to those of the dictionary. */
export const nativeToReso = (resource: Resource): ReadonlyMap<string, string> =>
  new Map([...resource.fields.values()].map((field) => [field.nativeName, field.name]));

/**
 * A native listing under the dictionary's names, with the collections that it was expanded with; undefined for what is
 * not a listing. The names of masked fields are apart.
 * @param names from native names to those of the dictionary
 */
export function listingJson(
  listing: JsonObject,
  names: ReadonlyMap<string, string>,
  nameOf: NameOf,
): { readonly json: JsonObject; readonly masked: readonly string[] } | undefined {
  const { StandardFields: fields } = listing;
  if (!isObject(fields)) return undefined;
  // A source's names are entries of a map, never members of an object: some, such as __proto__, mean something there.
  const json = new Map<string, unknown>();
  const masked: string[] = [];
  const collections = new Map<string, Members>();
  for (const [name, value] of Object.entries(fields)) {
    const expansion = EXPANSIONS.get(name);
    if (expansion !== undefined && Array.isArray(value)) addMembers(collections, expansion, value);
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

/** Members of a collection by their keys, and what is not a record: it is quarantined where the listing is read. */
interface Members {
  readonly records: Map<unknown, JsonObject>;
  readonly others: unknown[];
}

/** A floor plan is among the photos as well: the form that says more wins. */
function addMembers(
  collections: Map<string, Members>,
  { collection, map }: Expansion,
  parts: readonly unknown[],
): void {
  const members = collections.get(collection) ?? { records: new Map<unknown, JsonObject>(), others: [] };
  const { records, others } = members;
  collections.set(collection, members);
  for (const [index, part] of parts.entries()) {
    if (!isObject(part)) {
      others.push(part);
      continue;
    }
    const mapped = Object.fromEntries(Object.entries(map(part)).filter(([, value]) => value !== undefined));
    // The interface gives media in their order, and no number for it.
    const order = collection === 'Media' ? { Order: index } : {};
    // Records without a key are not one record.
    const key = part.Id ?? part;
    records.set(key, { ...order, ...records.get(key), ...mapped });
  }
}

const PHOTO_URIS = 'UriLarge Uri2048 Uri1600 Uri1280 Uri1024 Uri800 Uri640 Uri300 UriThumb'.split(' ');

function photo(part: JsonObject): JsonObject {
  const isPlan = part.Caption === 'Floor Plan';
  return {
    MediaKey: part.Id,
    MediaCategory: isPlan ? 'Floor Plan' : 'Photo',
    MediaURL: PHOTO_URIS.map((name) => part[name]).find((uri) => typeof uri === 'string'),
    ShortDescription: part.Name,
    LongDescription: isPlan ? undefined : part.Caption,
    PreferredPhotoYN: part.Primary === true ? true : undefined,
  };
}

function floorPlan(part: JsonObject): JsonObject {
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

function video(part: JsonObject): JsonObject {
  const { ObjectHtml: html, Uri: uri, Name: name } = part;
  // HTML that any plat makes of the address and the name is not data.
  const derived = videoHtml(typeof uri === 'string' ? uri : '', typeof name === 'string' ? name : null);
  return {
    MediaKey: part.Id,
    MediaCategory: 'Video',
    MediaURL: uri,
    MediaHTML: html === derived ? undefined : html,
    // The interface says `branded` of a video of which nothing is known.
    MediaType: part.Type === 'branded' ? undefined : part.Type,
    ShortDescription: name,
    LongDescription: part.Caption,
  };
}

function tour(part: JsonObject): JsonObject {
  return {
    MediaKey: part.Id,
    MediaCategory: part.Type === 'unbranded' ? 'Unbranded Virtual Tour' : 'Branded Virtual Tour',
    MediaURL: part.Uri,
    ShortDescription: part.Name,
  };
}

function document(part: JsonObject): JsonObject {
  return { MediaKey: part.Id, MediaCategory: 'Document', MediaURL: part.Uri, ShortDescription: part.Name };
}

function openHouse(part: JsonObject): JsonObject {
  const [, month = '', day = '', year] =
    /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(typeof part.Date === 'string' ? part.Date : '') ?? [];
  return {
    OpenHouseKey: part.Id,
    // A text that is not a date of the interface is passed on as it is, so that it is quarantined and reported.
    OpenHouseDate:
      year === undefined ? part.Date : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`,
    OpenHouseStartTime: part.OpenHouseStartTimestamp,
    OpenHouseEndTime: part.OpenHouseEndTimestamp,
    OpenHouseRemarks: part.Comments,
  };
}

/** `Fields: [{"Room Name":"Bedroom"}, …]` under the dictionary's names; labels that it does not have are left out. */
function labelled(part: JsonObject, labels: ReadonlyMap<string, string>): JsonObject {
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
