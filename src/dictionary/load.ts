/** Loads the standard dictionary from the tables in `data/`. This is the only module of the room that reads files. */
import { readFileSync } from 'node:fs';
import { type FieldLine, parseFieldLine } from './field-line.ts';
import { PARTS_OF_LISTINGS } from './listing-parts.ts';
import { nativeName } from './names.ts';
import type {
  Dictionary,
  Field,
  Lookup,
  LookupValue,
  Navigation,
  ParentLink,
  Resource,
  SearchIndex,
} from './types.ts';

const DATA = new URL('./data/', import.meta.url);

function readTable(name: string): string[] {
  const text = readFileSync(new URL(name, DATA), 'utf8');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

function loadLookups(closed: ReadonlySet<string>): Map<string, Lookup> {
  const lines = readTable('lookups.tsv').map((line) => line.split('\t'));
  const lookups = new Map<string, Lookup>();
  for (const [name, rows] of Map.groupBy(lines, ([lookup = '']) => lookup)) {
    const values = rows.map(([, value = '', legacy]) => (legacy ? { value, legacy } : { value }));
    lookups.set(name, makeLookup(name, closed.has(name), values));
  }
  return lookups;
}

/** A lookup, with every spelling of its values that input may use. */
export function makeLookup(name: string, closed: boolean, values: readonly LookupValue[]): Lookup {
  const spellings = new Map<string, string>();
  for (const { value, legacy } of values) if (legacy !== undefined) spellings.set(legacy, value);
  for (const { value } of values) spellings.set(value, value);
  return { name, closed, values: new Map(values.map((entry) => [entry.value, entry])), spellings };
}

/** @param column `any` if records refer to their parent by resource and key */
function parseParentLink(resource: string, column: string): ParentLink | undefined {
  if (column === 'any') {
    return { kind: 'named', resourceField: 'ResourceName', keyField: 'ResourceRecordKey' };
  }
  if (PARTS_OF_LISTINGS.has(resource)) return { kind: 'fixed', resource: 'Property', keyField: 'ListingKey' };
  return undefined;
}

/** The default index in addition to that of the key, for replication, which reads changes by their timestamp. */
export const BY_TIMESTAMP: readonly SearchIndex[] = [{ fields: ['ModificationTimestamp'], covers: [] }];

/** Parses `City, ListPrice + BedroomsTotal, LivingArea; PostalCode`. */
function parseIndexes(column: string): readonly SearchIndex[] {
  if (column === '') return BY_TIMESTAMP;
  if (column === '-') return [];
  return column.split('; ').map((index) => {
    const [fields = '', covers] = index.split(' + ');
    return { fields: fields.split(', '), covers: covers?.split(', ') ?? [] };
  });
}

function makeField(resource: string, line: FieldLine & { kind: 'field' }): Field {
  const { kind: _, closedLookup: __, ...rest } = line;
  return { resource, nativeName: nativeName(resource, line.name), ...rest };
}

function makeNavigation(
  resource: string,
  keys: ReadonlyMap<string, string>,
  line: FieldLine & { kind: 'navigation' },
): Navigation {
  const { name, target, collection, via } = line;
  const local = collection ? (keys.get(resource) ?? '') : via;
  const remote = collection ? via : (line.remote ?? keys.get(target) ?? '');
  return { resource, name, target, collection, local, remote };
}

/** Reads the Data Dictionary 2.0 and the specification's own fields from `data/`. */
function loadStandardDictionary(): Dictionary {
  const rows = readTable('resources.tsv').map((line) => line.split('\t'));
  const keys = new Map(rows.map(([name = '', key = '']) => [name, key]));
  const closed = new Set<string>();
  const resources = new Map<string, Resource>();
  for (const [
    name = '',
    key = '',
    published = '',
    otherNames = '',
    owner = '',
    indexes = '',
    filtered = '',
  ] of rows) {
    const fields = new Map<string, Field>();
    const fieldAliases = new Map<string, string>();
    const navigations = new Map<string, Navigation>();
    for (const line of readTable(`fields/${name}.tsv`).map(parseFieldLine)) {
      switch (line.kind) {
        case 'field':
          fields.set(line.name, makeField(name, line));
          if (line.closedLookup && line.lookup) closed.add(line.lookup);
          break;
        case 'navigation':
          navigations.set(line.name, makeNavigation(name, keys, line));
          break;
        case 'alias':
          fieldAliases.set(line.name, line.of);
          break;
      }
    }
    const parent = parseParentLink(name, owner);
    resources.set(name, {
      name,
      key,
      always: published !== 'with data',
      ...(published === 'from changes' ? { fromChanges: true } : {}),
      ...(published === 'from contents' ? { fromContents: true } : {}),
      otherNames: otherNames === '' ? [] : otherNames.split(','),
      fields,
      fieldAliases,
      navigations,
      searchedBy: parseIndexes(indexes),
      ...(filtered === '' ? {} : { filteredBy: filtered.split(', ') }),
      ...(parent === undefined ? {} : { parent }),
    });
  }
  return { resources, lookups: loadLookups(closed) };
}

let standard: Dictionary | undefined;

/** The standard dictionary, read once per process. */
export function standardDictionary(): Dictionary {
  standard ??= loadStandardDictionary();
  return standard;
}
