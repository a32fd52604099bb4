import { hash } from 'node:crypto';
import type { StoreModel } from '../../compile/model.ts';
import { REPLICA_TIMESTAMP } from '../../dictionary/index.ts';
import { isTooDeep, jsonOf, TOO_DEEP } from '../../records/nesting.ts';
import { parseRecord } from '../../records/parse-record.ts';
import { isStorableKey, type LenientField, type ParsedRecord } from '../../records/parsed-record.ts';
import type { Keys, QuarantineEntry } from '../../store/ledger.ts';
import type { SourceItem, SourcePage } from '../source/source.ts';
import { clean } from './clean.ts';
import type { Copy, CopySettings } from './copy.ts';
import { inForms } from './forms.ts';
import { entryOf, RECORD } from './pending-fetches.ts';
import { agreed, declareFields, FURTHER, guessField, type UnknownField } from './schema-drift.ts';

/** A key as the account of a copy names it: what it keeps of a key that no record can have stands under another name. */
export const nameInAccount = (key: string): string => (isStorableKey(key) ? key : nameOfKey(key));

/** What a page comes to. */
export interface Intake {
  /** Records by resource, each key once. */
  readonly records: readonly { readonly resource: string; readonly records: readonly ParsedRecord[] }[];
  /** Records that the source says are to be deleted. */
  readonly remove: readonly Keys[];
  readonly quarantine: readonly QuarantineEntry[];
  /** Collections that came without their end, by the listing. */
  readonly partial: readonly { readonly key: string; readonly collection: string }[];
}

interface Draft {
  readonly records: Map<string, Map<string, ParsedRecord>>;
  readonly remove: Map<string, Set<string>>;
  readonly quarantine: QuarantineEntry[];
  readonly partial: { readonly key: string; readonly collection: string }[];
  readonly unknown: Map<string, UnknownField>;
  readonly lenient: Map<string, LenientField>;
}

/** What of a copy a page is read with. */
type Taker = Pick<Copy, 'store' | 'book' | 'settings' | 'tell'>;

/**
 * Reads the records of a page as the dictionary has them, after fields that it does not have were taken in. What
 * cannot be stored goes to the quarantine as it came, and the rest of the page is stored. Of two records with one key
 * the later counts.
 */
export async function takeIn(copy: Taker, page: Pick<SourcePage, 'items' | 'broken'>): Promise<Intake> {
  const { intake, unknown, lenient } = await readPage(copy, page);
  tellLenient(copy, lenient);
  if (copy.settings.drift === 'freeze' || unknown.length === 0) return intake;
  const hasGrown = await meetUnknown(copy, unknown);
  return hasGrown ? (await readPage(copy, page)).intake : intake;
}

interface PageRead {
  readonly intake: Intake;
  readonly unknown: readonly UnknownField[];
  /** Fields of which values came in another form than the dictionary's, each kind once. */
  readonly lenient: readonly LenientField[];
}

/** What each copy was told of, while it runs. */
const toldOf = new WeakMap<object, Set<string>>();

/** Tells once of each field whose values are read though they are in another form. */
function tellLenient({ book, tell }: Taker, lenient: readonly LenientField[]): void {
  if (lenient.length === 0) return;
  const told = toldOf.get(book) ?? new Set();
  toldOf.set(book, told);
  for (const field of lenient) {
    const { resource, name } = field;
    if (told.has(idOf(field))) continue;
    told.add(idOf(field));
    tell({ kind: 'field', resource, name, taken: 'read' });
  }
}

const idOf = ({ resource, name }: LenientField): string => `${resource}.${name}`;

/** The records of a page, and the fields in them that the dictionary does not have. */
export async function readPage(
  { store, settings }: Pick<Copy, 'store' | 'settings'>,
  { items, broken }: Pick<SourcePage, 'items' | 'broken'>,
): Promise<PageRead> {
  const model = await store.model();
  const draft: Draft = {
    records: new Map(),
    remove: new Map(),
    quarantine: [],
    partial: [],
    unknown: new Map(),
    lenient: new Map(),
  };
  for (const item of items) readItem(settings, model, draft, item);
  for (const { resource, key, payload, reason } of broken) {
    draft.quarantine.push(
      key === undefined
        ? { resource, key: nameless(payload), reason, payload }
        : { resource, key: entryOf(key, RECORD), reason, payload: JSON.stringify({ wanted: RECORD, key }) },
    );
  }
  const intake = {
    records: [...draft.records].map(([resource, records]) => ({ resource, records: [...records.values()] })),
    remove: [...draft.remove]
      .filter(([, keys]) => keys.size > 0)
      .map(([resource, keys]) => ({ resource, keys: [...keys] })),
    quarantine: draft.quarantine,
    partial: draft.partial,
  };
  return { intake, unknown: [...draft.unknown.values()], lenient: [...draft.lenient.values()] };
}

/** A name for what has no key. */
const nameless = (payload: string): string => `#${hash('sha256', payload, 'base64url').slice(0, 16)}`;

/** The name in the quarantine of what has a key that no stored record can have, whether its record came or the key alone. */
export const nameOfKey = (key: string): string => nameless(key);

function readItem({ drift }: CopySettings, model: StoreModel, draft: Draft, item: SourceItem): void {
  const resource = model.resource(item.resource);
  const put = (name: string, key: string | undefined, reasons: readonly string[], origin: unknown): void => {
    const payload = jsonOf(origin);
    draft.quarantine.push({
      resource: name,
      key: key ?? nameless(payload),
      reason: reasons.join('; '),
      payload,
    });
  };
  if (isTooDeep(item.json)) {
    const { [resource.key]: given } = item.json;
    const key = typeof given === 'string' && isStorableKey(given) ? given : undefined;
    put(resource.name, key, [`The record ${TOO_DEEP}`], item.json);
    return;
  }
  const { json, partial } = clean(item.json);
  const result = parseRecord(resource, inForms(resource, json, model.dictionary), model);
  if (!result.ok) {
    const given = item.json[resource.key];
    const name = typeof given === 'string' && !isStorableKey(given) ? nameOfKey(given) : undefined;
    put(resource.name, result.invalid.key ?? name, result.invalid.reasons, item.json);
    return;
  }
  const { record } = result;
  if (item.json.MlgCanView === false) {
    const keys = draft.remove.get(resource.name) ?? new Set();
    draft.remove.set(resource.name, keys.add(record.key));
    draft.records.get(resource.name)?.delete(record.key);
    return;
  }
  const unknown = record.dropped.filter(
    ({ name, why, value }) => why === 'unknown' && value !== null && name !== REPLICA_TIMESTAMP,
  );
  if (drift === 'freeze' && unknown.length > 0) {
    const names = unknown.map((field) => `${field.resource}.${field.name}`);
    put(resource.name, record.key, [`The dictionary has no ${[...new Set(names)].join(', ')}`], item.json);
    return;
  }
  for (const field of record.lenient) draft.lenient.set(idOf(field), field);
  for (const field of unknown) {
    const name = `${field.resource}.${field.name}`;
    draft.unknown.set(name, agreed(draft.unknown.get(name), field));
  }
  for (const member of record.refused) put(member.resource, member.key, member.reasons, member.origin);
  for (const collection of partial) draft.partial.push({ key: record.key, collection });
  const records = draft.records.get(resource.name) ?? new Map<string, ParsedRecord>();
  draft.records.set(resource.name, records);
  draft.remove.get(resource.name)?.delete(record.key);
  records.delete(record.key); // the later one stands at its own place in the page
  records.set(record.key, item.onlyChildren ? { ...record, onlyChildren: true } : record);
}

/** @returns whether the dictionary has grown */
async function meetUnknown(copy: Taker, unknown: readonly UnknownField[]): Promise<boolean> {
  const { book, store, settings, tell } = copy;
  const ignored = new Set(book.get('ignored') ?? []);
  const fresh = unknown.filter(
    ({ resource, name }) => !ignored.has(`${resource}.${name}`) && !ignored.has(`${resource}.${FURTHER}`),
  );
  if (fresh.length === 0) return false;
  const refused =
    settings.drift === 'evolve' ? await declareFields(store, fresh.map(guessField), tell) : fresh;
  if (refused.length === 0) return true;
  for (const { resource, name } of refused) {
    ignored.add(`${resource}.${name}`);
    tell({ kind: 'field', resource, name, taken: 'ignored' });
  }
  await book.commit({ state: { ignored: [...ignored].toSorted() } });
  return refused.length < fresh.length;
}
