/** Rows whose columns and texts contradict each other after damage: which ids they get, and which texts are in the way. */
import type { Dialect } from '../../compile/dialect.ts';
import { bind, integer, join, name, type Sql, sql } from '../../compile/fragment.ts';
import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { StoredRow } from '../../records/rows.ts';
import type { Row, WriteSession } from '../session.ts';

/** How inconsistent rows are rewritten. */
export interface ResolvedIds {
  /** The id of each row by key; a row that gets a new id is absent. */
  readonly ids: ReadonlyMap<string, number>;
  /** Keys of texts that must be deleted first. */
  readonly gone: readonly string[];
}

/** Reads which texts would conflict with inconsistent rows, and decides which ids these get. */
export async function resolveIds(
  { dialect, rows }: WriteSession,
  layout: ResourceLayout,
  torn: readonly StoredRow[],
): Promise<ResolvedIds> {
  if (torn.length === 0) return { ids: new Map(), gone: [] };
  return resolve(torn, await rows(selectConflictingTexts(dialect, layout, torn)));
}

/** Selects texts with keys or ids of inconsistent rows, and whether they lack columns. The row without a key has the next id. */
function selectConflictingTexts(
  dialect: Pick<Dialect, 'members'>,
  { columnsTable, textsTable, resource }: ResourceLayout,
  torn: readonly StoredRow[],
): Sql {
  const keys = bind(JSON.stringify(torn.map(({ key }) => key)));
  const ids = torn.map(({ id }) => id).filter(Number.isSafeInteger);
  const found = [
    sql`t._key IN (SELECT k.value FROM ${dialect.members(keys, 'k')})`,
    ...(ids.length === 0 ? [] : [sql`t._id IN (${join(ids.map(integer), ', ')})`]),
  ];
  const isBare = sql`NOT EXISTS (SELECT 1 FROM ${name(columnsTable)} r WHERE r._key = t._key)`;
  return sql`SELECT NULL AS key, next AS id, 0 AS bare FROM plat_sequence WHERE resource = ${bind(resource.name)}
    UNION ALL SELECT t._key, t._id, CASE WHEN ${isBare} THEN 1 ELSE 0 END FROM ${name(textsTable)} t WHERE ${join(found, ' OR ')}`;
}

/** Finds out which ids inconsistent rows can keep. @param found the rows of `selectConflictingTexts` */
function resolve(torn: readonly StoredRow[], found: readonly Row[]): ResolvedIds {
  const own = new Set(torn.map(({ key }) => key));
  const ofKey = new Map<string, number>();
  const taken = new Set<number>();
  const gone: string[] = [];
  let next = 1;
  for (const { key, id, bare } of found) {
    if (typeof key !== 'string') {
      next = Number(id);
      continue;
    }
    if (own.has(key)) ofKey.set(key, Number(id));
    // The id belongs to another record.
    else if (Number(bare) === 0) taken.add(Number(id));
    if (own.has(key) || Number(bare) === 1) gone.push(key);
  }
  const ids = new Map<string, number>();
  const keyOf = new Map([...ofKey].map(([key, id]) => [id, key]));
  const isGiven = (id: number): boolean => Number.isSafeInteger(id) && id >= 1 && id < next;
  for (const { key, id } of torn) {
    const isFree = (each: number): boolean =>
      isGiven(each) && !taken.has(each) && (keyOf.get(each) ?? key) === key;
    const free = [id, ofKey.get(key) ?? 0].find(isFree);
    if (free === undefined) continue;
    ids.set(key, free);
    taken.add(free);
  }
  return { ids, gone };
}
