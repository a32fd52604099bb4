import type { Pool } from 'pg';
import type { Planner } from '../../compile/context.ts';
import type { Dialect } from '../../compile/dialect.ts';
import type { Sql } from '../../compile/fragment.ts';
import type { StoreModel } from '../../compile/model.ts';
import { planShowsFile } from '../../compile/page-plan.ts';
import { declare, type FieldValues, standardDictionary } from '../../dictionary/index.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';
import { declaredFields, extendProfile } from '../../records/profile.ts';
import { changeSettings, type StoreSettings } from '../../records/settings.ts';
import { type Checks, checksOn } from '../../store/check/checks.ts';
import type { FileFault } from '../../store/check/file-faults.ts';
import { rewriteInBatches } from '../../store/check/rewrite-rows.ts';
import type { CheckedRows, FaultPage, RowFaults, RowPlace } from '../../store/check/row-faults.ts';
import { mendStatements } from '../../store/check/table-faults.ts';
import type { WriteBackup } from '../../store/dump.ts';
import type { NewEpoch } from '../../store/epoch.ts';
import type { KeyStore } from '../../store/key-store.ts';
import type { Ledger, LedgerChange } from '../../store/ledger.ts';
import { DAY_PATIENCE, type OverdueDay } from '../../store/new-day.ts';
import { readsOf } from '../../store/reads.ts';
import type { Shared } from '../../store/shared.ts';
import type {
  ContentKey,
  Horizon,
  ReadStoreState,
  Store,
  StoreStatus,
  WriteOptions,
} from '../../store/store.ts';
import { watched } from '../../store/watched.ts';
import { removeInBatches, writeInBatches } from '../../store/write/batches.ts';
import { type Ahead, aheadOf, bringBack, type RestampReport } from '../../store/write/bring-back.ts';
import { commitChange } from '../../store/write/commit-change.ts';
import type { WriteReport } from '../../store/write/report.ts';
import { askerOf } from './asker.ts';
import type { PostgresAddress } from './connection/address.ts';
import { connectPool } from './connection/connect.ts';
import { damageIn, translateError } from './connection/errors.ts';
import type { Lanes } from './connection/lanes.ts';
import { allow, type Bindable, bindings, type ServerSession, withSession } from './connection/session.ts';
import { dumpStore } from './copying/backup.ts';
import { exportRecords, readContents } from './copying/export.ts';
import { findFileFaults, tablesOf } from './file-faults.ts';
import { postgresKeys } from './keys.ts';
import { postgresLedger } from './ledger.ts';
import { findViewFaults, mendView } from './making/views.ts';
import { readStoredModel } from './meta.ts';
import { LiveState } from './reading/live-state.ts';
import type { ReadServers } from './reading/read-servers.ts';
import { Servers } from './reading/reads.ts';
import { postgresShared } from './shared.ts';
import { readStatus } from './status.ts';
import type { StampClock } from './writing/stamp-clock.ts';
import { makeTurns, type Turns } from './writing/turns.ts';
import type { Writer } from './writing/writer.ts';

/** How long a status or the contents of a record may take, in milliseconds. */
const LARGE = 600_000;

/** What opening a store finds. */
export interface Opened {
  readonly address: PostgresAddress;
  readonly secret: string;
  readonly dialect: Dialect;
  readonly writing: Pool;
  readonly writer: Writer;
  readonly lanes: Lanes;
  readonly readServers: ReadServers;
  readonly writeBackup: WriteBackup;
}

/** The store on a server: reads.ts, writer.ts and live-state.ts are its parts. */
export class PostgresStore implements Store {
  readonly name: string;
  readonly secret: string;
  readonly keys: KeyStore;
  readonly ledger: Ledger;
  readonly shared: Shared;
  readonly #opened: Opened;
  readonly #clock: StampClock;
  readonly #state: LiveState;
  readonly #servers: Servers;
  readonly page: Store['page'];
  readonly listPage: Store['listPage'];
  readonly mergedPage: Store['mergedPage'];
  readonly record: Store['record'];
  readonly count: Store['count'];
  readonly ids: Store['ids'];
  #damage: string | undefined;
  /** Writes of this process follow each other; the lock is between processes. */
  readonly #turns: Turns;

  constructor(clock: StampClock, model: StoreModel, opened: Opened) {
    const { address, dialect, writer, lanes, readServers } = opened;
    const { name } = address;
    this.#opened = opened;
    this.#clock = clock;
    this.name = name;
    this.secret = opened.secret;
    this.#turns = makeTurns((error) => translateError(error, name, 0));
    const { next } = this.#turns;
    const locked = <T>(work: (session: ServerSession) => Promise<T>): Promise<T> =>
      next(() => writer.locked<T>(work));
    const rows = rowsOf(lanes.small, name);
    const readModel = () => readStoredModel(lanes.small);
    const startDay = () => next(() => writer.startDay(DAY_PATIENCE));
    this.#state = new LiveState({ name, clock, rows, readModel, startDay }, model);
    this.#servers = new Servers({ name, dialect, state: this.#state, lanes, readServers });
    const reads = readsOf(this.#servers);
    this.page = reads.page;
    this.listPage = reads.listPage;
    this.mergedPage = reads.mergedPage;
    this.record = reads.record;
    this.count = reads.count;
    this.ids = reads.ids;
    const told = (error: unknown): unknown => this.told(error);
    this.keys = watched(postgresKeys(rows, locked), told);
    this.shared = postgresShared(rows);
    const ledger = postgresLedger({
      rows: rowsOf(lanes.searches, name),
      model: () => this.model(),
      commit: (source, change) => this.#commit(source, change),
      locked,
    });
    this.ledger = watched(ledger, told);
  }

  /** An error as a user is told it. What only a damaged store answers makes it unfit from then on. */
  told(error: unknown): unknown {
    this.#damage ??= damageIn(error);
    return translateError(error, this.name, 0);
  }

  overdue(): OverdueDay | undefined {
    return this.#state.overdue;
  }

  /** What makes the store unfit to be used by this process; undefined when nothing does. */
  trouble(): string | undefined {
    return this.#damage === undefined ? undefined : `the store is damaged: ${this.#damage}`;
  }

  model(): Promise<StoreModel> {
    return this.#state.current();
  }

  readStores(): readonly ReadStoreState[] {
    return this.#opened.readServers.state();
  }

  positionAfter(resource: string, ids: Uint32Array, key: string): Promise<number> {
    return this.#servers.positionAfter(resource, ids, key);
  }

  async showsFile(path: string, role: string): Promise<boolean> {
    const { lanes, dialect } = this.#opened;
    const statement = planShowsFile({ dialect, model: await this.model() }, path, role);
    return (await rowsOf(lanes.small, this.name)(statement.text, bindings(statement))).length > 0;
  }

  async now(): Promise<number> {
    return this.#state.now();
  }

  async horizon(): Promise<Horizon> {
    const horizon = await this.#state.horizon();
    // Who reads up to here must see what was changed up to here.
    if (this.#opened.readServers.any) await this.#state.ask();
    return horizon;
  }

  async ahead(): Promise<Ahead | undefined> {
    const { newest, isRestamping } = await this.#state.ask();
    return aheadOf({ now: this.#clock.raw(), newest, isRestamping, setBack: this.#clock.setBack() });
  }

  async clockJump(): Promise<number> {
    return (await this.#state.ask()).jump;
  }

  async confirmClock(other: number): Promise<void> {
    await this.#state.ask();
    this.#clock.confirm(other);
  }

  restamp(): Promise<RestampReport> {
    return this.#turns.next(async () => {
      const { report, model } = await bringBack(this.#opened.writer, this.#state.stored);
      this.#state.took(model);
      return report;
    });
  }

  write(
    resource: string,
    records: readonly ParsedRecord[],
    { over }: WriteOptions = {},
  ): Promise<WriteReport> {
    return this.#write((writer, model) => writeInBatches(writer, model, resource, records, { over }));
  }

  #commit(source: string, change: LedgerChange): Promise<WriteReport> {
    return this.#write((writer, model) => commitChange(writer, model, source, change));
  }

  remove(resource: string, keys: readonly string[]): Promise<WriteReport> {
    return this.#write((writer, model) => removeInBatches(writer, model, resource, keys));
  }

  #write(
    work: (writer: Writer, model: StoreModel) => Promise<{ report: WriteReport; model: StoreModel }>,
  ): Promise<WriteReport> {
    return this.#turns.next(async () => {
      const { report, model } = await work(this.#opened.writer, this.#state.stored);
      this.#state.took(model);
      if (report.stamp !== '') this.#state.sawStamp(Date.parse(report.stamp));
      return report;
    });
  }

  configure(change: (settings: StoreSettings) => StoreSettings): Promise<StoreModel> {
    return this.#turns.next(async () => {
      const model = await this.#opened.writer.reconfigure(({ settings, profile }) => {
        const changed = changeSettings(settings, change);
        if (changed === settings) return { settings, profile };
        const dictionary = declare(standardDictionary(), changed.declarations);
        const declared = declaredFields(dictionary, changed.declarations);
        return { settings: changed, profile: extendProfile(profile, declared) };
      });
      this.#state.took(model);
      return model;
    });
  }

  beginEpoch(begin: NewEpoch): Promise<StoreModel> {
    return this.#turns.next(async () => {
      const model = await this.#opened.writer.beginEpoch(begin);
      this.#state.took(model);
      return model;
    });
  }

  async status(): Promise<StoreStatus> {
    await this.model();
    return this.#servers.read('searches', { milliseconds: LARGE }, (session, { model }) =>
      readStatus(session, model, this.name),
    );
  }

  rowFaults(resource: string, rows: CheckedRows): Promise<FaultPage> {
    return this.#checking((checks) => checks.rowFaults(resource, rows));
  }

  rowAfter(resource: string, after: RowPlace | undefined, limit: number): Promise<RowPlace | undefined> {
    return this.#checking((checks) => checks.rowAfter(resource, after, limit));
  }

  async tableFaults(resource: string): Promise<readonly RowFaults[]> {
    const faults = await this.#checking((checks) => checks.tableFaults(resource));
    const model = await this.model();
    return model.stores(resource) ? [...faults, ...(await this.#viewFaults(model, resource))] : faults;
  }

  async #checking<T>(work: (checks: Checks) => Promise<T>): Promise<T> {
    await this.model();
    return this.#servers.read('searches', { milliseconds: LARGE }, (session, planner) =>
      work(checksOn(askerOf(session, planner))),
    );
  }

  #viewFaults(model: StoreModel, resource: string): Promise<readonly RowFaults[]> {
    return withSession(this.#opened.writing, (session) =>
      findViewFaults(session, model, model.layout(resource)),
    );
  }

  async fileFaults(): Promise<readonly FileFault[]> {
    const model = await this.model();
    return withSession(this.#opened.lanes.searches, async (session) => {
      await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      try {
        await allow(session, LARGE);
        return await findFileFaults(session, model);
      } finally {
        await session.run('ROLLBACK').catch(() => undefined); // nothing was written
      }
    });
  }

  async mendFile(): Promise<void> {
    const model = await this.model();
    for (const table of tablesOf(model)) {
      await this.#turns.next(() =>
        this.#opened.writer.locked(async (session) => {
          await allow(session, LARGE);
          await session.run(`REINDEX TABLE "${table}"`);
        }),
      );
    }
  }

  rewrite(resource: string, keys: readonly string[]): Promise<readonly string[]> {
    return this.#turns.next(async () => {
      const written = await rewriteInBatches(this.#opened.writer, this.#state.model, resource, keys);
      this.#state.took(written.model);
      return written.unsure;
    });
  }

  async mend(readWhole?: string): Promise<void> {
    const model = await this.model();
    const planner = { dialect: this.#opened.dialect, model };
    await this.#mendTables(model, planner, readWhole);
    const { writer } = this.#opened;
    await this.#turns.next(() => writer.locked((session) => writer.publish(session, model)));
  }

  async #mendTables(model: StoreModel, planner: Planner, readWhole: string | undefined): Promise<void> {
    for (const { name } of model.dictionary.resources.values()) {
      if (!model.stores(name)) continue;
      const layout = model.layout(name);
      const statements = mendStatements(planner, layout, readWhole);
      const isViewWrong = (await this.#viewFaults(model, name)).length > 0;
      await this.#turns.next(() =>
        this.#opened.writer.locked(async (session) => {
          await allow(session, LARGE);
          for (const statement of statements) await session.run(statement.text, bindings(statement));
          if (isViewWrong) await mendView(session, model, layout);
        }),
      );
    }
  }

  async contents(resource: string, of: ContentKey): Promise<readonly FieldValues[]> {
    await this.model();
    return this.#servers.read('pages', { milliseconds: LARGE }, (session, { model }) =>
      readContents(session, model, resource, of),
    );
  }

  async *export(resource: string): AsyncIterable<string> {
    const model = await this.model();
    // On a connection of its own: others read what is written meanwhile.
    const pool = connectPool(this.#opened.address, { most: 1, pipeline: false });
    try {
      yield* exportRecords(pool, model, resource);
    } catch (error) {
      throw translateError(error, this.name, 0);
    } finally {
      await pool.end();
    }
  }

  /** The copy is a store in a file, of the embedded engine. */
  async backup(file: string, told?: (resource: string, rows: number) => void): Promise<void> {
    const pool = connectPool(this.#opened.address, { most: 1, pipeline: false });
    try {
      await dumpStore(pool, (dump) => this.#opened.writeBackup(file, dump, { source: this.name, told }));
    } catch (error) {
      throw translateError(error, this.name, 0);
    } finally {
      await pool.end();
    }
  }

  async close(): Promise<void> {
    await this.#state.ended();
    await this.#turns.ended();
    const { lanes, readServers, writing } = this.#opened;
    await Promise.all([lanes, readServers, writing].map((each) => each.end()));
  }
}

/** Statements by themselves on a connection of a pool; their errors are told as a user is told them. */
function rowsOf(pool: Pool, store: string): ServerSession['rows'] {
  return async (text: Sql | string, values: readonly Bindable[] = []) => {
    try {
      return await withSession(pool, ({ rows }) =>
        typeof text === 'string' ? rows(text, values) : rows(text),
      );
    } catch (error) {
      throw translateError(error, store, 0);
    }
  };
}
