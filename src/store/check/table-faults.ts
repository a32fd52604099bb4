/**
 * Checks what is stored in addition to the rows of a resource: the counters, the tombstones, the texts of listings, the
 * word index, the view. Each fault has a statement that finds it and statements that rebuild the wrong parts from the
 * rows. It knows no engine.
 */
import type { Planner } from '../../compile/context.ts';
import { bind, integer, name, type Sql, sql } from '../../compile/fragment.ts';
import {
  isOneTable,
  PUBLISHED_RESOURCES,
  type ResourceLayout,
  type SearchTable,
} from '../../compile/layout/index.ts';
import { storedTables } from '../../compile/layout/tables.ts';
import { type StoreModel, storedLayouts } from '../../compile/model.ts';
import { valueCounterRepair } from '../../compile/value-counts.ts';
import { fieldsOfEveryStore } from '../../records/profile.ts';
import type { ColumnsOf } from '../copy/copy-store.ts';
import { selectMissingEntries } from '../rows/change-log.ts';
import { OWN_TABLES, ownTableColumns } from '../state/own-tables.ts';
import type { CheckSession, FileFault, RowFaults } from './checks.ts';

/** A fault, the statement that selects each occurrence as a `key`, and the statements that repair it. */
interface TableCheck {
  readonly what: string;
  readonly find: Sql;
  readonly mend: readonly Sql[];
}

/** Only the texts of a record are left: a repair restores the record from them (rewrite-rows.ts). */
export const COLUMNS_ARE_MISSING = 'its columns are missing';

/** Stands in place of a key in faults of a whole resource. */
const RESOURCE_FAULT_KEYS = {
  changes: '(changes)',
  counters: '(counters)',
  numbers: '(numbers)',
  values: '(values)',
  view: '(view)',
};

/** Lists of records have 32 bits for each number. */
const LAST_NUMBER = 2 ** 32 - 2;

/** The state of a view for users: whether its definition is the one that plat creates. */
export type ViewState = 'absent' | 'different' | 'intact';

export function viewFaults({ viewName }: ResourceLayout, state: ViewState): readonly RowFaults[] {
  const fault = (what: string): readonly RowFaults[] => [{ key: RESOURCE_FAULT_KEYS.view, what: [what] }];
  switch (state) {
    case 'absent':
      return fault(`there is no view ${viewName}`);
    case 'different':
      return fault(`the view ${viewName} is not as plat creates it`);
    case 'intact':
      return [];
  }
}

export async function findTableFaults(session: CheckSession, layout: ResourceLayout): Promise<RowFaults[]> {
  const faults: RowFaults[] = [];
  for (const { what, find } of tableChecks(session, layout)) {
    for (const { key } of await session.rows(find)) faults.push({ key: String(key), what: [what] });
  }
  return faults;
}

/**
 * The statements that rebuild what is stored of a resource in addition to its rows, in a write transaction. In a replica of one
 * source, a record without a source gets that one.
 * @param readWhole a resource of which every record of the source was just stored again: texts without columns then belong to
 * records that the source no longer has
 */
export function repairStatements(
  planner: Planner,
  layout: ResourceLayout,
  readWhole: string | undefined,
): Sql[] {
  const isReplica =
    planner.model.settings.owner === 'replica' && !PUBLISHED_RESOURCES.has(layout.resource.name);
  return [
    ...(readWhole === layout.resource.name && !isOneTable(layout)
      ? [sql`DELETE FROM ${name(layout.textsTable)} WHERE ${hasNoColumns(layout)}`]
      : []),
    ...(isReplica ? [assignOnlySource(layout)] : []),
    ...tableChecks(planner, layout).flatMap(({ mend }) => mend),
  ];
}

/** The sources of a replica; the checkpoints of tokens, which are in the same table, are not sources. */
const SOURCES = sql`FROM plat_ledger_state WHERE source NOT LIKE '%:%'`;

const assignOnlySource = ({ columnsTable }: ResourceLayout): Sql =>
  sql`UPDATE ${name(columnsTable)} SET _source = (SELECT min(source) ${SOURCES})
    WHERE (_source IS NULL OR _source NOT IN (SELECT source ${SOURCES})) AND (SELECT count(DISTINCT source) ${SOURCES}) = 1`;

const hasNoColumns = ({ columnsTable, textsTable }: ResourceLayout): Sql =>
  sql`NOT EXISTS (SELECT 1 FROM ${name(columnsTable)} r WHERE r._key = ${name(textsTable)}._key)`;

function tableChecks(planner: Planner, layout: ResourceLayout): TableCheck[] {
  const words = planner.dialect.wordIndex?.(layout);
  return [
    ...(isOneTable(layout) ? [] : [orphanedTextsCheck(layout)]),
    ...(layout.search === undefined ? [] : [searchRowCheck(layout, layout.search)]),
    tombstoneCheck(layout),
    counterCheck(layout),
    numberCheck(layout),
    lastChangeCheck(layout),
    ...(layout.resource.name === 'Lookup' ? [valueCheck(planner), horizonCheck()] : []),
    ...(words === undefined ? [] : [{ what: 'its words are not in the index', ...words }]),
  ];
}

const orphanedTextsCheck = (layout: ResourceLayout): TableCheck => ({
  what: COLUMNS_ARE_MISSING,
  find: sql`SELECT _key AS key FROM ${name(layout.textsTable)} WHERE ${hasNoColumns(layout)} ORDER BY _key`,
  mend: [],
});

/** Search rows that belong to no record, by key or by number. The check of rows verifies that every record has a search row. */
function searchRowCheck({ columnsTable }: ResourceLayout, { table }: SearchTable): TableCheck {
  const isOfRecord = sql`EXISTS (SELECT 1 FROM ${name(columnsTable)} r WHERE r._key = s._key AND r._id = s._id)`;
  const others = sql`FROM ${name(table)} AS s WHERE NOT ${isOfRecord}`;
  return {
    what: 'it has a search row that is not its own',
    find: sql`SELECT s._key AS key ${others} ORDER BY s._key`,
    mend: [sql`DELETE ${others}`],
  };
}

function tombstoneCheck({ resource, columnsTable }: ResourceLayout): TableCheck {
  const isStored = sql`EXISTS (SELECT 1 FROM ${name(columnsTable)} r WHERE r._key = plat_tombstones.key)`;
  const wrong = sql`FROM plat_tombstones WHERE resource = ${bind(resource.name)} AND ${isStored}`;
  return {
    what: 'it has a tombstone',
    find: sql`SELECT key ${wrong} ORDER BY key`,
    mend: [sql`DELETE ${wrong}`],
  };
}

function counterCheck({ resource: { name: named }, columnsTable }: ResourceLayout): TableCheck {
  const resource = bind(named);
  const counted = sql`SELECT _visible AS visible, coalesce(_system, '') AS system, count(*) AS n FROM ${name(columnsTable)} GROUP BY _visible, coalesce(_system, '')`;
  const noted = sql`SELECT visible, system, rows AS n FROM plat_counters WHERE resource = ${resource} AND rows <> 0`;
  return {
    what: 'the stored counts of rows are wrong',
    find: sql`SELECT ${bind(RESOURCE_FAULT_KEYS.counters)} AS key WHERE EXISTS (${counted} EXCEPT ${noted}) OR EXISTS (${noted} EXCEPT ${counted})`,
    mend: [
      sql`DELETE FROM plat_counters WHERE resource = ${resource}`,
      sql`INSERT INTO plat_counters (resource, visible, system, rows) SELECT ${resource}, c.visible, c.system, c.n FROM (${counted}) c`,
    ],
  };
}

/** No two records may have the same number. The check of rows covers a number that only one table has. */
function numberCheck(layout: ResourceLayout): TableCheck {
  const { columnsTable, textsTable } = layout;
  const resource = bind(layout.resource.name);
  const next = sql`coalesce((SELECT next FROM plat_sequence WHERE resource = ${resource}), 1)`;
  const isSame = isOneTable(layout)
    ? sql`TRUE`
    : sql`EXISTS (SELECT 1 FROM ${name(columnsTable)} r WHERE r._key = t._key AND r._id = t._id)`;
  const given = sql`FROM ${name(textsTable)} t WHERE t._id BETWEEN ${next} AND ${integer(LAST_NUMBER)} AND ${isSame}`;
  return {
    what: 'new records would get numbers that are in use',
    find: sql`SELECT ${bind(RESOURCE_FAULT_KEYS.numbers)} AS key WHERE EXISTS (SELECT 1 ${given})`,
    mend: [
      sql`INSERT INTO plat_sequence (resource, next) SELECT ${resource}, m.most + 1 FROM (SELECT max(t._id) AS most ${given}) m
        WHERE m.most IS NOT NULL ON CONFLICT (resource) DO UPDATE SET next = excluded.next`,
    ],
  };
}

function lastChangeCheck(layout: ResourceLayout): TableCheck {
  return {
    what: 'its last change is not in the sequence of changes',
    find: sql`SELECT key FROM (${selectMissingEntries(layout)}) u ORDER BY key`,
    // A repair appends the entries (change-log.ts), which assigns numbers.
    mend: [],
  };
}

/** The counters from which the values in use are listed. */
function valueCheck(planner: Planner): TableCheck {
  const { find, mend } = valueCounterRepair(planner);
  return {
    what: 'the stored counts of values in use are wrong',
    find: sql`SELECT ${bind(RESOURCE_FAULT_KEYS.values)} AS key WHERE ${find}`,
    mend,
  };
}

/** The horizon of the sequence of changes, before which no reader can continue, is one of its numbers. */
function horizonCheck(): TableCheck {
  const last = sql`(SELECT coalesce(max(seq), 0) FROM plat_changes)`;
  const isNumber = sql`value <> '' AND length(value) < 17 AND trim(value, '0123456789') = ''`;
  const isWrong = sql`name = 'changes_horizon' AND CASE WHEN ${isNumber} THEN CAST(value AS BIGINT) > ${last} ELSE TRUE END`;
  return {
    what: 'the horizon of the sequence of changes is not one of its numbers',
    find: sql`SELECT ${bind(RESOURCE_FAULT_KEYS.changes)} AS key FROM plat_meta WHERE ${isWrong}`,
    // A repair records that everything may have changed, which also writes the horizon.
    mend: [],
  };
}

/** plat's own columns, and those of ready texts. */
const OWN = /^_|_(values|nulls)$|^native_(head|text|plan_text)$/;

/** Tables and columns that the store lacks, and fields in use that it does not list. */
export const findSchemaFaults = (model: StoreModel, columnsOf: ColumnsOf): FileFault[] => [
  ...findModelFaults(model, columnsOf),
  ...findMissingTables(model, columnsOf),
];

/** Whether the fields in use are those for which the tables have columns. */
function findModelFaults(
  { dictionary, profile, stores, layout }: StoreModel,
  columnsOf: ColumnsOf,
): FileFault[] {
  const lacking = new Set<string>();
  const note = (resource: string, field: string): void => {
    if (profile.since.get(resource)?.has(field) !== true) lacking.add(`${resource}.${field}`);
  };
  for (const { resource, name: field } of fieldsOfEveryStore(dictionary)) note(resource, field);
  for (const resource of [...dictionary.resources.keys()].filter(stores)) {
    for (const column of columnsOf(layout(resource).columnsTable)?.keys() ?? []) {
      if (!OWN.test(column)) note(resource, column);
    }
  }
  return [...lacking].map((field) => ({ what: `the list of fields in use lacks ${field}`, kind: 'model' }));
}

/** Columns and texts of a record can be restored from each other, and published records from the dictionary. */
function findMissingTables(model: StoreModel, columnsOf: ColumnsOf): FileFault[] {
  const own = OWN_TABLES.map((table) => ({
    name: table.name,
    columns: [...ownTableColumns(table).keys()],
    absent: { kind: 'tables', ...(table.isDerived ? {} : { isLost: true }) } as const,
  }));
  const ofRecords = storedLayouts(model).flatMap((layout) => {
    const isRestored = !isOneTable(layout) || PUBLISHED_RESOURCES.has(layout.resource.name);
    const absent = { kind: isRestored ? 'tables' : 'pages' } as const;
    return storedTables(layout).map(({ name, columns }) => ({ name, columns: [...columns.keys()], absent }));
  });
  return [...own, ...ofRecords].flatMap(({ name, columns, absent }): FileFault[] => {
    const found = columnsOf(name);
    if (found === undefined || found.size === 0) return [{ what: `there is no table ${name}`, ...absent }];
    const lacking = columns.filter((each) => !found.has(each));
    return lacking.map((each) => ({ what: `there is no column ${name}.${each}`, kind: 'structure' }));
  });
}
