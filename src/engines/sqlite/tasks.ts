import type { BoundValue } from '../../compile/fragment.ts';
import type { FoundRow, PagePlan, PlannedStatement } from '../../compile/plan.ts';
import type { Page } from '../../compile/read.ts';
import { DamagedRecord } from '../../records/damage.ts';
import { type BodyCheck, mustBeText } from '../../store/whole/whole-bodies.ts';
import { begin } from './begin.ts';
import { anyRows, bindings, type Connection, type Raw, type Slots } from './connection.ts';

/** A read as data: it runs on the main thread or in a worker, and means the same there. */
export type ReadTask =
  | { readonly kind: 'page'; readonly plan: PagePlan }
  | { readonly kind: 'number'; readonly statement: PlannedStatement }
  | { readonly kind: 'ids'; readonly statement: PlannedStatement }
  | { readonly kind: 'body'; readonly statement: PlannedStatement };

/** What a task gives. */
export type ReadResult =
  | { readonly kind: 'page'; readonly page: Page }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'ids'; readonly ids: Uint32Array }
  | { readonly kind: 'body'; readonly body: Uint8Array | undefined };

const EMPTY_BODY = new Uint8Array(0);

/** What a task is read from, and what a body must pass. */
interface Reader extends Connection {
  readonly check: BodyCheck;
}

/** Runs a task on one snapshot of the store. @param check looks at each body before anybody gets it */
export function runTask(connection: Connection, task: ReadTask, check: BodyCheck): ReadResult {
  using _ = begin(connection.database, 'read');
  return run({ ...connection, check }, task);
}

/** Characters of values beyond which a statement is not kept: with it the engine would keep what was bound last. */
const KEPT_VALUES = 32 * 1024;

/** A statement with its values, which runs as often as it is asked. */
function ask(connection: Connection, statement: PlannedStatement, slots?: Slots) {
  const values = bindings(statement, slots);
  const size = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
  const { text } = statement;
  const prepared = size > KEPT_VALUES ? connection.database.prepare(text) : connection.prepare(text);
  return {
    get: () => prepared.get(...values),
    all: () => anyRows({ database: connection.database, prepare: () => prepared }, text, values),
    iterate: () => prepared.iterate(...values),
  };
}

function run(connection: Reader, task: ReadTask): ReadResult {
  switch (task.kind) {
    case 'page':
      return { kind: 'page', page: runPage(connection, task.plan) };
    case 'number': {
      const row = ask(connection, task.statement).get();
      return { kind: 'number', value: Number(row?.n ?? 0) };
    }
    case 'ids': {
      const ids: number[] = [];
      for (const row of ask(connection, task.statement).iterate()) {
        ids.push(Number(row.id));
      }
      return { kind: 'ids', ids: Uint32Array.from(ids) };
    }
    case 'body': {
      const row = ask(connection, task.statement).get();
      return { kind: 'body', body: row?.body instanceof Uint8Array ? connection.check(row.body) : undefined };
    }
  }
}

function runPage(connection: Reader, plan: PagePlan): Page {
  switch (plan.kind) {
    case 'range':
      return rangePage(connection, plan);
    case 'search':
      return searchPage(connection, plan);
    case 'list':
      return listPage(connection, plan);
  }
}

function rangePage(connection: Reader, plan: PagePlan & { kind: 'range' }): Page {
  const row = ask(connection, plan.page).get();
  const rows = Number(row?.n ?? 0);
  if (rows === 0) return { body: EMPTY_BODY, rows: 0, more: false };
  const key = String(row?.last);
  const { more } = plan;
  const follows = more && ask(connection, more, { 'last-key': key }).get();
  return {
    body: bytesOf(connection, row?.body),
    rows,
    more: follows !== undefined,
    last: { key, values: [] },
  };
}

function searchPage(connection: Reader, plan: PagePlan & { kind: 'search' }): Page {
  const found: FoundRow[] = [];
  for (const statement of plan.find) {
    const wanted = plan.limit + 1 - found.length;
    if (wanted <= 0) break;
    for (const row of ask(connection, statement, { limit: wanted }).all()) {
      found.push(...foundRows(connection, row));
    }
  }
  const page = found.slice(0, plan.limit);
  const last = page.at(-1);
  if (last === undefined) return { body: EMPTY_BODY, rows: 0, more: found.length > 0 };
  const [, key, ...values] = last;
  const ids = page.map(([id]) => id);
  const body = bodyOf(connection, plan.body, ids);
  return { body, rows: page.length, more: found.length > plan.limit, last: { key, values } };
}

/**
 * A row of a find statement comes as an object whose members are in the order of its columns. One with a number that no
 * writer of plat gives leads to no text: an operator's commands read the others.
 * @throws DamagedRecord for it, where the page is sent
 */
function foundRows({ check }: Reader, row: Record<string, Raw>): FoundRow[] {
  const [id, key, ...values] = Object.values(row);
  if (Number.isSafeInteger(Number(id))) return [[Number(id), String(key), ...values.map(plainValue)]];
  if (check === mustBeText) return [];
  throw new DamagedRecord(`The record with the key ${key}`);
}

function plainValue(raw: Raw): BoundValue {
  return typeof raw === 'bigint' ? Number(raw) : raw instanceof Uint8Array ? null : raw;
}

function bodyOf(connection: Reader, statement: PlannedStatement, ids: readonly number[]): Uint8Array {
  const slots = { ids: JSON.stringify(ids), limit: ids.length };
  return bytesOf(connection, ask(connection, statement, slots).get()?.body);
}

/** Ids that are looked up at once, beyond those of the page: some rows may be gone by now. */
const SPARE = 100;

function listPage(connection: Reader, plan: PagePlan & { kind: 'list' }): Page {
  const { ids, limit } = plan;
  const found: { row: FoundRow; position: number }[] = [];
  for (let start = 0; start < ids.length && found.length <= limit; ) {
    const chunk = [...ids.subarray(start, start + limit + 1 - found.length + SPARE)];
    const slots = { ids: JSON.stringify(chunk), limit: limit + 1 - found.length };
    for (const row of ask(connection, plan.find, slots).all()) {
      const [id, key, position, ...values] = Object.values(row);
      const place = start + Number(position);
      found.push({ row: [Number(id), String(key), ...values.map(plainValue)], position: place });
    }
    start += chunk.length;
  }
  const page = found.slice(0, limit);
  const last = page.at(-1);
  if (last === undefined) return { body: EMPTY_BODY, rows: 0, more: found.length > 0 };
  const [, key, ...values] = last.row;
  const body = bodyOf(
    connection,
    plan.body,
    page.map(({ row: [id] }) => id),
  );
  const more = found.length > limit;
  return { body, rows: page.length, more, last: { key, values }, consumed: last.position + 1 };
}

const bytesOf = ({ check }: Reader, raw: Raw | undefined): Uint8Array =>
  raw instanceof Uint8Array ? check(raw) : EMPTY_BODY;
