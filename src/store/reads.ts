/**
 * Reads records, once for every engine: plans a request, picks its lane and shapes the result for the caller. It knows
 * neither SQL nor how an engine runs a task.
 */

import { planBlocks } from '../compile/blocks-plan.ts';
import type { Planner } from '../compile/context.ts';
import { planFacets } from '../compile/facets-plan.ts';
import { render, slot } from '../compile/fragment.ts';
import {
  type PagePlan,
  planCount,
  planIds,
  planList,
  planMerged,
  planPage,
  planRecord,
} from '../compile/page-plan.ts';
import type {
  BlocksRequest,
  FacetsRequest,
  ListPageRequest,
  MergedRequest,
  Page,
  PageRequest,
  RecordQuery,
  RecordRequest,
} from '../compile/read.ts';
import { changesSince } from './change-follower.ts';
import type { Lane } from './lanes.ts';
import { laneOfCount, laneOfList, laneOfPage, laneOfRecord } from './lanes.ts';
import type { ReadResult, ReadTask } from './read-task.ts';
import type { ReadOptions, Store } from './store.ts';

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

export function readsOf(runner: TaskRunner): Reads {
  const run = async (
    lane: Lane,
    plan: (planner: Planner) => ReadTask,
    options: ReadOptions,
  ): Promise<ReadResult> => {
    const result = await runner.run(lane, plan, options);
    options.caller?.made(bytesOf(result));
    return result;
  };
  return {
    page: async (request: PageRequest, options) =>
      pageOf(
        await run(laneOfPage(request), (planner) => pageTask(planner, planPage(planner, request)), options),
      ),
    async blocks(request: BlocksRequest, options) {
      const plan = (planner: Planner): ReadTask => ({
        kind: 'blocks',
        plan: planBlocks(planner, request, changesSince),
      });
      const result = await run(request.isSmall ? 'records' : 'pages', plan, options);
      if (result.kind !== 'blocks') throw new Error('A page of blocks gives one');
      return result.page;
    },
    listPage: async (request: ListPageRequest, options) =>
      pageOf(
        await run(laneOfList(request), (planner) => pageTask(planner, planList(planner, request)), options),
      ),
    async mergedPage(request: MergedRequest, options) {
      const plan = (planner: Planner): ReadTask => ({
        kind: 'body',
        statement: planMerged(planner, request),
        isKept: false,
      });
      return bodyOf(await run('searches', plan, options)) ?? new Uint8Array(0);
    },
    async record(request: RecordRequest, options) {
      const lane = laneOfRecord(request);
      const isKept = lane === 'records';
      const plan = (planner: Planner): ReadTask => ({
        kind: 'body',
        statement: planRecord(planner, request),
        isKept,
      });
      return bodyOf(await run(lane, plan, options));
    },
    async count(query: RecordQuery, options) {
      const lane = laneOfCount(query);
      const isKept = lane !== 'searches';
      const plan = (planner: Planner): ReadTask => ({
        kind: 'number',
        statement: planCount(planner, query),
        isKept,
      });
      const result = await run(lane, plan, options);
      if (result.kind !== 'number') throw new Error('A count gives a number');
      return result.value;
    },
    async facets(request: FacetsRequest, options) {
      const plan = (planner: Planner): ReadTask => ({
        kind: 'facets',
        statement: planFacets(planner, request),
        fields: request.fields.length,
        ...(request.histogram === undefined ? {} : { ranges: request.histogram.edges.length + 1 }),
      });
      const result = await run('searches', plan, options);
      if (result.kind !== 'facets') throw new Error('Counts of values are asked for');
      return result.facets;
    },
    async ids(query: RecordQuery, options) {
      const plan = (planner: Planner): ReadTask => ({ kind: 'ids', statement: planIds(planner, query) });
      const result = await run('searches', plan, options);
      if (result.kind !== 'ids') throw new Error('A search gives ids');
      return result.ids;
    },
  };
}

function pageTask({ dialect }: Planner, plan: PagePlan): ReadTask {
  if (plan.linked === undefined) return { kind: 'page', plan };
  const changes = render(changesSince(slot('position')), dialect.placeholder);
  return { kind: 'page', plan, changes };
}

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

function pageOf(result: ReadResult): Page {
  if (result.kind !== 'page') throw new Error('A page task gives a page');
  return result.page;
}

function bodyOf(result: ReadResult): Uint8Array | undefined {
  if (result.kind !== 'body') throw new Error('A record task gives a body');
  return result.body;
}
