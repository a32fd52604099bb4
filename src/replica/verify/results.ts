/** The results of a verification: for each resource, the number of compared records and the differences. It reads nothing. */
import { type RecordName, recordName } from '../../records/record-name.ts';
import type { QuarantineEntry } from '../../store/checkpoint/checkpoints.ts';

/** A record that differs between the source and the copy. */
export interface Difference extends RecordName {
  /**
   * `damaged`: columns, texts, visibility flags, counts or indexes of the copy contradict each other. `quarantined`: the source
   * sent the record, but it could not be stored.
   */
  readonly kind: 'missing' | 'not-at-source' | 'content' | 'damaged' | 'quarantined';
  /** The fields that differ, or why the record could not be stored. */
  readonly fields: readonly string[];
}

/** The result for a resource. */
export interface Verified {
  readonly resource: string;
  readonly atSource: number;
  readonly stored: number;
  /** The number of records whose content was compared. */
  readonly compared: number;
  /** The number of records that the source changed after the cursor; the next update reads them. */
  readonly pending: number;
  readonly differences: readonly Difference[];
  /** Keys that are in the quarantine but no longer at the source. They are not a difference; the next purge releases them. */
  readonly gone?: readonly string[];
  /** The number of records that the source announces, if it returns fewer in every walk. */
  readonly announced?: number;
  /** Why the copy is not complete; absent if it is. An incomplete copy is never considered equal to its source. */
  readonly incomplete?: string;
}

/** Whether a comparison proves that the copy is equal. Pending records are not a difference; an incomplete copy is. */
export const isCopyEqual = (results: readonly Verified[]): boolean =>
  results.every(({ differences, incomplete }) => differences.length === 0 && incomplete === undefined);

type Counts = Pick<Verified, 'atSource' | 'stored' | 'compared' | 'pending'>;

type Draft = { -readonly [N in keyof Counts]: number } & {
  readonly differences: Difference[];
  readonly gone: string[];
  announced?: number;
  incomplete?: string;
};

/** What a verification has found so far. */
export class Tally {
  readonly #drafts = new Map<string, Draft>();
  /** The names of quarantined records that the source returned, and of returned records that could not be read. */
  readonly met = new Set<string>();

  count(resource: string, counts: Partial<Counts>): void {
    const draft = this.#of(resource);
    draft.atSource += counts.atSource ?? 0;
    draft.stored += counts.stored ?? 0;
    draft.compared += counts.compared ?? 0;
    draft.pending += counts.pending ?? 0;
  }

  addDifferences(...differences: readonly Difference[]): void {
    for (const each of differences) this.#of(each.resource).differences.push(each);
  }

  setAnnounced(resource: string, announced: number): void {
    this.#of(resource).announced = announced;
  }

  setIncomplete(resource: string, why: string): void {
    this.#of(resource).incomplete = why;
  }

  /**
   * Adds the quarantined records, which the copy lacks, as differences.
   * @param gone the entries whose records the source no longer has
   */
  addQuarantine(entries: readonly QuarantineEntry[], gone: readonly QuarantineEntry[]): void {
    // A missing record that is quarantined is counted once.
    const names = new Set(entries.map(recordName));
    for (const { differences } of this.#drafts.values()) {
      const others = differences.filter((one) => one.kind !== 'quarantined' || !names.has(recordName(one)));
      differences.splice(0, differences.length, ...others);
    }
    const isGone = new Set(gone.map(recordName));
    for (const entry of entries) {
      const { resource, key, reason } = entry;
      if (isGone.has(recordName(entry))) this.#of(resource).gone.push(key);
      else this.addDifferences({ resource, key, kind: 'quarantined', fields: [reason] });
    }
  }

  results(): Verified[] {
    return [...this.#drafts].map(([resource, { gone, ...draft }]) => ({
      resource,
      ...draft,
      ...(gone.length === 0 ? {} : { gone }),
    }));
  }

  #of(resource: string): Draft {
    const fresh = { atSource: 0, stored: 0, compared: 0, pending: 0, differences: [], gone: [] };
    return this.#drafts.getOrInsert(resource, fresh);
  }
}
