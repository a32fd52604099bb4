/**
 * Drafts declarations for fields that the dictionary does not define, from all their values in the imported files. This module
 * knows nothing about files, stores or configurations.
 */
import {
  API_NAME,
  type CustomFieldDeclaration,
  canonicalDate,
  canonicalTimestamp,
  type Dictionary,
  findNavigation,
  type LookupDeclaration,
  type Resource,
} from '../../dictionary/index.ts';
import { decimalsOf, losesDigits, losesOnlyFraction } from '../../records/value.ts';
import { isObject, LongNumber } from '../../shared/json.ts';
import { draftFieldName } from './field-names.ts';

/** A drafted field, or the reason why none can be drafted. */
export type Draft =
  | {
      readonly kind: 'field';
      readonly field: CustomFieldDeclaration;
      /** The values of the field if it looks like a lookup. */
      readonly values?: readonly string[];
    }
  | {
      readonly kind: 'none';
      readonly resource: string;
      readonly name: string;
      /** `name`: every record is affected. `values`: some records may be valid. */
      readonly fault: 'name' | 'values';
      readonly reason: string;
    };

/** What is known of an undeclared field. */
interface FieldStatistics {
  readonly resource: string;
  readonly name: string;
  booleans: number;
  integers: number;
  decimals: number;
  /** Digits before and after the decimal point. */
  whole: number;
  scale: number;
  texts: number;
  dates: number;
  timestamps: number;
  lists: number;
  objects: number;
  /** Number of occurrences of each text, alone or in a list; undefined if there are too many for a lookup. */
  values: Map<string, number> | undefined;
}

/** The group of fields that an import declares. */
const GROUP = 'Local';
/** The maximum number of fields in one run, more than a table can have. */
export const MOST_NAMES = 2000;
/** The maximum number of values of a lookup, and of a multi-valued lookup, and the maximum length of a value. */
const MOST_VALUES = 50;
const MOST_LISTED = 200;
const LONGEST_VALUE = 80;
/** A text field is a lookup if its values occur this often on average, and there are this many texts. */
const REPEATED = 3;
const ENOUGH = 10;
/** The minimum number of digits and decimals of a number field. */
const DIGITS = 12;
const SCALE = 2;
/** The maximum number of decimals of a number field; a number with more is not an amount and is kept as a text. */
const MOST_DECIMALS = 38;

/**
 * A number in a table, without a plus sign or leading zeros, which it would lose. A whole number with more digits than
 * this is an identifier.
 */
const NUMBER = /^-?(0|[1-9]\d*)(?:\.(\d+))?$/;
const LONGEST_WHOLE_NUMBER = 15;
const BOOLEAN = /^(?:true|false|yes|no|y|n)$/i;

/** Examines records and summarizes their undeclared fields. */
export class Study {
  readonly #dictionary: Dictionary;
  readonly #seen = new Map<string, FieldStatistics>();

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary;
  }

  /** @param isText whether all values are texts, as in CSV, and can represent other types */
  examine(resource: Resource, record: unknown, isText: boolean): void {
    if (!isObject(record)) return;
    for (const name of Object.keys(record)) {
      if (name.includes('@') || resource.fields.has(name) || resource.fieldAliases.has(name)) continue;
      const value = record[name];
      const navigation = findNavigation(resource, name);
      if (navigation === undefined) {
        const seen = this.#seenOf(resource.name, name);
        if (seen !== undefined) countValue(seen, value, isText);
        continue;
      }
      const child = this.#dictionary.resources.get(navigation.target);
      if (child === undefined || !Array.isArray(value)) continue;
      for (const each of value) this.examine(child, each, isText);
    }
  }

  #seenOf(resource: string, name: string): FieldStatistics | undefined {
    const path = `${resource}.${name}`;
    const known = this.#seen.get(path);
    if (known !== undefined || this.#seen.size >= MOST_NAMES) return known;
    const made: FieldStatistics = {
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

  /** Whether further fields may exist that were not examined. */
  get isFull(): boolean {
    return this.#seen.size >= MOST_NAMES;
  }

  /** In the order of first occurrence. */
  drafts(): Draft[] {
    const seen = [...this.#seen.values()].map((each) => ({ ...each, api: apiName(each.name) }));
    const alike = Map.groupBy(seen, ({ resource, api }) => `${resource}.${api?.toLowerCase()}`);
    const known = new Map<string, string>();
    for (const resource of new Set(seen.map((each) => each.resource))) {
      const { fields, fieldAliases, navigations } = this.#dictionary.resources.get(resource) ?? {};
      const names = [fields, fieldAliases, navigations].flatMap((each) => [...(each?.keys() ?? [])]);
      for (const name of names) known.set(`${resource}.${name.toLowerCase()}`, name);
    }
    return seen.map((each) => {
      const place = `${each.resource}.${each.api?.toLowerCase()}`;
      // A valid field name takes precedence over names that are derived from titles.
      const first = alike
        .get(place)
        ?.toSorted((a, b) => Number(a.api !== a.name) - Number(b.api !== b.name))[0];
      return draftOf(
        each,
        each.api,
        known.get(place) ?? (first?.name === each.name ? undefined : first?.api),
      );
    });
  }
}

/** The field name that is drafted for a member of a file; undefined if none can be derived. */
const apiName = (name: string): string | undefined => (API_NAME.test(name) ? name : draftFieldName(name));

function countValue(seen: FieldStatistics, value: unknown, isText: boolean): void {
  switch (typeof value) {
    case 'boolean':
      seen.booleans++;
      return;
    case 'number':
      if (!countNumber(seen, value)) countString(seen, String(value));
      return;
    case 'string':
      if (!isText || !countTableText(seen, value.trim())) countString(seen, value);
      return;
    default:
      if (value === null || value === undefined) return;
      if (value instanceof LongNumber) {
        // A number field rounds the value, unless the result would be zero.
        const number = Number(value.text);
        if (!losesOnlyFraction(number) || !countNumber(seen, number, false)) countString(seen, value.text);
        return;
      }
      if (Array.isArray(value) && value.every((each) => typeof each === 'string')) {
        seen.lists++;
        for (const each of value) countDistinct(seen, each);
      } else seen.objects++;
  }
}

/** @returns whether a number field has room for all its digits */
function countNumber(seen: FieldStatistics, number: number, isWhole = Number.isInteger(number)): boolean {
  const scale = decimalsOf(number);
  if (isWhole ? !Number.isSafeInteger(number) : scale > MOST_DECIMALS) return false;
  if (isWhole) seen.integers++;
  else seen.decimals++;
  seen.whole = Math.max(seen.whole, String(Math.trunc(Math.abs(number))).length);
  seen.scale = Math.max(seen.scale, scale);
  return true;
}

/** @returns whether the text represents another type */
function countTableText(seen: FieldStatistics, text: string): boolean {
  if (text === '') return true;
  const isNumber = isExactNumber(text) && countNumber(seen, Number(text));
  if (!isNumber && !BOOLEAN.test(text)) return false;
  if (!isNumber) seen.booleans++;
  // The text is needed if other values show that the field is a text field.
  countDistinct(seen, text);
  return true;
}

function isExactNumber(text: string): boolean {
  const [, whole, fraction] = NUMBER.exec(text) ?? [];
  if (fraction !== undefined) return !losesDigits(Number(text), text);
  return whole !== undefined && whole.length <= LONGEST_WHOLE_NUMBER;
}

function countString(seen: FieldStatistics, text: string): void {
  if (canonicalDate(text) !== undefined) seen.dates++;
  else if (canonicalTimestamp(text) !== undefined) seen.timestamps++;
  else seen.texts++;
  countDistinct(seen, text);
}

function countDistinct(seen: FieldStatistics, text: string): void {
  const { values } = seen;
  if (values === undefined || text === '') return;
  values.set(text, (values.get(text) ?? 0) + 1);
  if (values.size > MOST_LISTED || text.length > LONGEST_VALUE || /\p{Cc}/u.test(text))
    seen.values = undefined;
}

/**
 * @param name the drafted name; undefined if none can be derived
 * @param taken the existing field or navigation of this name
 */
function draftOf(seen: FieldStatistics, name: string | undefined, taken: string | undefined): Draft {
  const { resource, name: label } = seen;
  const none = (fault: 'name' | 'values', reason: string): Draft => ({
    kind: 'none',
    resource,
    name: label,
    fault,
    reason,
  });
  const mapTo = (to: string): string => `--map ${JSON.stringify(`${label}=${to}`)}`;
  if (name === undefined)
    return none('name', `no field can have this name; ${mapTo('AName')} gives it another one`);
  if (taken !== undefined)
    return none(
      'name',
      `there is ${taken}; ${mapTo(taken)} maps it to that field, ${mapTo('AName')} gives it another name`,
    );
  if (seen.objects > 0)
    return none('values', 'its values are objects, or lists of something else than texts');
  if (seen.lists > 0 && seen.booleans + seen.integers + seen.decimals > 0)
    return none('values', 'some of its values are lists, others are not');
  const { type, hasValues } = inferType(seen);
  const field = { resource, name, group: GROUP, label, type };
  return hasValues && seen.values !== undefined
    ? { kind: 'field', field, values: [...seen.values.keys()].toSorted() }
    : { kind: 'field', field };
}

function inferType(seen: FieldStatistics): { readonly type: string; readonly hasValues: boolean } {
  const { booleans, integers, decimals, texts, dates, timestamps, lists, values } = seen;
  const numbers = integers + decimals;
  const all = booleans + numbers + texts + dates + timestamps + lists;
  const plain = (type: string) => ({ type, hasValues: false });
  if (lists > 0 && lists + texts + dates + timestamps === all)
    return { type: 'string[]', hasValues: values !== undefined && values.size > 0 };
  if (booleans > 0 && booleans === all) return plain('boolean');
  if (numbers > 0 && numbers === all) return plain(decimals === 0 ? 'integer' : decimalType(seen));
  if (dates > 0 && dates === all) return plain('date');
  if (timestamps > 0 && timestamps === all) return plain('timestamp');
  const different = values?.size ?? Number.POSITIVE_INFINITY;
  const isLookup = texts === all && all >= ENOUGH && different <= MOST_VALUES && different * REPEATED <= all;
  return { type: 'string', hasValues: isLookup };
}

function decimalType({ whole, scale }: FieldStatistics): string {
  const behind = Math.max(SCALE, scale);
  return `decimal(${Math.max(whole, DIGITS) + behind},${behind})`;
}

/** Adds drafts to declarations. Existing fields are unchanged, and values are added to existing lookups. */
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

/** A free name for the lookup of a field: the name of the field, or else with the resource as a prefix. */
function freeName(
  { resource, name }: CustomFieldDeclaration,
  { lookups }: Dictionary,
  made: ReadonlySet<string>,
): string | undefined {
  return [name, `${resource}${name}`].find((each) => made.has(each) || !lookups.has(each));
}
