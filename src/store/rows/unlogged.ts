/**
 * Finds records whose last change is missing from the sequence of changes, so that a follower of the sequence has another state of
 * them, or does not know them. `plat check` reports them and a repair appends the missing entries. It knows no engine.
 */
import { bind, integer, name, type Sql, sql } from '../../compile/fragment.ts';
import type { ResourceLayout } from '../../compile/layout/index.ts';
import { EVERYTHING } from './change-entry.ts';

/**
 * Selects the missing entries, as rows with `key`, `kind`, `was`, `visible` and `system`. The last entry of a stored record must
 * say who sees it, and in which originating system it is; the last entry of any other record must say that it was deleted. A record
 * of which only the texts are left is not deleted: a repair writes it anew.
 */
export function selectMissingEntries({ resource, columnsTable, textsTable }: ResourceLayout): Sql {
  const last = sql`(SELECT c.key, c.kind, c.visible, c.system FROM plat_changes c WHERE c.seq IN
    (SELECT max(seq) FROM plat_changes WHERE resource = ${bind(resource.name)} AND key <> ${bind(EVERYTHING)} GROUP BY key))`;
  const isKnown = sql`l.key IS NOT NULL AND l.kind <> 'deleted'`;
  return sql`SELECT r._key AS key, CASE WHEN ${isKnown} THEN 'changed' ELSE 'created' END AS kind,
      CASE WHEN ${isKnown} AND l.system IS NOT DISTINCT FROM r._system THEN l.visible ELSE ${integer(0)} END AS was,
      r._visible AS visible, r._system AS system
    FROM ${name(columnsTable)} r LEFT JOIN ${last} l ON l.key = r._key
    WHERE NOT (${isKnown}) OR l.visible <> r._visible OR l.system IS DISTINCT FROM r._system
    UNION ALL SELECT l.key, 'deleted', l.visible, ${integer(0)}, l.system FROM ${last} l
    WHERE l.kind <> 'deleted' AND NOT EXISTS (SELECT 1 FROM ${name(columnsTable)} r WHERE r._key = l.key)
      AND NOT EXISTS (SELECT 1 FROM ${name(textsTable)} t WHERE t._key = l.key)`;
}
