import { planMerged } from '../../compile/merged-plan.ts';
import type { StoreModel } from '../../compile/model.ts';
import {
  isByKey,
  type Planner,
  planCount,
  planIds,
  planList,
  planPage,
  planRecord,
} from '../../compile/page-plan.ts';
import type {
  ListPageRequest,
  MergedRequest,
  Page,
  PageRequest,
  RecordQuery,
  RecordRequest,
} from '../../compile/read.ts';
import type { CacheUse } from '../../shared/bounded-cache.ts';
import { isPlainQuery, isPlainShape } from '../../store/lanes.ts';
import { isSent, type ReadCaller } from '../../store/read-caller.ts';
import type { ReadOptions } from '../../store/store.ts';
import { mustBeText, type WholeBodies } from '../../store/whole/whole-bodies.ts';
import type { Connection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';
import { translateError } from './errors.ts';
import type { ReaderPool, ThreadResult } from './pool.ts';
import { type ReadResult, type ReadTask, runTask } from './tasks.ts';

/** What records are read with. */
export interface ReadSource {
  /** Of the store, for messages. */
  readonly name: string;
  readonly model: () => Promise<StoreModel>;
  /** The connection of the calling thread, which reads what is soon done. */
  readonly main: Connection;
  readonly bodies: WholeBodies;
  /** Threads for pages, and for what has no bound; absent: the calling thread does it. */
  readonly pages: ReaderPool | undefined;
  readonly searches: ReaderPool | undefined;
}

/** The reading of records, on the thread that is right for it. */
export class Reads {
  readonly #source: ReadSource;

  constructor(source: ReadSource) {
    this.#source = source;
  }

  async page(request: PageRequest, options: ReadOptions): Promise<Page> {
    const planner = await this.#planner(options);
    const plain = isPlainShape(request.shape);
    const light = plain && request.query.under !== undefined && isPlainQuery(request.query);
    const lane = light ? undefined : this.#laneOf(plain && isByKey(request));
    return pageOf(await this.#run(() => ({ kind: 'page', plan: planPage(planner, request) }), lane, options));
  }

  async listPage(request: ListPageRequest, options: ReadOptions): Promise<Page> {
    const planner = await this.#planner(options);
    const lane = this.#laneOf(isPlainShape(request.shape));
    return pageOf(await this.#run(() => ({ kind: 'page', plan: planList(planner, request) }), lane, options));
  }

  async mergedPage(request: MergedRequest, options: ReadOptions): Promise<Uint8Array> {
    const planner = await this.#planner(options);
    const task = (): ReadTask => ({ kind: 'body', statement: planMerged(planner, request) });
    const result = await this.#run(task, this.#source.searches, options);
    return bodyOf(result) ?? new Uint8Array(0);
  }

  async record(request: RecordRequest, options: ReadOptions): Promise<Uint8Array | undefined> {
    const planner = await this.#planner(options);
    const lane = isPlainShape(request.shape) ? undefined : this.#source.searches;
    const task = (): ReadTask => ({ kind: 'body', statement: planRecord(planner, request) });
    return bodyOf(await this.#run(task, lane, options));
  }

  async count(query: RecordQuery, options: ReadOptions): Promise<number> {
    const planner = await this.#planner(options);
    const lane = isPlainQuery(query) ? undefined : this.#source.searches;
    const task = (): ReadTask => ({ kind: 'number', statement: planCount(planner, query) });
    const result = await this.#run(task, lane, options);
    if (result.kind !== 'number') throw new Error('A count gives a number');
    return result.value;
  }

  async ids(query: RecordQuery, options: ReadOptions): Promise<Uint32Array> {
    const planner = await this.#planner(options);
    const task = (): ReadTask => ({ kind: 'ids', statement: planIds(planner, query) });
    const result = await this.#run(task, this.#source.searches, options);
    if (result.kind !== 'ids') throw new Error('A search gives ids');
    return result.ids;
  }

  caches(): readonly CacheUse[] {
    const { pages, searches } = this.#source;
    return [pages, searches].flatMap((pool) => pool?.caches() ?? []);
  }

  async close(): Promise<void> {
    const { pages, searches } = this.#source;
    await Promise.all([pages?.close(), searches?.close()]);
  }

  async #planner({ damaged }: ReadOptions): Promise<Planner> {
    return { dialect: sqliteDialect, model: await this.#source.model(), damaged };
  }

  #laneOf(isBounded: boolean): ReaderPool | undefined {
    return isBounded ? this.#source.pages : this.#source.searches;
  }

  /** @param task planned when it is its turn: what waits takes no memory for its plan */
  async #run(
    task: () => ReadTask,
    lane: ReaderPool | undefined,
    { milliseconds, caller }: ReadOptions,
  ): Promise<ReadResult> {
    const { main, name } = this.#source;
    try {
      const result =
        lane === undefined
          ? this.#runHere(task, milliseconds, caller)
          : readOf(await lane.run({ task, milliseconds, caller }));
      caller?.made(bytesOf(result));
      return result;
    } catch (error) {
      throw translateError(error, name, milliseconds / 1000);
    } finally {
      main.deadline.clear();
    }
  }

  #runHere(task: () => ReadTask, milliseconds: number, caller: ReadCaller | undefined): ReadResult {
    const { main, bodies } = this.#source;
    caller?.begin('pages');
    main.deadline.set(milliseconds);
    return runTask(main, task(), isSent(caller) ? bodies.mustBeWhole : mustBeText);
  }
}

function readOf(result: ThreadResult): ReadResult {
  if (result.kind === 'check') throw new Error('A read gives what was read');
  return result;
}

function bytesOf(result: ReadResult): number {
  switch (result.kind) {
    case 'page':
      return result.page.body.length;
    case 'body':
      return result.body?.length ?? 0;
    case 'ids':
    case 'number':
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
