import type { QueryResult } from 'pg';
import type { Page } from '../read.ts';
import type { FoundRow, PagePlan, PlannedStatement } from '../sql/plan.ts';
import { cellOf } from './copy-in.ts';
import { keepPrepared } from './prepared.ts';
import { bindings, type Row, type Session, type Slots } from './session.ts';

const EMPTY_BODY = new Uint8Array(0);

/**
 * Whether the server keeps a statement prepared: those of pages, records and lists come again and again; where a
 * client's filter stands, each has values of its own, and the plan is made for them.
 */
type Kept = 'kept' | 'once';

async function ask(
  { client }: Session,
  statement: PlannedStatement,
  kept: Kept,
  slots: Slots = {},
): Promise<readonly Row[]> {
  const { text } = statement;
  const values = bindings(statement, slots);
  const named = kept === 'kept' ? { name: keepPrepared(client, text), text, values } : { text, values };
  const result: QueryResult<Row> = await client.query<Row>(named);
  return result.rows;
}

export async function readNumber(session: Session, statement: PlannedStatement, kept: Kept): Promise<number> {
  const [row] = await ask(session, statement, kept);
  return Number(row?.n ?? 0);
}

export async function readIds(session: Session, statement: PlannedStatement): Promise<Uint32Array> {
  const rows = await ask(session, statement, 'once');
  return Uint32Array.from(rows, (row) => Number(row.id));
}

export async function readBody(
  session: Session,
  statement: PlannedStatement,
  kept: Kept,
  slots: Slots = {},
): Promise<Uint8Array | undefined> {
  const [row] = await ask(session, statement, kept, slots);
  return typeof row?.body === 'string' ? Buffer.from(row.body) : undefined;
}

/** Reads a page on one snapshot. */
export function readPage(session: Session, plan: PagePlan): Promise<Page> {
  switch (plan.kind) {
    case 'range':
      return rangePage(session, plan);
    case 'search':
      return searchPage(session, plan);
    case 'list':
      return listPage(session, plan);
  }
}

async function rangePage(session: Session, plan: PagePlan & { kind: 'range' }): Promise<Page> {
  const [row] = await ask(session, plan.page, 'kept');
  const rows = Number(row?.n ?? 0);
  if (rows === 0) return { body: EMPTY_BODY, rows: 0, more: false };
  const key = String(row?.last);
  const follows = await ask(session, plan.more, 'kept', { 'last-key': key });
  const body = typeof row?.body === 'string' ? Buffer.from(row.body) : EMPTY_BODY;
  return { body, rows, more: follows.length > 0, last: { key, values: [] } };
}

async function searchPage(session: Session, plan: PagePlan & { kind: 'search' }): Promise<Page> {
  const found: FoundRow[] = [];
  for (const statement of plan.find) {
    const limit = plan.limit + 1 - found.length;
    if (limit <= 0) break;
    found.push(...(await ask(session, statement, 'once', { limit })).map(foundRow));
  }
  const page = found.slice(0, plan.limit);
  const last = page.at(-1);
  if (last === undefined) return { body: EMPTY_BODY, rows: 0, more: found.length > 0 };
  const [, key, ...values] = last;
  const body = await bodyOf(session, plan.body, page);
  return { body, rows: page.length, more: found.length > plan.limit, last: { key, values } };
}

/** A row of a find statement comes as an object whose members are in the order of its columns. */
function foundRow(row: Row): FoundRow {
  const [id, key, ...values] = Object.values(row);
  return [Number(id), String(key), ...values.map(cellOf)];
}

async function bodyOf(
  session: Session,
  statement: PlannedStatement,
  rows: readonly FoundRow[],
): Promise<Uint8Array> {
  const ids = JSON.stringify(rows.map(([id]) => id));
  return (await readBody(session, statement, 'kept', { ids, limit: rows.length })) ?? EMPTY_BODY;
}

/** Ids that are looked up at once, beyond those of the page: some rows may be gone by now. */
const SPARE = 100;

async function listPage(session: Session, plan: PagePlan & { kind: 'list' }): Promise<Page> {
  const { ids, limit } = plan;
  const found: { row: FoundRow; position: number }[] = [];
  for (let start = 0; start < ids.length && found.length <= limit; ) {
    const wanted = limit + 1 - found.length;
    const chunk = [...ids.subarray(start, start + wanted + SPARE)];
    const slots = { ids: JSON.stringify(chunk), limit: wanted };
    for (const row of await ask(session, plan.find, 'kept', slots)) {
      const [id, key, position, ...values] = Object.values(row);
      const place = start + Number(position);
      found.push({ row: [Number(id), String(key), ...values.map(cellOf)], position: place });
    }
    start += chunk.length;
  }
  const page = found.slice(0, limit);
  const last = page.at(-1);
  if (last === undefined) return { body: EMPTY_BODY, rows: 0, more: found.length > 0 };
  const [, key, ...values] = last.row;
  const body = await bodyOf(
    session,
    plan.body,
    page.map(({ row }) => row),
  );
  const more = found.length > limit;
  return { body, rows: page.length, more, last: { key, values }, consumed: last.position + 1 };
}
