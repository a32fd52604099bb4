/** The store on top of an engine: everything in `store.ts` that is the same for all engines. It knows no engine. */
import { integer } from '../compile/fragment.ts';
import type { StoreModel } from '../compile/model.ts';
import { planShowsFile } from '../compile/page-plan.ts';
import { declare, standardDictionary } from '../dictionary/index.ts';
import { declaredFields, extendProfile } from '../records/profile.ts';
import { changeSettings } from '../records/settings.ts';
import { settlesWithin } from '../shared/settles-within.ts';
import { feedPage, feedStatement, SELECT_RETAINED } from './changes/change-feed.ts';
import { readChanges, selectChangesSince } from './changes/change-follower.ts';
import { CommitWatch, listenForCommits } from './changes/commit-watch.ts';
import { followChanges } from './changes/follow-changes.ts';
import { webhookStoreOn } from './changes/webhooks.ts';
import {
  checkFile,
  checksOn,
  checkTables,
  countedRows,
  type Structure,
  undefinedIfDamaged,
} from './check/check-store.ts';
import { repairsOf } from './check/repairs.ts';
import { checkpointsOn } from './checkpoint/checkpoint-tables.ts';
import { readContent, readContents, selectContents } from './contents.ts';
import type { Engine } from './engine.ts';
import { withTranslatedErrors } from './explain.ts';
import { historyStoreOn } from './history-store.ts';
import { keyStoreOn } from './keys/key-store.ts';
import { positionAfter, readsOf } from './read/reads.ts';
import type { WriteSession } from './session.ts';
import type { LiveModel } from './state/live-model.ts';
import { readModel } from './state/meta.ts';
import { readStatus } from './status.ts';
import type { Store } from './store.ts';
import { makeThreadedChecks } from './threads/check-task.ts';
import { modelOfToday } from './time/new-day.ts';
import { removeInBatches, writeInBatches } from './write/batches.ts';
import { commitChange, commitTogether } from './write/commit-changes.ts';
import { OwnWrites } from './write/own-writes.ts';
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
  // Values that cannot be counted now, because the clock or the tables are wrong, are counted when the store is next opened.
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
  const { name, secret, shared, reading, listen } = engine;
  const { clock } = engine.writing;
  /** The damage that an error has proved: the store is not usable from then on. */
  let damage: string | undefined;
  const explain = (error: unknown): unknown => {
    damage ??= engine.damageIn(error);
    return engine.explain(error);
  };
  const translated = <T extends object>(part: T): T => withTranslatedErrors(part, explain);
  const commits = new CommitWatch({
    rows: (statement) => reading.small.rows(statement),
    announcements: listen && ((...to) => listenForCommits(listen, ...to)),
  });
  const writes = new OwnWrites(engine, writer, stored, { explain, committed: () => commits.notice() });
  const { live } = writes;
  const model = (): Promise<StoreModel> => live.current();
  const locked = <T>(work: (session: S) => Promise<T>): Promise<T> => writes.locked(work);
  const closing = new AbortController();
  let closed: Promise<void> | undefined;
  async function close(patience: number): Promise<void> {
    closing.abort();
    const unwatched = commits.close();
    await settlesWithin(patience, writes.whenIdle());
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
    keys: translated(keyStoreOn({ reading: reading.small, locked })),
    history: translated(historyStoreOn({ reading: reading.small, locked })),
    webhooks: translated(webhookStoreOn({ reading: reading.small, locked })),
    checkpoints: translated(
      checkpointsOn({
        reading: reading.searches,
        locked,
        model,
        commit: (source, change) => writes.write((current) => commitChange(writer, current, source, change)),
        commitTogether: (source, lease, changes) =>
          writes.write((current, queue) =>
            commitTogether(writer, current, { source, lease, changes, queue }),
          ),
      }),
    ),
    ...(shared === undefined ? {} : { shared: translated(shared) }),
    ...(engine.readStores === undefined ? {} : { readStores: engine.readStores }),
    ...(engine.caches === undefined ? {} : { caches: engine.caches }),
    ...readsOf({ run: (lane, plan, options) => engine.run(live, lane, plan, options) }),
    ...recordsOf(engine, live),
    ...changesOf(engine, model),
    changes: (options = {}) => followChanges(store, options, closing.signal),
    watch: (committed, lost) => commits.watch(committed, lost),

    now: async () => engine.now(),
    ahead: async () => aheadOf(restampStateOf(clock, await engine.timeState())),
    clockJump: async () => (await engine.timeState()).jump,
    async confirmClock(other) {
      await engine.ask();
      clock.confirm(other);
    },
    ...writesOf(writes),

    trouble: () =>
      engine.trouble?.() ?? (damage === undefined ? undefined : `the store is damaged: ${damage}`),
    overdue: () => live.overdue,
    async status() {
      await model();
      return engine.read(live, 'searches', { milliseconds: LARGE_LIMIT }, async (session, planner) =>
        readStatus(session, planner.model, name, await engine.facts(session)),
      );
    },
    ...checksOf(engine, live),
    ...repairsOf(engine, writes),
    backup: (file, onProgress) => engine.backup(file, onProgress),
    close(patience = Number.POSITIVE_INFINITY) {
      closed ??= close(patience);
      return closed;
    },
  };
  return translated(store);
}

/** Single statements on records, and the records themselves as they are stored. */
const recordsOf = (
  engine: Pick<Engine, 'dialect' | 'read' | 'reading' | 'stream'>,
  live: LiveModel,
): Pick<Store, 'positionAfter' | 'showsFile' | 'contents' | 'export'> => ({
  positionAfter: (resource, ids, key) =>
    engine.read(live, 'records', { milliseconds: SMALL_LIMIT }, (session, planner) =>
      positionAfter(session, planner.model.layout(resource), ids, key),
    ),
  async showsFile(path, role) {
    const shown = planShowsFile({ dialect: engine.dialect, model: await live.current() }, path, role);
    return (await engine.reading.small.rows(shown)).length > 0;
  },
  async contents(resource, of) {
    await live.current();
    return engine.read(live, 'pages', { milliseconds: LARGE_LIMIT }, (session, planner) =>
      readContents(session, planner.model, resource, of),
    );
  },
  async *export(resource) {
    const model = await live.current();
    if (!model.stores(resource)) return;
    const layout = model.layout(resource);
    for await (const row of engine.stream(selectContents(layout))) {
      yield JSON.stringify(readContent(layout, row));
    }
  },
});

/** The sequence of changes, and the horizon up to which readers may rely on it. */
function changesOf(
  engine: Pick<Engine, 'ask' | 'horizon' | 'reading' | 'readStores'>,
  model: () => Promise<StoreModel>,
): Pick<Store, 'changesSince' | 'feed' | 'changesKnown' | 'horizon'> {
  const { small } = engine.reading;
  /** A reader that learns of a commit then reads its records, so a server that lags behind the commit must not serve the read. */
  async function withRefreshedState<T>(learned: Promise<T>): Promise<T> {
    const result = await learned;
    if ((engine.readStores?.() ?? []).length > 0) await engine.ask();
    return result;
  }
  return {
    changesSince: async (since) => readChanges(since, await small.rows(selectChangesSince(integer(since)))),
    async feed(request) {
      const rows = await withRefreshedState(small.rows(feedStatement(await model(), request)));
      return feedPage(request, rows);
    },
    async changesKnown() {
      const [row] = await small.rows(SELECT_RETAINED);
      return { since: Number(row?.horizon ?? 0), last: Number(row?.last ?? 0) };
    },
    horizon: (needed) => withRefreshedState(engine.horizon(needed)),
  };
}

function writesOf<S extends WriteSession>(
  writes: OwnWrites<S>,
): Pick<Store, 'restamp' | 'write' | 'recordsAtOnce' | 'remove' | 'configure' | 'beginEpoch'> {
  const { writer } = writes;
  return {
    restamp: async () => (await writes.withModel((model) => moveBackTimestamps(writer, model))).report,
    write: (resource, records, options = {}) =>
      writes.write((model) => writeInBatches(writer, model, resource, records, options)),
    recordsAtOnce: () => writer.pace.records,
    remove: (resource, keys) => writes.write((model) => removeInBatches(writer, model, resource, keys)),
    configure: (change) =>
      writes.changeModel(() =>
        writer.reconfigure(({ settings, profile }) => {
          const changed = changeSettings(settings, change);
          if (changed === settings) return { settings, profile };
          const dictionary = declare(standardDictionary(), changed.declarations);
          const declared = declaredFields(dictionary, changed.declarations);
          return { settings: changed, profile: extendProfile(profile, declared) };
        }),
      ),
    beginEpoch: (begin) => writes.changeModel(() => writer.beginEpoch(begin)),
  };
}

function checksOf(
  engine: Pick<Engine, 'read' | 'checkOnThread'> & Structure,
  live: LiveModel,
): Pick<Store, 'rowFaults' | 'rowAfter' | 'tableFaults' | 'fileFaults' | 'countedRows'> {
  const checks = makeThreadedChecks(
    live,
    (work) =>
      engine.read(live, 'searches', { milliseconds: LARGE_LIMIT }, (session, planner) =>
        work(checksOn(session, planner.model)),
      ),
    engine.checkOnThread,
  );
  return {
    ...checks,
    tableFaults: async (resource) => checkTables(resource, await live.current(), checks, engine.viewState),
    fileFaults: async () => checkFile(await live.current(), engine),
    countedRows: (resources) =>
      engine
        .read(live, 'searches', { milliseconds: LARGE_LIMIT }, (session) => countedRows(session, resources))
        .catch(undefinedIfDamaged),
  };
}
