import { availableParallelism } from 'node:os';
import { backup as backupDatabase } from 'node:sqlite';
import type { Planner } from '../../compile/context.ts';
import type { StoreModel } from '../../compile/model.ts';
import { planShowsFile } from '../../compile/page-plan.ts';
import { declare, type FieldValues, standardDictionary } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';
import { declaredFields, extendProfile } from '../../records/profile.ts';
import { changeSettings, type StoreSettings } from '../../records/settings.ts';
import type { CacheUse } from '../../shared/bounded-cache.ts';
import type { FileFault } from '../../store/check/file-faults.ts';
import { rewriteInBatches } from '../../store/check/rewrite-rows.ts';
import type { CheckedRows, FaultPage, RowFaults, RowPlace } from '../../store/check/row-faults.ts';
import { mendStatements } from '../../store/check/table-faults.ts';
import { type Clock, systemClock } from '../../store/clock.ts';
import { type ClockTrust, thisMachine } from '../../store/clock-jump.ts';
import type { NewEpoch } from '../../store/epoch.ts';
import type { KeyStore } from '../../store/key-store.ts';
import type { Ledger, LedgerChange } from '../../store/ledger.ts';
import { DAY_PATIENCE, modelOfToday, NewDay, type OverdueDay } from '../../store/new-day.ts';
import type { Lane } from '../../store/read-caller.ts';
import { readsOf } from '../../store/reads.ts';
import type { ContentKey, Horizon, Store, StoreStatus, WriteOptions } from '../../store/store.ts';
import { watched } from '../../store/watched.ts';
import { WholeBodies } from '../../store/whole/whole-bodies.ts';
import { removeInBatches, writeInBatches } from '../../store/write/batches.ts';
import { type Ahead, aheadOf, bringBack, type RestampReport } from '../../store/write/bring-back.ts';
import { commitChange } from '../../store/write/commit-change.ts';
import type { WriteLimits } from '../../store/write/in-time.ts';
import type { WriteReport } from '../../store/write/report.ts';
import { makeBackup } from './backup.ts';
import { type Found, runCheck, type Wanted } from './check-task.ts';
import { sqliteChecks } from './checks.ts';
import { bindings, type Connection, connect } from './connection.ts';
import { createStore, inspect } from './create.ts';
import { sqliteDialect } from './dialect.ts';
import { damageIn, translateError } from './errors.ts';
import { exportRecords, readContents } from './export.ts';
import { findFileFaults, mendFileFaults } from './file-faults.ts';
import { idBeneath } from './file-id.ts';
import { registerFileUrl } from './functions.ts';
import { HorizonProbe } from './horizon.ts';
import { sqliteKeys } from './keys.ts';
import { sqliteLedger } from './ledger.ts';
import { LOCK_TIMEOUT } from './lock.ts';
import { readMeta, readSnapshotModel, readTimes } from './meta.ts';
import { migrateStore } from './migrate.ts';
import { makeFile } from './new-file.ts';
import { ReaderPool } from './pool.ts';
import { positionAfter } from './position.ts';
import { Threads } from './reads.ts';
import { readStatus } from './status.ts';
import { type StoreClock, storeClock } from './store-clock.ts';
import { StoreFile } from './store-file.ts';
import { findViewFaults, recreateView } from './views.ts';
import { forgetLastRow } from './word-index.ts';
import { Writer } from './writer.ts';

export interface SqliteStoreOptions extends ClockTrust {
  readonly path: string;
  /** What a new store is made with; absent: there must be one. */
  readonly create?: StoreSettings;
  /** Called when there was none, and one was made; with the names under which the log of an earlier file is kept. */
  readonly onCreate?: ((kept: readonly string[]) => void) | undefined;
  readonly clock?: Clock;
  /**
   * Threads that read pages, and threads for unbounded work (searches, counts, sorts). 0: everything runs on the
   * calling thread, as commands and simulations want it.
   */
  readonly pageReaders?: number;
  readonly searchReaders?: number;
  /** Threads that check rows, for whoever proves a whole copy; 0: the calling thread does. */
  readonly checkers?: number;
  /** Of each connection of the calling thread; a consumer, which reads little, needs less than a service. */
  readonly cacheMegabytes?: number;
  /** How long transactions may take; a test has others. */
  readonly limits?: WriteLimits;
}

/** How long another process's lock is waited for, in milliseconds: to make a store, and to read. */
const CREATE_PATIENCE = 30_000;
const READ_PATIENCE = 5000;
const CACHE_MEGABYTES = 64;

export const defaultReaders = (): number => Math.max(1, availableParallelism() - 1);

/** Opens (or makes) the store in a file. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, create } = options;
  const { clock = systemClock, machine = options.clock === undefined ? thisMachine() : undefined } = options;
  const file = new StoreFile(path, idBeneath);
  try {
    const found = inspect(path);
    if (found === 'older store') await migrateStore(path, clock);
    else if (found !== 'store') {
      if (create === undefined) {
        throw found === 'nothing'
          ? platError('storeMissing', { store: path })
          : platError('storeNotOurs', { store: path, reason: 'it is empty' });
      }
      const kept = makeFile(path, clock.now());
      using taken = new DisposableStack();
      const making = { path, readOnly: false, busyTimeout: CREATE_PATIENCE, cacheMegabytes: 16 };
      const connection = taken.adopt(connect(making), closeIt);
      await createStore(connection, create, clock);
      options.onCreate?.(kept);
    }
    const told = (error: unknown): unknown => {
      file.noteDamage(damageIn(error));
      return translateError(error, path, 0);
    };
    await using opened = new AsyncDisposableStack();
    const store = opened.adopt(new SqliteStore(file, clock, { ...options, machine }, told), (made) =>
      made.close(),
    );
    await store.beginDay();
    opened.move(); // whoever has the store closes it
    return watched(store, told);
  } catch (error) {
    throw translateError(error, path, 0);
  }
}

const closeIt = (opened: { close(): void }): void => opened.close();

class SqliteStore implements Store {
  readonly name: string;
  readonly secret: string;
  readonly keys: KeyStore;
  readonly ledger: Ledger;
  readonly #file: StoreFile;
  readonly #clock: StoreClock;
  readonly #main: Connection;
  readonly #write: Connection;
  readonly #probe: HorizonProbe;
  readonly #writer: Writer;
  readonly #checkers: ReaderPool | undefined;
  readonly #threads: Threads;
  readonly page: Store['page'];
  readonly listPage: Store['listPage'];
  readonly mergedPage: Store['mergedPage'];
  readonly record: Store['record'];
  readonly count: Store['count'];
  readonly ids: Store['ids'];
  readonly #newDay: NewDay;
  #model: StoreModel;
  /** Writes of this process follow each other; the lock is between processes. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(
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
    told: (error: unknown) => unknown,
  ) {
    const { path } = file;
    this.name = path;
    this.#file = file;
    using taken = new DisposableStack();
    const shared = { path, cacheMegabytes };
    const opened = (options: { readonly readOnly: boolean; readonly busyTimeout: number }) =>
      taken.adopt(connect({ ...shared, ...options }), closeIt);
    this.#write = opened({ readOnly: false, busyTimeout: LOCK_TIMEOUT });
    this.#write.database.exec('PRAGMA synchronous = FULL');
    this.#main = opened({ readOnly: true, busyTimeout: READ_PATIENCE });
    const clock = storeClock(given, this.#main, trust);
    this.#clock = clock;
    this.#probe = taken.adopt(new HorizonProbe(path, this.#main, clock, () => file.isLost()), closeIt);
    this.#writer = new Writer(this.#write, clock, limits);
    this.secret = readMeta(this.#main.database).secret;
    for (const connection of [this.#write, this.#main]) registerFileUrl(connection.database, this.secret);
    this.#model = readSnapshotModel(this.#main.database);
    this.#newDay = new NewDay(() => this.#startDay());
    file.remember();
    const keys = sqliteKeys(this.#write, (work) => this.#exclusively(() => this.#writer.locked(work)));
    this.keys = watched(keys, told);
    const ledger = sqliteLedger({
      connection: this.#write,
      reading: this.#main,
      model: () => this.model(),
      commit: (source, change) => this.#commit(source, change),
      locked: (work) => this.#exclusively(() => this.#writer.locked(work)),
    });
    this.ledger = watched(ledger, told);
    const bodies = new WholeBodies();
    const pool = { ...shared, secret: this.secret, busyTimeout: READ_PATIENCE, bodies: bodies.shared };
    const readers = (lane: Lane, size: number) => (size > 0 ? new ReaderPool(pool, lane, size) : undefined);
    const [pages, searches] = [readers('pages', pageReaders), readers('searches', searchReaders)];
    // All of them for whoever asks: nobody else does.
    this.#checkers = readers('pages', checkers);
    const model = () => this.model();
    this.#threads = new Threads({ name: path, model, main: this.#main, bodies, pages, searches });
    const reads = readsOf(this.#threads);
    this.page = reads.page;
    this.listPage = reads.listPage;
    this.mergedPage = reads.mergedPage;
    this.record = reads.record;
    this.count = reads.count;
    this.ids = reads.ids;
    taken.move(); // the store closes them
  }

  /** What is read by now. Takes no lock, and waits for nobody who has one. */
  async model(): Promise<StoreModel> {
    const row = this.#main.prepare("SELECT value FROM plat_meta WHERE name = 'generation'").get();
    if (Number(row?.value) !== this.#model.generation) {
      this.#model = readSnapshotModel(this.#main.database);
      this.#clock.inEpoch(readTimes(this.#main).epoch);
    }
    return this.#newDay.modelAt(this.#model, this.#clock.now());
  }

  /** What was not done at midnight, since no process had the store open. */
  async beginDay(): Promise<void> {
    const startDay = (patience: number) => this.#writer.startDay(patience);
    this.#model = await modelOfToday(this.#model, this.#clock.now(), startDay);
    // What cannot be counted now, since the clock or the file is not as it should be, is when the store is opened next.
    await this.#writer.countValues().catch(() => undefined);
  }

  #startDay(): Promise<void> {
    return this.#exclusively(async () => {
      this.#model = await this.#writer.startDay(DAY_PATIENCE);
    });
  }

  caches(): readonly CacheUse[] {
    return this.#threads.caches();
  }

  async positionAfter(resource: string, ids: Uint32Array, key: string): Promise<number> {
    return positionAfter(this.#main, this.#model.layout(resource), ids, key);
  }

  async showsFile(path: string, role: string): Promise<boolean> {
    const statement = planShowsFile({ dialect: sqliteDialect, model: await this.model() }, path, role);
    return this.#main.prepare(statement.text).get(...bindings(statement)) !== undefined;
  }

  async now(): Promise<number> {
    return this.#probe.now();
  }

  async horizon(): Promise<Horizon> {
    return this.#probe.horizon();
  }

  async ahead(): Promise<Ahead | undefined> {
    return aheadOf(await this.#writer.stampState());
  }

  async clockJump(): Promise<number> {
    return this.#clock.jump();
  }

  async confirmClock(other: number): Promise<void> {
    this.#clock.confirm(other);
  }

  restamp(): Promise<RestampReport> {
    return this.#exclusively(async () => {
      const { report, model } = await bringBack(this.#writer, this.#model);
      this.#model = model;
      return report;
    });
  }

  write(
    resource: string,
    records: readonly ParsedRecord[],
    { over }: WriteOptions = {},
  ): Promise<WriteReport> {
    return this.#exclusively(async () => {
      const report = await writeInBatches(this.#writer, this.#model, resource, records, { over });
      this.#model = report.model;
      return report.report;
    });
  }

  #commit(source: string, change: LedgerChange): Promise<WriteReport> {
    return this.#exclusively(async () => {
      const { report, model } = await commitChange(this.#writer, this.#model, source, change);
      this.#model = model;
      return report;
    });
  }

  remove(resource: string, keys: readonly string[]): Promise<WriteReport> {
    return this.#exclusively(async () => {
      const { report, model } = await removeInBatches(this.#writer, this.#model, resource, keys);
      this.#model = model;
      return report;
    });
  }

  configure(change: (settings: StoreSettings) => StoreSettings): Promise<StoreModel> {
    return this.#exclusively(async () => {
      this.#model = await this.#writer.reconfigure(({ settings, profile }) => {
        const changed = changeSettings(settings, change);
        if (changed === settings) return { settings, profile };
        const dictionary = declare(standardDictionary(), changed.declarations);
        const declared = declaredFields(dictionary, changed.declarations);
        return { settings: changed, profile: extendProfile(profile, declared) };
      });
      return this.#model;
    });
  }

  beginEpoch(begin: NewEpoch): Promise<StoreModel> {
    return this.#exclusively(async () => {
      this.#model = await this.#writer.beginEpoch(begin);
      return this.#model;
    });
  }

  async status(): Promise<StoreStatus> {
    return readStatus(this.#main, await this.model(), this.name);
  }

  async rowFaults(resource: string, rows: CheckedRows): Promise<FaultPage> {
    const result = await this.#check(resource, { kind: 'row-faults', rows });
    if (result.kind !== 'row-faults') throw new Error('A check of rows gives their faults');
    return result.page;
  }

  async rowAfter(
    resource: string,
    after: RowPlace | undefined,
    limit: number,
  ): Promise<RowPlace | undefined> {
    const result = await this.#check(resource, { kind: 'row-place', after, limit });
    if (result.kind !== 'row-place') throw new Error('A search for a place gives it');
    return result.place;
  }

  async tableFaults(resource: string): Promise<readonly RowFaults[]> {
    const result = await this.#check(resource, { kind: 'table-faults' });
    if (result.kind !== 'table-faults') throw new Error('A check of tables gives their faults');
    return result.faults;
  }

  async #check(resource: string, wanted: Wanted): Promise<Found> {
    const model = await this.model();
    if (this.#checkers === undefined) return runCheck(sqliteChecks(this.#main, model), resource, wanted);
    const { generation } = model;
    const result = await this.#checkers.run({
      task: () => ({ kind: 'check', resource, generation, wanted }),
      milliseconds: Number.POSITIVE_INFINITY,
      caller: undefined,
    });
    if (result.kind !== 'check') throw new Error('A check gives what it found');
    return result.found;
  }

  async fileFaults(): Promise<readonly FileFault[]> {
    return findFileFaults(this.#main, await this.model());
  }

  mendFile(): Promise<void> {
    return this.#exclusively(() => this.#writer.locked(() => mendFileFaults(this.#write, this.#model)));
  }

  rewrite(resource: string, keys: readonly string[]): Promise<readonly string[]> {
    return this.#exclusively(async () => {
      const { model, unsure } = await rewriteInBatches(this.#writer, this.#model, resource, keys);
      this.#model = model;
      return unsure;
    });
  }

  async mend(readWhole?: string): Promise<void> {
    const model = await this.model();
    const planner = { dialect: sqliteDialect, model };
    await this.#mendTables(model, planner, readWhole);
    await this.#exclusively(() => this.#writer.locked(() => this.#writer.publish(model)));
  }

  async #mendTables(model: StoreModel, planner: Planner, readWhole: string | undefined): Promise<void> {
    for (const { name } of model.dictionary.resources.values()) {
      if (!model.stores(name)) continue;
      const statements = mendStatements(planner, model.layout(name), readWhole);
      await this.#exclusively(() =>
        this.#writer.locked(() => {
          for (const statement of statements) {
            const prepared = this.#write.prepare(statement.text);
            prepared.setReadBigInts(true);
            prepared.run(...bindings(statement));
          }
          forgetLastRow(this.#write.database);
          const { database } = this.#write;
          const layout = model.layout(name);
          if (findViewFaults(database, model, layout).length > 0) recreateView(database, model, layout);
        }),
      );
    }
  }

  async contents(resource: string, of: ContentKey): Promise<readonly FieldValues[]> {
    return readContents(this.#main, await this.model(), resource, of);
  }

  async *export(resource: string): AsyncIterable<string> {
    const model = await this.model();
    // On a connection of its own: others read what is written meanwhile.
    const connection = connect({
      path: this.name,
      readOnly: true,
      busyTimeout: READ_PATIENCE,
      cacheMegabytes: 4,
    });
    try {
      yield* exportRecords(connection, model, resource);
    } finally {
      connection.close();
    }
  }

  backup(file: string, told?: (resource: string, rows: number) => void): Promise<void> {
    return makeBackup(file, { source: this.name, told }, async (path) => {
      await backupDatabase(this.#main.database, path);
    });
  }

  overdue(): OverdueDay | undefined {
    return this.#newDay.overdue;
  }

  trouble(): string | undefined {
    return this.#file.trouble();
  }

  async close(): Promise<void> {
    await this.#newDay.ended();
    await this.#writing.catch(() => undefined);
    await Promise.all([this.#threads.close(), this.#checkers?.close()]);
    // The last that is closed brings the log into the file, unless it may not write: that file is another one's now.
    const [first, last] = this.#file.isLost() ? [this.#write, this.#main] : [this.#main, this.#write];
    for (const connection of [first, this.#probe, last]) connection.close();
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const task = (): Promise<T> => {
      this.#file.mustBeThere();
      return work();
    };
    const turn = this.#writing.then(task, task).catch((error: unknown) => {
      throw translateError(error, this.name, 0);
    });
    this.#writing = turn.catch(() => undefined);
    return turn;
  }
}
