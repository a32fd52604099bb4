/**
 * Counts the rows of each resource by visibility and originating system, in the transaction that changes the rows, so
 * that a count need not read them. The counters of values in use (values-in-use.ts) are among them.
 */
import { bind, sql } from '../../compile/fragment.ts';
import { AFTER_VALUES, isOfValue, VALUES, type ValueInUse, valuesOf } from '../../compile/values-in-use.ts';
import type { Session } from '../session.ts';

interface Count {
  readonly resource: string;
  readonly visible: number;
  /** Empty for rows without a system. */
  readonly system: string;
  rows: number;
}

const COLUMNS = new Map([
  ['resource', 'text'],
  ['visible', 'number'],
  ['system', 'text'],
  ['rows', 'number'],
] as const);

/** The changes of one transaction to the counters. */
export class Counters {
  readonly #session: Session;
  readonly #pending = new Map<string, Count>();
  /** The counters of values that were written since `valuesChanged` was last called. */
  readonly #values = new Set<string>();

  constructor(session: Session) {
    this.#session = session;
  }

  add(resource: string, visible: number, system: string | null, rows: number): void {
    const owner = system ?? '';
    const id = `${visible} ${owner.length} ${owner}${resource}`;
    const before = this.#pending.get(id);
    if (before === undefined) this.#pending.set(id, { resource, visible, system: owner, rows });
    else before.rows += rows;
  }

  /** Writes what was added since the last flush. */
  async flush(): Promise<void> {
    const changed = [...this.#pending.values()].filter(({ rows }) => rows !== 0);
    this.#pending.clear();
    if (changed.length === 0) return;
    for (const { resource } of changed) if (isOfValue(resource)) this.#values.add(resource);
    const counts = this.#session.dialect.rowsOf(bind(JSON.stringify(changed)), 'v', COLUMNS);
    await this.#session.run(sql`INSERT INTO plat_counters (resource, visible, system, rows)
      SELECT v.resource, v.visible, v.system, v.rows FROM ${counts} WHERE TRUE
      ON CONFLICT (resource, visible, system) DO UPDATE SET rows = plat_counters.rows + excluded.rows`);
  }

  /** The values whose counters were written since the last call, and who can see that they are in use. */
  async valuesChanged(): Promise<ValueInUse[]> {
    const changed = [...this.#values];
    this.#values.clear();
    if (changed.length === 0) return [];
    const { dialect, run, rows } = this.#session;
    const isChanged = dialect.oneOf(sql`resource`, changed);
    await run(sql`DELETE FROM plat_counters WHERE rows = 0 AND ${isChanged}`);
    return valuesOf(await rows(sql`SELECT resource, visible FROM plat_counters WHERE ${isChanged}`), changed);
  }

  /** All values that are in use. */
  async valuesInUse(): Promise<ValueInUse[]> {
    return valuesOf(
      await this.#session.rows(sql`SELECT resource, visible FROM plat_counters
        WHERE resource > ${bind(VALUES)} AND resource < ${bind(AFTER_VALUES)} AND rows <> 0`),
    );
  }
}
