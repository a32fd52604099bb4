/** What a proof comes to: what was compared of each resource, and what differs. */
import type { QuarantineEntry } from '../../store/ledger.ts';
import { nameOf } from './quarantine.ts';

/** A record that is not the same on both sides. */
export interface Difference {
  readonly resource: string;
  readonly key: string;
  /**
   * `damaged`: what the copy itself holds of it does not agree: columns, texts, visibility, counts, indexes.
   * `quarantined`: it came, and could not be stored.
   */
  readonly kind: 'missing' | 'not-at-source' | 'content' | 'damaged' | 'quarantined';
  /** What differs, or why it could not be stored. */
  readonly fields: readonly string[];
}

/** What the comparison of a resource came to. */
export interface Verified {
  readonly resource: string;
  readonly atSource: number;
  readonly stored: number;
  /** Records whose content was compared. */
  readonly compared: number;
  /** Changed at the source after the cursor; the next update brings them. */
  readonly pending: number;
  readonly differences: readonly Difference[];
  /** Keys that are in the quarantine and no longer at the source: no difference; the next purge lets them go. */
  readonly gone?: readonly string[];
  /** Why the copy is not complete; absent when it is. One that is not complete equals nothing, whatever it holds. */
  readonly incomplete?: string;
}

/** Whether a comparison proves the copy equal. What is pending is no difference; an incomplete copy is. */
export const isEqual = (results: readonly Verified[]): boolean =>
  results.every(({ differences, incomplete }) => differences.length === 0 && incomplete === undefined);

/**
 * Results with what is in the quarantine, which the source gives and the copy does not.
 * @param gone those of the entries that the source has no more
 */
export function withQuarantine(
  results: readonly Verified[],
  entries: readonly QuarantineEntry[],
  gone: readonly QuarantineEntry[],
): readonly Verified[] {
  const names = new Set(entries.map(nameOf));
  const isGone = new Set(gone.map(nameOf));
  const others = results.map((each) => ({
    ...each,
    differences: each.differences.filter((one) => one.kind !== 'quarantined' || !names.has(nameOf(one))),
  }));
  const quarantined = entries
    .filter((entry) => !isGone.has(nameOf(entry)))
    .map(({ resource, key, reason }): Difference => {
      return { resource, key, kind: 'quarantined', fields: [reason] };
    });
  const every = withDifferences(others, quarantined, new Set(gone.map(({ resource }) => resource)));
  return every.map((each) => {
    const keys = gone.filter(({ resource }) => resource === each.resource).map(({ key }) => key);
    return keys.length === 0 ? each : { ...each, gone: keys };
  });
}

/** Results with further differences, each at its resource, which may be one that has no result yet. */
export function withDifferences(
  results: readonly Verified[],
  differences: readonly Difference[],
  others: ReadonlySet<string> = new Set(),
): readonly Verified[] {
  const named = [...results, ...differences].map(({ resource }) => resource);
  const names = new Set([...named, ...others]);
  return [...names].map((resource) => {
    const nothing: Verified = { resource, atSource: 0, stored: 0, compared: 0, pending: 0, differences: [] };
    const own = results.filter((each) => each.resource === resource);
    const sum = (one: Verified, other: Verified): Verified => ({
      ...one,
      ...other,
      atSource: one.atSource + other.atSource,
      stored: one.stored + other.stored,
      compared: one.compared + other.compared,
      pending: one.pending + other.pending,
      differences: [...one.differences, ...other.differences],
    });
    const all = own.reduce(sum, nothing);
    const more = differences.filter((each) => each.resource === resource);
    return { ...all, differences: [...all.differences, ...more] };
  });
}
