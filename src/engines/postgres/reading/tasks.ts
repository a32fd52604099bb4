import type { QueryConfig, QueryResult } from 'pg';
import type { FoundRow, PagePlan, PlannedStatement } from '../../../compile/plan.ts';
import type { Page } from '../../../compile/read.ts';
import type { Row } from '../../../store/session.ts';
import { keepPrepared } from '../connection/prepared.ts';
import { bindings, type ServerSession, type Slots } from '../connection/session.ts';
import { cellOf } from '../writing/copy-in.ts';
import { type Answer, type AnswerWish, readAnswer, readWhole } from './answer.ts';

const NO_ROWS: Page = { body: new Uint8Array(0), rows: 0, more: false };

/**
 * Whether the server keeps a statement prepared: those of pages, records and lists come again and again; where a
 * client's filter stands, each has values of its own, and the plan is made for them.
 */
type Kept = 'kept' | 'once';

function asked(
  { client }: ServerSession,
  statement: PlannedStatement,
  kept: Kept,
  slots: Slots = {},
): QueryConfig {
  const { text } = statement;
  const values = bindings(statement, slots);
  return kept === 'kept' ? { name: keepPrepared(client, text), text, values } : { text, values };
}

async function ask(
  session: ServerSession,
  statement: PlannedStatement,
  kept: Kept,
  slots: Slots = {},
): Promise<readonly Row[]> {
  const result: QueryResult<Row> = await session.client.query<Row>(asked(session, statement, kept, slots));
  return result.rows;
}

export async function readNumber(
  session: ServerSession,
  statement: PlannedStatement,
  kept: Kept,
): Promise<number> {
  const [row] = await ask(session, statement, kept);
  return Number(row?.n ?? 0);
}

export async function readIds(session: ServerSession, statement: PlannedStatement): Promise<Uint32Array> {
  const rows = await ask(session, statement, 'once');
  return Uint32Array.from(rows, (row) => Number(row.id));
}

export function readBody(
  session: ServerSession,
  statement: PlannedStatement,
  kept: Kept,
  wish: AnswerWish,
): Promise<Uint8Array | undefined> {
  return readWhole(session, asked(session, statement, kept), wish);
}

/** Reads a page on one snapshot. */
export function readPage(session: ServerSession, plan: PagePlan, wish: AnswerWish): Promise<Page> {
  switch (plan.kind) {
    case 'range':
      return rangePage(session, plan, wish);
    case 'search':
      return searchPage(session, plan, wish);
    case 'list':
      return listPage(session, plan, wish);
  }
}

async function rangePage(
  session: ServerSession,
  plan: PagePlan & { kind: 'range' },
  wish: AnswerWish,
): Promise<Page> {
  const { first, ...answer } = await readAnswer(session, asked(session, plan.page, 'kept'), wish);
  if (first === undefined) return NO_ROWS;
  const last = { key: String(first.last), values: [] };
  return { ...answer, rows: Number(first.n), more: first.more === true, last };
}

async function searchPage(
  session: ServerSession,
  plan: PagePlan & { kind: 'search' },
  wish: AnswerWish,
): Promise<Page> {
  const found: FoundRow[] = [];
  for (const statement of plan.find) {
    const limit = plan.limit + 1 - found.length;
    if (limit <= 0) break;
    found.push(...(await ask(session, statement, 'once', { limit })).map(foundRow));
  }
  const page = found.slice(0, plan.limit);
  const last = page.at(-1);
  if (last === undefined) return { ...NO_ROWS, more: found.length > 0 };
  const [, key, ...values] = last;
  const answer = await answerOf(session, plan.body, page, wish);
  return { ...answer, rows: page.length, more: found.length > plan.limit, last: { key, values } };
}

/** A row of a find statement comes as an object whose members are in the order of its columns. */
function foundRow(row: Row): FoundRow {
  const [id, key, ...values] = Object.values(row);
  return [Number(id), String(key), ...values.map(cellOf)];
}

async function answerOf(
  session: ServerSession,
  statement: PlannedStatement,
  rows: readonly FoundRow[],
  wish: AnswerWish,
): Promise<Omit<Answer, 'first'>> {
  const ids = JSON.stringify(rows.map(([id]) => id));
  const { first: _, ...answer } = await readAnswer(
    session,
    asked(session, statement, 'kept', { ids, limit: rows.length }),
    wish,
  );
  return answer;
}

/** Ids that are looked up at once, beyond those of the page: some rows may be gone by now. */
const SPARE = 100;

async function listPage(
  session: ServerSession,
  plan: PagePlan & { kind: 'list' },
  wish: AnswerWish,
): Promise<Page> {
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
  if (last === undefined) return { ...NO_ROWS, more: found.length > 0 };
  const [, key, ...values] = last.row;
  const answer = await answerOf(
    session,
    plan.body,
    page.map(({ row }) => row),
    wish,
  );
  const more = found.length > limit;
  return { ...answer, rows: page.length, more, last: { key, values }, consumed: last.position + 1 };
}
