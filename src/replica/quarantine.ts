/** Retries storing quarantined records, for instance after a field was declared. */
import { parseWithRepeatedMembers } from '../records/exact-json.ts';
import { jsonOf } from '../records/nesting.ts';
import { type RecordName, recordName } from '../records/record-name.ts';
import { type Clock, systemClock } from '../shared/clock.ts';
import type { CheckpointChange, Quarantined } from '../store/checkpoint/checkpoints.ts';
import type { Store } from '../store/store.ts';
import type { WriteReport } from '../store/write/report.ts';
import { type AcquiredSource, acquireSource, newAcquirer } from './checkpoint/lease.ts';
import { readNote } from './checkpoint/notes.ts';
import { reasonsToFetchSeparately } from './copy/pending-fetches.ts';
import { pendingReason, RECORD, subjectOf } from './copy/quarantine-entry.ts';
import { reparseRecord } from './copy/read-page.ts';
import { lacks, notIgnored, unknownFields } from './copy/schema-drift.ts';
import { sourceName } from './run/options.ts';
import { type QuerySourceOptions, querySource } from './run/session.ts';
import { type AbsenceResult, findAbsent, LISTED_ONLY } from './steps/find-absent.ts';

/** The outcome of a retry. */
export interface Retried {
  readonly stored: number;
  /** The number of entries whose records are requested in the next run. */
  readonly wanted: number;
  /** The number of entries that were removed because the source no longer has their records. */
  readonly gone: number;
  readonly still: readonly (RecordName & { readonly source: string; readonly reason: string })[];
}

export interface RetryOptions {
  /** Entries of this source only. */
  readonly source?: string;
  /** The only entry that is retried, by its resource and key. */
  readonly only?: RecordName;
  /** Whether another process may be working on the source. If one is, the records are only made pending for it to request again. */
  readonly beside?: boolean;
  readonly clock?: Clock;
  /**
   * How to query the source for whether it still has the records. Without it, the records are only made pending, and the next run
   * queries the source.
   */
  readonly ask?: Omit<QuerySourceOptions, 'store'>;
}

/**
 * Retries quarantined entries. Only data that the source still returns is stored: the source is queried now, or by the next run,
 * which also requests sub-resources that do not arrive with their listing. An entry that cannot be stored stays, with the reason of
 * this attempt.
 * @throws PlatError `failed` while another process, whose data is newer, is working on the source
 */
export async function retryQuarantined(
  store: Store,
  { source, only, beside = false, clock = systemClock, ask }: RetryOptions = {},
): Promise<Retried> {
  const askedSource = ask === undefined ? undefined : sourceName(ask);
  const all = await store.checkpoints.quarantined(source ?? askedSource);
  const entries = all.filter(
    ({ resource, key }) => only === undefined || (resource === only.resource && key === only.key),
  );
  const acquired = new Map<string, AcquiredSource>();
  const acquirer = newAcquirer(clock);
  try {
    for (const name of new Set(entries.map((entry) => entry.source))) {
      if (beside && (await isHeld(store, name, clock.now()))) continue;
      acquired.set(name, await acquireSource(store, name, acquirer));
    }
    const ofAskedSource = entries.filter((entry) => entry.source === askedSource);
    const sought: AbsenceResult =
      ask === undefined || ofAskedSource.length === 0
        ? { absent: [], listed: [], unknown: ofAskedSource, current: new Map() }
        : await querySource({ ...ask, store }, (copy) => findAbsent(copy, ofAskedSource));
    const still: Retried['still'][number][] = [];
    const counts = { stored: 0, wanted: 0, gone: 0 };
    for (const entry of entries) {
      const { source: name, resource, key } = entry;
      const held = acquired.get(name);
      const commit: Commit = ({ want = [], ...change }) =>
        store.checkpoints.commit(
          name,
          held === undefined ? { want } : { ...change, want, lease: held.lease() },
        );
      const isSure = ofAskedSource.includes(entry) && !sought.unknown.includes(entry);
      if (isSure && sought.absent.includes(entry)) {
        await commit({ release: [{ resource, keys: [key] }] });
        counts.gone++;
        continue;
      }
      if (isSure && sought.listed.includes(entry)) {
        await commit({ quarantine: [{ ...entry, reason: LISTED_ONLY }] });
        still.push({ source: name, resource, key, reason: LISTED_ONLY });
        continue;
      }
      // The source may have corrected it without a new timestamp.
      const current = isSure ? sought.current.get(recordName(entry)) : undefined;
      const now = current === undefined ? entry : { ...entry, payload: jsonOf(current) };
      const outcome = await retryEntry(store, now, commit, isSure);
      if (typeof outcome === 'string') counts[outcome]++;
      else still.push({ source: name, resource, key, reason: outcome.because });
    }
    return { ...counts, still };
  } finally {
    for (const { release } of acquired.values()) await release();
  }
}

/** Whether a process is working on a source. */
async function isHeld(
  { checkpoints }: Pick<Store, 'checkpoints'>,
  source: string,
  now: number,
): Promise<boolean> {
  const holder = await checkpoints.leaseHolder(source);
  return holder !== undefined && holder.expires > now;
}

type Outcome = 'stored' | 'wanted' | { readonly because: string };
type Commit = (change: CheckpointChange) => Promise<WriteReport>;

/** @param isSure whether the source is known to still have the record */
async function retryEntry(
  store: Store,
  { source, ...entry }: Quarantined,
  commit: Commit,
  isSure: boolean,
): Promise<Outcome> {
  const { resource: name, key, payload } = entry;
  const model = await store.model();
  const { resource: of, key: which } = subjectOf(model.dictionary, entry);
  const pending = pendingReason(entry);
  const release = [{ resource: name, keys: [key] }];
  if (pending !== undefined) {
    // The entry of a record stays until the record is stored, or the source lists it no more.
    const want = [{ resource: name, keys: [which ?? key], why: pending }];
    await commit(pending === RECORD ? { want } : { release, want });
    return 'wanted';
  }
  const keepInQuarantine = async (reason: string): Promise<Outcome> => {
    await commit({ quarantine: [{ ...entry, reason }] });
    return { because: reason };
  };
  const result = reparseRecord(model.resource(name), parseWithRepeatedMembers(payload), model);
  if (!result.ok) return keepInQuarantine(result.invalid.reasons.join('; '));
  const state = await store.checkpoints.state(source);
  const capabilities = readNote(state, 'capabilities');
  const apart = (resource: string): readonly string[] =>
    capabilities === undefined ? [] : reasonsToFetchSeparately(capabilities, resource);
  // If the member is stored under another record, it is not moved: the next run requests the record of this entry to determine
  // whose it is.
  const [stored] = which === undefined || of === name ? [] : await store.contents(name, { key });
  const payloadNow = { resource: name, key, payload: jsonOf(stored ?? null) };
  const isElsewhere = stored !== undefined && subjectOf(model.dictionary, payloadNow).key !== which;
  if (!isSure || isElsewhere) {
    if (which === undefined || capabilities === undefined || capabilities.byKey === 'none') {
      return keepInQuarantine(NOT_REQUESTABLE);
    }
    const whys = new Set([RECORD, ...apart(of)]);
    await commit({ want: [...whys].map((why) => ({ resource: of, keys: [which], why })) });
    return 'wanted';
  }
  // Without these fields, the record would differ from that of the source. The next run applies its drift policy to them.
  const unknown = notIgnored(unknownFields(result.record), new Set(readNote(state, 'ignored')));
  if (unknown.length > 0) {
    const because = lacks(unknown);
    const want = [{ resource: name, keys: [key], why: RECORD }];
    await commit({ quarantine: [{ ...entry, reason: because }], want });
    return { because };
  }
  const records = [{ resource: name, records: [result.record] }];
  const want = apart(name).map((why) => ({ resource: name, keys: [key], why }));
  const [refused] = (await commit({ records, release, want })).rejected;
  return refused === undefined ? 'stored' : { because: refused.reason };
}

const NOT_REQUESTABLE =
  'The record cannot be requested from the source by key; "plat replicate --refresh" reads everything again';
