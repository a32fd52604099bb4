/** What a proof comes to: what was compared of each resource, and what differs. */
import type { QuarantineEntry } from '../../store/ledger.ts';

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
  /** Why the copy is not complete; absent when it is. One that is not complete equals nothing, whatever it holds. */
  readonly incomplete?: string;
}

/** Whether a comparison proves the copy equal. What is pending is no difference; an incomplete copy is. */
export const isEqual = (results: readonly Verified[]): boolean =>
  results.every(({ differences, incomplete }) => differences.length === 0 && incomplete === undefined);

/** Results with what is in the quarantine, which the source gives and the copy does not. */
export function withQuarantine(
  results: readonly Verified[],
  entries: readonly QuarantineEntry[],
): readonly Verified[] {
  const nameOf = ({ resource, key }: { readonly resource: string; readonly key: string }): string =>
    JSON.stringify([resource, key]);
  const names = new Set(entries.map(nameOf));
  const others = results.map((each) => ({
    ...each,
    differences: each.differences.filter((one) => one.kind !== 'quarantined' || !names.has(nameOf(one))),
  }));
  const quarantined = entries.map(
    ({ resource, key, reason }): Difference => ({ resource, key, kind: 'quarantined', fields: [reason] }),
  );
  return withDifferences(others, quarantined);
}

/** Results with further differences, each at its resource, which may be one that has no result yet. */
export function withDifferences(
  results: readonly Verified[],
  differences: readonly Difference[],
): readonly Verified[] {
  const names = new Set([...results, ...differences].map(({ resource }) => resource));
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
