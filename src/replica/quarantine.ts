import { type Clock, systemClock } from '../store/clock.ts';
import type { Lease, Quarantined } from '../store/ledger.ts';
import { parseRecord } from '../store/record/parse-record.ts';
import type { Store } from '../store/store.ts';
import { clean } from './copy/clean.ts';
import { inForms } from './copy/forms.ts';
import { readState } from './copy/states.ts';
import { isObject } from './json.ts';
import { type Hold, holdSource, newHolder } from './run/hold.ts';
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
 * @throws PlatError `failed` while another process is at work on the source: what it brings is newer
 */
export async function retryQuarantined(
  store: Store,
  { source, clock = systemClock }: { readonly source?: string; readonly clock?: Clock } = {},
): Promise<Retried> {
  const entries = await store.ledger.quarantined(source);
  const held: Hold[] = [];
  const holder = newHolder(clock);
  try {
    for (const name of new Set(entries.map((entry) => entry.source))) {
      held.push(await holdSource(store, name, holder));
    }
    return await retryAll(store, entries, new Map(held.map((each) => [each.name, each.lease])));
  } finally {
    for (const { release } of held) await release();
  }
}

type Leases = ReadonlyMap<string, () => Lease>;

async function retryAll(store: Store, entries: readonly Quarantined[], leases: Leases): Promise<Retried> {
  const still: Retried['still'][number][] = [];
  let stored = 0;
  let wanted = 0;
  for (const entry of entries) {
    const lease = leases.get(entry.source);
    const reason = await retry(store, entry, lease === undefined ? {} : { lease: lease() });
    if (reason === 'stored') stored++;
    else if (reason === 'wanted') wanted++;
    else
      still.push({ source: entry.source, resource: entry.resource, key: entry.key, reason: reason.because });
  }
  return { stored, wanted, still };
}

type Outcome = 'stored' | 'wanted' | { readonly because: string };

type Held = { readonly lease?: Lease };

async function retry(store: Store, entry: Quarantined, held: Held): Promise<Outcome> {
  const { source, resource: name, key, payload } = entry;
  const json: unknown = JSON.parse(payload);
  const release = [{ resource: name, keys: [key] }];
  if (isObject(json) && typeof json.wanted === 'string') {
    const wanted = typeof json.key === 'string' ? json.key : key;
    await store.ledger.commit(source, {
      ...held,
      release,
      want: [{ resource: name, keys: [wanted], why: json.wanted }],
    });
    return 'wanted';
  }
  const model = await store.model();
  const resource = model.resource(name);
  const record = isObject(json) ? inForms(resource, clean(json).json, model.dictionary) : json;
  const result = parseRecord(resource, record, model);
  if (!result.ok) return because(store, entry, result.invalid.reasons.join('; '), held);
  const records = [{ resource: name, records: [result.record] }];
  const capabilities = readState(await store.ledger.state(source), 'capabilities');
  const whys = capabilities === undefined ? [] : wantedApart(capabilities, name);
  const want = whys.map((why) => ({ resource: name, keys: [key], why }));
  const report = await store.ledger.commit(source, { ...held, records, release, want });
  const [refused] = report.rejected;
  return refused === undefined ? 'stored' : { because: refused.reason };
}

async function because(
  store: Store,
  { source, ...entry }: Quarantined,
  reason: string,
  held: Held,
): Promise<Outcome> {
  await store.ledger.commit(source, { ...held, quarantine: [{ ...entry, reason }] });
  return { because: reason };
}
