/**
 * Counts the rows of each resource by visibility and originating system, in the transaction that changes the rows, so
 * that a count need not read them. The counters of values in use (values-in-use.ts) are among them.
 */

import { columnKinds } from '../../compile/column-value.ts';
import { bind, integer, type Sql, sql } from '../../compile/fragment.ts';
import {
  isValueCounter,
  type LookupValue,
  VALUE_COUNTER_END,
  VALUE_COUNTER_PREFIX,
  type ValueInUse,
  valueCounterName,
  valuesOfCounters,
} from '../../compile/values-in-use.ts';
import { chunked } from '../../shared/chunked.ts';
import type { Session } from '../session.ts';
import { ownColumns } from '../state/own-tables.ts';

interface Count {
  readonly resource: string;
  readonly visible: number;
  /** Empty for rows without a system. */
  readonly system: string;
  rows: number;
  /** Its position in the statements that read and write it. */
  place: number;
}

const PLACED = new Map([...ownColumns('plat_counters'), ...columnKinds({ place: 'number' })]);

const idOf = (resource: string, visible: number, system: string): string =>
  `${visible} ${system.length} ${system}${resource}`;

/** The number of counters in a statement: SQLite keeps changed pages in memory, 20 MB for those of 400 listings. */
const AT_ONCE = 500;

/** If rows are written in the order of their table, the required pages are already in memory. */
const byResource = (one: Count, other: Count): number =>
  one.resource < other.resource ? -1 : Number(one.resource > other.resource);

/** The changes of one transaction to the counters. */
export class Counters {
  readonly #session: Session;
  #pending = new Map<string, Count>();
  /** Counters of values that a role gained or lost since the last `takeChangedValues`; whether some went out of use. */
  readonly #values = new Set<string>();
  #haveEnded = false;
  /** The counters of values that came into use for the first time since then, with the bits of the roles that see the change. */
  readonly #new = new Map<string, number>();

  constructor(session: Session) {
    this.#session = session;
  }

  add(resource: string, visible: number, system: string | null, rows: number): void {
    const owner = system ?? '';
    const id = idOf(resource, visible, owner);
    this.#pending.getOrInsert(id, { resource, visible, system: owner, rows: 0, place: 0 }).rows += rows;
  }

  /** Writes what was added since the last flush. */
  async flush(): Promise<void> {
    const pending = this.#pending;
    this.#pending = new Map();
    const changed = [...pending.values()].filter(({ rows }) => rows !== 0).sort(byResource);
    for (const some of chunked(changed, AT_ONCE)) {
      for (const [place, count] of some.entries()) count.place = place;
      const counts = this.#session.dialect.objectTable(bind(JSON.stringify(some)), 'v', PLACED);
      if (some.some(({ resource }) => isValueCounter(resource))) await this.#note(some, counts);
      await this.#session.run(sql`INSERT INTO plat_counters (resource, visible, system, rows)
        SELECT v.resource, v.visible, v.system, v.rows FROM ${counts} WHERE TRUE
        ON CONFLICT (resource, visible, system) DO UPDATE SET rows = plat_counters.rows + excluded.rows`);
    }
  }

  /** Notes the values that come into or go out of use. One that stays in use does not change what is published. */
  async #note(changed: readonly Count[], counts: Sql): Promise<void> {
    // Columns by position are read in half the time of columns by name: most of these texts occur only once.
    const moved = await this.#session.rows(sql`SELECT v.place, coalesce(c.rows, 0) AS rows,
        CASE WHEN EXISTS (SELECT 1 FROM plat_counters o WHERE o.resource = v.resource AND o.rows <> 0) THEN 1 ELSE 0 END AS known
      FROM ${counts}
      LEFT JOIN plat_counters c ON c.resource = v.resource AND c.visible = CAST(v.visible AS INTEGER) AND c.system = v.system
      WHERE coalesce(c.rows, 0) = 0 OR c.rows + v.rows = 0`);
    for (const { place, rows, known } of moved) {
      const count = changed[Number(place)];
      if (count === undefined || !isValueCounter(count.resource)) continue;
      const { resource, visible } = count;
      if (Number(rows) !== 0) this.#haveEnded = true;
      if (Number(known) === 1) this.#values.add(resource);
      else this.#new.set(resource, (this.#new.get(resource) ?? 0) | visible);
    }
  }

  /** Returns the values that came into or went out of use for some role since the last call, and the roles that can see that. */
  async takeChangedValues(): Promise<ValueInUse[]> {
    const changed = [...this.#values];
    const known = new Set(changed);
    const isNew = (counter: string): boolean => !known.has(counter);
    const haveEnded = this.#haveEnded;
    const audiences = new Map(this.#new);
    for (const counter of changed) audiences.set(counter, 0);
    this.#values.clear();
    this.#haveEnded = false;
    this.#new.clear();
    const inOrder = [...audiences.keys()]
      .sort()
      .map((counter) => [counter, audiences.get(counter) ?? 0] as const);
    if (changed.length === 0) return valuesOfCounters([], inOrder, isNew);
    const { dialect, run, rows } = this.#session;
    const isChanged = dialect.oneOf(sql`resource`, changed);
    if (haveEnded) await run(sql`DELETE FROM plat_counters WHERE rows = 0 AND ${isChanged}`);
    const found = await rows(sql`SELECT resource, visible FROM plat_counters WHERE ${isChanged}`);
    return valuesOfCounters(found, inOrder, isNew);
  }

  /**
   * Returns values in use, in the order of their counters.
   * @param last the value before them; undefined: from the first one
   */
  async valuesInUse(last: LookupValue | undefined, limit: number): Promise<ValueInUse[]> {
    const after = last === undefined ? VALUE_COUNTER_PREFIX : valueCounterName(last.lookup, last.value);
    return valuesOfCounters(
      await this.#session.rows(sql`SELECT resource, visible FROM plat_counters WHERE rows <> 0 AND resource IN
          (SELECT DISTINCT resource FROM plat_counters
            WHERE resource > ${bind(after)} AND resource < ${bind(VALUE_COUNTER_END)} AND rows <> 0
            ORDER BY resource LIMIT ${integer(limit)})
        ORDER BY resource`),
    );
  }

  /** Returns those of the given values that are in use. */
  async filterValuesInUse(values: readonly LookupValue[]): Promise<ValueInUse[]> {
    if (values.length === 0) return [];
    const { dialect, rows } = this.#session;
    const counters = values.map(({ lookup, value }) => valueCounterName(lookup, value));
    return valuesOfCounters(
      await rows(sql`SELECT resource, visible FROM plat_counters
        WHERE rows <> 0 AND ${dialect.oneOf(sql`resource`, counters)}`),
    );
  }
}
