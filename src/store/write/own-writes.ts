/** The writes of one process to a store: they run one after another, since the lock works only between processes. */
import type { StoreModel } from '../../compile/model.ts';
import { PromiseQueue } from '../../shared/promise-queue.ts';
import type { Engine, LockOptions } from '../engine.ts';
import type { WriteSession } from '../session.ts';
import { LiveModel } from '../state/live-model.ts';
import { readModel } from '../state/meta.ts';
import { DAY_PATIENCE } from '../time/new-day.ts';
import type { Written } from './batches.ts';
import type { WriteReport } from './report.ts';
import type { StoreWriter } from './writer.ts';

/** The writes of this process, to the one that is running. */
export type OwnQueue = Pick<PromiseQueue, 'awaited' | 'isAwaited'>;

export class OwnWrites<S extends WriteSession> {
  readonly writer: StoreWriter<S>;
  /** The model, which writes of this process and of others change. */
  readonly live: LiveModel;
  readonly #engine: Engine<S>;
  readonly #queue = new PromiseQueue();
  readonly #committed: () => void;

  /**
   * @param explain translates an error of the engine
   * @param committed called after each write
   */
  constructor(
    engine: Engine<S>,
    writer: StoreWriter<S>,
    stored: StoreModel,
    { explain, committed }: { explain: (error: unknown) => unknown; committed: () => void },
  ) {
    this.writer = writer;
    this.#engine = engine;
    this.#committed = committed;
    this.live = new LiveModel(stored, {
      now: () => engine.now(),
      ask: () => engine.ask(),
      readModel: () => readModel(engine.reading.small),
      startDay: () => this.#exclusively(() => writer.startDay(DAY_PATIENCE)),
      explain,
    });
  }

  /** Runs `work` under the write lock, and commits. */
  locked<T>(work: (session: S) => Promise<T>, options?: LockOptions): Promise<T> {
    return this.#exclusively(() => this.#engine.writing.underLock(work, options));
  }

  /** Runs a write with the last known model, which the one that it returns replaces. */
  withModel<T extends { readonly model: StoreModel }>(work: (model: StoreModel) => Promise<T>): Promise<T> {
    return this.#exclusively(async () => {
      const done = await work(this.live.stored);
      this.live.replaceStored(done.model);
      return done;
    });
  }

  /** Writes records. Work that waits for something can see whether another write waits for it. */
  async write(work: (model: StoreModel, queue: OwnQueue) => Promise<Written>): Promise<WriteReport> {
    const { report } = await this.withModel(async (model) => {
      const written = await work(model, this.#queue);
      const { stamp } = written.report;
      if (stamp !== '') this.#engine.noteTimestamp?.(Date.parse(stamp));
      return written;
    });
    return report;
  }

  async changeModel(work: () => Promise<StoreModel>): Promise<StoreModel> {
    return (await this.withModel(async () => ({ model: await work() }))).model;
  }

  /** Resolves once no write, and no work of a new day, is running or waiting. */
  async whenIdle(): Promise<void> {
    await this.live.whenIdle();
    await this.#queue.idle();
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      this.#engine.mustBeWritable?.();
      const done = await work();
      this.#committed();
      return done;
    });
  }
}
