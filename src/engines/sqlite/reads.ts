import type { Planner } from '../../compile/context.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { CacheUse } from '../../shared/bounded-cache.ts';
import { isSent, type Lane } from '../../store/read-caller.ts';
import type { ReadResult, ReadTask } from '../../store/read-task.ts';
import type { TaskRunner } from '../../store/reads.ts';
import type { ReadOptions } from '../../store/store.ts';
import type { WholeBodies } from '../../store/whole/whole-bodies.ts';
import type { Connection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';
import { translateError } from './errors.ts';
import type { ReaderPool, ThreadResult } from './pool.ts';
import { runTask } from './tasks.ts';

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

/** Runs the reads of records, each on the thread of its lane. */
export class Threads implements TaskRunner {
  readonly #source: ReadSource;

  constructor(source: ReadSource) {
    this.#source = source;
  }

  async run(
    lane: Lane,
    plan: (planner: Planner) => ReadTask,
    { damaged, milliseconds, caller }: ReadOptions,
  ): Promise<ReadResult> {
    const { main, bodies, name } = this.#source;
    const planner = { dialect: sqliteDialect, model: await this.#source.model(), damaged };
    const task = () => plan(planner);
    const pool = lane === 'records' ? undefined : this.#source[lane];
    try {
      if (pool !== undefined) return readOf(await pool.run({ task, milliseconds, caller }));
      caller?.begin(lane);
      main.deadline.set(milliseconds);
      return runTask(main, task(), isSent(caller), bodies);
    } catch (error) {
      throw translateError(error, name, milliseconds / 1000);
    } finally {
      main.deadline.clear();
    }
  }

  caches(): readonly CacheUse[] {
    const { pages, searches } = this.#source;
    return [pages, searches].flatMap((pool) => pool?.caches() ?? []);
  }

  async close(): Promise<void> {
    const { pages, searches } = this.#source;
    await Promise.all([pages?.close(), searches?.close()]);
  }
}

function readOf(result: ThreadResult): ReadResult {
  if (result.kind === 'check') throw new Error('A read gives what was read');
  return result;
}
