/**
 * A read as data, and its steps, once for every engine: which statements run in which order, and how a page is
 * assembled. The steps yield statements and receive rows, so that an engine may respond immediately, on a thread or
 * over a network. They know neither engine nor session.
 */
import type { BlocksPlan } from '../../compile/blocks-plan.ts';
import { ROW_KINDS, TOTAL } from '../../compile/facets-plan.ts';
import type { BoundValue } from '../../compile/fragment.ts';
import type { CountPlan, FoundRow, IdsPlan, PagePlan, PlannedStatement } from '../../compile/page-plan.ts';
import type { Facets, FieldFacet, Histogram, Page } from '../../compile/read.ts';
import { DamagedRecord } from '../../records/damage.ts';
import type { Row } from '../session.ts';
import { BodyValidator, mustBeText } from '../whole/validate-body.ts';
import { type BlocksContext, type BlocksPage, blocksSteps } from './blocks-task.ts';
import { readBody } from './body-step.ts';
import { LinkedFragments } from './linked-body.ts';
import {
  NO_RESULT,
  requestStatement,
  type StatementRequest,
  type StatementResult,
  type Steps,
  withStatements,
} from './read-steps.ts';

/** A read as data, which can be sent to a thread. */
export type ReadTask =
  | {
      readonly kind: 'page';
      readonly plan: PagePlan;
      /** Returns the changes since the slot `position`, if agents and offices have to be inserted. */
      readonly changes?: PlannedStatement;
    }
  | { readonly kind: 'blocks'; readonly plan: BlocksPlan }
  | { readonly kind: 'body'; readonly statement: PlannedStatement; readonly isKept: boolean }
  | { readonly kind: 'number'; readonly statement: CountPlan; readonly isKept: boolean }
  | { readonly kind: 'ids'; readonly statement: IdsPlan }
  | FacetsTask;

/** Counts values (compile/facets-plan.ts). */
interface FacetsTask {
  readonly kind: 'facets';
  readonly statement: PlannedStatement;
  /** The number of fields that are counted. */
  readonly fields: number;
  /** The number of ranges of the histogram, if there is one. */
  readonly ranges?: number;
}

/** Whether agents and offices are inserted into a page. */
const isLinked = ({ plan, changes }: ReadTask & { kind: 'page' }): boolean =>
  plan.linked !== undefined && changes !== undefined;

/** Whether a task needs only one statement, which has its own snapshot. */
export function isOneStatement(task: ReadTask): boolean {
  switch (task.kind) {
    case 'page':
      if (task.plan.kind === 'rows') return task.plan.find.length === 1;
      return task.plan.kind === 'range' && task.plan.more === undefined && !isLinked(task);
    case 'blocks':
      return false;
    case 'ids':
      return task.statement.scan === undefined;
    case 'body':
    case 'number':
    case 'facets':
      return true;
  }
}

/** The result of a task. */
export type ReadResult =
  | { readonly kind: 'page'; readonly page: Page }
  | { readonly kind: 'blocks'; readonly page: BlocksPage }
  | { readonly kind: 'body'; readonly body: Uint8Array | undefined }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'ids'; readonly ids: Uint32Array }
  | { readonly kind: 'facets'; readonly facets: Facets };

/** Runs the steps of a task if each statement is executed synchronously. */
export function runSync<T>(steps: Steps<T>, answer: (ask: StatementRequest) => StatementResult): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next(step.value.map(answer));
  return step.value;
}

/** The same if results take time. The first statements are issued before this returns. */
export async function runAsync<T>(
  steps: Steps<T>,
  answer: (ask: StatementRequest) => Promise<StatementResult>,
): Promise<T> {
  let step = steps.next();
  while (step.done !== true) step = steps.next(await Promise.all(step.value.map(answer)));
  return step.value;
}

/** What a read needs in addition to its statements. */
export interface ReadContext extends BlocksContext {
  /** Whether the result leaves the service, so that it must not contain damage (lanes.ts). */
  readonly isSent: boolean;
}

/** Makes the contexts of a thread, which share what the thread keeps from task to task. */
export function makeReadContextFactory(
  deflate: ReadContext['deflate'],
  bodies: BodyValidator = new BodyValidator(),
) {
  const fragments = new LinkedFragments();
  return ({ isSent, memory }: Pick<ReadContext, 'isSent' | 'memory'>): ReadContext => ({
    ...{ isSent, memory, fragments, deflate },
    check: isSent ? bodies.mustBeValid : mustBeText,
  });
}

export function* taskSteps(task: ReadTask, context: ReadContext): Steps<ReadResult> {
  const { isSent } = context;
  switch (task.kind) {
    case 'page':
      return { kind: 'page', page: yield* pageSteps(task.plan, bodyStep(task, context), isSent) };
    case 'blocks':
      return { kind: 'blocks', page: yield* blocksSteps(task.plan, context) };
    case 'body': {
      const { statement, isKept } = task;
      const { body } = yield* requestStatement({ gives: 'body', statement, slots: {}, isKept });
      return { kind: 'body', body: body && context.check(body) };
    }
    case 'number': {
      const { statement, isKept } = task;
      if (statement.isScan) return { kind: 'number', value: (yield* scanIds(statement, isSent)).length };
      const [row] = (yield* requestStatement({ gives: 'rows', statement, slots: {}, isKept })).rows;
      return { kind: 'number', value: Number(row?.n ?? 0) };
    }
    case 'ids': {
      const { statement } = task;
      const found = statement.scan && (yield* scanIds(statement.scan, isSent));
      // The engine looks up each of them, which is fastest in their own order; the scan may have read them by any index.
      const slots = found === undefined ? {} : { ids: JSON.stringify([...found.sort()]) };
      const [row] = (yield* requestStatement({ gives: 'rows', statement, slots, isKept: false })).rows;
      return { kind: 'ids', ids: parseIds(row, isSent) };
    }
    case 'facets': {
      const { statement } = task;
      const { rows } = yield* requestStatement({ gives: 'rows', statement, slots: {}, isKept: false });
      return { kind: 'facets', facets: readFacets(rows, task) };
    }
  }
}

/** The ids that a statement returns one by one, with rows that have none in between. */
function* scanIds(statement: PlannedStatement, isSent: boolean): Steps<Uint32Array> {
  const request = { gives: 'rows', statement, slots: {}, isKept: false, isScan: true } as const;
  const { rows } = yield* requestStatement(request);
  const ids: string[] = [];
  for (const { id } of rows) if (id !== null) ids.push(String(id));
  return parseIds({ ids: ids.join(',') }, isSent);
}

const [ZERO, NINE, COMMA, SEMICOLON] = [0x30, 0x39, 0x2c, 0x3b];

/** The number of digits that every 32-bit integer has room for. */
const SHORT = 9;

/**
 * Parses the ids in the row of their statement (`planIds`). Operators' commands skip a number that plat never writes.
 * @throws DamagedRecord for such a number in a list whose pages are sent
 */
function parseIds({ ids: list, groups }: Row = {}, isSent: boolean): Uint32Array {
  const found = list ?? groups ?? '';
  if (found === '') return new Uint32Array(0);
  // Parsing bytes takes half the time of parsing characters, and 32-bit integers a third of that of other numbers.
  const text = Buffer.from(`${String(found)};`);
  // The shortest id takes a digit and a separator.
  const ids = new Uint32Array(text.length >> 1);
  let [count, group] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const begin = at;
    let [id, code] = [0, text[at] ?? SEMICOLON];
    for (; code >= ZERO && code <= NINE; code = text[++at] ?? SEMICOLON) id = (id * 10 + code - ZERO) | 0;
    if (at === begin || at - begin > SHORT || (code !== COMMA && code !== SEMICOLON)) {
      while (code !== COMMA && code !== SEMICOLON) code = text[++at] ?? SEMICOLON;
      const number = text.toString('latin1', begin, at);
      id = /^\d+$/.test(number) ? Number(number) : Number.NaN;
      if (isSent && !(id < 2 ** 32)) throw new DamagedRecord(`The record with the number ${Number(number)}`);
    }
    if (id < 2 ** 32) ids[count++] = id;
    if (code === COMMA || groups === undefined) continue;
    if (count > group + 1) ids.subarray(group, count).reverse();
    group = count;
  }
  return ids.slice(0, count);
}

const EMPTY = new Uint8Array(0);

/** Requests the body of a page, and returns it as it will be sent. */
type BodyStep = (asked: StatementRequest) => Steps<StatementResult>;

function bodyStep(
  { plan: { linked }, changes }: ReadTask & { kind: 'page' },
  context: ReadContext,
): BodyStep {
  const linking = linked === undefined || changes === undefined ? undefined : { linked, changes };
  return function* (asked) {
    return (yield* readBody(asked, linking, context)).given;
  };
}

function pageSteps(plan: PagePlan, bodyOf: BodyStep, isSent: boolean): Steps<Page> {
  switch (plan.kind) {
    case 'range':
      return rangePage(plan, bodyOf);
    case 'search':
      return searchPage(plan, bodyOf, isSent);
    case 'list':
      return listPage(plan, bodyOf, isSent);
    case 'rows':
      return rowsPage(plan);
  }
}

function* rangePage(
  { limit, page, more, isJoined }: PagePlan & { kind: 'range' },
  bodyOf: BodyStep,
): Steps<Page> {
  const gives = isJoined === true ? 'joined' : 'page';
  const asked: StatementRequest = { gives, statement: page, slots: {}, isKept: true, limit };
  const { rows: known, body = EMPTY, ...rest } = yield* bodyOf(asked);
  const [first] = known;
  const rows = Number(first?.n ?? 0);
  if (rows === 0) return { body: EMPTY, rows, more: false };
  const key = String(first?.last);
  const last = { key, values: [] };
  const slots = { 'last-key': key };
  const [next] =
    more === undefined
      ? known
      : (yield* requestStatement({ gives: 'rows', statement: more, slots, isKept: true })).rows;
  // An engine that omits the following row from its result does not return the key of that row.
  const follower = typeof next?.more === 'string' ? { follower: next.more } : {};
  return { body, ...rest, rows, more: next?.more === true || 'follower' in follower, ...follower, last };
}

function* searchPage(plan: PagePlan & { kind: 'search' }, bodyOf: BodyStep, isSent: boolean): Steps<Page> {
  const found: FoundRow[] = [];
  for (const statement of plan.find) {
    const limit = plan.limit + 1 - found.length;
    if (limit <= 0) break;
    const { rows } = yield* requestStatement({ gives: 'rows', statement, slots: { limit }, isKept: false });
    for (const row of rows) found.push(...parseFoundRow(row, isSent));
  }
  // One row beyond the limit means that more rows follow.
  const page = found.slice(0, plan.limit);
  const more = found.length > plan.limit;
  const last = page.at(-1);
  if (last === undefined) return { body: EMPTY, rows: 0, more };
  const ids = page.map(([id]) => id);
  const given = yield* bodyOf(requestTexts(plan, ids));
  return { ...makePage(given, page.length, last), more };
}

function* rowsPage({ find, values: terms, limit }: PagePlan & { kind: 'rows' }): Steps<Page> {
  const found: Row[] = [];
  for (const statement of find) {
    const slots = { limit: limit + 1 - found.length };
    if (slots.limit <= 0) break;
    const { rows } = yield* requestStatement({ gives: 'rows', statement, slots, isKept: false });
    // An engine may return an additional row if there is none.
    for (const row of rows) if (row.k !== null) found.push(row);
  }
  const page = found.slice(0, limit);
  const more = found.length > limit;
  const last = page.at(-1);
  if (last === undefined) return { body: EMPTY, rows: 0, more };
  const body = Buffer.from(page.map(({ x }) => String(x)).join(','));
  const values = Array.from({ length: terms }, (_, index) => orderValue(last[`o${index}`]));
  return { body, rows: page.length, more, last: { key: String(last.k), values } };
}

/** The number of ids that are looked up beyond those of the page, since some rows may no longer exist. */
const SPARE = 100;

/**
 * Usually all rows of a page still exist, and the one that follows, so its last row is known from the start: everything is
 * requested at once, and the number of texts shows that none is missing.
 */
function* listPage(plan: PagePlan & { kind: 'list' }, bodyOf: BodyStep, isSent: boolean): Steps<Page> {
  const { ids, limit } = plan;
  const lastIndex = Math.min(limit, ids.length) - 1;
  if (lastIndex < 0) return { body: EMPTY, rows: 0, more: ids.length > 0 };
  const follower = ids.subarray(limit, limit + 1);
  const whole = yield* withStatements(
    [lookUpRows(plan, follower, lastIndex)],
    bodyOf(requestTexts(plan, [...ids.subarray(0, limit)])),
  );
  const { places: beyond, last } = existingPlaces(whole.given, follower, limit, isSent);
  const isComplete = rowCount(whole.result) === lastIndex + 1 && beyond.length === follower.length;
  if (last !== undefined && isComplete) {
    return {
      ...makePage(whole.result, lastIndex + 1, last),
      more: beyond.length > 0,
      consumed: lastIndex + 1,
    };
  }
  whole.result.release?.();
  const places: number[] = [];
  for (let start = 0; start < ids.length && places.length <= limit; ) {
    const chunk = ids.subarray(start, start + limit + 1 - places.length + SPARE);
    const given = yield* requestStatement(lookUpRows(plan, chunk, start));
    places.push(...existingPlaces([given], chunk, start, isSent).places);
    start += chunk.length;
  }
  const page = places.slice(0, limit);
  const end = page.at(-1);
  if (end === undefined) return { body: EMPTY, rows: 0, more: false };
  const listed = page.map((place) => Number(ids[place]));
  const rest = yield* withStatements(
    [lookUpRows(plan, ids.subarray(end, end + 1), end)],
    bodyOf(requestTexts(plan, listed)),
  );
  const found = existingPlaces(rest.given, ids.subarray(end, end + 1), end, isSent).last;
  if (found === undefined) throw new Error('A page of a list ends with a row that is there');
  return { ...makePage(rest.result, page.length, found), more: places.length > limit, consumed: end + 1 };
}

/** Looks up which of the given ids of a list have a row, and the row at a place of the list. */
function lookUpRows(
  { look, ids }: PagePlan & { kind: 'list' },
  some: Uint32Array,
  place: number,
): StatementRequest {
  const slots = { ids: JSON.stringify([...some]), id: ids[place] ?? null };
  return { gives: 'rows', statement: look, slots, isKept: true };
}

/** Returns the places in the list of those ids that have a row, and the row that was looked up. */
function existingPlaces(
  [given = NO_RESULT]: readonly StatementResult[],
  ids: Uint32Array,
  start: number,
  isSent: boolean,
): { readonly places: number[]; readonly last: FoundRow | undefined } {
  const [{ gone: positions, ...row } = {}] = [...given.rows];
  const gone = new Set(typeof positions === 'string' ? positions.split(',').map(Number) : []);
  const there = [...ids.keys()].filter((index) => !gone.has(index + 1));
  const [last] = row.id === null || row.id === undefined ? [] : parseFoundRow(row, isSent);
  return { places: there.map((index) => start + index), last };
}

/**
 * Parses a row of a find statement, whose members are in the order of its columns. A row with a number that no writer of plat sets
 * has no text: operators' commands skip it.
 * @throws DamagedRecord for such a row on a page that is sent
 */
function parseFoundRow(row: Row, isSent: boolean): FoundRow[] {
  const [id, key, ...values] = Object.values(row);
  if (Number.isSafeInteger(Number(id))) return [[Number(id), String(key), ...values.map(orderValue)]];
  if (isSent) throw new DamagedRecord(`The record with the key ${String(key)}`);
  return [];
}

function orderValue(raw: unknown): BoundValue {
  if (typeof raw === 'bigint') return Number(raw);
  return typeof raw === 'string' || typeof raw === 'number' || typeof raw === 'boolean' ? raw : null;
}

/** Requests the texts of the rows with these ids, in their order. */
function requestTexts(
  { body: statement }: PagePlan & { kind: 'search' | 'list' },
  ids: readonly number[],
): StatementRequest {
  const slots = { ids: JSON.stringify(ids), limit: ids.length };
  return { gives: 'body', statement, slots, isKept: true };
}

/** The number of rows that the statement of a body found. */
function rowCount({ rows }: StatementResult): number {
  const [row] = rows;
  return Number(row?.n ?? 0);
}

function makePage(given: StatementResult, rows: number, [, key, ...values]: FoundRow): Omit<Page, 'more'> {
  const { rows: _, body = EMPTY, ...rest } = given;
  return { body, ...rest, rows, last: { key, values } };
}

interface Asked {
  readonly fields: number;
  readonly ranges?: number;
}

function readFacets(rows: Iterable<Row>, { fields, ranges }: Asked): Facets {
  // No engine guarantees the order of a union.
  const all = [...rows].sort((one, other) => Number(one.k) - Number(other.k));
  const at = (place: number): Row[] => all.filter((row) => Number(row.place) === place);
  return {
    records: recordCount(at(TOTAL)[0]),
    fields: Array.from({ length: fields }, (_, index) => fieldIn(at(index + 1))),
    ...(ranges === undefined ? {} : { histogram: histogramIn(at(fields + 1), ranges) }),
  };
}

const recordCount = (row: Row | undefined): number => Number(row?.n ?? 0);

const rowsOfKind = (rows: readonly Row[], what: number): Row[] =>
  rows.filter((row) => Number(row.what) === what);

function fieldIn(rows: readonly Row[]): FieldFacet {
  const values = rowsOfKind(rows, ROW_KINDS.value);
  return {
    values: values.map((row) => ({ value: valueIn(row), records: recordCount(row) })),
    more: Number(values[0]?.d ?? 0) - values.length,
    none: recordCount(rowsOfKind(rows, ROW_KINDS.none)[0]),
  };
}

function valueIn({ value }: Row): string | number | boolean {
  const parsed: unknown = JSON.parse(String(value));
  if (typeof parsed === 'string' || typeof parsed === 'number' || typeof parsed === 'boolean') return parsed;
  throw new Error('A value that is counted is a text, a number or a truth value');
}

function histogramIn(rows: readonly Row[], ranges: number): Histogram {
  const found = new Map(rowsOfKind(rows, ROW_KINDS.range).map((row) => [Number(row.k), recordCount(row)]));
  const [least = null, greatest = null] = rowsOfKind(rows, ROW_KINDS.extent).map(({ value }) =>
    value === 'null' ? null : Number(value),
  );
  return {
    records: Array.from({ length: ranges }, (_, index) => found.get(index) ?? 0),
    none: recordCount(rowsOfKind(rows, ROW_KINDS.none)[0]),
    least,
    greatest,
  };
}
