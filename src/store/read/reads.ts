/**
 * Reads records, once for every engine: plans a request, picks its lane and shapes the result for the caller. It knows
 * neither SQL nor how an engine runs a task.
 */
import { planBlocks } from '../../compile/blocks-plan.ts';
import type { Planner } from '../../compile/context.ts';
import type { Dialect } from '../../compile/dialect.ts';
import { planFacets } from '../../compile/facets-plan.ts';
import { render, slot } from '../../compile/fragment.ts';
import {
  type PagePlan,
  planCount,
  planIds,
  planList,
  planMerged,
  planPage,
  planRecord,
} from '../../compile/page-plan.ts';
import type {
  BlocksRequest,
  FacetsRequest,
  ListPageRequest,
  MergedRequest,
  PageRequest,
  RecordQuery,
  RecordRequest,
} from '../../compile/read.ts';
import { memoizePerObject } from '../../shared/per-object.ts';
import { selectChangesSince } from '../changes/change-follower.ts';
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
    async page(request: PageRequest, options) {
      const plan = (planner: Planner): ReadTask => pageTask(planner, planPage(planner, request));
      return (await run('page', laneOfPage(request), plan, options)).page;
    },
    async blocks(request: BlocksRequest, options) {
      const plan = (planner: Planner): ReadTask => ({
        kind: 'blocks',
        plan: planBlocks(planner, request, selectChangesSince),
      });
      return (await run('blocks', request.isSmall ? 'records' : 'pages', plan, options)).page;
    },
    async listPage(request: ListPageRequest, options) {
      const plan = (planner: Planner): ReadTask => pageTask(planner, planList(planner, request));
      return (await run('page', laneOfList(request), plan, options)).page;
    },
    async mergedPage(request: MergedRequest, options) {
      const plan = (planner: Planner): ReadTask => ({
        kind: 'body',
        statement: planMerged(planner, request),
        isKept: false,
      });
      return (await run('body', 'searches', plan, options)).body ?? new Uint8Array(0);
    },
    async record(request: RecordRequest, options) {
      const lane = laneOfRecord(request);
      const isKept = lane === 'records';
      const plan = (planner: Planner): ReadTask => ({
        kind: 'body',
        statement: planRecord(planner, request),
        isKept,
      });
      return (await run('body', lane, plan, options)).body;
    },
    async count(query: RecordQuery, options) {
      const lane = laneOfCount(query);
      const isKept = lane !== 'searches';
      const plan = (planner: Planner): ReadTask => ({
        kind: 'number',
        statement: planCount(planner, query),
        isKept,
      });
      return (await run('number', lane, plan, options)).value;
    },
    async facets(request: FacetsRequest, options) {
      const plan = (planner: Planner): ReadTask => ({
        kind: 'facets',
        statement: planFacets(planner, request),
        fields: request.fields.length,
        ...(request.histogram === undefined ? {} : { ranges: request.histogram.edges.length + 1 }),
      });
      return (await run('facets', 'searches', plan, options)).facets;
    },
    async ids(query: RecordQuery, options) {
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
