import { hash } from 'node:crypto';
import type { Keys, QuarantineEntry } from '../../store/ledger.ts';
import type { StoreModel } from '../../store/model.ts';
import { parseRecord } from '../../store/record/parse-record.ts';
import type { ParsedRecord } from '../../store/record/parsed-record.ts';
import type { SourceItem, SourcePage } from '../source/source.ts';
import { clean } from './clean.ts';
import type { Copy } from './copy.ts';
import { asText, declareFields, guessField, type UnknownField } from './drift.ts';

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
}

/**
 * Reads the records of a page as the dictionary has them. What cannot be stored goes to the quarantine as it came, and
 * the rest of the page is stored. Of two records with one key the later counts.
 */
export async function takeIn(copy: Copy, page: Pick<SourcePage, 'items' | 'broken'>): Promise<Intake> {
  const model = await copy.store.model();
  let draft = readItems(copy, model, page.items);
  if (copy.settings.drift !== 'freeze' && draft.unknown.size > 0) {
    const declared = await meetUnknown(copy, [...draft.unknown.values()]);
    if (declared) draft = readItems(copy, await copy.store.model(), page.items);
  }
  const broken = page.broken.map(({ resource, payload, reason }) => ({
    resource,
    key: nameless(payload),
    reason,
    payload,
  }));
  return {
    records: [...draft.records].map(([resource, records]) => ({ resource, records: [...records.values()] })),
    remove: [...draft.remove].map(([resource, keys]) => ({ resource, keys: [...keys] })),
    quarantine: [...draft.quarantine, ...broken],
    partial: draft.partial,
  };
}

/** A name for what has no key. */
const nameless = (payload: string): string => `#${hash('sha256', payload, 'base64url').slice(0, 16)}`;

function readItems(copy: Copy, model: StoreModel, items: readonly SourceItem[]): Draft {
  const draft: Draft = {
    records: new Map(),
    remove: new Map(),
    quarantine: [],
    partial: [],
    unknown: new Map(),
  };
  for (const item of items) readItem(copy, model, draft, item);
  return draft;
}

function readItem(copy: Copy, model: StoreModel, draft: Draft, item: SourceItem): void {
  const resource = model.resource(item.resource);
  const { json, partial } = clean(item.json);
  const put = (name: string, key: string | undefined, reasons: readonly string[], origin: unknown): void => {
    const payload = JSON.stringify(origin);
    draft.quarantine.push({
      resource: name,
      key: key ?? nameless(payload),
      reason: reasons.join('; '),
      payload,
    });
  };
  const result = parseRecord(resource, asText(resource, json), model);
  if (!result.ok) {
    put(resource.name, result.invalid.key, result.invalid.reasons, item.json);
    return;
  }
  const { record } = result;
  if (item.json.MlgCanView === false) {
    const keys = draft.remove.get(resource.name) ?? new Set();
    draft.remove.set(resource.name, keys.add(record.key));
    draft.records.get(resource.name)?.delete(record.key);
    return;
  }
  const unknown = record.dropped.filter(({ why, value }) => why === 'unknown' && value !== null);
  if (copy.settings.drift === 'freeze' && unknown.length > 0) {
    const names = unknown.map((field) => `${field.resource}.${field.name}`);
    put(resource.name, record.key, [`The dictionary has no ${[...new Set(names)].join(', ')}`], item.json);
    return;
  }
  for (const field of unknown) draft.unknown.set(`${field.resource}.${field.name}`, field);
  for (const member of record.refused) put(member.resource, member.key, member.reasons, member.origin);
  for (const collection of partial) draft.partial.push({ key: record.key, collection });
  const records = draft.records.get(resource.name) ?? new Map<string, ParsedRecord>();
  draft.records.set(resource.name, records);
  records.delete(record.key); // the later one stands at its own place in the page
  records.set(record.key, item.onlyChildren ? { ...record, onlyChildren: true } : record);
}

/** @returns whether the dictionary has grown */
async function meetUnknown(copy: Copy, unknown: readonly UnknownField[]): Promise<boolean> {
  const { book, store, settings, tell } = copy;
  const ignored = new Set(book.get('ignored') ?? []);
  const fresh = unknown.filter(({ resource, name }) => !ignored.has(`${resource}.${name}`));
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
