import { parseRecord } from '../records/parse-record.ts';
import { isObject } from '../shared/json.ts';
import { type Clock, systemClock } from '../store/clock.ts';
import type { Lease, Quarantined } from '../store/ledger.ts';
import type { Store } from '../store/store.ts';
import { type Hold, holdSource, newHolder } from './checkpoint/lease.ts';
import { readState } from './checkpoint/notes.ts';
import { clean } from './copy/clean.ts';
import { inForms } from './copy/forms.ts';
import { RECORD, wantedApart } from './copy/pending-fetches.ts';
import { subjectOf } from './copy/subject.ts';
import { type AskOptions, asking } from './run/asking.ts';
import { sourceName } from './run/session.ts';
import { type Sought, seekGone } from './steps/gone.ts';

/** What came of a retry. */
export interface Retried {
  readonly stored: number;
  /** They are asked for at the next run. */
  readonly wanted: number;
  /** They left the quarantine, since the source has them no more. */
  readonly gone: number;
  readonly still: readonly {
    readonly source: string;
    readonly resource: string;
    readonly key: string;
    readonly reason: string;
  }[];
}

export interface RetryOptions {
  /** Entries of this source only. */
  readonly source?: string;
  readonly clock?: Clock;
  /** How the source is asked whether it still has them; without it nothing is stored before the next run asks. */
  readonly ask?: Omit<AskOptions, 'store'>;
}

/**
 * Tries once more to store what is in the quarantine, for instance after a field was declared. Stored is only what the
 * source still gives: it is asked now, or at the next run. Sub-data that comes apart from its listing follows with that.
 * What cannot be stored stays there, with the reason of this attempt.
 * @throws PlatError `failed` while another process is at work on the source: what it brings is newer
 */
export async function retryQuarantined(
  store: Store,
  { source, clock = systemClock, ask }: RetryOptions = {},
): Promise<Retried> {
  const asked = ask === undefined ? undefined : sourceName(ask);
  const entries = await store.ledger.quarantined(source ?? asked);
  const held: Hold[] = [];
  const holder = newHolder(clock);
  try {
    for (const name of new Set(entries.map((entry) => entry.source))) {
      held.push(await holdSource(store, name, holder));
    }
    const leases = new Map(held.map((each) => [each.name, each.lease]));
    const own = entries.filter((entry) => entry.source === asked);
    const sought =
      ask === undefined || own.length === 0
        ? undefined
        : await asking({ ...ask, store }, (copy) => seekGone(copy, own));
    return await retryAll(store, entries, leases, sought === undefined ? undefined : { asked, ...sought });
  } finally {
    for (const { release } of held) await release();
  }
}

type Leases = ReadonlyMap<string, () => Lease>;

/** What the source of a name was found to have. */
type Found = Sought & { readonly asked: string | undefined };

async function retryAll(
  store: Store,
  entries: readonly Quarantined[],
  leases: Leases,
  found: Found | undefined,
): Promise<Retried> {
  const still: Retried['still'][number][] = [];
  const counts = { stored: 0, wanted: 0, gone: 0 };
  for (const entry of entries) {
    const lease = leases.get(entry.source);
    const held = lease === undefined ? {} : { lease: lease() };
    const isSure = found?.asked === entry.source && !found.unknown.includes(entry);
    const outcome =
      isSure && found.gone.includes(entry)
        ? await letGo(store, entry, held)
        : await retry(store, entry, held, isSure);
    if (typeof outcome === 'string') counts[outcome]++;
    else {
      const { source, resource, key } = entry;
      still.push({ source, resource, key, reason: outcome.because });
    }
  }
  return { ...counts, still };
}

type Outcome = 'stored' | 'wanted' | 'gone' | { readonly because: string };

type Held = { readonly lease?: Lease };

async function letGo(store: Store, { source, resource, key }: Quarantined, held: Held): Promise<Outcome> {
  await store.ledger.commit(source, { ...held, release: [{ resource, keys: [key] }] });
  return 'gone';
}

/** @param isSure whether the source is known to have the record still */
async function retry(store: Store, entry: Quarantined, held: Held, isSure: boolean): Promise<Outcome> {
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
  const capabilities = readState(await store.ledger.state(source), 'capabilities');
  if (!isSure) {
    const { resource: of, key: which } = subjectOf(model.dictionary, entry);
    if (which === undefined || capabilities === undefined || capabilities.byKey === 'none') {
      return because(store, entry, NOBODY_ASKS, held);
    }
    const apart = wantedApart(capabilities, of);
    const whys = new Set([RECORD, ...apart]);
    const want = [...whys].map((why) => ({ resource: of, keys: [which], why }));
    await store.ledger.commit(source, { ...held, want });
    return 'wanted';
  }
  const records = [{ resource: name, records: [result.record] }];
  const whys = capabilities === undefined ? [] : wantedApart(capabilities, name);
  const want = whys.map((why) => ({ resource: name, keys: [key], why }));
  const report = await store.ledger.commit(source, { ...held, records, release, want });
  const [refused] = report.rejected;
  return refused === undefined ? 'stored' : { because: refused.reason };
}

const NOBODY_ASKS =
  'The source cannot be asked for it by a key; "plat replicate --refresh" reads everything again';

async function because(
  store: Store,
  { source, ...entry }: Quarantined,
  reason: string,
  held: Held,
): Promise<Outcome> {
  await store.ledger.commit(source, { ...held, quarantine: [{ ...entry, reason }] });
  return { because: reason };
}
