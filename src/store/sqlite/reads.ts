import type { CacheUse } from '../bounded-cache.ts';
import { isPlainQuery, isPlainShape } from '../lanes.ts';
import type { StoreModel } from '../model.ts';
import type {
  ListPageRequest,
  MergedRequest,
  Page,
  PageRequest,
  RecordQuery,
  RecordRequest,
} from '../read.ts';
import { planMerged } from '../sql/merged-plan.ts';
import { type Planner, planCount, planIds, planList, planPage, planRecord } from '../sql/page-plan.ts';
import type { ReadOptions } from '../store.ts';
import type { Connection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';
import { translateError } from './errors.ts';
import type { ReaderPool } from './pool.ts';
import { type ReadResult, type ReadTask, runTask } from './tasks.ts';

/** What records are read with. */
export interface ReadSource {
  /** Of the store, for messages. */
  readonly name: string;
  readonly model: () => Promise<StoreModel>;
  /** The connection of the calling thread, which reads what is soon done. */
  readonly main: Connection;
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
    const plan = planPage(await this.#planner(), request);
    const plain = isPlainShape(request.shape);
    const light = plain && request.query.under !== undefined && isPlainQuery(request.query);
    const lane = light ? undefined : this.#laneOf(plain && plan.kind !== 'search');
    return pageOf(await this.#run({ kind: 'page', plan }, lane, options));
  }

  async listPage(request: ListPageRequest, options: ReadOptions): Promise<Page> {
    const plan = planList(await this.#planner(), request);
    const lane = this.#laneOf(isPlainShape(request.shape));
    return pageOf(await this.#run({ kind: 'page', plan }, lane, options));
  }

  async mergedPage(request: MergedRequest, options: ReadOptions): Promise<Uint8Array> {
    const statement = planMerged(await this.#planner(), request);
    const result = await this.#run({ kind: 'body', statement }, this.#source.searches, options);
    return bodyOf(result) ?? new Uint8Array(0);
  }

  async record(request: RecordRequest, options: ReadOptions): Promise<Uint8Array | undefined> {
    const statement = planRecord(await this.#planner(), request);
    const lane = isPlainShape(request.shape) ? undefined : this.#source.searches;
    return bodyOf(await this.#run({ kind: 'body', statement }, lane, options));
  }

  async count(query: RecordQuery, options: ReadOptions): Promise<number> {
    const statement = planCount(await this.#planner(), query);
    const lane = isPlainQuery(query) ? undefined : this.#source.searches;
    const result = await this.#run({ kind: 'number', statement }, lane, options);
    if (result.kind !== 'number') throw new Error('A count gives a number');
    return result.value;
  }

  async ids(query: RecordQuery, options: ReadOptions): Promise<Uint32Array> {
    const statement = planIds(await this.#planner(), query);
    const result = await this.#run({ kind: 'ids', statement }, this.#source.searches, options);
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

  async #planner(): Promise<Planner> {
    return { dialect: sqliteDialect, model: await this.#source.model() };
  }

  #laneOf(isBounded: boolean): ReaderPool | undefined {
    return isBounded ? this.#source.pages : this.#source.searches;
  }

  async #run(
    task: ReadTask,
    lane: ReaderPool | undefined,
    { milliseconds }: ReadOptions,
  ): Promise<ReadResult> {
    const { main, name } = this.#source;
    try {
      if (lane !== undefined) return await lane.run(task, milliseconds);
      main.deadline.set(milliseconds);
      return runTask(main, task);
    } catch (error) {
      throw translateError(error, name, milliseconds / 1000);
    } finally {
      main.deadline.clear();
    }
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
