/**
 * Parses the texts of records: JSON, names of fields, values. This module knows neither files nor stores, so that it can run on
 * another thread (reading-thread.ts).
 */
import type { StoreModel } from '../../compile/model.ts';
import { parseRecord, type Reading } from '../../records/parse-record.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';
import { isObject } from '../../shared/json.ts';
import { type FieldMap, mapFieldNames, NO_MAP } from './field-names.ts';
import { parseRecordJson, type RawRecord, REJECTED_TEXT } from './record-json.ts';

export interface ReadingOptions {
  readonly reading: Reading;
  readonly map: FieldMap;
  /** Text that is appended to the reason if a record has a field that the dictionary does not define. */
  readonly remedy: string;
}

/** The number of values, by reason or kind, then by name. */
type Counts = Record<string, Record<string, number>>;

/** How values were changed so that their records can be stored. */
export interface AdjustmentCounts {
  /** The number of ignored values, by reason and field. */
  readonly ignored: Counts;
  /** The number of converted values, by kind, then by resource and field. */
  readonly warnings: Counts;
}

/** The result of parsing the texts of records of one resource. */
export interface ReadRecords extends AdjustmentCounts {
  /** Each record, or the reason why it cannot be stored. */
  readonly results: readonly (ParsedRecord | string)[];
}

const STILL_REJECTED = 'The line has the text of something that is not a record; replace it with the record';

/** The maximum number of names that are counted separately; a file can contain any number of names. */
const COUNTED = 1000;
/** The name under which all other names are counted. */
const OTHERS = '*';

function addCount(counts: Counts, why: string, name: string, more = 1): void {
  const names = counts[why] ?? {};
  counts[why] = names;
  const known = Object.hasOwn(names, name) || Object.keys(names).length < COUNTED ? name : OTHERS;
  // A file can contain inherited names, and `__proto__`, which an assignment does not create.
  if (!Object.hasOwn(names, known)) {
    Object.defineProperty(names, known, { value: 0, configurable: true, enumerable: true, writable: true });
  }
  names[known] = (names[known] ?? 0) + more;
}

/** Adds the counts of further records. */
export function addAdjustments(changed: AdjustmentCounts, others: AdjustmentCounts): void {
  for (const form of ['ignored', 'warnings'] as const)
    for (const [why, names] of Object.entries(others[form]))
      for (const [name, more] of Object.entries(names)) addCount(changed[form], why, name, more);
}

/** @param resource its name */
export function readRecordTexts(
  raws: readonly RawRecord[],
  resource: string,
  model: Pick<StoreModel, 'dictionary' | 'settings' | 'resource'>,
  options: ReadingOptions,
): ReadRecords {
  const ignored: Counts = {};
  const warnings: Counts = {};
  const results = raws.map((raw) => read(raw));
  return { results, ignored, warnings };

  function read(raw: RawRecord): ParsedRecord | string {
    if (raw.fault !== undefined) return raw.fault;
    const json = parseRecordJson(raw);
    if (!json.ok) return json.reason;
    if (isObject(json.value) && Object.hasOwn(json.value, REJECTED_TEXT)) return STILL_REJECTED;
    const { dictionary, settings } = model;
    const isRow = raw.isRow === true;
    const of = model.resource(resource);
    const named = mapFieldNames(json.value, isRow ? NO_MAP : options.map, of, dictionary);
    if (typeof named === 'string') return named;
    const reading = isRow ? { ...options.reading, isText: true } : options.reading;
    const context = { dictionary, settings, reading, isShallow: raw.counted?.isDeep === false };
    const result = parseRecord(of, named.value, context);
    if (!result.ok) {
      const { reasons, lacksField } = result.invalid;
      return `${reasons.join('; ')}${lacksField ? options.remedy : ''}`;
    }
    const { dropped, lenient } = result.record;
    for (const { name, why } of dropped) addCount(ignored, why, name);
    for (const each of lenient) addCount(warnings, each.why, `${each.resource}.${each.name}`);
    return result.record;
  }
}
