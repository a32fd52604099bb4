import { randomBytes } from 'node:crypto';
import { render } from '../../compile/fragment.ts';
import { makeModel, type StoreModel } from '../../compile/model.ts';
import { valueCounts } from '../../compile/value-counts.ts';
import { countingRules } from '../../compile/values-in-use.ts';
import { dayFrom, type Field } from '../../dictionary/index.ts';
import { extendProfile, type Profile } from '../../records/profile.ts';
import type { StoreSettings } from '../../records/settings.ts';
import { COUNTS_GO_ON, type NewEpoch, newEpoch, timesOfEpoch } from '../../store/epoch.ts';
import { givenIn } from '../../store/meta.ts';
import { type StoreTransaction, storeTransaction } from '../../store/rows/transaction.ts';
import type { Session } from '../../store/session.ts';
import type { Attempt } from '../../store/write/batches.ts';
import type { StampState } from '../../store/write/bring-back.ts';
import { checkChange, type Holdings, outdatedTexts } from '../../store/write/change-settings.ts';
import { CommitTimestamps, type TimeSource, type TimeWish } from '../../store/write/commit-timestamps.ts';
import { type Allowed, inTime, reach, WRITE_LIMITS, type WriteLimits } from '../../store/write/in-time.ts';
import { publishDictionary, publishing, publishValues } from '../../store/write/publish-dictionary.ts';
import type { WriteTransaction } from '../../store/write/transaction.ts';
import { bindings, type Connection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';
import { refusalIn } from './errors.ts';
import { underLock } from './lock.ts';
import { readMeta, readModel, readProfile, readTimes, writeMeta, writeProfile } from './meta.ts';
import { writeSessionOn } from './session.ts';
import type { StoreClock } from './store-clock.ts';
import { extendTables } from './tables.ts';
import { recreateView } from './views.ts';

/** The write side of a store: one connection, one transaction at a time. */
export class Writer {
  readonly limits: WriteLimits;
  readonly #connection: Connection;
  readonly #clock: StoreClock;

  constructor(connection: Connection, clock: StoreClock, limits: WriteLimits = WRITE_LIMITS) {
    this.#connection = connection;
    this.#clock = clock;
    this.limits = limits;
  }

  readonly refusal = refusalIn;

  pause(milliseconds: number): Promise<void> {
    return this.#clock.sleep(milliseconds);
  }

  /** The model as it is stored now. */
  readModel(): StoreModel {
    return readModel(this.#connection.database);
  }

  /**
   * Runs `work` under the write lock with the next timestamps, and commits. They are taken when the lock is held, after
   * all that the resource has and all that a reader was promised, so they are in the order of commits (I2).
   */
  attempt<T>(
    model: StoreModel,
    work: (transaction: WriteTransaction) => Promise<T>,
    source: string | null,
    allowed: Allowed,
  ): Promise<Attempt<T>> {
    const { database } = this.#connection;
    return this.locked<Attempt<T>>(async () => {
      const started = this.limits.elapsed();
      if (readMeta(database).generation !== model.generation) return { kind: 'outdated' };
      const timestamps = this.#timestamps(allowed);
      const transaction = this.#transaction(model, timestamps, source);
      const outcome = await inTime(transaction, publishing(work), this.#clock, this.limits, allowed, started);
      if (outcome.kind === 'done') this.#keep(timestamps);
      else database.exec('ROLLBACK');
      return outcome;
    });
  }

  /** Runs `work` under the write lock, and commits. */
  locked<T>(work: (session: Session) => Promise<T> | T, patience?: number): Promise<T> {
    const session = writeSessionOn(this.#connection);
    return underLock(this.#connection, () => work(session), patience);
  }

  #transaction(
    model: StoreModel,
    timestamps: CommitTimestamps,
    source: string | null = null,
  ): StoreTransaction {
    return storeTransaction(writeSessionOn(this.#connection), model, timestamps, source);
  }

  #timestamps(wish: TimeWish = {}): CommitTimestamps {
    return new CommitTimestamps(this.#times(), wish);
  }

  /** For a transaction that stamps nothing, whatever the clock says. */
  #unstamped(): CommitTimestamps {
    return new CommitTimestamps({ ...this.#times(), jump: 0 });
  }

  #times(): TimeSource {
    const { epoch, settled, lastStamp } = readTimes(this.#connection);
    this.#clock.inEpoch(epoch);
    const { given } = readMeta(this.#connection.database);
    return { moment: this.#clock.now(), settled, lastStamp, given, jump: this.#clock.jump() };
  }

  #keep(timestamps: CommitTimestamps): void {
    const clockReading = this.#clock.toKeep();
    writeMeta(this.#connection.database, { ...givenIn(timestamps), clockReading });
  }

  /** Brings fields into use: columns, pieces, indexes and views are extended, nothing is rewritten. */
  learn(fields: readonly Field[]): Promise<StoreModel> {
    return this.reconfigure(({ settings, profile }) => ({
      settings,
      profile: extendProfile(profile, fields),
    }));
  }

  /**
   * Changes settings or profile, and everything that follows from them.
   * @returns the new model; the old one if nothing changed
   */
  reconfigure(
    change: (current: StoreModel) => { readonly settings: StoreSettings; readonly profile: Profile },
  ): Promise<StoreModel> {
    const { database } = this.#connection;
    return this.locked(async () => {
      const current = readModel(database);
      const { settings, profile } = change(current);
      if (settings === current.settings && profile === current.profile) return current;
      const today = dayFrom(this.#clock.now());
      const day = today > current.day ? today : current.day;
      const model = makeModel({ ...current, generation: current.generation + 1, settings, profile, day });
      checkChange(current, model, this.#holdings());
      writeMeta(database, { generation: model.generation, settings, day });
      writeProfile(database, profile);
      await this.applyModel(model);
      const renewed = this.#transaction(model, this.#timestamps());
      for (const resource of outdatedTexts(current, model)) await renewed.renew(resource);
      if (JSON.stringify(settings.access) !== JSON.stringify(current.settings.access)) {
        await this.#judge(model, () => true);
      } else if (day !== current.day) await this.#judgeForDay(model);
      await this.#countValues(model);
      return model;
    });
  }

  /** Begins a new epoch; every process of the store tells it from its next request on. */
  beginEpoch(begin: NewEpoch): Promise<StoreModel> {
    const { database } = this.#connection;
    return this.locked(() => {
      const current = readModel(database);
      const { lastStamp, settled, day } = timesOfEpoch(readMeta(database), begin);
      const epoch = newEpoch();
      const model = makeModel({ ...current, generation: current.generation + COUNTS_GO_ON, epoch, day });
      const restamping = begin.notAfter === undefined ? undefined : true;
      writeMeta(database, { generation: model.generation, epoch, lastStamp, settled, day, restamping });
      this.#clock.inEpoch(epoch);
      return model;
    });
  }

  async stampState(): Promise<StampState> {
    const { newest, restamping: isRestamping } = readTimes(this.#connection);
    const { raw, jump, setBack } = this.#clock;
    return { now: raw(), newest, isRestamping, jump: jump(), setBack: setBack() };
  }

  async endRestamp(): Promise<void> {
    const { database } = this.#connection;
    await this.locked(() => {
      this.#clock.restamped();
      writeMeta(database, { restamping: false, clockReading: this.#clock.toKeep() });
    });
  }

  #holdings(): Holdings {
    const rows = this.#connection.database
      .prepare(
        "SELECT DISTINCT resource FROM plat_counters WHERE rows > 0 AND resource NOT IN ('Field', 'Lookup')",
      )
      .all();
    return { records: rows.length > 0, listings: rows.some(({ resource }) => resource === 'Property') };
  }

  /** Inside a transaction: tables, views and the published dictionary as the model has them. */
  async applyModel(model: StoreModel): Promise<void> {
    const { database } = this.#connection;
    const layouts = [...model.dictionary.resources.keys()].filter(model.stores).map(model.layout);
    for (const layout of layouts) extendTables(database, layout);
    for (const layout of layouts) recreateView(database, model, layout);
    await this.publish(writeSessionOn(this.#connection), model);
  }

  #judgeForDay(model: StoreModel): Promise<void> {
    return this.#judge(model, (resource) => model.rules.movesWithDay.has(resource));
  }

  async #judge(model: StoreModel, concerns: (resource: string) => boolean): Promise<void> {
    const transaction = this.#transaction(model, this.#unstamped());
    await transaction.updateVisibility(concerns);
    const changed = await transaction.valuesChanged();
    if (changed.length === 0) return;
    // A timestamp is taken only where something is published: the clock may be one that none can be taken of.
    await this.#stamped(model, (stamped) => publishValues(stamped, changed));
  }

  /** Counts the values in use of a store that knows none yet, or counted them by other rules. */
  async countValues(): Promise<void> {
    const { database } = this.#connection;
    if (readMeta(database).countingRules === countingRules(readModel(database))) return;
    await this.locked(() => this.#countValues(readModel(database)));
  }

  async #countValues(model: StoreModel): Promise<void> {
    const { database } = this.#connection;
    const rules = countingRules(model);
    if (readMeta(database).countingRules === rules) return;
    for (const counting of valueCounts({ dialect: sqliteDialect, model }).mend) {
      const { text, values } = render(counting, sqliteDialect.placeholder);
      this.#connection.prepare(text).run(...bindings({ text, values }));
    }
    await this.publish(writeSessionOn(this.#connection), model);
    writeMeta(database, { countingRules: rules });
  }

  /** Inside a transaction: the published dictionary as the model and the counters of values have it. */
  async publish(_session: Session, model: StoreModel): Promise<void> {
    await this.#stamped(model, publishDictionary);
  }

  /** Inside a transaction: what is stamped, until the clock has come there. */
  async #stamped(model: StoreModel, work: (transaction: WriteTransaction) => Promise<void>): Promise<void> {
    const timestamps = this.#timestamps();
    await work(this.#transaction(model, timestamps));
    writeMeta(this.#connection.database, givenIn(timestamps));
    await reach(this.#clock, timestamps);
  }

  /**
   * Judges all rows by the rules of a new UTC day. Another process may have done it already.
   * @param patience how long the lock is waited for, in milliseconds
   */
  startDay(patience: number): Promise<StoreModel> {
    const { database } = this.#connection;
    return this.locked(async () => {
      const { generation, epoch, settings, day } = readMeta(database);
      this.#clock.inEpoch(readTimes(this.#connection).epoch);
      const today = dayFrom(this.#clock.now());
      const profile = readProfile(database);
      if (day >= today) return makeModel({ generation, epoch, settings, profile, day });
      const model = makeModel({ generation: generation + 1, epoch, settings, profile, day: today });
      writeMeta(database, { generation: model.generation, day: today });
      await this.#judgeForDay(model);
      return model;
    }, patience);
  }
}

export const newSecret = (): string => randomBytes(32).toString('base64url');
