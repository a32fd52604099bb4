/**
 * Reads records, once for every engine: plans a request, picks its lane and shapes the result for the caller. It knows
 * neither SQL nor how an engine runs a task.
 */
import { planBlocks } from '../../compile/blocks-plan.ts';
import type { Planner } from '../../compile/context.ts';
import type { Dialect } from '../../compile/dialect.ts';
import { planFacets } from '../../compile/facets-plan.ts';
import { bind, name, render, slot, sql } from '../../compile/fragment.ts';
import type { ResourceLayout } from '../../compile/layout/index.ts';
import {
  type PagePlan,
  planCount,
  planIds,
  planList,
  planMerged,
  planPage,
  planRecord,
} from '../../compile/page-plan.ts';
import { memoizePerObject } from '../../shared/memoize.ts';
import { selectChangesSince } from '../changes/change-follower.ts';
import type { Session } from '../session.ts';
import type { ReadOptions, Store } from '../store.ts';
import { type Lane, laneOfCount, laneOfList, laneOfPage, laneOfRecord } from './lanes.ts';
import type { ReadResult, ReadTask } from './read-task.ts';

/** What an engine does for a read. */
interface TaskRunner {
  /**
   * Runs a task on one snapshot.
   * @param plan called when the task leaves the queue: a waiting task uses no memory for its plan
   */
  run(lane: Lane, plan: (planner: Planner) => ReadTask, options: ReadOptions): Promise<ReadResult>;
}

type Reads = Pick<
  Store,
  'page' | 'blocks' | 'listPage' | 'mergedPage' | 'record' | 'count' | 'facets' | 'ids'
>;

type Given<K extends ReadResult['kind']> = Extract<ReadResult, { readonly kind: K }>;

const isOf = <K extends ReadResult['kind']>(kind: K, result: ReadResult): result is Given<K> =>
  result.kind === kind;

export function readsOf(runner: TaskRunner): Reads {
  /** @param kind of the task and of its result */
  const run = async <K extends ReadResult['kind']>(
    kind: K,
    lane: Lane,
    plan: (planner: Planner) => ReadTask,
    options: ReadOptions,
  ): Promise<Given<K>> => {
    const result = await runner.run(lane, plan, options);
    options.caller?.made(bytesOf(result));
    if (isOf(kind, result)) return result;
    throw new Error(`A task of the kind ${kind} gives no ${result.kind}`);
  };
  return {
    async page(request, options) {
      const plan = (planner: Planner): ReadTask => pageTask(planner, planPage(planner, request));
      return (await run('page', laneOfPage(request), plan, options)).page;
    },
    async blocks(request, options) {
      const plan = (planner: Planner): ReadTask => ({
        kind: 'blocks',
        plan: planBlocks(planner, request, selectChangesSince),
      });
      return (await run('blocks', request.isSmall ? 'records' : 'pages', plan, options)).page;
    },
    async listPage(request, options) {
      const plan = (planner: Planner): ReadTask => pageTask(planner, planList(planner, request));
      return (await run('page', laneOfList(request), plan, options)).page;
    },
    async mergedPage(request, options) {
      const plan = (planner: Planner): ReadTask => ({
        kind: 'body',
        statement: planMerged(planner, request),
        isKept: false,
      });
      return (await run('body', 'searches', plan, options)).body ?? new Uint8Array(0);
    },
    async record(request, options) {
      const lane = laneOfRecord(request);
      const isKept = lane === 'records';
      const plan = (planner: Planner): ReadTask => ({
        kind: 'body',
        statement: planRecord(planner, request),
        isKept,
      });
      return (await run('body', lane, plan, options)).body;
    },
    async count(query, options) {
      const lane = laneOfCount(query);
      const isKept = lane !== 'searches';
      const plan = (planner: Planner): ReadTask => ({
        kind: 'number',
        statement: planCount(planner, query),
        isKept,
      });
      return (await run('number', lane, plan, options)).value;
    },
    async facets(request, options) {
      const plan = (planner: Planner): ReadTask => ({
        kind: 'facets',
        statement: planFacets(planner, request),
        fields: request.fields.length,
        ...(request.histogram === undefined ? {} : { ranges: request.histogram.edges.length + 1 }),
      });
      return (await run('facets', 'searches', plan, options)).facets;
    },
    async ids(query, options) {
      const plan = (planner: Planner): ReadTask => ({ kind: 'ids', statement: planIds(planner, query) });
      return (await run('ids', 'searches', plan, options)).ids;
    },
  };
}

const changesStatement = memoizePerObject(({ placeholder }: Dialect) =>
  render(selectChangesSince(slot('position')), placeholder),
);

const pageTask = ({ dialect }: Planner, plan: PagePlan): ReadTask =>
  plan.linked === undefined
    ? { kind: 'page', plan }
    : { kind: 'page', plan, changes: changesStatement(dialect) };

function bytesOf(result: ReadResult): number {
  switch (result.kind) {
    case 'page':
      return result.page.body.length;
    case 'body':
      return result.body?.length ?? 0;
    case 'blocks':
      return result.page.parts.reduce<number>(
        (sum, part) => sum + (typeof part === 'number' ? 0 : part.bytes),
        0,
      );
    case 'ids':
    case 'number':
    case 'facets':
      return 0;
  }
}

/** The number of places of a list that are looked up at once. */
const PROBES = 64;

/**
 * Returns how many ids of a list in key order have keys up to and including `key`. It looks up some ids at even distances, then
 * some between two of them, and skips ids whose rows are deleted.
 */
export async function positionAfter(
  { rows, dialect }: Session,
  { textsTable }: ResourceLayout,
  ids: Uint32Array,
  key: string,
): Promise<number> {
  /** Returns the last of the given places whose key is not after `key`, and the first one whose key is. */
  const probePlaces = async (places: readonly number[]): Promise<{ last: number; first: number }> => {
    const list = dialect.integerTable(bind(JSON.stringify(places.map((place) => ids[place] ?? 0))), 'p');
    const [row] = await rows(sql`SELECT max(p.position) FILTER (WHERE t._key <= ${bind(key)}) AS last,
      min(p.position) FILTER (WHERE t._key > ${bind(key)}) AS first
      FROM ${list} CROSS JOIN ${name(textsTable)} t WHERE t._id = p.value`);
    const placeOf = (probe: unknown, none: number): number =>
      probe === undefined || probe === null ? none : (places[Number(probe) - 1] ?? none);
    return { last: placeOf(row?.last, -1), first: placeOf(row?.first, Number.POSITIVE_INFINITY) };
  };
  let low = 0;
  let high = ids.length;
  while (high - low > PROBES) {
    const step = (high - low) / PROBES;
    const from = low;
    const { last, first } = await probePlaces(
      Array.from({ length: PROBES }, (_, index) => Math.floor(from + index * step)),
    );
    const [before, width] = [low, high - low];
    low = Math.max(low, last + 1);
    high = Math.min(high, first);
    // If all of the rows are deleted, the start of the range is searched.
    if (low === before && high - low === width) {
      const start = await probePlaces(Array.from({ length: PROBES }, (_, index) => before + index));
      if (start.first < Number.POSITIVE_INFINITY) return Math.max(before, start.last + 1);
      low = before + PROBES;
    }
  }
  const { last } = await probePlaces(Array.from({ length: high - low }, (_, index) => low + index));
  return Math.max(low, last + 1);
}
