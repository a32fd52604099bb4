/** Listings of the native interface under the dictionary's names, with their collections. It sends no requests. */
import { recordOfPart } from '../../../compile/text/native-parts.ts';
import {
  type NativePart,
  PART_EXPANSIONS,
  partOfExpansion,
  type Resource,
  rowOfPart,
} from '../../../dictionary/index.ts';
import { isObject, type JsonObject } from '../../../shared/json.ts';
import { MASK } from '../source.ts';
import { customValues, type NameOf } from './custom-fields.ts';

/** The sub-resource of each expansion. */
const PARTS: ReadonlyMap<string, NativePart> = new Map(
  PART_EXPANSIONS.map((name) => [name, partOfExpansion(name)]),
);

/** From the native names of a resource's fields to those of the dictionary. */
export const nativeToReso = (resource: Resource): ReadonlyMap<string, string> =>
  new Map([...resource.fields.values()].map((field) => [field.nativeName, field.name]));

/**
 * A native listing under the dictionary's names, with its expanded collections; undefined for a value that is not a listing. The
 * names of masked fields are returned separately.
 * @param names from native names to those of the dictionary
 */
export function listingJson(
  listing: JsonObject,
  names: ReadonlyMap<string, string>,
  nameOf: NameOf,
): { readonly json: JsonObject; readonly masked: readonly string[] } | undefined {
  const { StandardFields: fields } = listing;
  if (!isObject(fields)) return undefined;
  const json: Record<string, unknown> = {};
  const masked: string[] = [];
  const collections = new Map<string, Members>();
  const put = (name: string, value: unknown): void => {
    // Assigned, this name would set the prototype. A source may give it twice.
    if (name === '__proto__')
      Object.defineProperty(json, name, { value, enumerable: true, configurable: true });
    else json[name] = value;
  };
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const part = Array.isArray(value) ? PARTS.get(name) : undefined;
    if (part !== undefined && Array.isArray(value)) addMembers(collections, part, value);
    else if (value === MASK) masked.push(name);
    else put(names.get(name) ?? name, value);
  }
  for (const [collection, { records, others }] of collections) {
    put(collection, [...records.values(), ...others]);
  }
  for (const [name, value] of customValues(listing, nameOf)) {
    if (value === MASK) masked.push(name);
    else put(name, value);
  }
  return { json, masked };
}

/** Members of a collection by their keys; members that are not records are quarantined where the listing is read. */
interface Members {
  readonly records: Map<unknown, JsonObject>;
  readonly others: unknown[];
}

/** A floor plan is among the photos as well: the form that says more wins. */
function addMembers(collections: Map<string, Members>, part: NativePart, given: readonly unknown[]): void {
  const { navigation: collection, media } = rowOfPart(part);
  const { records, others } = collections.getOrInsert(collection, { records: new Map(), others: [] });
  for (const [index, each] of given.entries()) {
    if (!isObject(each)) {
      others.push(each);
      continue;
    }
    const record = Object.entries(recordOfPart(part, each)).filter(([, value]) => value !== undefined);
    // The interface gives media in their order, and no number for it.
    const order = media === undefined ? {} : { Order: index };
    // Records without a key are not one record.
    const key = each.Id ?? each;
    records.set(key, { ...order, ...records.get(key), ...Object.fromEntries(record) });
  }
}
