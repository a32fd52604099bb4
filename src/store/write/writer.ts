/**
 * The write side of every store: transactions of records, changes of settings, epochs and days. It decides what a transaction
 * writes and which timestamps it uses. It does not know how an engine locks, reads the time or changes its tables.
 */
import { reusedBits } from '../../access/index.ts';
import { bind, sql } from '../../compile/fragment.ts';
import type { ResourceLayout } from '../../compile/layout/index.ts';
import { makeModel, type StoreModel } from '../../compile/model.ts';
import { valueCounterRepair } from '../../compile/value-counts.ts';
import {
  countingRules,
  rulesUseHas,
  VALUE_COUNTER_END,
  VALUE_COUNTER_PREFIX,
} from '../../compile/values-in-use.ts';
import { dayFrom, type Field } from '../../dictionary/index.ts';
import { usageError } from '../../errors/index.ts';
import { checkTimeZone } from '../../records/local-time.ts';
import { extendProfile, type Profile } from '../../records/profile.ts';
import {
  DEFAULT_CHANGE_RETENTION,
  returnsOwnTimestamps,
  roleBitsOf,
  type StoreSettings,
} from '../../records/settings.ts';
import type { WriteEngine } from '../engine.ts';
import { beginSequence, compactChanges, logEverything, withdrawBits } from '../rows/change-log.ts';
import { runTransaction, type StoreTransaction } from '../rows/transaction.ts';
import type { OwnTables, Session, WriteSession } from '../session.ts';
import {
  readMeta,
  readModel,
  type TimeState,
  timestampMeta,
  writeMeta,
  writeProfile,
} from '../state/meta.ts';
import { EPOCH_COUNT_STEP, type NewEpoch, newEpoch, timesOfEpoch } from '../time/epoch.ts';
import type { Attempt } from './batches.ts';
import { CommitTimestamps, type TimeSource } from './commit-timestamps.ts';
import { Pace } from './pace.ts';
import {
  publishDictionary,
  publishFields,
  publishValues,
  withPublishedValues,
} from './publish-dictionary.ts';
import { type RestampState, type RestampWriter, restampStateOf } from './restamp-store.ts';
import {
  runWithinLimits,
  TookTooLong,
  type TransactionLimits,
  WRITE_LIMITS,
  type WriteLimits,
  waitForClock,
} from './time-limits.ts';
import type { WriteTransaction } from './transaction.ts';

const DAY = 86_400_000;

/**
 * The maximum number of records and children in one transaction, unless the engine has a limit of its own. In a store that is being
 * read, the timestamps of as many take 1.6 s (commit-timestamps.ts), which is less than a transaction may last.
 */
const LARGEST_WEIGHT = 16_000;

/** Steps of compaction at the start of a day, of about a second each: a process that opens the store waits. */
const STEPS_A_DAY = 10;

export class StoreWriter<S extends WriteSession> implements RestampWriter {
  readonly limits: WriteLimits;
  readonly pace: Pace;
  readonly refusal: (error: unknown) => string | undefined;
  readonly #engine: WriteEngine<S>;

  constructor(engine: WriteEngine<S>) {
    this.#engine = engine;
    this.limits = engine.limits ?? WRITE_LIMITS;
    this.pace = new Pace(engine.largestWeight ?? LARGEST_WEIGHT);
    this.refusal = engine.refusal;
  }

  pause(milliseconds: number): Promise<void> {
    return this.#engine.clock.sleep(milliseconds);
  }

  readModel(): Promise<StoreModel> {
    return readModel(this.#engine.reading);
  }

  /**
   * Runs `work` under the write lock with the next timestamps, and commits. Timestamps are assigned under the lock,
   * after all existing ones of the resource and all promises to readers, so they follow the order of commits (I2).
   */
  async attempt<T>(
    model: StoreModel,
    work: (transaction: WriteTransaction) => Promise<T>,
    source: string | null,
    allowed: TransactionLimits,
  ): Promise<Attempt<T>> {
    const { clock, underLock, beforeCommit, recover } = this.#engine;
    const { elapsed } = this.limits;
    const attempted = async (session: S) => {
      const begun = elapsed();
      const { generation, changes, ...times } = await this.#times(session);
      if (generation !== model.generation) return undefined;
      const timestamps = new CommitTimestamps(times, allowed);
      const result = await runTransaction(session, model, timestamps, source, (transaction) =>
        runWithinLimits(transaction, withPublishedValues(work), clock, this.limits, allowed, begun),
      );
      await writeMeta(session, {
        ...timestampMeta(timestamps),
        changes: changes + 1,
        clockReading: clock.readingToStore(),
      });
      await beforeCommit?.(session, timestamps.lastStamp);
      return { result, begun, worked: elapsed() };
    };
    for (;;) {
      try {
        const written = await underLock(attempted);
        if (written === undefined) return { kind: 'outdated' };
        const { result, begun, worked } = written;
        return { kind: 'done', result, times: { work: worked - begun, commit: elapsed() - worked } };
      } catch (error) {
        if (error instanceof TookTooLong) return { kind: 'too-long', milliseconds: error.milliseconds };
        if ((await recover?.(error)) !== true) throw error;
      }
    }
  }

  async #times(session: Session): Promise<TimeState & TimeSource> {
    const state = await this.#engine.timeState(session);
    return { ...state, given: (await readMeta(session, 'given')).given };
  }

  /** Brings fields into use: extends columns, pieces, indexes and views, and rewrites nothing. */
  bringIntoUse(fields: readonly Field[]): Promise<StoreModel> {
    return this.reconfigure(({ settings, profile }) => ({
      settings,
      profile: extendProfile(profile, fields),
    }));
  }

  /**
   * Changes settings or profile, and everything that depends on them.
   * @returns the new model, or the old one if nothing changed
   */
  async reconfigure(
    change: (current: StoreModel) => { readonly settings: StoreSettings; readonly profile: Profile },
  ): Promise<StoreModel> {
    const reconfigured = async (session: S): Promise<StoreModel> => {
      const current = await readModel(session);
      const { settings, profile } = change(current);
      if (settings === current.settings && profile === current.profile) return current;
      const { moment, changes } = await this.#engine.timeState(session);
      const today = dayFrom(moment);
      const day = today > current.day ? today : current.day;
      const generation = current.generation + 1;
      const model = makeModel({ ...current, generation, settings, profile, day });
      checkChange(current, model, await readStoredContent(session));
      await writeMeta(session, { generation, settings, day, changes: changes + 1 });
      await writeProfile(session, profile);
      await this.#engine.applyTables(session, model);
      const reused = reusedBits(roleBitsOf(current.settings), roleBitsOf(settings));
      const horizon = reused === 0 ? undefined : await logEverything(session, moment);
      // Values come into use and go out of use with records, and with declarations of an operator.
      if (settings === current.settings)
        await this.#withTimestamps(session, model, (timed) => publishFields(timed, current));
      else await this.publish(session, model);
      await this.#withoutTimestamps(session, model, async ({ rewriteTexts }) => {
        for (const resource of outdatedTexts(current, model)) {
          await rewriteTexts(resource, returnedFields(current, model, resource));
        }
      });
      if (JSON.stringify(settings.access) !== JSON.stringify(current.settings.access)) {
        await this.#updateVisibility(session, model, () => true, reused);
      } else if (day !== current.day) await this.#updateForDay(session, model);
      await this.#countValues(session, model);
      if (horizon !== undefined) await withdrawBits(session, reused, horizon);
      return model;
    };
    // Most commands change nothing, and must not wait for a process that writes.
    const before = await this.readModel();
    const wanted = change(before);
    if (wanted.settings === before.settings && wanted.profile === before.profile) return before;
    const model = await this.#engine.underLock(reconfigured, { isLong: true });
    const [kept, keptBefore] = [model, before].map(({ settings }) => JSON.stringify(settings.changesKept));
    if (kept !== keptBefore) await this.#compactChanges(model);
    return model;
  }

  /** Begins a new epoch, which every process of the store notices at its next request. */
  beginEpoch(begin: NewEpoch): Promise<StoreModel> {
    return this.#engine.underLock(async (session) => {
      const current = await readModel(session);
      const meta = await readMeta(session);
      const { lastStamp, settled, day } = timesOfEpoch(meta, begin);
      const epoch = newEpoch();
      const generation = current.generation + EPOCH_COUNT_STEP;
      const changes = meta.changes + EPOCH_COUNT_STEP;
      const restamping = begin.notAfter === undefined ? undefined : true;
      await writeMeta(session, { generation, epoch, changes, lastStamp, settled, day, restamping });
      const { moment } = await this.#engine.timeState(session);
      await beginSequence(session, moment);
      return makeModel({ ...current, generation, epoch, day });
    });
  }

  async restampState(): Promise<RestampState> {
    const { clock, reading, timeState } = this.#engine;
    return restampStateOf(clock, await timeState(reading));
  }

  async endRestamp(): Promise<void> {
    const { clock, timeState, underLock } = this.#engine;
    await underLock(async (session) => {
      await timeState(session);
      clock.trustAfterRestamp();
      await writeMeta(session, { restamping: false, clockReading: clock.readingToStore() });
    });
  }

  /** Runs work that sets no timestamps, whatever the clock shows. */
  async #withoutTimestamps<T>(
    session: S,
    model: StoreModel,
    work: (transaction: StoreTransaction) => Promise<T>,
  ): Promise<T> {
    const times = { ...(await this.#times(session)), jump: 0 };
    return runTransaction(session, model, new CommitTimestamps(times), null, work);
  }

  #updateForDay(session: S, model: StoreModel): Promise<void> {
    return this.#updateVisibility(session, model, (resource) => model.rules.movesWithDay.has(resource));
  }

  async #updateVisibility(
    session: S,
    model: StoreModel,
    concerns: (resource: string) => boolean,
    newBits = 0,
  ): Promise<void> {
    const changed = await this.#withoutTimestamps(session, model, async (transaction) => {
      await transaction.updateVisibility(concerns, newBits);
      return transaction.takeChangedValues();
    });
    if (changed.length === 0) return;
    // A timestamp is taken only if something is published, since the clock may be unsuitable for it.
    await this.#withTimestamps(session, model, (timed) => publishValues(timed, changed));
  }

  async countValues(): Promise<void> {
    const { reading, underLock } = this.#engine;
    const { countingRules: counted } = await readMeta(reading, 'countingRules');
    if (counted === countingRules(await this.readModel())) return;
    await underLock(async (session) => this.#countValues(session, await readModel(session), true), {
      isLong: true,
    });
  }

  /** @param isOlder whether an older version of plat may have evaluated which rows a role sees */
  async #countValues(session: S, model: StoreModel, isOlder = false): Promise<void> {
    const rules = countingRules(model);
    if ((await readMeta(session, 'countingRules')).countingRules === rules) return;
    if (isOlder && rulesUseHas(model)) await this.#updateVisibility(session, model, () => true);
    for (const counting of valueCounterRepair({ dialect: session.dialect, model }).mend)
      await session.run(counting);
    await this.publish(session, model);
    await writeMeta(session, { countingRules: rules });
  }

  publish(session: S, model: StoreModel): Promise<void> {
    return this.#withTimestamps(session, model, publishDictionary);
  }

  /** Runs work that sets timestamps inside a transaction, and then waits until the clock has reached them. */
  async #withTimestamps(
    session: S,
    model: StoreModel,
    work: (transaction: WriteTransaction) => Promise<void>,
  ): Promise<void> {
    const { changes, ...times } = await this.#times(session);
    const timestamps = new CommitTimestamps(times);
    await runTransaction(session, model, timestamps, null, work);
    await writeMeta(session, { ...timestampMeta(timestamps), changes: changes + 1 });
    await waitForClock(this.#engine.clock, timestamps);
  }

  /** Evaluates the visibility for a new day, unless another process has already done so. */
  async startDay(patience: number): Promise<StoreModel> {
    const started = async (session: S): Promise<StoreModel> => {
      const current = await readModel(session);
      const { moment, changes } = await this.#engine.timeState(session);
      const day = dayFrom(moment);
      if (current.day >= day) return current;
      const model = makeModel({ ...current, generation: current.generation + 1, day });
      await writeMeta(session, { generation: model.generation, day, changes: changes + 1 });
      await this.#updateForDay(session, model);
      return model;
    };
    const begun = await this.#engine.underLock(started, { patience, isLong: true });
    await this.#compactChanges(begun, { patience, steps: STEPS_A_DAY });
    return begun;
  }

  /** Runs daily, after the work that readers of the new day wait for, and when retention is reduced; in steps. */
  async #compactChanges(
    { settings }: StoreModel,
    { patience, steps = Number.POSITIVE_INFINITY }: { patience?: number; steps?: number } = {},
  ): Promise<void> {
    const { days, entries } = { ...DEFAULT_CHANGE_RETENTION, ...settings.changesKept };
    const { moment } = await this.#engine.timeState(this.#engine.reading);
    const waiting = patience === undefined ? {} : { patience };
    const tables: OwnTables = {
      reading: this.#engine.reading,
      locked: (work) => this.#engine.underLock(work, { ...waiting, isLong: true }),
    };
    for (let step = 0; step < steps; step++) {
      if (!(await compactChanges(tables, { since: moment - days * DAY, entries }))) return;
    }
  }
}

async function readStoredContent({ rows }: Session): Promise<StoredContent> {
  // The counters of values are skipped, since a market has hundreds of thousands of them.
  const held = await rows(sql`SELECT DISTINCT resource FROM plat_counters
    WHERE rows > 0 AND resource NOT IN ('Field', 'Lookup') AND NOT (resource > ${bind(VALUE_COUNTER_PREFIX)} AND resource < ${bind(VALUE_COUNTER_END)})`);
  return { records: held.length > 0, listings: held.some(({ resource }) => resource === 'Property') };
}

/** What a store contains apart from its published dictionary. */
interface StoredContent {
  readonly records: boolean;
  readonly listings: boolean;
}

/** @throws PlatError `usage` if the new settings contradict stored records */
function checkChange(before: StoreModel, after: StoreModel, holds: StoredContent): void {
  const { owner, agentsFrom } = before.settings;
  checkTimeZone(after.settings.timeZone);
  if (after.settings.owner !== owner && holds.records) {
    throw usageError(
      `A store that contains records stays ${owner === 'replica' ? 'a replica' : 'an authority'}.`,
    );
  }
  if (returnsOwnTimestamps(after.settings) !== returnsOwnTimestamps(before.settings) && holds.records) {
    throw usageError('Once a replica contains records, its onwardTimestamps cannot be changed.');
  }
  if (after.settings.agentsFrom !== agentsFrom && holds.listings) {
    throw usageError(
      `Once listings are stored, their agent and office fields come from the ${agentsFrom} for good.`,
    );
  }
  for (const name of before.dictionary.resources.keys()) {
    if (before.stores(name) && !after.dictionary.resources.has(name)) {
      throw usageError(`The resource ${name} has held records and stays declared.`);
    }
  }
  for (const { resource, name } of fieldsWithChangedTypes(before, after)) {
    const type = after.settings.declarations.customFields?.find((each) => each.name === name)?.type;
    throw usageError(
      `The custom field ${resource}.${name} has values of another type than ${type}; declare a new one.`,
    );
  }
}

function fieldsWithChangedTypes(before: StoreModel, after: StoreModel): Field[] {
  const known = [...before.dictionary.resources.values()].flatMap(({ fields }) => [...fields.values()]);
  return known.filter((field) => {
    const now = after.dictionary.resources.get(field.resource)?.fields.get(field.name);
    if (field.custom === undefined || now === undefined) return false;
    return now.type.kind !== field.type.kind || now.collection !== field.collection;
  });
}

/** The resources whose stored texts are outdated after a change. */
function outdatedTexts(before: StoreModel, after: StoreModel): string[] {
  const stored = [...before.dictionary.resources.keys()].filter(before.stores);
  const otherTimes = before.settings.timeZone !== after.settings.timeZone;
  return stored.filter(
    (name) =>
      (name === 'OpenHouse' && otherTimes) ||
      returnedFields(before, after, name).length > 0 ||
      haveTextsChanged(before.layout(name), after.layout(name)),
  );
}

/** The fields of a resource that are declared again, so that their retained values become visible again. */
function returnedFields(before: StoreModel, after: StoreModel, resource: string): Field[] {
  const known = new Set(before.layout(resource).fields.map(({ name }) => name));
  const layout = after.layout(resource);
  return layout.fields.filter(
    (field) => !known.has(field.name) && layout.since(field) <= before.profile.version,
  );
}

/** Whether a field has left the texts, or has moved to another piece. */
function haveTextsChanged(before: ResourceLayout, after: ResourceLayout): boolean {
  const now = new Map(after.fields.map((field) => [field.name, field]));
  return before.fields.some((field) => now.get(field.name)?.class !== field.class);
}
