import type { Pool } from 'pg';
import { render } from '../../../compile/fragment.ts';
import { makeModel, type StoreModel } from '../../../compile/model.ts';
import { valueCounts } from '../../../compile/value-counts.ts';
import { countingRules } from '../../../compile/values-in-use.ts';
import { dayFrom, type Field } from '../../../dictionary/index.ts';
import { extendProfile, type Profile } from '../../../records/profile.ts';
import type { StoreSettings } from '../../../records/settings.ts';
import { COUNTS_GO_ON, type NewEpoch, newEpoch, timesOfEpoch } from '../../../store/epoch.ts';
import { givenIn, readMeta, readProfile, writeMeta, writeProfile } from '../../../store/meta.ts';
import { storeTransaction } from '../../../store/rows/transaction.ts';
import type { Attempt } from '../../../store/write/batches.ts';
import type { StampState } from '../../../store/write/bring-back.ts';
import { checkChange, type Holdings, outdatedTexts } from '../../../store/write/change-settings.ts';
import { CommitTimestamps } from '../../../store/write/commit-timestamps.ts';
import { type Allowed, inTime, reach, WRITE_LIMITS, type WriteLimits } from '../../../store/write/in-time.ts';
import { publishDictionary, publishing, publishValues } from '../../../store/write/publish-dictionary.ts';
import type { WriteTransaction } from '../../../store/write/transaction.ts';
import { PATIENCE } from '../connection/connect.ts';
import { refusalIn } from '../connection/errors.ts';
import { allow, bindings, type ServerSession, withSession } from '../connection/session.ts';
import { postgresDialect } from '../dialect.ts';
import { applyModel } from '../making/apply-model.ts';
import { makePartitions, NewSystems, systemsAtOnce } from '../making/partitions.ts';
import { keepPromise, readModel, readStoredModel } from '../meta.ts';
import { Undo, underLock } from './lock.ts';
import { readState, type StampClock } from './stamp-clock.ts';
import { writeSessionOn } from './write-session.ts';

/** The write side of a store: one transaction at a time, in all processes together. */
export class Writer {
  readonly largestWeight = 4000;
  readonly limits: WriteLimits;
  readonly #pool: Pool;
  readonly #clock: StampClock;

  constructor(pool: Pool, clock: StampClock, limits: WriteLimits = WRITE_LIMITS) {
    this.#pool = pool;
    this.#clock = clock;
    this.limits = limits;
  }

  readonly refusal = refusalIn;

  pause(milliseconds: number): Promise<void> {
    return this.#clock.sleep(milliseconds);
  }

  /** The model as it is stored now. */
  readModel(): Promise<StoreModel> {
    return readStoredModel(this.#pool);
  }

  /** Runs `work` under the write lock, and commits. */
  locked<T>(work: (session: ServerSession) => Promise<T | Undo<T>>): Promise<T> {
    return underLock(this.#pool, work);
  }

  /**
   * Runs `work` under the write lock with the next timestamps, and commits. They are taken when the lock is held, after
   * all that the resource has and all that a reader was promised, so they are in the order of commits (I2). Partitions for new systems are made before, in
   * transactions of their own, since they may take their time.
   */
  async attempt<T>(
    model: StoreModel,
    work: (transaction: WriteTransaction) => Promise<T>,
    source: string | null,
    allowed: Allowed,
  ): Promise<Attempt<T>> {
    for (;;) {
      try {
        return await this.#attempt(model, work, source, allowed);
      } catch (error) {
        if (!(error instanceof NewSystems)) throw error;
        for (const systems of systemsAtOnce(error.systems)) {
          await this.locked(async (session) => {
            await allow(session, PATIENCE.large);
            await makePartitions(session, systems);
          });
        }
      }
    }
  }

  #attempt<T>(
    model: StoreModel,
    work: (transaction: WriteTransaction) => Promise<T>,
    source: string | null,
    allowed: Allowed,
  ): Promise<Attempt<T>> {
    return this.locked<Attempt<T>>(async (session) => {
      const started = this.limits.elapsed();
      const state = await readState(session, this.#clock);
      if (state.generation !== model.generation) return { kind: 'outdated' };
      const timestamps = new CommitTimestamps(
        { ...state, given: (await readMeta(session, 'given')).given },
        allowed,
      );
      const own = writeSessionOn(session, state.isPartitioned);
      const transaction = storeTransaction(own, model, timestamps, source);
      const outcome = await inTime(transaction, publishing(work), this.#clock, this.limits, allowed, started);
      if (outcome.kind === 'too-long') return new Undo<Attempt<T>>(outcome);
      const clockReading = this.#clock.toKeep();
      const kept = clockReading === undefined ? {} : { clockReading };
      await writeMeta(session, { ...givenIn(timestamps), changes: state.changes + 1, ...kept });
      await keepPromise(session, timestamps.lastStamp);
      return outcome;
    });
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
    return this.locked(async (session) => {
      await allow(session, PATIENCE.large);
      const current = await readModel(session);
      const { settings, profile } = change(current);
      if (settings === current.settings && profile === current.profile) return current;
      const state = await readState(session, this.#clock);
      const today = dayFrom(state.moment);
      const day = today > current.day ? today : current.day;
      const model = makeModel({ ...current, generation: current.generation + 1, settings, profile, day });
      checkChange(current, model, await holdings(session));
      await writeMeta(session, { generation: model.generation, settings, day, changes: state.changes + 1 });
      await writeProfile(session, profile);
      const timestamps = new CommitTimestamps({ ...state, given: (await readMeta(session, 'given')).given });
      await applyModel(session, model, timestamps);
      await reach(this.#clock, timestamps);
      const renewed = storeTransaction(writeSessionOn(session), model, timestamps, null);
      for (const resource of outdatedTexts(current, model)) await renewed.renew(resource);
      if (JSON.stringify(settings.access) !== JSON.stringify(current.settings.access)) {
        await this.#judge(session, model, () => true);
      } else if (day !== current.day) await this.#judgeForDay(session, model);
      await this.#countValues(session, model);
      return model;
    });
  }

  /** Begins a new epoch; every process of the store tells it from its next request on. */
  beginEpoch(begin: NewEpoch): Promise<StoreModel> {
    return this.locked(async (session) => {
      const current = await readModel(session);
      const meta = await readMeta(session);
      const { lastStamp, settled, day } = timesOfEpoch(meta, begin);
      const epoch = newEpoch();
      const model = makeModel({ ...current, generation: current.generation + COUNTS_GO_ON, epoch, day });
      await writeMeta(session, {
        ...{
          generation: model.generation,
          epoch,
          changes: meta.changes + COUNTS_GO_ON,
          lastStamp,
          settled,
          day,
        },
        ...(begin.notAfter === undefined ? {} : { restamping: true }),
      });
      return model;
    });
  }

  stampState(): Promise<StampState> {
    return withSession(this.#pool, async (session) => {
      const { newest, isRestamping, jump } = await readState(session, this.#clock);
      const { raw, setBack } = this.#clock;
      return { now: raw(), newest, isRestamping, jump, setBack: setBack() };
    });
  }

  async endRestamp(): Promise<void> {
    await this.locked(async (session) => {
      await readState(session, this.#clock);
      this.#clock.restamped();
      const clockReading = this.#clock.toKeep();
      await writeMeta(session, {
        restamping: false,
        ...(clockReading === undefined ? {} : { clockReading }),
      });
    });
  }

  #judgeForDay(session: ServerSession, model: StoreModel): Promise<void> {
    return this.#judge(session, model, (resource) => model.rules.movesWithDay.has(resource));
  }

  async #judge(
    session: ServerSession,
    model: StoreModel,
    concerns: (resource: string) => boolean,
  ): Promise<void> {
    const state = await readState(session, this.#clock);
    const given = (await readMeta(session, 'given')).given;
    const unstamped = new CommitTimestamps({ ...state, given, jump: 0 });
    const transaction = storeTransaction(writeSessionOn(session), model, unstamped, null);
    await transaction.updateVisibility(concerns);
    const changed = await transaction.valuesChanged();
    if (changed.length === 0) return;
    // A timestamp is taken only where something is published: the clock may be one that none can be taken of.
    const timestamps = new CommitTimestamps({ ...state, given });
    await publishValues(storeTransaction(writeSessionOn(session), model, timestamps, null), changed);
    await writeMeta(session, givenIn(timestamps));
    await reach(this.#clock, timestamps);
  }

  /** Counts the values in use of a store that knows none yet, or counted them by other rules. */
  async countValues(): Promise<void> {
    const isCounted = async (session: ServerSession): Promise<boolean> =>
      (await readMeta(session)).countingRules === countingRules(await readModel(session));
    if (await withSession(this.#pool, isCounted)) return;
    await this.locked(async (session) => {
      await allow(session, PATIENCE.large);
      await this.#countValues(session, await readModel(session));
    });
  }

  async #countValues(session: ServerSession, model: StoreModel): Promise<void> {
    const rules = countingRules(model);
    if ((await readMeta(session)).countingRules === rules) return;
    for (const counting of valueCounts({ dialect: postgresDialect, model }).mend) {
      const statement = render(counting, postgresDialect.placeholder);
      await session.run(statement.text, bindings(statement));
    }
    await this.publish(session, model);
    await writeMeta(session, { countingRules: rules });
  }

  /** Inside a transaction: the published dictionary as the model and the counters of values have it. */
  async publish(session: ServerSession, model: StoreModel): Promise<void> {
    const state = await readState(session, this.#clock);
    const timestamps = new CommitTimestamps({ ...state, given: (await readMeta(session, 'given')).given });
    await publishDictionary(storeTransaction(writeSessionOn(session), model, timestamps, null));
    await writeMeta(session, { ...givenIn(timestamps), changes: state.changes + 1 });
    await reach(this.#clock, timestamps);
  }

  /**
   * Judges all rows by the rules of a new UTC day. Another process may have done it already.
   * @param patience how long the lock is waited for, in milliseconds
   */
  startDay(patience: number): Promise<StoreModel> {
    const judgeToday = async (session: ServerSession): Promise<StoreModel> => {
      await allow(session, PATIENCE.large);
      const { generation, epoch, settings, day, changes } = await readMeta(session);
      const today = dayFrom((await readState(session, this.#clock)).moment);
      const profile = await readProfile(session);
      if (day >= today) return makeModel({ generation, epoch, settings, profile, day });
      const model = makeModel({ generation: generation + 1, epoch, settings, profile, day: today });
      await writeMeta(session, { generation: model.generation, day: today, changes: changes + 1 });
      await this.#judgeForDay(session, model);
      return model;
    };
    return underLock(this.#pool, judgeToday, { patience });
  }
}

async function holdings(session: ServerSession): Promise<Holdings> {
  const rows = await session.rows(
    "SELECT DISTINCT resource FROM plat_counters WHERE rows > 0 AND resource NOT IN ('Field', 'Lookup')",
  );
  return { records: rows.length > 0, listings: rows.some(({ resource }) => resource === 'Property') };
}
