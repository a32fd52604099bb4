import { existsSync } from 'node:fs';
import type { Pool } from 'pg';
import { dayFrom, declare, type FieldValues, standardDictionary } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import type { Clock } from '../clock.ts';
import type { StoreDump } from '../dump.ts';
import type { KeyStore } from '../key-store.ts';
import { isPlainQuery, isPlainShape } from '../lanes.ts';
import type { Ledger, LedgerChange } from '../ledger.ts';
import type { StoreModel } from '../model.ts';
import { declaredFields, extendProfile } from '../profile.ts';
import type {
  ListPageRequest,
  MergedRequest,
  Page,
  PageRequest,
  RecordQuery,
  RecordRequest,
} from '../read.ts';
import type { ParsedRecord } from '../record/parsed-record.ts';
import { changeSettings, type StoreSettings } from '../settings.ts';
import type { Shared } from '../shared.ts';
import type { Dialect } from '../sql/dialect.ts';
import { planMerged } from '../sql/merged-plan.ts';
import { type Planner, planCount, planIds, planList, planPage, planRecord } from '../sql/page-plan.ts';
import type {
  ContentKey,
  Horizon,
  PartitionField,
  ReadOptions,
  ReadStoreState,
  Store,
  StoreStatus,
} from '../store.ts';
import { removeInBatches, writeInBatches } from '../write/batches.ts';
import { commitChange } from '../write/commit-change.ts';
import type { WriteReport } from '../write/report.ts';
import { type PostgresAddress, postgresAddress } from './address.ts';
import { dumpStore } from './backup.ts';
import { ChangePosition } from './change-position.ts';
import { connectPool } from './connect.ts';
import { prepareStore } from './create.ts';
import { partitionedDialect, postgresDialect } from './dialect.ts';
import { isMissing, translateError } from './errors.ts';
import { exportRecords, readContents } from './export.ts';
import { postgresKeys } from './keys.ts';
import { connectLanes, type Lane, type Lanes } from './lanes.ts';
import { postgresLedger } from './ledger.ts';
import { readMeta } from './meta.ts';
import { positionAfter } from './position.ts';
import { ReadServers } from './read-servers.ts';
import { readSnapshot, type Snapshot } from './reader.ts';
import { type Bindable, type Row, type Session, withSession } from './session.ts';
import { postgresShared } from './shared.ts';
import { readState, type StampClock, type State, stampClock } from './stamp-clock.ts';
import { readStatus } from './status.ts';
import { readBody, readIds, readNumber, readPage } from './tasks.ts';
import { Writer } from './writer.ts';

export interface PostgresStoreOptions {
  /** `postgres://…` (address.ts). */
  readonly address: string;
  /** What a new store is made with; absent: there must be one. */
  readonly create?: StoreSettings;
  /** By what the large tables of a new store are laid apart; one that is there must be so. */
  readonly partitions?: PartitionField;
  /** The clock that stamps; absent: the server's own, which all processes share. */
  readonly clock?: Clock;
  /** Servers that follow this one, to be read from in its place. */
  readonly readStores?: ReadStoreOptions;
  /** Writes a whole store to a new file, in the form of the embedded engine. */
  readonly writeBackup: (file: string, dump: StoreDump) => Promise<void>;
}

export interface ReadStoreOptions {
  /** `postgres://…`, of streaming standbys or other live copies. */
  readonly addresses: readonly string[];
  /** How long a reading waits for one that is behind, in milliseconds; then it is left out until it keeps up. */
  readonly lag: number;
}

/** How long small readings of plat's own may take. */
const SMALL = 5000;
/** How long a status or the contents of a record may take. */
const LARGE = 600_000;

/** Opens (or makes) the store on a server. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { writeBackup } = options;
  const address = postgresAddress(options.address);
  const clock = stampClock(options.clock);
  const writing = connectPool(address, { most: 1, pipeline: false });
  try {
    await prepareStore(writing, address, options, clock);
    const writer = new Writer(writing, clock);
    const model = await writer.readModel();
    const { secret, partitions } = await withSession(writing, readMeta);
    const dialect = partitions === undefined ? postgresDialect : partitionedDialect;
    const { addresses = [], lag = 0 } = options.readStores ?? {};
    const readServers = new ReadServers(addresses.map(postgresAddress), lag, secret);
    await readServers.open();
    return new PostgresStore(address, clock, {
      writing,
      writer,
      model,
      secret,
      dialect,
      readServers,
      writeBackup,
    });
  } catch (error) {
    await writing.end();
    throw translateError(error, address.name, 0);
  }
}

/** What opening a store finds. */
interface Opened {
  readonly writing: Pool;
  readonly writer: Writer;
  readonly model: StoreModel;
  readonly secret: string;
  readonly dialect: Dialect;
  readonly readServers: ReadServers;
  readonly writeBackup: PostgresStoreOptions['writeBackup'];
}

class PostgresStore implements Store {
  readonly name: string;
  readonly secret: string;
  readonly keys: KeyStore;
  readonly ledger: Ledger;
  readonly shared: Shared;
  readonly #address: PostgresAddress;
  readonly #clock: StampClock;
  readonly #dialect: Dialect;
  readonly #writing: Pool;
  readonly #lanes: Lanes;
  readonly #readServers: ReadServers;
  readonly #writer: Writer;
  readonly #writeBackup: Opened['writeBackup'];
  #model: StoreModel;
  #lastStamp = 0;
  readonly #position = new ChangePosition();
  /** Writes of this process follow each other; the lock is between processes. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(address: PostgresAddress, clock: StampClock, opened: Opened) {
    const { writing, writer, model, secret, dialect, readServers, writeBackup } = opened;
    this.#writeBackup = writeBackup;
    this.name = address.name;
    this.#address = address;
    this.#clock = clock;
    this.#dialect = dialect;
    this.secret = secret;
    this.#writing = writing;
    this.#writer = writer;
    this.#model = model;
    this.#lanes = connectLanes(address);
    this.#readServers = readServers;
    const rows = (text: string, values: readonly Bindable[]) => this.#rows(text, values);
    const locked = <T>(work: (session: Session) => Promise<T>): Promise<T> =>
      this.#exclusively(() => this.#writer.locked<T>(work));
    this.keys = postgresKeys(rows, locked);
    this.shared = postgresShared(rows);
    this.ledger = postgresLedger({
      rows,
      model: () => this.model(),
      commit: (source, change) => this.#commit(source, change),
      locked,
    });
  }

  async model(): Promise<StoreModel> {
    const state = await this.#readState();
    this.#sawStamp(Math.max(Date.parse(state.lastStamp), state.settled));
    if (state.generation !== this.#model.generation) await this.#refresh();
    if (this.#model.day < dayFrom(state.moment)) {
      this.#model = await this.#exclusively(() => this.#writer.startDay());
    }
    return this.#model;
  }

  readStores(): readonly ReadStoreState[] {
    return this.#readServers.state();
  }

  page(request: PageRequest, options: ReadOptions): Promise<Page> {
    const { filter, search, order, under } = request.query;
    const unbounded = (filter ?? search) !== undefined || order.length > 0;
    const isLight = under === undefined ? !unbounded : isPlainQuery(request.query);
    const lane = isLight && isPlainShape(request.shape) ? 'pages' : 'searches';
    return this.#read(lane, options, (session, planner) => readPage(session, planPage(planner, request)));
  }

  listPage(request: ListPageRequest, options: ReadOptions): Promise<Page> {
    const lane = isPlainShape(request.shape) ? 'pages' : 'searches';
    return this.#read(lane, options, (session, planner) => readPage(session, planList(planner, request)));
  }

  async mergedPage(request: MergedRequest, options: ReadOptions): Promise<Uint8Array> {
    const body = await this.#read('searches', options, (session, planner) =>
      readBody(session, planMerged(planner, request), 'once'),
    );
    return body ?? new Uint8Array(0);
  }

  record(request: RecordRequest, options: ReadOptions): Promise<Uint8Array | undefined> {
    const plain = isPlainShape(request.shape);
    return this.#read(plain ? 'pages' : 'searches', options, (session, planner) =>
      readBody(session, planRecord(planner, request), plain ? 'kept' : 'once'),
    );
  }

  count(query: RecordQuery, options: ReadOptions): Promise<number> {
    const light = isPlainQuery(query);
    return this.#read(light ? 'pages' : 'searches', options, (session, planner) =>
      readNumber(session, planCount(planner, query), light ? 'kept' : 'once'),
    );
  }

  ids(query: RecordQuery, options: ReadOptions): Promise<Uint32Array> {
    return this.#read('searches', options, (session, planner) => readIds(session, planIds(planner, query)));
  }

  positionAfter(resource: string, ids: Uint32Array, key: string): Promise<number> {
    return this.#read('pages', { milliseconds: SMALL }, ({ rows }, { model }) =>
      positionAfter(rows, model.layout(resource), ids, key),
    );
  }

  async showsFile(path: string, role: string): Promise<boolean> {
    const { rules, layout } = await this.model();
    const bit = rules.roles.get(role)?.bit ?? 0;
    const text = `SELECT 1 FROM "${layout('Media').columnsTable}" WHERE _file = $1 AND (_visible & $2::integer) <> 0 LIMIT 1`;
    return (await this.#rows(text, [path, bit])).length > 0;
  }

  async now(): Promise<number> {
    return Math.max(this.#clock.now(), this.#lastStamp);
  }

  async horizon(): Promise<Horizon> {
    const [row] = await this.#rows('SELECT moment, settled FROM plat_horizon($1::float8)', [
      this.#clock.given(),
    ]);
    const now = Number(row?.moment);
    this.#sawStamp(now);
    // Who reads up to here must see what was changed up to here.
    if (this.#readServers.any) await this.#readState();
    return { now, settled: Number(row?.settled) };
  }

  write(resource: string, records: readonly ParsedRecord[]): Promise<WriteReport> {
    return this.#exclusively(async () => {
      const report = await writeInBatches(this.#writer, this.#model, resource, records);
      return this.#wrote(report);
    });
  }

  #commit(source: string, change: LedgerChange): Promise<WriteReport> {
    return this.#exclusively(async () =>
      this.#wrote(await commitChange(this.#writer, this.#model, source, change)),
    );
  }

  remove(resource: string, keys: readonly string[]): Promise<WriteReport> {
    return this.#exclusively(async () =>
      this.#wrote(await removeInBatches(this.#writer, this.#model, resource, keys)),
    );
  }

  #wrote({ report, model }: { readonly report: WriteReport; readonly model: StoreModel }): WriteReport {
    this.#model = model;
    if (report.stamp !== '') this.#sawStamp(Date.parse(report.stamp));
    return report;
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

  async status(): Promise<StoreStatus> {
    await this.model();
    return this.#read('searches', { milliseconds: LARGE }, (session, { model }) =>
      readStatus(session, model, this.name),
    );
  }

  async contents(resource: string, of: ContentKey): Promise<readonly FieldValues[]> {
    await this.model();
    return this.#read('pages', { milliseconds: LARGE }, (session, { model }) =>
      readContents(session, model, resource, of),
    );
  }

  async *export(resource: string): AsyncIterable<string> {
    const model = await this.model();
    // On a connection of its own: others read what is written meanwhile.
    const pool = connectPool(this.#address, { most: 1, pipeline: false });
    try {
      yield* exportRecords(pool, model, resource);
    } catch (error) {
      throw translateError(error, this.name, 0);
    } finally {
      await pool.end();
    }
  }

  /** The copy is a store in a file, of the embedded engine. */
  async backup(file: string): Promise<void> {
    if (existsSync(file)) throw platError('usage', { reason: `${file} exists already.` });
    const pool = connectPool(this.#address, { most: 1, pipeline: false });
    try {
      await dumpStore(pool, (dump) => this.#writeBackup(file, dump));
    } catch (error) {
      throw translateError(error, this.name, 0);
    } finally {
      await pool.end();
    }
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => undefined);
    await Promise.all([this.#lanes, this.#readServers, this.#writing].map((each) => each.end()));
  }

  /** What the primary server says of the store just now. */
  async #readState(): Promise<State> {
    const asked = performance.now();
    const rows: Session['rows'] = (text, values = []) => this.#rows(text, values);
    const state = await readState(rows, this.#clock).catch((error: unknown) => {
      throw translateError(error, this.name, 0);
    });
    this.#position.told(state.changes, asked, performance.now());
    return state;
  }

  #sawStamp(milliseconds: number): void {
    this.#lastStamp = Math.max(this.#lastStamp, milliseconds);
  }

  async #refresh(): Promise<void> {
    // Writes of this process may be changing the model, too.
    const model = await this.#exclusively(() => this.#writer.readModel());
    if (model.generation >= this.#model.generation) this.#model = model;
  }

  async #rows(text: string, values: readonly Bindable[]): Promise<readonly Row[]> {
    try {
      return await withSession(this.#lanes.pages, ({ rows }) => rows(text, values));
    } catch (error) {
      throw translateError(error, this.name, 0);
    }
  }

  /**
   * Plans and reads. The snapshot tells whether the plan was of the settings and fields that it met; if another process
   * has changed them meanwhile, the reading is done once more.
   */
  async #read<T>(
    lane: Lane,
    { milliseconds }: ReadOptions,
    work: (session: Session, planner: Planner) => Promise<T>,
  ): Promise<T> {
    try {
      for (;;) {
        const model = this.#model;
        const planner = { dialect: this.#dialect, model };
        const attempt = (pool: Pool): Promise<Snapshot<T>> =>
          readSnapshot(pool, milliseconds, (session) => work(session, planner));
        const needed = { changes: this.#position.changes, generation: model.generation };
        const read =
          (await this.#readServers.read(lane, needed, milliseconds, attempt)) ??
          (await attempt(this.#lanes[lane]));
        if (read.generation === model.generation) return read.result;
        await this.#refresh();
      }
    } catch (error) {
      // Where tables have gone under a reading, the state tells whether this plat may read them any more.
      if (isMissing(error)) await this.#readState();
      throw translateError(error, this.name, milliseconds / 1000);
    }
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work).catch((error: unknown) => {
      throw translateError(error, this.name, 0);
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}
