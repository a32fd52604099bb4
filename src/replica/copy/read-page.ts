/**
 * Converts the records of a page to records of the dictionary: removes masks and incomplete collections, declares fields that the
 * dictionary lacks, and quarantines data that cannot be stored. It stores no records.
 */
import type { StoreModel } from '../../compile/model.ts';
import { type Dictionary, type Field, findNavigation, type Resource } from '../../dictionary/index.ts';
import { isTooDeep, jsonOf, TOO_DEEP } from '../../records/nesting.ts';
import { parseRecord } from '../../records/parse-record.ts';
import {
  isStorableKey,
  type LenientField,
  type ParsedRecord,
  withMembers,
} from '../../records/parsed-record.ts';
import type { Places } from '../../records/rows.ts';
import { isUnsafeInteger } from '../../records/value.ts';
import { isObject, type JsonObject } from '../../shared/json.ts';
import { memoizePerObject } from '../../shared/memoize.ts';
import type { Keys, QuarantineEntry } from '../../store/checkpoint/checkpoints.ts';
import { MASK, type SourceItem, type SourcePage } from '../source/source.ts';
import { zonelessField } from '../source/time-zones.ts';
import type { Copy, CopySettings } from './copy.ts';
import { nameOfPayload, pendingEntry, RECORD } from './quarantine-entry.ts';
import {
  declareFields,
  fieldName,
  guessField,
  lacks,
  mergeUnknownField,
  notIgnored,
  type UnknownField,
  unknownFields,
} from './schema-drift.ts';

/** The result of reading a page. */
export interface Intake {
  /** Records by resource, each key once. */
  readonly records: readonly { readonly resource: string; readonly records: readonly ParsedRecord[] }[];
  /** Records that the source wants replicas to delete. */
  readonly remove: readonly Keys[];
  readonly quarantine: readonly QuarantineEntry[];
  /** Collections that were received incompletely, by listing. */
  readonly partial: readonly { readonly key: string; readonly collection: string }[];
}

interface Draft {
  readonly records: Map<string, Map<string, ParsedRecord>>;
  readonly remove: Map<string, Set<string>>;
  readonly quarantine: QuarantineEntry[];
  readonly partial: { readonly key: string; readonly collection: string }[];
  readonly unknown: Map<string, UnknownField>;
  readonly placesOf: (resource: Resource) => Places;
  /** Fields whose values were converted from another form than the dictionary's. */
  readonly lenient: Map<string, LenientField>;
  /** A timestamp without a time zone because of which data is quarantined, in words. */
  zoneless: string | undefined;
}

/** The parts of a copy that reading a page needs. */
type Reader = Pick<Copy, 'store' | 'checkpoint' | 'settings' | 'report'>;

/**
 * Declares the fields that the dictionary lacks, and converts the records of a page to records of the dictionary. Data that cannot
 * be stored is quarantined as received, and the rest of the page is stored. If two records have the same key, the later one is
 * used.
 */
export async function readPageDeclaringFields(
  copy: Reader,
  page: Pick<SourcePage, 'items' | 'broken'>,
): Promise<Intake> {
  const { intake, unknown, lenient, zoneless } = await readPage(copy, page);
  reportLenient(copy, lenient);
  reportZoneless(copy, zoneless);
  if (copy.settings.drift === 'freeze' || unknown.length === 0) return intake;
  const hasGrown = await declareUnknownFields(copy, unknown);
  return hasGrown ? (await readPage(copy, page)).intake : intake;
}

/** The fields that have already been reported, for each copy of this process. */
const reportedOf = memoizePerObject((_: Reader['checkpoint']) => new Set<string>());

/** Reports, once for each field, that its values are converted from another form. */
function reportLenient({ checkpoint, report }: Reader, lenient: readonly LenientField[]): void {
  if (lenient.length === 0) return;
  const known = reportedOf(checkpoint);
  for (const field of lenient) {
    if (known.has(fieldName(field))) continue;
    known.add(fieldName(field));
    report({ kind: 'field', resource: field.resource, name: field.name, taken: 'read' });
  }
}

/** Reports, once for each copy of this process, why the records of a source are quarantined that sends no time zones. */
function reportZoneless({ checkpoint, report }: Reader, found: string | undefined): void {
  const known = reportedOf(checkpoint);
  if (found === undefined || known.has(ZONE)) return;
  known.add(ZONE);
  const reason = `The timestamps of the source have no time zone (${found}), so its records are quarantined. If the source means UTC, --assume-utc --refresh reads them.`;
  report({ kind: 'doubt', reason });
}

/** Stands among the reported fields for timestamps without a time zone. */
const ZONE = '@zone';

/** Reads the records of a page, and collects the fields that the dictionary does not have. */
export async function readPage(
  { store, settings }: Pick<Copy, 'store' | 'settings'>,
  { items, broken }: Pick<SourcePage, 'items' | 'broken'>,
) {
  const model = await store.model();
  const places = new Map<string, Places>();
  const draft: Draft = {
    placesOf: ({ name }) => places.getOrInsertComputed(name, () => new Map()),
    records: new Map(),
    remove: new Map(),
    quarantine: [],
    partial: [],
    unknown: new Map(),
    lenient: new Map(),
    zoneless: undefined,
  };
  for (const item of items) readItem(settings, model, draft, item);
  for (const { resource, key, payload, reason } of broken) {
    draft.quarantine.push(
      key === undefined
        ? { resource, key: nameOfPayload(payload), reason, payload }
        : pendingEntry(resource, key, RECORD, reason),
    );
  }
  const intake: Intake = {
    records: [...draft.records].map(([resource, records]) => ({ resource, records: [...records.values()] })),
    remove: [...draft.remove]
      .filter(([, keys]) => keys.size > 0)
      .map(([resource, keys]) => ({ resource, keys: [...keys] })),
    quarantine: draft.quarantine,
    partial: draft.partial,
  };
  const { unknown, lenient, zoneless } = draft;
  return { intake, unknown: [...unknown.values()], lenient: [...lenient.values()], zoneless };
}

function readItem({ drift }: CopySettings, model: StoreModel, draft: Draft, item: SourceItem): void {
  const resource = model.resource(item.resource);
  const put = (name: string, key: string | undefined, reasons: readonly string[], origin: unknown): void => {
    const payload = jsonOf(origin);
    const reason = reasons.join('; ');
    draft.quarantine.push({ resource: name, key: key ?? nameOfPayload(payload), reason, payload });
    const field = isObject(origin) ? zonelessField(model.resource(name), origin) : undefined;
    if (field !== undefined && isObject(origin)) draft.zoneless ??= `${field} is ${jsonOf(origin[field])}`;
  };
  const { [resource.key]: given } = item.json;
  if (isTooDeep(item.json)) {
    const key = typeof given === 'string' && isStorableKey(given) ? given : undefined;
    put(resource.name, key, [`The record ${TOO_DEEP}`], item.json);
    return;
  }
  const { json, partial } = clean(item.json);
  const { dictionary, settings } = model;
  const context = { dictionary, settings, isShallow: true, placesOf: draft.placesOf };
  const result = parseRecord(resource, stringifyGuessedTexts(resource, json, dictionary), context);
  if (!result.ok) {
    const name = typeof given === 'string' && !isStorableKey(given) ? nameOfPayload(given) : undefined;
    put(resource.name, result.invalid.key ?? name, result.invalid.reasons, item.json);
    return;
  }
  const { record } = result;
  if (item.json.MlgCanView === false) {
    draft.remove.getOrInsertComputed(resource.name, () => new Set()).add(record.key);
    draft.records.get(resource.name)?.delete(record.key);
    return;
  }
  const unknown = unknownFields(record);
  if (drift === 'freeze' && unknown.length > 0) {
    put(resource.name, record.key, [lacks(unknown)], item.json);
    return;
  }
  for (const field of record.lenient) draft.lenient.set(fieldName(field), field);
  for (const field of unknown) {
    draft.unknown.set(fieldName(field), mergeUnknownField(draft.unknown.get(fieldName(field)), field));
  }
  for (const member of record.refused) put(member.resource, member.key, member.reasons, member.origin);
  for (const collection of partial) draft.partial.push({ key: record.key, collection });
  const records = draft.records.getOrInsertComputed(resource.name, () => new Map());
  if (item.onlyChildren) {
    if (draft.remove.get(resource.name)?.has(record.key) === true) return;
    const whole = records.get(record.key) ?? withMembers(record, { onlyChildren: true });
    const children = new Map([...whole.children, ...record.children]);
    records.set(record.key, withMembers(whole, { children }));
    return;
  }
  draft.remove.get(resource.name)?.delete(record.key);
  records.delete(record.key); // the later record keeps its own place in the page
  records.set(record.key, record);
}

/** @returns whether the dictionary has grown */
async function declareUnknownFields(copy: Reader, unknown: readonly UnknownField[]): Promise<boolean> {
  const { checkpoint, store, settings, report } = copy;
  const ignored = new Set(checkpoint.get('ignored'));
  const fresh = notIgnored(unknown, ignored);
  if (fresh.length === 0) return false;
  const refused =
    settings.drift === 'evolve' ? await declareFields(store, fresh.map(guessField), report) : fresh;
  if (refused.length === 0) return true;
  for (const field of refused) {
    ignored.add(fieldName(field));
    report({ kind: 'field', resource: field.resource, name: field.name, taken: 'ignored' });
  }
  await checkpoint.commit({ state: { ignored: [...ignored].toSorted() } });
  return refused.length < fresh.length;
}

const NEXT_LINK = /^(.+)@(?:odata\.)?nextLink$/;
const COUNT = /^(.+)@(?:odata\.)?count$/;

/**
 * The collection that an annotation shows to be incomplete, by a link to the rest or by a count that is larger than its number of
 * members.
 */
function incomplete(json: JsonObject, annotation: string): string | undefined {
  const counted = COUNT.exec(annotation)?.[1];
  if (counted === undefined) return NEXT_LINK.exec(annotation)?.[1];
  const list = json[counted];
  return Array.isArray(list) && Number(json[annotation]) > list.length ? counted : undefined;
}

/**
 * Removes masks and incomplete collections from a record; storing an incomplete collection would delete its missing members. A
 * record that has neither is returned unchanged.
 */
function clean(given: JsonObject): { readonly json: JsonObject; readonly partial: readonly string[] } {
  let copy: Record<string, unknown> | undefined;
  const partial: string[] = [];
  for (const name in given) {
    const value = given[name];
    const cleaned = Array.isArray(value) ? cleanList(value) : value;
    if (cleaned !== value) {
      copy ??= { ...given };
      copy[name] = cleaned;
    } else if (value === MASK) {
      copy ??= { ...given };
      delete copy[name];
    }
    const collection = name.includes('@') ? incomplete(given, name) : undefined;
    if (collection !== undefined && !partial.includes(collection)) partial.push(collection);
  }
  if (partial.length > 0) {
    copy ??= { ...given };
    for (const name of partial) delete copy[name];
  }
  return { json: copy ?? given, partial };
}

function cleanList(list: readonly unknown[]): readonly unknown[] {
  const cleaned = mapIfChanged(list, (member) => (isObject(member) ? clean(member).json : member));
  return cleaned.includes(MASK) ? cleaned.filter((member) => member !== MASK) : cleaned;
}

/** Like `map`, but returns the same list if no member changes. */
function mapIfChanged(list: readonly unknown[], change: (member: unknown) => unknown): readonly unknown[] {
  const changed = list.map(change);
  return changed.some((member, index) => member !== list[index]) ? changed : list;
}

/**
 * Replaces values of custom text fields that are not strings by their JSON, since the type of such a field may be a guess. Returns
 * the same object if nothing has to change. Other conversions of values apply to every record, and are in records/lenient.ts.
 */
function stringifyGuessedTexts(resource: Resource, json: JsonObject, dictionary: Dictionary): JsonObject {
  if (!hasGuessedTexts(dictionary)) return json;
  let changed: Record<string, unknown> | undefined;
  for (const name of Object.keys(json)) {
    const value = json[name];
    const form = stringifyIfGuessed(resource, name, value, dictionary);
    if (form === value) continue;
    changed ??= { ...json };
    changed[name] = form;
  }
  return changed ?? json;
}

const isGuessedText = ({ collection, custom, type }: Field): boolean =>
  !collection && custom !== undefined && type.kind === 'string';

/** Whether the dictionary has any custom text field. */
const hasGuessedTexts = memoizePerObject(({ resources }: Dictionary): boolean =>
  [...resources.values()].some(({ fields }) => [...fields.values()].some(isGuessedText)),
);

function stringifyIfGuessed(
  resource: Resource,
  name: string,
  value: unknown,
  dictionary: Dictionary,
): unknown {
  if (value === null || value === undefined) return value;
  const field = resource.fields.get(resource.fieldAliases.get(name) ?? name);
  if (field !== undefined) {
    const isRead = !isGuessedText(field) || typeof value === 'string' || isUnsafeInteger(value);
    return isRead ? value : JSON.stringify(value);
  }
  const target = Array.isArray(value) ? findNavigation(resource, name)?.target : undefined;
  const members = dictionary.resources.get(target ?? '');
  if (members === undefined || !Array.isArray(value)) return value;
  return mapIfChanged(value, (member) =>
    isObject(member) ? stringifyGuessedTexts(members, member, dictionary) : member,
  );
}

/** Reads a quarantined record in the same way as a record of a page, for another attempt to store it. */
export const reparseRecord = (resource: Resource, json: unknown, model: StoreModel) =>
  parseRecord(
    resource,
    isObject(json) ? stringifyGuessedTexts(resource, clean(json).json, model.dictionary) : json,
    model,
  );
