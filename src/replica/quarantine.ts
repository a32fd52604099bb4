import type { Quarantined } from '../store/ledger.ts';
import { parseRecord } from '../store/record/parse-record.ts';
import type { Store } from '../store/store.ts';
import { clean } from './copy/clean.ts';
import { inForms } from './copy/forms.ts';
import { readState } from './copy/states.ts';
import { isObject } from './source/answer.ts';
import { wantedApart } from './steps/children.ts';

/** What came of a retry. */
export interface Retried {
  readonly stored: number;
  /** They are asked for at the next run: what came in their place was no record. */
  readonly wanted: number;
  readonly still: readonly {
    readonly source: string;
    readonly resource: string;
    readonly key: string;
    readonly reason: string;
  }[];
}

/**
 * Tries once more to store what is in the quarantine, for instance after a field was declared. Sub-data that comes
 * apart from its listing follows with the next run. What cannot be stored stays there, with the reason of this attempt.
 */
export async function retryQuarantined(store: Store, source?: string): Promise<Retried> {
  const still: Retried['still'][number][] = [];
  let stored = 0;
  let wanted = 0;
  for (const entry of await store.ledger.quarantined(source)) {
    const reason = await retry(store, entry);
    if (reason === 'stored') stored++;
    else if (reason === 'wanted') wanted++;
    else
      still.push({ source: entry.source, resource: entry.resource, key: entry.key, reason: reason.because });
  }
  return { stored, wanted, still };
}

type Outcome = 'stored' | 'wanted' | { readonly because: string };

async function retry(store: Store, entry: Quarantined): Promise<Outcome> {
  const { source, resource: name, key, payload } = entry;
  const json: unknown = JSON.parse(payload);
  const release = [{ resource: name, keys: [key] }];
  if (isObject(json) && typeof json.wanted === 'string') {
    const wanted = typeof json.key === 'string' ? json.key : key;
    await store.ledger.commit(source, {
      release,
      want: [{ resource: name, keys: [wanted], why: json.wanted }],
    });
    return 'wanted';
  }
  const model = await store.model();
  const resource = model.resource(name);
  const record = isObject(json) ? inForms(resource, clean(json).json, model.dictionary) : json;
  const result = parseRecord(resource, record, model);
  if (!result.ok) return because(store, entry, result.invalid.reasons.join('; '));
  const records = [{ resource: name, records: [result.record] }];
  const capabilities = readState(await store.ledger.state(source), 'capabilities');
  const whys = capabilities === undefined ? [] : wantedApart(capabilities, name);
  const want = whys.map((why) => ({ resource: name, keys: [key], why }));
  const report = await store.ledger.commit(source, { records, release, want });
  const [refused] = report.rejected;
  return refused === undefined ? 'stored' : { because: refused.reason };
}

async function because(store: Store, { source, ...entry }: Quarantined, reason: string): Promise<Outcome> {
  await store.ledger.commit(source, { quarantine: [{ ...entry, reason }] });
  return { because: reason };
}
