/**
 * Drafts declarations for fields that the dictionary does not have, from all the values that stand in files. It knows
 * nothing of files, stores and configurations.
 */
import {
  type CustomFieldDeclaration,
  canonicalDate,
  canonicalTimestamp,
  type Dictionary,
  findNavigation,
  type LookupDeclaration,
  type Resource,
} from '../../dictionary/index.ts';

/** A field as it is drafted, or why none can be. */
export type Draft =
  | {
      readonly kind: 'field';
      readonly field: CustomFieldDeclaration;
      /** What stands in the field, where it looks like a lookup. */
      readonly values?: readonly string[];
    }
  | { readonly kind: 'none'; readonly resource: string; readonly name: string; readonly reason: string };

/** What was seen of a field that the dictionary does not have. */
interface Seen {
  readonly resource: string;
  readonly name: string;
  booleans: number;
  integers: number;
  decimals: number;
  /** Digits before and behind the point. */
  whole: number;
  scale: number;
  texts: number;
  dates: number;
  timestamps: number;
  lists: number;
  objects: number;
  /** How often each text stands there, alone or in a list; undefined: there are too many for a lookup. */
  values: Map<string, number> | undefined;
}

/** The group of fields that an import declares. */
const GROUP = 'Local';
const API_NAME = /^[A-Za-z][A-Za-z0-9_]{0,127}$/;
/** Fields of one run; a table has no room for as many. */
export const MOST_FIELDS = 2000;
/** The values of a lookup, of a list, and how long each may be. */
const MOST_VALUES = 50;
const MOST_LISTED = 200;
const LONGEST_VALUE = 80;
/** A text is a lookup when each of its values stands there so often on the average, and there are so many texts. */
const REPEATED = 3;
const ENOUGH = 10;
/** Digits and decimals that a number of a field may have, at least. */
const DIGITS = 12;
const SCALE = 2;

const WHOLE = /^[+-]?(?:0|[1-9]\d{0,14})$/;
const DECIMAL = /^[+-]?(?:0|[1-9]\d{0,11})\.\d{1,6}$/;
const BOOLEAN = /^(?:true|false|yes|no|y|n)$/i;

/** Looks at records and keeps what it needs of their unknown fields. */
export class Study {
  readonly #dictionary: Dictionary;
  readonly #seen = new Map<string, Seen>();

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary;
  }

  /** @param isText whether every value is a text, as in CSV, and may stand for something else */
  see(resource: Resource, record: unknown, isText: boolean): void {
    if (!isObject(record)) return;
    for (const name of Object.keys(record)) {
      if (name.includes('@') || resource.fields.has(name) || resource.fieldAliases.has(name)) continue;
      const value = record[name];
      const navigation = findNavigation(resource, name);
      if (navigation === undefined) {
        const seen = this.#seenOf(resource.name, name);
        if (seen !== undefined) note(seen, value, isText);
        continue;
      }
      const child = this.#dictionary.resources.get(navigation.target);
      if (child === undefined || !Array.isArray(value)) continue;
      for (const each of value) this.see(child, each, isText);
    }
  }

  #seenOf(resource: string, name: string): Seen | undefined {
    const path = `${resource}.${name}`;
    const known = this.#seen.get(path);
    if (known !== undefined || this.#seen.size >= MOST_FIELDS) return known;
    const made: Seen = {
      resource,
      name,
      booleans: 0,
      integers: 0,
      decimals: 0,
      whole: 0,
      scale: 0,
      texts: 0,
      dates: 0,
      timestamps: 0,
      lists: 0,
      objects: 0,
      values: new Map(),
    };
    this.#seen.set(path, made);
    return made;
  }

  /** Whether there may be more fields, which were not looked at. */
  get isFull(): boolean {
    return this.#seen.size >= MOST_FIELDS;
  }

  /** In the order in which the fields were first seen. */
  drafts(): Draft[] {
    return [...this.#seen.values()].map(draftOf);
  }
}

function note(seen: Seen, value: unknown, isText: boolean): void {
  switch (typeof value) {
    case 'boolean':
      seen.booleans++;
      return;
    case 'number':
      noteNumber(seen, String(value));
      return;
    case 'string':
      if (!isText || !noteText(seen, value.trim())) noteString(seen, value);
      return;
    default:
      if (value === null || value === undefined) return;
      if (Array.isArray(value) && value.every((each) => typeof each === 'string')) {
        seen.lists++;
        for (const each of value) noteValue(seen, each);
      } else seen.objects++;
  }
}

function noteNumber(seen: Seen, text: string): void {
  const [whole = '', fraction = ''] = text.replace(/^[+-]/, '').split('.');
  if (fraction === '' && /^\d+$/.test(whole)) seen.integers++;
  else seen.decimals++;
  seen.whole = Math.max(seen.whole, whole.length);
  seen.scale = Math.max(seen.scale, fraction.length);
}

/** @returns whether the text stands for something else */
function noteText(seen: Seen, text: string): boolean {
  if (text === '') return true;
  if (WHOLE.test(text) || DECIMAL.test(text)) noteNumber(seen, text);
  else if (BOOLEAN.test(text)) seen.booleans++;
  else return false;
  // Should other texts show that the field is one.
  noteValue(seen, text);
  return true;
}

function noteString(seen: Seen, text: string): void {
  if (canonicalDate(text) !== undefined) seen.dates++;
  else if (canonicalTimestamp(text) !== undefined) seen.timestamps++;
  else seen.texts++;
  noteValue(seen, text);
}

function noteValue(seen: Seen, text: string): void {
  const { values } = seen;
  if (values === undefined || text === '') return;
  values.set(text, (values.get(text) ?? 0) + 1);
  if (values.size > MOST_LISTED || text.length > LONGEST_VALUE || /\p{Cc}/u.test(text))
    seen.values = undefined;
}

function draftOf(seen: Seen): Draft {
  const { resource, name } = seen;
  const none = (reason: string): Draft => ({ kind: 'none', resource, name, reason });
  if (!API_NAME.test(name)) {
    return none(`no field can have this name; --map ${JSON.stringify(`${name}=AName`)} gives it another one`);
  }
  if (seen.objects > 0) return none('its values are objects, or lists of something else than texts');
  const { type, hasValues } = typeOf(seen);
  const field = { resource, name, group: GROUP, label: name, type };
  return hasValues && seen.values !== undefined
    ? { kind: 'field', field, values: [...seen.values.keys()].toSorted() }
    : { kind: 'field', field };
}

function typeOf(seen: Seen): { readonly type: string; readonly hasValues: boolean } {
  const { booleans, integers, decimals, texts, dates, timestamps, lists, values } = seen;
  const numbers = integers + decimals;
  const all = booleans + numbers + texts + dates + timestamps + lists;
  const plain = (type: string) => ({ type, hasValues: false });
  if (lists > 0 && lists === all)
    return { type: 'string[]', hasValues: values !== undefined && values.size > 0 };
  if (booleans > 0 && booleans === all) return plain('boolean');
  if (numbers > 0 && numbers === all) return plain(decimals === 0 ? 'integer' : decimalType(seen));
  if (dates > 0 && dates === all) return plain('date');
  if (timestamps > 0 && timestamps === all) return plain('timestamp');
  const different = values?.size ?? Number.POSITIVE_INFINITY;
  const isLookup = texts === all && all >= ENOUGH && different <= MOST_VALUES && different * REPEATED <= all;
  return { type: 'string', hasValues: isLookup };
}

function decimalType({ whole, scale }: Seen): string {
  const behind = Math.max(SCALE, Math.min(scale, DIGITS));
  return `decimal(${Math.max(whole, DIGITS) + behind},${behind})`;
}

/** Declarations with drafts put in: fields that are there stay as they are, values are added to those that are there. */
export function withDrafts(
  known: {
    readonly customFields?: readonly CustomFieldDeclaration[];
    readonly lookups?: readonly LookupDeclaration[];
  },
  drafts: readonly Draft[],
  dictionary: Dictionary,
): { readonly customFields: CustomFieldDeclaration[]; readonly lookups?: LookupDeclaration[] } {
  const customFields = [...(known.customFields ?? [])];
  const lookups = new Map((known.lookups ?? []).map((each) => [each.lookup, each.values]));
  const made = new Set<string>();
  for (const draft of drafts) {
    if (draft.kind === 'none') continue;
    const { field, values } = draft;
    const lookup = values === undefined ? undefined : freeName(field, dictionary, made);
    if (lookup !== undefined && values !== undefined) {
      made.add(lookup);
      lookups.set(lookup, [...new Set([...(lookups.get(lookup) ?? []), ...values])]);
    }
    customFields.push(lookup === undefined ? field : { ...field, lookup });
  }
  if (lookups.size === 0) return { customFields };
  return { customFields, lookups: [...lookups].map(([lookup, values]) => ({ lookup, values })) };
}

/** A name for the lookup of a field: its own, or with the resource's before it where there is one of that name. */
function freeName(
  { resource, name }: CustomFieldDeclaration,
  { lookups }: Dictionary,
  made: ReadonlySet<string>,
): string | undefined {
  return [name, `${resource}${name}`].find((each) => made.has(each) || !lookups.has(each));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
