/** Validates records against the dictionary. This module knows no store and no source. */
import {
  type Dictionary,
  type Field,
  type FieldValue,
  findNavigation,
  type Navigation,
  nearestName,
  REPLICA_TIMESTAMP,
  type Resource,
} from '../dictionary/index.ts';
import { type PlatError, platError } from '../errors/index.ts';
import { isObject } from '../shared/json.ts';
import { REPEATED } from './exact-json.ts';
import { readLeniently, TEXT_FORMS } from './lenient.ts';
import { isChildCount } from './media.ts';
import { isTooDeep, TOO_DEEP } from './nesting.ts';
import {
  type DroppedField,
  type InvalidRecord,
  isAbsent,
  isStorableKey,
  KEY_LIMIT,
  keyText,
  type LenientField,
  ListedRecord,
  type ParsedRecord,
  type RefusedMember,
} from './parsed-record.ts';
import { type EnclosingRecord, placeUnderParent, withParentFields } from './record-parent.ts';
import { ListedValues, type Places } from './rows.ts';
import { type StoreSettings, sourceTimestampField } from './settings.ts';
import { isAssignedTimestamp } from './timestamps.ts';
import { readValue, type ValueRules } from './value.ts';

type ParseResult =
  | { readonly ok: true; readonly record: ParsedRecord }
  | { readonly ok: false; readonly invalid: InvalidRecord };

interface ParseContext {
  readonly dictionary: Dictionary;
  readonly settings: Pick<StoreSettings, 'owner' | 'agentsFrom' | 'onwardTimestamps'>;
  /** How an authority reads values in other forms than the dictionary's. A replica is always lenient. */
  readonly reading?: Reading | undefined;
  /** Whether the record is known to be nested no deeper than is allowed. */
  readonly isShallow?: boolean;
  /** Returns the positions of the values of a resource's records, if these become lists; those of children stay objects. */
  readonly placesOf?: (resource: Resource) => Places;
}

/** How an authority reads a record. */
export interface Reading {
  /** Whether values in other forms, and values larger than the dictionary suggests, are accepted. */
  readonly isLenient: boolean;
  /** Whether all values are texts, as in a table, so that a number as a text is no deviation. */
  readonly isText?: boolean;
  /** Whether unknown fields are dropped and counted; otherwise they are errors. */
  readonly dropsUnknown: boolean;
}

/** A record whose members are being read, with the values and errors found so far. */
interface Draft {
  readonly resource: Resource;
  /** The prefix of its members in messages: empty, or `Media[2].`. */
  readonly path: string;
  readonly values: Record<string, FieldValue>;
  /** Contains the values instead, if they become a list. */
  readonly listed: ListedValues | undefined;
  readonly nested: [Navigation, unknown][];
  readonly reasons: Reasons;
  readonly dropped: DroppedField[];
  readonly lenient: LenientField[];
  readonly refused: RefusedMember[];
  lacksField: boolean;
}

/** Why nothing can be written into a resource that the store fills itself; undefined for every other resource. */
export function filledError({ name, fromChanges, fromContents }: Resource): PlatError | undefined {
  if (fromChanges) return platError('resourceFilled', { name, source: 'its sequence of changes' });
  if (fromContents) return platError('resourceFilled', { name, source: 'its records and the dictionary' });
  return undefined;
}

/**
 * Validates a record in JSON against the dictionary. An authority drops timestamps and joined fields, which it
 * computes itself, and rejects unknown fields. A replica keeps the fields that it knows and reports the others.
 */
export function parseRecord(resource: Resource, json: unknown, context: ParseContext): ParseResult {
  const filled = filledError(resource);
  if (filled !== undefined) return invalid(undefined, [filled.message]);
  if (context.isShallow !== true && isTooDeep(json)) {
    const given = isObject(json) ? json[resource.key] : undefined;
    const key = typeof given === 'string' && given !== '' && isStorableKey(given) ? given : undefined;
    return invalid(key, [`The record ${TOO_DEEP}`]);
  }
  return read(context, resource, json, '', undefined);
}

function read(
  context: ParseContext,
  resource: Resource,
  json: unknown,
  path: string,
  holder: EnclosingRecord | undefined,
): ParseResult {
  if (!isObject(json)) {
    return invalid(undefined, [`${path === '' ? 'The record' : path.slice(0, -1)} is not a JSON object`]);
  }
  const isListed = context.placesOf !== undefined && resource.parent === undefined;
  const draft: Draft = {
    resource,
    path,
    values: {},
    listed: isListed ? new ListedValues(context.placesOf(resource)) : undefined,
    nested: [],
    reasons: new Reasons(),
    dropped: [],
    lenient: [],
    refused: [],
    lacksField: false,
  };
  for (const name of Object.keys(json)) readMember(context, draft, name, json);
  const key = readKey(draft);
  if (key === undefined) return invalid(undefined, draft.reasons.list(), draft.lacksField);
  const { owner } = context.settings;
  draft.reasons.addAll(placeUnderParent(resource, draft.values, holder, path, owner));
  const children = readChildren(context, draft, key);
  if (draft.reasons.count > 0) return invalid(key, draft.reasons.list(), draft.lacksField);
  const { values, listed, dropped, lenient, refused } = draft;
  // Thousands of records are in memory at once, and only a replica needs them as they were received.
  const origin = owner === 'replica' ? json : undefined;
  const record = { resource, key, children, dropped, lenient, refused, origin };
  return { ok: true, record: listed ? new ListedRecord({ ...record, listed }) : { ...record, values } };
}

const draftValue = ({ values, listed }: Draft, name: string): FieldValue | undefined =>
  listed === undefined ? values[name] : listed.get(name);

function setValue({ values, listed }: Draft, name: string, value: FieldValue): void {
  if (listed === undefined) values[name] = value;
  else listed.set(name, value);
}

const invalid = (key: string | undefined, reasons: readonly string[], lacksField = false): ParseResult => ({
  ok: false,
  invalid: { key, reasons, lacksField },
});

function readMember(
  context: ParseContext,
  draft: Draft,
  name: string,
  json: Readonly<Record<string, unknown>>,
): void {
  const { resource, path } = draft;
  if (name.includes('@')) {
    const [first = '', occurrence] = name.split(REPEATED);
    if (occurrence !== undefined && JSON.stringify(json[first]) !== JSON.stringify(json[name]))
      draft.reasons.add(`${path}${first} occurs more than once, with different values`);
    return; // others are annotations of the sender
  }
  const given = json[name];
  const other = resource.fieldAliases.get(name);
  const own = name === 'ModificationTimestamp' ? sourceTimestampField(context.settings) : name;
  const field = resource.fields.get(other ?? own);
  if (field !== undefined) {
    if (other !== undefined) mustHaveSameValue(draft, name, other, json);
    readField(context, draft, field, given);
    return;
  }
  const navigation = findNavigation(resource, name);
  if (navigation !== undefined && navigation.name !== name)
    mustHaveSameValue(draft, name, navigation.name, json);
  const drop = (why: DroppedField['why']): void =>
    void draft.dropped.push({ resource: resource.name, name, value: given, why });
  if (navigation?.collection) draft.nested.push([navigation, given]);
  else if (navigation !== undefined) drop('expansion');
  else if (context.settings.owner === 'replica' || context.reading?.dropsUnknown === true) drop('unknown');
  else {
    draft.lacksField = true;
    draft.reasons.add(() => {
      const nearest = nearestName(name, [...resource.fields.keys(), ...resource.navigations.keys()]);
      const hint = nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
      return `${resource.name} has no field ${path}${name}${hint}`;
    });
  }
}

/** Two names of one member must have the same value, since it is unknown which of two values the record means. */
function mustHaveSameValue(
  { path, reasons }: Draft,
  name: string,
  other: string,
  json: Readonly<Record<string, unknown>>,
): void {
  const [one, second] = [json[name] ?? null, Object.hasOwn(json, other) ? json[other] : null];
  if (one !== null && second !== null && JSON.stringify(one) !== JSON.stringify(second)) {
    reasons.add(`${path}${name} and ${path}${other} are the same, but have different values`);
  }
}

/** Why the record does not keep the value of a field; undefined for all other fields. */
function whyDropped(
  field: Field,
  { owner, agentsFrom }: ParseContext['settings'],
): DroppedField['why'] | undefined {
  if (field.name === REPLICA_TIMESTAMP) return 'stamp';
  if (owner === 'authority') {
    if (isAssignedTimestamp(field)) return 'stamp';
    if (isChildCount(field)) return 'count';
  }
  return field.joined !== undefined && agentsFrom === 'records' ? 'joined' : undefined;
}

const UNBOUNDED: ValueRules = { lookup: undefined, bounded: false };
const BOUNDED: ValueRules = { lookup: undefined, bounded: true };

function readField(
  { settings, dictionary, reading }: ParseContext,
  draft: Draft,
  field: Field,
  given: unknown,
): void {
  const why = whyDropped(field, settings);
  if (why !== undefined) {
    if (why !== 'joined' || given !== null)
      draft.dropped.push({ resource: field.resource, name: field.name, value: given, why });
    return;
  }
  // A replica keeps what its source sent, including spellings of lookups and excessive lengths.
  const bounded = settings.owner === 'authority';
  const lookup = field.lookup === undefined ? undefined : dictionary.lookups.get(field.lookup);
  const rules = !bounded ? UNBOUNDED : lookup === undefined ? BOUNDED : { lookup: lookup, bounded };
  const result = readValue(field, given, rules);
  if (result.ok) {
    if (!isAbsent(result.value)) setValue(draft, field.name, result.value);
    return;
  }
  const isLenient = reading?.isLenient ?? !bounded;
  const isText = reading?.isText === true;
  const lenient = isLenient || isText ? readLeniently(field, given, rules, lookup) : undefined;
  const leniencies = lenient?.leniencies.filter((each) => !isText || !TEXT_FORMS.has(each)) ?? [];
  if (lenient === undefined || (leniencies.length > 0 && !isLenient)) {
    draft.reasons.add(`${draft.path}${field.name} ${result.reason}`);
    return;
  }
  if (!isAbsent(lenient.value)) setValue(draft, field.name, lenient.value);
  for (const leniency of leniencies)
    draft.lenient.push({ resource: field.resource, name: field.name, why: leniency });
}

function readKey(draft: Draft): string | undefined {
  const { resource, path, reasons } = draft;
  const key = keyText(resource, draftValue(draft, resource.key));
  if (key === undefined) {
    if (!reasons.has(`${path}${resource.key} `))
      reasons.add(`${path === '' ? 'The record' : path.slice(0, -1)} has no ${resource.key}`);
    return undefined;
  }
  if (isStorableKey(key)) return key;
  reasons.add(`${path}${resource.key} takes at most ${KEY_LIMIT} characters and no control characters`);
  return undefined;
}

/**
 * In an authority an invalid child makes its record invalid, and the rejected file contains the record as a whole. In
 * a replica the child is quarantined, and the rest of the record is stored.
 */
function readChildren(context: ParseContext, draft: Draft, key: string): Map<string, ParsedRecord[]> {
  const { resource, path, reasons, dropped, lenient, refused } = draft;
  const isReplica = context.settings.owner === 'replica';
  const children = new Map<string, ParsedRecord[]>();
  const system = draftValue(draft, 'OriginatingSystemID');
  const holder = { resource, key, system: typeof system === 'string' ? system : undefined };
  for (const [{ name, target }, given] of draft.nested) {
    const childResource = context.dictionary.resources.get(target);
    if (childResource === undefined || given === null) continue;
    if (!Array.isArray(given)) {
      reasons.add(`${path}${name} is not a list`);
      continue;
    }
    const byKey = new Map<string, ParsedRecord>();
    for (const [index, item] of given.entries()) {
      const result = read(context, childResource, item, `${path}${name}[${index}].`, holder);
      if (!result.ok) {
        if (isReplica) {
          const parent = { resource: resource.name, key };
          const origin = withParentFields(childResource, item, parent);
          refused.push({ resource: target, ...result.invalid, origin });
        } else reasons.addAll(result.invalid.reasons);
        if (result.invalid.lacksField) draft.lacksField = true;
        continue;
      }
      const { record } = result;
      if (byKey.has(record.key) && !isReplica) reasons.add(`${path}${name} has the key ${record.key} twice`);
      byKey.set(record.key, record);
      for (const each of record.dropped) dropped.push(each);
      for (const each of record.lenient) lenient.push(each);
      for (const each of record.refused) refused.push(each);
    }
    children.set(name, [...byKey.values()]);
  }
  return children;
}

/** The maximum number of reasons reported per record, and characters of each. A record may have 100,000 errors. */
const MAX_REASONS = 20;
const MAX_REASON_LENGTH = 300;

/** The reasons why a record cannot be stored: the first ones in full, and the number of the others. */
class Reasons {
  readonly #reported: string[] = [];
  #more = 0;

  get count(): number {
    return this.#reported.length + this.#more;
  }

  /** @param reason computed only if it is reported, because some reasons search for suggestions */
  add(reason: string | (() => string)): void {
    if (this.#reported.length >= MAX_REASONS) {
      this.#more++;
      return;
    }
    const text = typeof reason === 'string' ? reason : reason();
    this.#reported.push(text.length > MAX_REASON_LENGTH ? `${text.slice(0, MAX_REASON_LENGTH)}…` : text);
  }

  addAll(reasons: readonly string[]): void {
    for (const reason of reasons) this.add(reason);
  }

  list(): readonly string[] {
    return this.#more === 0 ? this.#reported : [...this.#reported, `and ${this.#more} more`];
  }

  has(beginning: string): boolean {
    return this.#reported.some((reason) => reason.startsWith(beginning));
  }
}
