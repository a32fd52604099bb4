/**
 * Finds inconsistent rows: columns, ready texts of both interfaces, the links and flags stored with them, the
 * assignment to the parent, and the visibility for each role. The columns are the reference: what a writer would derive
 * from them is compared with what is stored. It does not know where a record came from.
 */

import { textOrNull } from '../../compile/column-value.ts';
import { all, bind, integer, join, name, type Sql, sql } from '../../compile/fragment.ts';
import { type ResourceLayout, typedFields } from '../../compile/layout/index.ts';
import { rankAndFile } from '../../compile/text/text-columns.ts';
import type { Row } from '../session.ts';
import {
  hasOneOfKeys,
  isEmpty,
  readValues,
  recomputeHash,
  rowOrder,
  rowToPutOf,
  selectCheckedRows,
  type TextsOf,
  textsAt,
} from './checked-rows.ts';
import type { CheckedRows, CheckSession, FaultPage, RowFaults, RowPlace } from './checks.ts';
import { isSound } from './sound-rows.ts';

/** Checks rows of one resource. */
export async function findRowFaults(
  session: CheckSession,
  layout: ResourceLayout,
  which: CheckedRows,
): Promise<FaultPage> {
  switch (which.kind) {
    case 'keys': {
      const rows = await session.rows(
        selectCheckedRows(session, layout, hasOneOfKeys(session, 'r', which.keys)),
      );
      // A caller that names keys needs certainty, so a hash that cannot be computed is a fault.
      return { rows: rows.length, read: rows.length, faults: faultsOfRows(session, layout, rows, true) };
    }
    case 'after': {
      const next = await endOfPage(session, layout, which.place, which.limit);
      const page = await faultsWithin(session, layout, which.place, next);
      return next === undefined ? page : { ...page, next };
    }
    case 'range':
      return faultsWithin(session, layout, which.after, which.upTo);
  }
}

/** The place of the last of the next `limit` rows; undefined if fewer rows are left. */
export async function endOfPage(
  session: CheckSession,
  layout: ResourceLayout,
  after: RowPlace | undefined,
  limit: number,
): Promise<RowPlace | undefined> {
  const order = rowOrder(layout);
  const [last] = await session.rows(
    sql`SELECT ${order} FROM ${name(layout.columnsTable)} r WHERE ${inRange(layout, after, undefined)}
      ORDER BY ${order} LIMIT 1 OFFSET ${integer(limit - 1)}`,
  );
  return last && { parent: textOrNull(last._parent) ?? '', key: String(last._key) };
}

/** Reads only the rows that SQL alone cannot confirm as consistent. */
async function faultsWithin(
  session: CheckSession,
  layout: ResourceLayout,
  after: RowPlace | undefined,
  upTo: RowPlace | undefined,
): Promise<FaultPage> {
  const range = inRange(layout, after, upTo);
  const unsound = sql`${range} AND (${isSound(session, layout)}) IS NOT TRUE`;
  const rows = await session.rows(selectCheckedRows(session, layout, unsound)).catch((error: unknown) => {
    if (!session.mayFail) throw error;
    // A value that no writer stores may make the condition fail. If the file is damaged, this statement fails as well.
    return session.rows(selectCheckedRows(session, layout, range));
  });
  const faults = faultsOfRows(session, layout, rows, false);
  const [count] = await session.rows(
    sql`SELECT count(*) AS n FROM ${name(layout.columnsTable)} r WHERE ${range}`,
  );
  return { rows: Number(count?.n ?? 0), read: rows.length, faults };
}

function inRange(layout: ResourceLayout, after: RowPlace | undefined, upTo: RowPlace | undefined): Sql {
  const compared = (comparison: string, { parent, key }: RowPlace): Sql =>
    layout.resource.parent === undefined
      ? join([sql`r._key`, bind(key)], comparison)
      : join([sql`(r._parent, r._key)`, sql`(${bind(parent)}, ${bind(key)})`], comparison);
  return all([
    ...(after === undefined ? [] : [compared(' > ', after)]),
    ...(upTo === undefined ? [] : [compared(' <= ', upTo)]),
  ]);
}

function faultsOfRows(
  session: CheckSession,
  layout: ResourceLayout,
  rows: readonly Row[],
  isStrict: boolean,
): RowFaults[] {
  const faultsOf = makeRowCheck(session, layout, isStrict);
  return rows.flatMap((raw) => {
    const what = faultsOf(raw);
    if (what.length === 0) return [];
    const key = String(raw._key);
    if (layout.resource.parent === undefined) return [{ key, what }];
    const parent = { resource: textOrNull(raw._parent_resource) ?? '', key: textOrNull(raw._parent) ?? '' };
    return [{ key, parent, what }];
  });
}

/** Compares rows with what a writer would derive from their columns. */
function makeRowCheck(
  { model }: CheckSession,
  layout: ResourceLayout,
  isStrict: boolean,
): (raw: Row) => string[] {
  const typed = typedFields(layout);
  const writers = new Map<number, TextsOf>();
  const writerAt = (version: number): TextsOf =>
    writers.getOrInsertComputed(version, () => textsAt(model, layout, version));
  return (raw) => {
    if (raw.text__id === null) return ['its texts are missing'];
    const { values, broken } = readValues(layout, raw);
    const version = Number(raw._profile);
    const row = rowToPutOf(layout, raw, values);
    const { rank, file } = rankAndFile(row);
    const expected = [...Object.entries({ _kind: row.kind, _rank: rank, _file: file })];
    const hash = recomputeHash(model, layout, values, raw);
    const isHashWrong = hash === undefined ? isStrict : raw._hash !== hash;
    const differing = (columns: Iterable<readonly [string, string | number | null]>): string[] =>
      [...columns].flatMap(([column, value]) => (toComparable(raw[column]) === value ? [] : [column]));
    return [
      ...new Set([
        ...broken,
        ...typed
          .filter((field) => layout.since(field) > version && !isEmpty(values[field.name]))
          .map((field) => field.name),
        ...differing(expected),
        ...String(raw.disagreeing).split(',').slice(1),
        ...differing(writerAt(version)(row)),
        ...(isHashWrong ? ['_hash'] : []),
      ]),
    ];
  };
}

/** A value of one of plat's own columns, whichever way the driver represents numbers. */
const toComparable = (raw: unknown): string | number | null =>
  typeof raw === 'string' || typeof raw === 'number' ? raw : typeof raw === 'bigint' ? Number(raw) : null;
