/** What the members of records and the columns of tables are to be called: `--map`, as a file or as pairs. */
import { readFileSync, statSync } from 'node:fs';
import { type Dictionary, findNavigation, type Resource } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { fieldTitles, hasTitles, mayHaveTitles } from './field-titles.ts';

/** From the name in a file to that of a field; undefined: it is left out. */
export type FieldMap = ReadonlyMap<string, string | undefined>;

/**
 * @param given by the line or the environment: `source=Field`, or the name of a file that has such lines or a JSON object;
 *   by the configuration also an object
 * @throws PlatError `usage`
 */
export function readFieldMap(given: unknown): FieldMap {
  if (given === undefined) return new Map();
  if (Array.isArray(given)) return new Map(given.flatMap((each) => [...readFieldMap(each)]));
  if (typeof given === 'string') {
    if (statSync(given, { throwIfNoEntry: false })?.isFile() === true) return ofFile(given);
    if (!given.includes('=')) {
      throw platError('usage', {
        reason: `--map ${given}: there is no such file, and it is no source=Field.`,
      });
    }
    return new Map([pairOf(given, '--map')]);
  }
  return ofObject(given, '"map" of the configuration');
}

function ofFile(file: string): FieldMap {
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  if (text.trimStart().startsWith('{')) {
    try {
      return ofObject(JSON.parse(text), file);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw platError('usage', { reason: `${file} is no JSON: ${error.message}.` });
    }
  }
  const lines = text.split(/\r?\n/).map((line, index) => [line.trim(), `${file}:${index + 1}`] as const);
  return new Map(
    lines
      .filter(([line]) => line !== '' && !line.startsWith('#'))
      .map(([line, place]) => pairOf(line, place)),
  );
}

function ofObject(value: unknown, place: string): FieldMap {
  const wrong = (): never => {
    throw platError('usage', {
      reason: `${place} is no object of names, each with the name of a field or null.`,
    });
  };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return wrong();
  return new Map(
    Object.entries(value).map(([source, field]: [string, unknown]) => {
      if (field === null) return [source, undefined];
      return typeof field === 'string' ? [source, field] : wrong();
    }),
  );
}

function pairOf(text: string, place: string): [string, string | undefined] {
  // A name in a file may have such a character; that of a field has none.
  const at = text.lastIndexOf('=');
  const source = text.slice(0, at).trim();
  if (at < 0 || source === '') {
    throw platError('usage', { reason: `${place}: ${JSON.stringify(text)} is no source=Field.` });
  }
  const field = text.slice(at + 1).trim();
  return [source, field === '' ? undefined : field];
}

/** The map of records that are within others: it names members of the records themselves. */
export const NO_MAP: FieldMap = new Map();

/** A record, and those within it, under the names of their fields. @returns why there is none */
export function mapped(
  value: unknown,
  map: FieldMap,
  resource: Resource,
  dictionary: Dictionary,
): { readonly value: unknown } | string {
  if (map.size === 0 && !hasTitles(dictionary)) return { value };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { value };
  const titles = fieldTitles(resource);
  if (isUnderNames(value, map, titles, resource, dictionary)) return { value };
  const entries: [string, unknown][] = [];
  const names = new Set<string>();
  for (const [source, each] of Object.entries(value)) {
    const name = map.has(source) ? map.get(source) : (titles.get(source) ?? source);
    if (name === undefined) continue;
    if (names.has(name)) return `${source} becomes ${name}, which the record has already`;
    names.add(name);
    const within = mappedWithin(each, findNavigation(resource, name)?.target, dictionary);
    if (typeof within === 'string') return within;
    entries.push([name, within.value]);
  }
  return { value: Object.fromEntries(entries) };
}

/** Whether a record has the names of its fields already, as nearly all have, and those within it, too. */
function isUnderNames(
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
    if (!within.every((each) => isUnderNames(each, NO_MAP, under, target, dictionary))) return false;
  }
  return true;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function mappedWithin(
  value: unknown,
  target: string | undefined,
  dictionary: Dictionary,
): { readonly value: unknown } | string {
  const resource = target === undefined ? undefined : dictionary.resources.get(target);
  if (resource === undefined || !Array.isArray(value)) return { value };
  const list: unknown[] = [];
  for (const each of value) {
    const read = mapped(each, NO_MAP, resource, dictionary);
    if (typeof read === 'string') return read;
    list.push(read.value);
  }
  return { value: list };
}
