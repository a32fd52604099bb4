/**
 * What a replica is doing and did in the last day, for the console: the state of each source with its log. It does not
 * query any source.
 */
import type { Quarantined } from '../store/checkpoint/checkpoints.ts';
import type { Store } from '../store/store.ts';
import { replicaSources } from './checkpoint/checkpoint.ts';
import { readableNote, type TroubleEntry } from './checkpoint/notes.ts';
import type { WorkEntry } from './checkpoint/work-log.ts';
import { type SourceStatus, sourceStatus } from './status.ts';

/** A source with its events of the last day, the oldest first. Moments of entries are milliseconds since 1970. */
interface SourceReport extends SourceStatus {
  /** By collection. */
  readonly log: Readonly<Record<string, readonly WorkEntry[]>>;
  readonly lately: readonly TroubleEntry[];
}

interface ReplicaReport {
  readonly sources: readonly SourceReport[];
}

/** @param now milliseconds since 1970 */
export async function replicaReport(store: Store, now: number): Promise<ReplicaReport> {
  const sources: SourceReport[] = [];
  for (const source of await replicaSources(store)) {
    const status = await sourceStatus(store, source, now);
    const notes = await store.checkpoints.state(source);
    const log = status.collections.map(
      ({ collection }) => [collection, readableNote(notes, `log ${collection}`) ?? []] as const,
    );
    sources.push({
      ...status,
      log: Object.fromEntries(log),
      lately: readableNote(notes, 'lately') ?? [],
    });
  }
  return { sources };
}

/** A page of the quarantine, and the number of all entries. */
interface QuarantinePage {
  readonly entries: readonly Quarantined[];
  readonly total: number;
}

export async function quarantinePage(
  { checkpoints }: Pick<Store, 'checkpoints'>,
  { source, skip, limit }: { readonly source?: string; readonly skip: number; readonly limit: number },
): Promise<QuarantinePage> {
  const entries = await checkpoints.quarantined(source, { skip, limit });
  return { entries, total: await checkpoints.quarantinedCount(source) };
}
