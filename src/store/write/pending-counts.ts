import { isOfValue } from '../../compile/values-in-use.ts';

/** Rows that came and went, of one visibility and originating system of a resource. */
export interface Count {
  readonly resource: string;
  readonly visible: number;
  /** Empty for rows without a system, as the counters have it. */
  readonly system: string;
  readonly rows: number;
}

/** A count that goes on. */
interface Growing extends Count {
  rows: number;
}

/** Counts that are not written yet. */
export class PendingCounts {
  readonly #counts = new Map<string, Growing>();
  readonly #values = new Set<string>();

  add(resource: string, visible: number, system: string | null, rows: number): void {
    const owner = system ?? '';
    const id = `${visible} ${owner.length} ${owner}${resource}`;
    const before = this.#counts.get(id);
    if (before === undefined) this.#counts.set(id, { resource, visible, system: owner, rows });
    else before.rows += rows;
  }

  /** Those that changed something, which are pending no more. */
  take(): readonly Count[] {
    const changed = [...this.#counts.values()].filter(({ rows }) => rows !== 0);
    this.#counts.clear();
    for (const { resource } of changed) if (isOfValue(resource)) this.#values.add(resource);
    return changed;
  }

  /** The counters of values that were written since the last time. */
  takeValues(): readonly string[] {
    const changed = [...this.#values];
    this.#values.clear();
    return changed;
  }
}
