/** The SQLite engine: a store in one file, which the processes of one machine share. */
import { statSync } from 'node:fs';
import { backup as backupDatabase } from 'node:sqlite';
import { plannerOf } from '../../compile/context.ts';
import { render } from '../../compile/fragment.ts';
import { storedLayouts } from '../../compile/model.ts';
import { type Clock, systemClock } from '../../shared/clock.ts';
import { clockTrustOf, type Engine, type EngineOptions } from '../../store/engine.ts';
import { openOn } from '../../store/engine-store.ts';
import { StoreFile } from '../../store/files/store-file.ts';
import { makeQueuedDeflate } from '../../store/read/blocks-task.ts';
import { isSent, type Lane } from '../../store/read/lanes.ts';
import { ownMemory } from '../../store/read/page-memory.ts';
import { makeReadContextFactory } from '../../store/read/read-task.ts';
import type { Session } from '../../store/session.ts';
import { LAYOUT_VERSION, metaUpdate, readMeta, readModel, readTimeState } from '../../store/state/meta.ts';
import type { Store } from '../../store/store.ts';
import { type HorizonSource, horizonOf } from '../../store/time/horizon.ts';
import { storeClock } from '../../store/time/store-clock.ts';
import { BodyValidator } from '../../store/whole/validate-body.ts';
import { backupFile } from './backup.ts';
import {
  bindings,
  type Connection,
  type ConnectionOptions,
  connect,
  READ_PATIENCE,
  registerFileUrl,
} from './connection.ts';
import { createStore, idWithoutLog, inspectStore, migrateStore } from './create.ts';
import { sqliteDialect } from './dialect.ts';
import { damageIn, isMissing, refusalOf, translateError } from './errors.ts';
import { repairFileFaults, structureOf } from './file-faults.ts';
import { run, sessionOn, writeSessionOn } from './session.ts';
import { makeStateReader } from './state-cache.ts';
import { applyTables, recreateView } from './tables.ts';
import { readerPool, runTask } from './tasks.ts';
import { LOCK_TIMEOUT, tryLock, underLock } from './transaction.ts';
import { addMarks, lacksMarks } from './word-index.ts';

export interface SqliteStoreOptions extends EngineOptions {
  readonly path: string;
  /** Threads that read pages, and threads for searches, counts and sorts. 0: everything runs on the calling thread. */
  readonly pageReaders?: number;
  readonly searchReaders?: number;
  /** The number of threads that check rows, for verifying a whole copy; 0: the calling thread does this. */
  readonly checkers?: number;
  /**
   * The sizes of the page caches of the calling thread: for its writing connection, and for its reading connection if no threads
   * read. A consumer reads little, so it needs less than a service.
   */
  readonly cacheMegabytes?: Readonly<Record<'writing' | 'reading', number>>;
}

const CACHE_MEGABYTES = { writing: 64, reading: 64 };
/**
 * In a service, several connections have a page cache, which every commit of another connection empties, and the system caches the
 * file for all of them. Pages in key order are read once; pages of lists use the index of ids (8 MB for 300,000 listings); a search
 * reads part of an index, or a table larger than any cache; a record by key is a single page of the file.
 */
const SERVING_CACHE_MEGABYTES = { pages: 20, searches: 12, records: 8 };

/** Opens or creates the store in a file. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, clock = systemClock } = options;
  const file = new StoreFile(path, idWithoutLog);
  try {
    await prepareFile(options, clock);
    return await openOn(await sqliteEngine(file, clock, { ...options, ...clockTrustOf(options) }));
  } catch (error) {
    throw translateError(error, path, 0);
  }
}

/** Adds the marks that the index of words of an earlier version lacks, unless another process writes: then a later opening does. */
async function markWords({ database }: Connection, session: Session): Promise<void> {
  try {
    if (!lacksMarks(database)) return;
    const layouts = storedLayouts(await readModel(session));
    tryLock(database, () => addMarks(database, layouts));
  } catch {
    // The index finds the same without marks, and whoever writes to the file next reports what is wrong with it.
  }
}

/** Creates the store if it does not exist, and migrates a store of an older layout. */
async function prepareFile({ path, create, onCreate }: SqliteStoreOptions, clock: Clock): Promise<void> {
  const found = inspectStore(path, create !== undefined);
  if (found === 'older store') await migrateStore(path);
  if (found === 'store' || found === 'older store' || create === undefined) return;
  const kept = await createStore(path, create, clock);
  onCreate?.(kept);
}

async function sqliteEngine(
  file: StoreFile,
  given: Clock,
  {
    pageReaders = 0,
    searchReaders = 0,
    checkers = 0,
    cacheMegabytes = CACHE_MEGABYTES,
    limits,
    ...trust
  }: SqliteStoreOptions,
): Promise<Engine> {
  const { path } = file;
  using taken = new DisposableStack();
  const opened = (options: Omit<ConnectionOptions, 'path'>) => taken.use(connect({ path, ...options }));
  const write = opened({
    readOnly: false,
    busyTimeout: LOCK_TIMEOUT,
    cacheMegabytes: cacheMegabytes.writing,
  });
  write.database.exec('PRAGMA synchronous = FULL');
  /** For short reads on the calling thread; without threads, for all reads. */
  const main = opened({
    readOnly: true,
    busyTimeout: READ_PATIENCE,
    cacheMegabytes: pageReaders > 0 ? SERVING_CACHE_MEGABYTES.records : cacheMegabytes.reading,
  });
  const look = makeStateReader(main);
  const clock = storeClock(given, trust, () => {
    const { clockReading: reading, newest } = look().meta;
    return { reading, newest };
  });
  const probe = opened({ readOnly: false, busyTimeout: 0, cacheMegabytes: 1 });
  probe.database.exec('PRAGMA synchronous = NORMAL');
  const promises: HorizonSource = {
    ...{ clock, times: () => look().meta },
    tryLock: (work) =>
      file.isLost()
        ? undefined
        : tryLock(probe.database, () => work((change) => run(probe, metaUpdate(sqliteDialect, change)))),
  };
  const reading = sessionOn(main);
  const { secret } = await readMeta(reading, 'secret');
  for (const connection of [write, main]) registerFileUrl(connection.database, secret);
  file.recordIdentity();
  await markWords(write, reading);
  const session = writeSessionOn(write);
  const bodies = new BodyValidator();
  const makeContext = makeReadContextFactory(makeQueuedDeflate(), bodies);
  const pool = { path, secret, busyTimeout: READ_PATIENCE, bodies: bodies.shared };
  const threads = (lane: Lane, size: number, cacheMegabytes: number) =>
    size > 0 ? readerPool({ ...pool, cacheMegabytes }, lane, size) : undefined;
  const pools = {
    records: undefined,
    pages: threads('pages', pageReaders, SERVING_CACHE_MEGABYTES.pages),
    searches: threads('searches', searchReaders, SERVING_CACHE_MEGABYTES.searches),
  };
  // The check of a copy is the only caller, so it may use all threads.
  const checking = threads('pages', checkers, cacheMegabytes.reading);
  taken.move(); // the engine owns and closes them

  return {
    name: path,
    secret,
    dialect: sqliteDialect,
    writing: {
      ...{ clock, limits, reading },
      timeState: (asked) => readTimeState(asked, clock),
      refusal: refusalOf,
      underLock: (work, { patience } = {}) => underLock(write, () => work(session), { patience, limits }),
      applyTables: async (_, model) => applyTables(write.database, model),
    },
    reading: { small: reading, searches: reading },
    caches: () => [pools.pages, pools.searches].flatMap((each) => each?.caches() ?? []),

    now: () => clock.timeForTimestamps(look().meta),
    async ask() {
      const { generation, epoch } = look().meta;
      clock.inEpoch(epoch);
      return { generation, moment: clock.now() };
    },
    async look(tokenHash) {
      const { meta, key, commit } = look();
      const now = clock.timeForTimestamps(meta);
      return { generation: meta.generation, moment: clock.now(), now, key: key(tokenHash), commit };
    },
    async run(live, lane, plan, { damaged, milliseconds, caller }) {
      for (;;) {
        const model = await live.current();
        const task = () => plan(plannerOf(sqliteDialect, model, damaged));
        try {
          const threadsOfLane = pools[lane];
          if (threadsOfLane !== undefined) return await threadsOfLane.read({ task, milliseconds, caller });
          caller?.begin(lane);
          const how = { isSent: isSent(caller), memory: ownMemory };
          return runTask(main, task(), makeContext(how), milliseconds);
        } catch (error) {
          // If a column was dropped during a read, the read is planned again with the new settings.
          const isOutdated = isMissing(error) && (await live.current()).generation !== model.generation;
          if (!isOutdated) throw translateError(error, path, milliseconds / 1000);
        }
      }
    },
    read: async (live, _lane, _options, work) =>
      work(reading, { dialect: sqliteDialect, model: await live.current() }),
    async *stream(statement) {
      const { text, values } = render(statement, sqliteDialect.placeholder);
      using connection = connect({ path, readOnly: true, busyTimeout: READ_PATIENCE, cacheMegabytes: 4 });
      yield* connection.database.prepare(text).iterate(...bindings({ text, values }));
    },

    horizon: async (needed) => horizonOf(promises, needed),
    timeState: () => readTimeState(reading, clock),

    mustBeWritable: () => file.mustNotBeReplaced(),
    checkOnThread: checking && ((task) => checking.check(task)),
    ...structureOf(main),
    makeView: async (_session, model, layout) => recreateView(write.database, model, layout),
    mendFile: (model) => [async () => repairFileFaults(write, model)],

    facts: async () => ({ engine: 'sqlite', layout: LAYOUT_VERSION, bytes: statSync(path).size }),
    backup: (copy, onProgress) =>
      backupFile(copy, { source: path, onProgress }, async (partial) => {
        await backupDatabase(main.database, partial);
      }),
    trouble: () => file.trouble(),
    damageIn,
    explain: (error) => translateError(error, path, 0),
    async close() {
      await Promise.all([pools.pages?.close(), pools.searches?.close(), checking?.close()]);
      // The connection that is closed last checkpoints the log into the file, unless the file was replaced and may not be written.
      const [first, last] = file.isLost() ? [write, main] : [main, write];
      for (const connection of [first, probe, last]) connection.close();
    },
  };
}
