/** The store on top of an engine: everything in `store.ts` that is the same for all engines. It knows no engine. */
import { integer } from '../compile/fragment.ts';
import type { StoreModel } from '../compile/model.ts';
import { planShowsFile } from '../compile/page-plan.ts';
import { declare, standardDictionary } from '../dictionary/index.ts';
import { declaredFields, extendProfile } from '../records/profile.ts';
import { changeSettings } from '../records/settings.ts';
import { PromiseQueue } from '../shared/promise-queue.ts';
import { settlesWithin } from '../shared/settles-within.ts';
import { feedPage, feedStatement, SELECT_RETAINED } from './changes/change-feed.ts';
import { readChanges, selectChangesSince } from './changes/change-follower.ts';
import { CommitWatch, listenForCommits } from './changes/commit-watch.ts';
import { followChanges } from './changes/follow-changes.ts';
import { webhookStoreOn } from './changes/webhooks.ts';
import { checkFile, checksOn, checkTables } from './check/check-store.ts';
import { rewriteInBatches } from './check/rewrite-rows.ts';
import { repairStatements } from './check/table-faults.ts';
import { checkpointsOn } from './checkpoint/checkpoint-tables.ts';
import { readContent, readContents, selectContents } from './contents.ts';
import type { Engine, LockOptions } from './engine.ts';
import { withTranslatedErrors } from './explain.ts';
import { historyStoreOn } from './history-store.ts';
import { keyStoreOn } from './keys/key-store.ts';
import { positionAfter, readsOf } from './read/reads.ts';
import { logEverything, logMissing } from './rows/change-log.ts';
import type { WriteSession } from './session.ts';
import { LiveModel } from './state/live-model.ts';
import { readModel } from './state/meta.ts';
import { readStatus } from './status.ts';
import type { Store } from './store.ts';
import { makeThreadedChecks } from './threads/check-task.ts';
import { DAY_PATIENCE, modelOfToday } from './time/new-day.ts';
import { commitChange, removeInBatches, type Written, writeInBatches } from './write/batches.ts';
import type { WriteReport } from './write/report.ts';
import { aheadOf, moveBackTimestamps, restampStateOf } from './write/restamp-store.ts';
import { StoreWriter } from './write/writer.ts';

/** Time limit in milliseconds for a status, a check, the contents of a record, and a position in a list. */
const LARGE_LIMIT = 600_000;
const SMALL_LIMIT = 5000;

/** Makes the store of an engine that has just connected, after the pending work of midnight, or closes the engine. */
export async function openOn<S extends WriteSession>(engine: Engine<S>): Promise<Store> {
  await using opened = new AsyncDisposableStack();
  opened.defer(() => engine.close());
  const writer = new StoreWriter(engine.writing);
  // Values that cannot be counted now, because the clock or the tables are wrong, are counted when the store is next
  // opened.
  await writer.countValues().catch(() => undefined);
  const { moment } = await engine.ask();
  const stored = await readModel(engine.reading.small);
  const model = await modelOfToday(stored, moment, (patience) => writer.startDay(patience));
  opened.move(); // the caller closes the store
  return storeOn(engine, writer, model);
}

function storeOn<S extends WriteSession>(
  engine: Engine<S>,
  writer: StoreWriter<S>,
  stored: StoreModel,
): Store {
  const { name, secret, shared, reading } = engine;
  const { clock } = engine.writing;
  /** The damage that an error has proved: the store is not usable from then on. */
  let damage: string | undefined;
  const explain = (error: unknown): unknown => {
    damage ??= engine.damageIn(error);
    return engine.explain(error);
  };
  // The writes of this process run one after another; the lock only works between processes.
  const queue = new PromiseQueue();
  const { listen } = engine;
  const commits = new CommitWatch({
    rows: (statement) => reading.small.rows(statement),
    announcements: listen && ((...to) => listenForCommits(listen, ...to)),
  });
  const closing = new AbortController();
  const exclusively = <T>(work: () => Promise<T>): Promise<T> =>
    queue.run(async () => {
      engine.mustBeWritable?.();
      const done = await work();
      commits.notice();
      return done;
    });
  const live = new LiveModel(stored, {
    now: () => engine.now(),
    ask: () => engine.ask(),
    readModel: () => readModel(reading.small),
    startDay: () => exclusively(() => writer.startDay(DAY_PATIENCE)),
    explain,
  });
  const model = (): Promise<StoreModel> => live.current();
  const locked = <T>(work: (session: S) => Promise<T>, options?: LockOptions): Promise<T> =>
    exclusively(() => engine.writing.underLock(work, options));
  const runWrite = (work: (model: StoreModel) => Promise<Written>): Promise<WriteReport> =>
    exclusively(async () => {
      const written = await work(live.stored);
      live.replaceStored(written.model);
      if (written.report.stamp !== '') engine.noteTimestamp?.(Date.parse(written.report.stamp));
      return written.report;
    });
  const runModelChange = (work: () => Promise<StoreModel>): Promise<StoreModel> =>
    exclusively(async () => {
      const changed = await work();
      live.replaceStored(changed);
      return changed;
    });
  const checks = makeThreadedChecks(
    live,
    (work) =>
      engine.read(live, 'searches', { milliseconds: LARGE_LIMIT }, (session, planner) =>
        work(checksOn(session, planner.model)),
      ),
    engine.checkOnThread,
  );
  const checkpoints = checkpointsOn({
    reading: reading.searches,
    locked,
    model,
    commit: (source, change) => runWrite((current) => commitChange(writer, current, source, change)),
  });
  /**
   * A reader that learns of a commit then reads its records, so a server that lags behind the commit must not serve the read.
   */
  async function withRefreshedState<T>(learned: Promise<T>): Promise<T> {
    const result = await learned;
    if ((engine.readStores?.() ?? []).length > 0) await engine.ask();
    return result;
  }
  let closed: Promise<void> | undefined;
  async function close(patience: number): Promise<void> {
    closing.abort();
    const unwatched = commits.close();
    await settlesWithin(
      patience,
      live.whenIdle().then(() => queue.idle()),
    );
    await Promise.all([unwatched, engine.close()]);
  }

  const store: Store = {
    name,
    secret,
    model,
    async look(tokenHash) {
      const seen = await engine.look(tokenHash);
      return { key: seen.key, now: seen.now, commit: seen.commit, model: await live.at(seen) };
    },
    ...(engine.assume === undefined
      ? {}
      : { assume: (tokenHash: string) => engine.assume?.(live, tokenHash) }),
    keys: withTranslatedErrors(keyStoreOn({ reading: reading.small, locked }), explain),
    history: withTranslatedErrors(historyStoreOn({ reading: reading.small, locked }), explain),
    webhooks: withTranslatedErrors(webhookStoreOn({ reading: reading.small, locked }), explain),
    checkpoints: withTranslatedErrors(checkpoints, explain),
    ...(shared === undefined ? {} : { shared: withTranslatedErrors(shared, explain) }),
    ...(engine.readStores === undefined ? {} : { readStores: engine.readStores }),
    ...(engine.caches === undefined ? {} : { caches: engine.caches }),
    ...readsOf({ run: (lane, plan, options) => engine.run(live, lane, plan, options) }),
    positionAfter: (resource, ids, key) =>
      engine.read(live, 'records', { milliseconds: SMALL_LIMIT }, (session, planner) =>
        positionAfter(session, planner.model.layout(resource), ids, key),
      ),
    changesSince: async (since) =>
      readChanges(since, await reading.small.rows(selectChangesSince(integer(since)))),
    async feed(request) {
      const rows = await withRefreshedState(reading.small.rows(feedStatement(await model(), request)));
      return feedPage(request, rows);
    },
    async changesKnown() {
      const [row] = await reading.small.rows(SELECT_RETAINED);
      return { since: Number(row?.horizon ?? 0), last: Number(row?.last ?? 0) };
    },
    changes: (options = {}) => followChanges(store, options, closing.signal),
    watch: (committed, lost) => commits.watch(committed, lost),
    async showsFile(path, role) {
      const shown = planShowsFile({ dialect: engine.dialect, model: await model() }, path, role);
      return (await reading.small.rows(shown)).length > 0;
    },
    horizon: (needed) => withRefreshedState(engine.horizon(needed)),
    now: async () => engine.now(),
    ahead: async () => aheadOf(restampStateOf(clock, await engine.timeState())),
    clockJump: async () => (await engine.timeState()).jump,
    async confirmClock(other) {
      await engine.ask();
      clock.confirm(other);
    },
    restamp: () =>
      exclusively(async () => {
        const restamped = await moveBackTimestamps(writer, live.stored);
        live.replaceStored(restamped.model);
        return restamped.report;
      }),

    write: (resource, records, options = {}) =>
      runWrite((current) => writeInBatches(writer, current, resource, records, options)),
    recordsAtOnce: () => writer.pace.records,
    remove: (resource, keys) => runWrite((current) => removeInBatches(writer, current, resource, keys)),
    configure: (change) =>
      runModelChange(() =>
        writer.reconfigure(({ settings, profile }) => {
          const changed = changeSettings(settings, change);
          if (changed === settings) return { settings, profile };
          const dictionary = declare(standardDictionary(), changed.declarations);
          const declared = declaredFields(dictionary, changed.declarations);
          return { settings: changed, profile: extendProfile(profile, declared) };
        }),
      ),
    beginEpoch: (begin) => runModelChange(() => writer.beginEpoch(begin)),

    trouble: () =>
      engine.trouble?.() ?? (damage === undefined ? undefined : `the store is damaged: ${damage}`),
    overdue: () => live.overdue,
    async status() {
      await model();
      return engine.read(live, 'searches', { milliseconds: LARGE_LIMIT }, async (session, planner) =>
        readStatus(session, planner.model, name, await engine.facts(session)),
      );
    },
    rowFaults: (resource, rows) => checks.rowFaults(resource, rows),
    rowAfter: (resource, after, limit) => checks.rowAfter(resource, after, limit),
    tableFaults: async (resource) => checkTables(resource, await model(), checks, engine.viewState),
    fileFaults: async () => checkFile(await model(), engine),
    async mendFile() {
      for (const step of engine.mendFile(await model())) await locked(step, { isLong: true });
      await locked((session) => logEverything(session, engine.now()));
    },
    rewrite: (resource, keys) =>
      exclusively(async () => {
        const rewritten = await rewriteInBatches(writer, live.stored, resource, keys);
        live.replaceStored(rewritten.model);
        return rewritten.unsure;
      }),
    async mend(readWhole) {
      const current = await model();
      const planner = { dialect: engine.dialect, model: current };
      for (const resource of current.dictionary.resources.keys()) {
        if (!current.stores(resource)) continue;
        const layout = current.layout(resource);
        const statements = repairStatements(planner, layout, readWhole);
        const isViewWrong = (await engine.viewState(current, layout)) !== 'intact';
        await locked(
          async (session) => {
            for (const statement of statements) await session.run(statement);
            await logMissing(session, layout, engine.now());
            await logEverything(session, engine.now(), resource);
            if (isViewWrong) await engine.makeView(session, current, layout);
          },
          { isLong: true },
        );
      }
      await locked((session) => writer.publish(session, current));
    },
    async contents(resource, of) {
      await model();
      return engine.read(live, 'pages', { milliseconds: LARGE_LIMIT }, (session, planner) =>
        readContents(session, planner.model, resource, of),
      );
    },
    async *export(resource) {
      const current = await model();
      if (!current.stores(resource)) return;
      const layout = current.layout(resource);
      for await (const row of engine.stream(selectContents(layout))) {
        yield JSON.stringify(readContent(layout, row));
      }
    },
    backup: (file, onProgress) => engine.backup(file, onProgress),
    close(patience = Number.POSITIVE_INFINITY) {
      closed ??= close(patience);
      return closed;
    },
  };
  return withTranslatedErrors(store, explain);
}
