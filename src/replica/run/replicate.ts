/**
 * One run: it holds the lease of its source, and resumes after a temporary failure or a manual fix. What a run
 * consists of is in schedule.ts.
 */
import { type ErrorCode, PlatError } from '../../errors/index.ts';
import { messageOf } from '../../shared/error-code.ts';
import { PromiseQueue } from '../../shared/promise-queue.ts';
import { LeaseLost } from '../../store/checkpoint/checkpoints.ts';
import { deleteUnreadableNotes, replicaSources } from '../checkpoint/checkpoint.ts';
import { type AcquiredSource, acquireSource, newAcquirer, whileAcquired } from '../checkpoint/lease.ts';
import { clearTrouble, isTemporary, recordTrouble, TroubleLog } from '../checkpoint/troubles.ts';
import { environmentOf } from '../environment.ts';
import type { Listener } from '../events.ts';
import { RequestFailure } from '../http/failure.ts';
import { delayAfter, LONGEST_DELAY, SHORT_DELAY, withRetries } from '../http/retry.ts';
import { refreshUntrusted } from './cycle.ts';
import { type ReplicateOptions, sourceName } from './options.ts';
import { replicateOnce, watch } from './schedule.ts';
import {
  openCopy,
  reopenCopy,
  replicaName,
  type SessionOptions,
  scopedSignal,
  sessionOf,
} from './session.ts';

/** How a run ended. */
export type ReplicateResult =
  | 'done'
  /** A purge would have deleted more than is expected; `force` lets it. */
  | 'guarded'
  /** No two walks by offset agreed, so nothing was deleted. */
  | 'unsure'
  /** The signal came. The next run continues with what was stored until then. */
  | 'stopped';

/** What a database that restarts, or is busy, answers. */
const TRANSIENT_STORE_ERRORS: ReadonlySet<ErrorCode> = new Set([
  'storeBusy',
  'storeUnavailable',
  'writeUnknown',
  'overloaded',
  'queryTimedOut',
]);
/** Failures of the store that one run waits out; a watch waits for as long as it takes. */
const PATIENCE = 10;
/** Wrong options: waiting does not help. */
const WRONG: ReadonlySet<ErrorCode> = new Set(['usage', 'storeMissing', 'storeNotOurs', 'storeTooNew']);

/**
 * Copies a feed into a replica and keeps it current (specification 4.4). Every page is stored with its place in one
 * transaction: whenever the process ends, the next run continues where this one stopped. A watch ends with the signal,
 * and for options that make no sense; it reports any other failure, waits and continues.
 * @throws PlatError `usage` for options that make no sense
 * @throws RequestFailure (one run) when the source refuses the key, or fails for longer than a run waits
 * @throws PlatError `failed` (one run) when another process is working on the source
 * @throws LeaseLost (one run) when another process took over while this one was held up
 */
export async function replicate(options: ReplicateOptions): Promise<ReplicateResult> {
  const { environment, close } = environmentOf(options.environment);
  const { clock, processes } = environment;
  const base = sessionOf(options, environment);
  const { signal } = base;
  const troubles = new TroubleLog(options.store, sourceName(options), clock);
  const onEvent: Listener = (event) => {
    base.onEvent(event);
    troubles.record(event);
  };
  const session = { ...base, onEvent };
  // One acquirer for as long as this runs: it acquires again what it could not release.
  const acquirer = newAcquirer(clock, processes, signal);
  const runAcquired: RunAcquired = async (work) => {
    const acquired = await acquireSource(options.store, await replicaName(session), acquirer);
    return whileAcquired(options.store, acquired, { clock, signal }, (inner) =>
      work({ ...session, signal: inner }, acquired),
    );
  };
  try {
    return await (options.watch === true
      ? watchWithRetries(session, runAcquired)
      : runWithRetries(session, runAcquired));
  } catch (error) {
    if (error instanceof RequestFailure && error.kind === 'stopped') return 'stopped';
    if (error instanceof RequestFailure) troubles.record({ kind: 'failed', reason: error.message, wait: 0 });
    throw error;
  } finally {
    await troubles.idle();
    await close();
  }
}

type Work = (session: SessionOptions, acquired: AcquiredSource) => Promise<ReplicateResult>;
/** Runs work while only this process writes the copy. @throws LeaseLost as soon as another one does */
type RunAcquired = (work: Work) => Promise<ReplicateResult>;

/** Runs, and begins again where it stopped when the store was unreachable for a while. */
function runWithRetries(
  { environment, ...session }: SessionOptions,
  runAcquired: RunAcquired,
): Promise<ReplicateResult> {
  const { clock } = environment;
  const once = { refresh: session.refresh === true };
  return runAcquired(async ({ signal, ...inner }, acquired) => {
    const attempt = async (failures: number): Promise<ReplicateResult> =>
      failures > 1 && signal.aborted ? 'stopped' : run({ ...inner, signal }, acquired, once);
    const result = withRetries({ clock, signal }, attempt, (error, failures) => {
      if (!isTransientStoreError(error) || failures > PATIENCE) throw error;
      // A single run retries by itself, so that no random part is needed.
      const wait = signal.aborted ? 0 : delayAfter(failures, undefined, SHORT_DELAY, () => 1);
      if (wait > 0) session.onEvent({ kind: 'failed', reason: error.message, wait });
      return wait;
    });
    try {
      return await result;
    } catch (error) {
      const { store } = session;
      // A source that was never in the store, such as a mistyped one, is not part of its state.
      const isOurs = async (): Promise<boolean> => (await replicaSources(store)).includes(acquired.name);
      const isOfSource =
        !endsWatch(error, false) && !(error instanceof LeaseLost) && !isTransientStoreError(error);
      if (!signal.aborted && isOfSource && (await isOurs().catch(() => false))) {
        await recordTrouble(store, acquired.name, 'run', error, clock.now()).catch(() => undefined);
      }
      throw error;
    }
  });
}

/** Watches, and begins again after whatever ends it but the signal. */
async function watchWithRetries(session: SessionOptions, runAcquired: RunAcquired): Promise<ReplicateResult> {
  const { environment, onEvent, signal, store } = session;
  const { clock, random } = environment;
  const once = { refresh: session.refresh === true };
  let hasBegun = false;
  for (let failures = 1; ; failures++) {
    let openedAt = Number.POSITIVE_INFINITY;
    const onOpened = (): void => {
      hasBegun = true;
      openedAt = clock.now();
      if (failures > 1) onEvent({ kind: 'recovered', attempts: failures });
    };
    try {
      return await runAcquired(async (inner, acquired) => {
        try {
          return await run(inner, acquired, once, onOpened);
        } catch (error) {
          // A store that is unreachable can keep nothing.
          if (!inner.signal.aborted && !endsWatch(error, hasBegun) && !isTransientStoreError(error)) {
            await recordTrouble(store, acquired.name, 'watch', error, clock.now()).catch(() => undefined);
          }
          throw error;
        }
      });
    } catch (error) {
      if (signal.aborted) return 'stopped';
      if (endsWatch(error, hasBegun)) throw error;
      // One that went well for a while does not wait longer each time.
      if (clock.now() - openedAt > SHORT_DELAY.longest) failures = 1;
      const isShort = isTransientStoreError(error) || isTemporary(error) || isLeaseConflict(error);
      const floor = error instanceof RequestFailure ? error.retryAfter : undefined;
      const wait = delayAfter(failures, floor, isShort ? SHORT_DELAY : LONGEST_DELAY, random);
      onEvent({ kind: 'failed', reason: messageOf(error), wait });
      await clock.sleep(wait, signal);
      if (signal.aborted) return 'stopped';
    }
  }
}

/** Wrong options end a watch at its start. Later it is the world that has changed. */
const endsWatch = (error: unknown, hasBegun: boolean): boolean =>
  !hasBegun && error instanceof PlatError && WRONG.has(error.code);

/** Whether another process is running: it may end at any time. */
const isLeaseConflict = (error: unknown): boolean =>
  error instanceof LeaseLost || (error instanceof PlatError && error.code === 'failed');
const isTransientStoreError = (error: unknown): error is PlatError =>
  error instanceof PlatError && TRANSIENT_STORE_ERRORS.has(error.code);

/** @param once is done by the first run that reaches it, and not repeated after a failure of the store */
async function run(
  session: SessionOptions,
  acquired: AcquiredSource,
  once: { refresh: boolean },
  onOpened: () => void = () => undefined,
): Promise<ReplicateResult> {
  using scope = scopedSignal(session.signal);
  const scoped = { ...session, signal: scope.signal };
  if (once.refresh) await deleteUnreadableNotes(session.store, acquired.name, acquired.lease);
  let copy = await openCopy(scoped, acquired);
  // They are those of an earlier run.
  if (Object.keys(copy.checkpoint.get('troubles') ?? {}).length > 0) {
    await clearTrouble(copy.store, copy.name);
  }
  onOpened();
  try {
    if (once.refresh) await refreshUntrusted(copy, 'it was asked for');
    once.refresh = false;
    if (session.watch !== true) return await replicateOnce(copy, scoped);
    const reviews = new PromiseQueue();
    const reopenIfChanged = async (): Promise<void> => {
      const isProbed = copy.feed.capabilities.isProbed ?? true;
      if (!isProbed || (await copy.feed.shown()).revision !== copy.checkpoint.get('revision'))
        copy = await reopenCopy(copy, scoped);
    };
    const review = (): Promise<void> => reviews.run(reopenIfChanged);
    await watch({ copy: () => copy, review }, scoped);
    return 'stopped';
  } finally {
    copy.files?.close();
  }
}
