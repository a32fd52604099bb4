/**
 * Names in files that no field can have, such as `Lot Size`: the custom field that has one as its label is meant. It
 * knows nothing of what `--map` says, which goes before.
 */
import type { Dictionary, Resource } from '../../dictionary/index.ts';
import { API_NAME } from '../../dictionary/index.ts';

/** From a label that is no API name to the one field of the resource that has it. */
export type FieldTitles = ReadonlyMap<string, string>;

const ofResource = new WeakMap<Resource, FieldTitles>();

export function fieldTitles(resource: Resource): FieldTitles {
  const known = ofResource.get(resource);
  if (known !== undefined) return known;
  const fields = [...resource.fields.values()].flatMap(({ name, custom }) =>
    custom === undefined || API_NAME.test(custom.label) ? [] : [{ name, label: custom.label }],
  );
  const made = new Map<string, string>();
  for (const [label, alike] of Map.groupBy(fields, ({ label }) => label)) {
    const [field, another] = alike;
    // Fields of two groups may have one label: then it says neither.
    if (field !== undefined && another === undefined) made.set(label, field.name);
  }
  ofResource.set(resource, made);
  return made;
}

const ofDictionary = new WeakMap<Dictionary, boolean>();

/** Whether any field is meant by a name that none can have. */
export function hasTitles(dictionary: Dictionary): boolean {
  const known = ofDictionary.get(dictionary);
  if (known !== undefined) return known;
  const has = [...dictionary.resources.values()].some((resource) => fieldTitles(resource).size > 0);
  ofDictionary.set(dictionary, has);
  return has;
}

/** The API name that a title is drafted under: its words without what no name may have; undefined: nothing is left. */
export function nameOfTitle(title: string): string | undefined {
  if (title in Object.prototype) return undefined;
  const words = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .split(/[^A-Za-z0-9_]+/)
    .filter((word) => word !== '');
  const name = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('');
  if (!/[A-Za-z0-9]/.test(name)) return undefined;
  return (/^[A-Za-z]/.test(name) ? name : `Local${name}`).slice(0, LONGEST_NAME);
}

const LONGEST_NAME = 128;

const within = new WeakMap<Resource, boolean>();

/** Whether a field of a resource has a title, or one of what its records may bring with them. */
export function mayHaveTitles(resource: Resource, dictionary: Dictionary): boolean {
  const known = within.get(resource);
  if (known !== undefined) return known;
  const reached = new Set([resource]);
  for (const each of reached) {
    for (const { target, collection } of each.navigations.values()) {
      const next = collection ? dictionary.resources.get(target) : undefined;
      if (next !== undefined) reached.add(next);
    }
  }
  const has = [...reached].some((each) => fieldTitles(each).size > 0);
  within.set(resource, has);
  return has;
}
