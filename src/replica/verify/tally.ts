/** What a comparison has found so far. */
import type { Difference } from './results.ts';

export interface Tally {
  readonly keys: Map<string, Set<string>>;
  /** Members of collections, by resource: at the source, and here. */
  readonly members: Map<string, { atSource: number; stored: number }>;
  readonly compared: Map<string, number>;
  readonly pending: Map<string, number>;
  readonly differences: Difference[];
  /** Names of what is in the quarantine and came, and of what came and could not be read. */
  readonly met: Set<string>;
}

export const emptyTally = (met: Set<string>): Tally => ({
  keys: new Map(),
  members: new Map(),
  compared: new Map(),
  pending: new Map(),
  differences: [],
  met,
});

/** Counts members of collections. */
export function addMembers({ members }: Tally, resource: string, atSource: number, stored: number): void {
  const count = members.get(resource) ?? { atSource: 0, stored: 0 };
  members.set(resource, { atSource: count.atSource + atSource, stored: count.stored + stored });
}
