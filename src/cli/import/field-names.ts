/**
 * Determines which fields the names in files refer to: `--map` assigns them explicitly, and a name that is not a valid field name,
 * such as `Lot Size`, refers to the custom field with that label.
 */
import { readFileSync, statSync } from 'node:fs';
import { API_NAME, type Dictionary, findNavigation, type Resource } from '../../dictionary/index.ts';
import { usageError } from '../../errors/index.ts';
import { isObject } from '../../shared/json.ts';
import { memoizePerObject } from '../../shared/memoize.ts';
import { parseUniqueJson } from './record-json.ts';

/** Maps a name in a file to a field; undefined drops the value. */
export type FieldMap = ReadonlyMap<string, string | undefined>;

/**
 * @param given from the command line or the environment: `source=Field`, or the name of a file with such lines or a JSON   object;
 * from the configuration also an object
 * @throws PlatError `usage`
 */
export function readFieldMap(given: unknown): FieldMap {
  if (given === undefined) return new Map();
  if (Array.isArray(given)) return new Map(given.flatMap((each) => [...readFieldMap(each)]));
  if (typeof given === 'string') {
    if (statSync(given, { throwIfNoEntry: false })?.isFile() === true) return readMapFile(given);
    if (!given.includes('=')) {
      throw usageError(`--map ${given}: it is neither a file nor source=Field.`);
    }
    return new Map([pairOf(given, '--map')]);
  }
  return mapFromObject(given, '"map" of the configuration');
}

function readMapFile(file: string): FieldMap {
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  if (text.trimStart().startsWith('{')) {
    try {
      return mapFromObject(parseUniqueJson(text), file);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw usageError(`${file} is not valid JSON: ${error.message}.`);
    }
  }
  const lines = text.split(/\r?\n/).map((line, index) => [line.trim(), `${file}:${index + 1}`] as const);
  return new Map(
    lines
      .filter(([line]) => line !== '' && !line.startsWith('#'))
      .map(([line, place]) => pairOf(line, place)),
  );
}

function mapFromObject(value: unknown, place: string): FieldMap {
  const wrong = (): never => {
    throw usageError(`${place} is not an object that maps names to fields or null.`);
  };
  if (!isObject(value)) return wrong();
  return new Map(
    Object.entries(value).map(([source, field]: [string, unknown]) => {
      if (field === null) return [source, undefined];
      return typeof field === 'string' ? [source, field] : wrong();
    }),
  );
}

function pairOf(text: string, place: string): [string, string | undefined] {
  // A name in a file may contain an equals sign; the name of a field cannot.
  const at = text.lastIndexOf('=');
  const source = text.slice(0, at).trim();
  if (at < 0 || source === '') {
    throw usageError(`${place}: ${JSON.stringify(text)} is not source=Field.`);
  }
  const field = text.slice(at + 1).trim();
  return [source, field === '' ? undefined : field];
}

/** The map of nested records. `--map` applies only to the top-level members of records. */
export const NO_MAP: FieldMap = new Map();

/** Renames the members of a record and its nested records to the names of fields. @returns why this is not possible */
export function mapFieldNames(
  value: unknown,
  map: FieldMap,
  resource: Resource,
  dictionary: Dictionary,
): { readonly value: unknown } | string {
  if (map.size === 0 && !hasTitles(dictionary)) return { value };
  if (!isObject(value)) return { value };
  const titles = fieldTitles(resource);
  if (usesFieldNames(value, map, titles, resource, dictionary)) return { value };
  const entries: [string, unknown][] = [];
  const names = new Set<string>();
  for (const [source, each] of Object.entries(value)) {
    const name = map.has(source) ? map.get(source) : (titles.get(source) ?? source);
    if (name === undefined) continue;
    if (names.has(name)) return `${source} becomes ${name}, which the record has already`;
    names.add(name);
    const within = mapNestedNames(each, findNavigation(resource, name)?.target, dictionary);
    if (typeof within === 'string') return within;
    entries.push([name, within.value]);
  }
  return { value: Object.fromEntries(entries) };
}

/** Whether a record and its nested records already use the names of fields, as nearly all do. */
function usesFieldNames(
  record: object,
  map: FieldMap,
  titles: ReadonlyMap<string, string>,
  resource: Resource,
  dictionary: Dictionary,
): boolean {
  for (const [name, value] of Object.entries(record)) {
    if (map.has(name) || titles.has(name)) return false;
    const within = Array.isArray(value) ? value.filter(isObject) : [];
    if (within.length === 0) continue;
    const target = dictionary.resources.get(findNavigation(resource, name)?.target ?? '');
    if (target === undefined || !mayHaveTitles(target, dictionary)) continue;
    const under = fieldTitles(target);
    if (!within.every((each) => usesFieldNames(each, NO_MAP, under, target, dictionary))) return false;
  }
  return true;
}

function mapNestedNames(
  value: unknown,
  target: string | undefined,
  dictionary: Dictionary,
): { readonly value: unknown } | string {
  const resource = target === undefined ? undefined : dictionary.resources.get(target);
  if (resource === undefined || !Array.isArray(value)) return { value };
  const list: unknown[] = [];
  for (const each of value) {
    const read = mapFieldNames(each, NO_MAP, resource, dictionary);
    if (typeof read === 'string') return read;
    list.push(read.value);
  }
  return { value: list };
}

/** Maps a label that is not a valid field name to the only field of the resource with this label. */
type FieldTitles = ReadonlyMap<string, string>;

export const fieldTitles = memoizePerObject((resource: Resource): FieldTitles => {
  const fields = [...resource.fields.values()].flatMap(({ name, custom }) =>
    custom === undefined || API_NAME.test(custom.label) ? [] : [{ name, label: custom.label }],
  );
  const made = new Map<string, string>();
  for (const [label, alike] of Map.groupBy(fields, ({ label }) => label)) {
    const [field, another] = alike;
    // If fields of two groups share a label, it refers to neither.
    if (field !== undefined && another === undefined) made.set(label, field.name);
  }
  return made;
});

/** Whether any field has a label that is not a valid field name. */
const hasTitles = memoizePerObject(({ resources }: Dictionary): boolean =>
  [...resources.values()].some((resource) => fieldTitles(resource).size > 0),
);

/** The field name that is drafted for a title: its words without invalid characters; undefined if nothing remains. */
export function draftFieldName(title: string): string | undefined {
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

const hasNestedTitles = new WeakMap<Resource, boolean>();

/** Whether a field of a resource, or of the resources nested in its records, has a title. */
function mayHaveTitles(resource: Resource, dictionary: Dictionary): boolean {
  return hasNestedTitles.getOrInsertComputed(resource, () => {
    const reached = new Set([resource]);
    for (const each of reached) {
      for (const { target, collection } of each.navigations.values()) {
        const next = collection ? dictionary.resources.get(target) : undefined;
        if (next !== undefined) reached.add(next);
      }
    }
    return [...reached].some((each) => fieldTitles(each).size > 0);
  });
}
