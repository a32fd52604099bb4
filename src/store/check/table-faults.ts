/**
 * Whether what is kept beside the rows of a resource agrees with them: the counters that counts are read from, the
 * tombstones, the texts of listings, the words for searches. Each fault has a statement that finds it and one that mends
 * it from the rows.
 */

import type { Planner } from '../../compile/context.ts';
import { bind, integer, name, render, type Sql, sql } from '../../compile/fragment.ts';
import { isOneTable, PUBLISHED, type ResourceLayout } from '../../compile/layout/index.ts';
import { valueCounts } from '../../compile/value-counts.ts';
import type { Asker } from './asker.ts';
import type { RowFaults } from './row-faults.ts';

/** A fault that a statement finds, as rows with a `key`, and how it is mended. */
interface TableCheck {
  readonly what: string;
  readonly find: Sql;
  readonly mend: readonly Sql[];
}

/** Of a record nothing is left but its texts: they are the only copy, so a repair writes it anew from them (rewrite-rows.ts). */
export const COLUMNS_ARE_MISSING = 'its columns are missing';

/** The key under which the counters of a resource are reported, which no record has. */
const COUNTERS = '(counters)';

/** The same of the number that its next record gets. */
const SEQUENCE = '(numbers)';

/** Lists of records have 32 bits for each. */
const LAST_NUMBER = 2 ** 32 - 2;

/** The same of the counters of values that are in use. */
const VALUES = '(values)';

/** The same of its view. */
const VIEW = '(view)';

/** @param isThere as another one than plat makes */
export const viewFault = ({ viewName }: ResourceLayout, isThere: boolean): RowFaults => ({
  key: VIEW,
  what: [isThere ? `the view ${viewName} is not as plat makes it` : `there is no view ${viewName}`],
});

/** Looks for what does not agree with the rows of a resource. */
export async function findTableFaults<T>(
  { planner, rows }: Asker<T>,
  layout: ResourceLayout,
): Promise<RowFaults[]> {
  const faults: RowFaults[] = [];
  for (const { what, find } of tableChecks(planner, layout)) {
    for (const row of await rows(render(find, planner.dialect.placeholder))) {
      faults.push({ key: String(row.key), what: [what] });
    }
  }
  return faults;
}

/**
 * The statements that make everything beside the rows of a resource agree with them, in a write transaction. In a
 * replica of one source, a record of no source is of that one.
 * @param readWhole a resource of which every record of the source was stored anew: what is bare of it then the source lacks
 */
export function mendStatements(
  planner: Planner,
  layout: ResourceLayout,
  readWhole: string | undefined,
): Sql[] {
  const isReplica = planner.model.settings.owner === 'replica' && !PUBLISHED.has(layout.resource.name);
  return [
    ...(readWhole === layout.resource.name && !isOneTable(layout) ? [withoutBareTexts(layout)] : []),
    ...(isReplica ? [adoption(layout)] : []),
    ...tableChecks(planner, layout).flatMap(({ mend }) => mend),
  ];
}

/** The accounts of tokens, which stand among the sources, are none. */
const SOURCES = sql`FROM plat_ledger_state WHERE source NOT LIKE '%:%'`;

const adoption = ({ columnsTable }: ResourceLayout): Sql =>
  sql`UPDATE ${name(columnsTable)} SET _source = (SELECT min(source) ${SOURCES})
    WHERE (_source IS NULL OR _source NOT IN (SELECT source ${SOURCES})) AND (SELECT count(DISTINCT source) ${SOURCES}) = 1`;

const isBare = ({ columnsTable, textsTable }: ResourceLayout): Sql =>
  sql`NOT EXISTS (SELECT 1 FROM ${name(columnsTable)} r WHERE r._key = ${name(textsTable)}._key)`;

const withoutBareTexts = (layout: ResourceLayout): Sql =>
  sql`DELETE FROM ${name(layout.textsTable)} WHERE ${isBare(layout)}`;

/** A number that a record has is given to no other. What lies under it in one table alone is for a check of rows. */
function numbers(layout: ResourceLayout): TableCheck {
  const { columnsTable, textsTable } = layout;
  const resource = bind(layout.resource.name);
  const next = sql`coalesce((SELECT next FROM plat_sequence WHERE resource = ${resource}), 1)`;
  const isSame = isOneTable(layout)
    ? sql`TRUE`
    : sql`EXISTS (SELECT 1 FROM ${name(columnsTable)} r WHERE r._key = t._key AND r._id = t._id)`;
  const given = sql`FROM ${name(textsTable)} t WHERE t._id BETWEEN ${next} AND ${integer(LAST_NUMBER)} AND ${isSame}`;
  return {
    what: 'numbers of records are given again',
    find: sql`SELECT ${bind(SEQUENCE)} AS key WHERE EXISTS (SELECT 1 ${given})`,
    mend: [
      sql`INSERT INTO plat_sequence (resource, next) SELECT ${resource}, m.most + 1 FROM (SELECT max(t._id) AS most ${given}) m
        WHERE m.most IS NOT NULL ON CONFLICT (resource) DO UPDATE SET next = excluded.next`,
    ],
  };
}

/** What the values in use are listed from. */
function values(planner: Planner): TableCheck {
  const { find, mend } = valueCounts(planner);
  return {
    what: 'counts of values in use are not the rows',
    find: sql`SELECT ${bind(VALUES)} AS key WHERE ${find}`,
    mend,
  };
}

function tableChecks(planner: Planner, layout: ResourceLayout): TableCheck[] {
  const { dialect } = planner;
  const { textsTable } = layout;
  const records = name(layout.columnsTable);
  const resource = bind(layout.resource.name);
  const counted = sql`SELECT _visible AS visible, coalesce(_system, '') AS system, count(*) AS n FROM ${records} GROUP BY _visible, coalesce(_system, '')`;
  const noted = sql`SELECT visible, system, rows AS n FROM plat_counters WHERE resource = ${resource} AND rows <> 0`;
  const counters: TableCheck = {
    what: 'counts are not the rows',
    find: sql`SELECT ${bind(COUNTERS)} AS key WHERE EXISTS (${counted} EXCEPT ${noted}) OR EXISTS (${noted} EXCEPT ${counted})`,
    mend: [
      sql`DELETE FROM plat_counters WHERE resource = ${resource}`,
      sql`INSERT INTO plat_counters (resource, visible, system, rows) SELECT ${resource}, c.visible, c.system, c.n FROM (${counted}) c`,
    ],
  };
  const isStored = sql`EXISTS (SELECT 1 FROM ${records} r WHERE r._key = plat_tombstones.key)`;
  const tombstones: TableCheck = {
    what: 'it has a tombstone',
    find: sql`SELECT key FROM plat_tombstones WHERE resource = ${resource} AND ${isStored} ORDER BY key`,
    mend: [sql`DELETE FROM plat_tombstones WHERE resource = ${resource} AND ${isStored}`],
  };
  const texts: TableCheck = {
    what: COLUMNS_ARE_MISSING,
    find: sql`SELECT _key AS key FROM ${name(textsTable)} WHERE ${isBare(layout)} ORDER BY _key`,
    mend: [],
  };
  const words = dialect.wordIndex?.(layout);
  return [
    ...(isOneTable(layout) ? [] : [texts]),
    tombstones,
    counters,
    numbers(layout),
    ...(layout.resource.name === 'Lookup' ? [values(planner)] : []),
    ...(words === undefined ? [] : [{ what: 'its words are not in the index', ...words }]),
  ];
}
