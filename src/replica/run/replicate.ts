/**
 * A run of the consumer: it holds the lease of its source, and continues after a temporary failure, or after someone has fixed a
 * lasting one. The steps of a run are in schedule.ts.
 */
import { type ErrorCode, PlatError } from '../../errors/index.ts';
import { operatorMessage } from '../../shared/error-code.ts';
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
  type Contact,
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
  /** A purge would have deleted too many records; `force` permits it. */
  | 'guarded'
  /** A sweep did not show for certain which records the source no longer has, so nothing was deleted. */
  | 'unsure'
  /** The signal was aborted. The next run continues from what was stored until then. */
  | 'stopped';

/** The errors of a database that is restarting or busy. */
const TRANSIENT_STORE_ERRORS: ReadonlySet<ErrorCode> = new Set([
  'storeBusy',
  'storeUnavailable',
  'writeUnknown',
  'overloaded',
  'queryTimedOut',
]);
/** The number of store failures after which a single run gives up; a watch never does. */
const PATIENCE = 10;
/** Errors of wrong options, for which waiting does not help. */
const WRONG: ReadonlySet<ErrorCode> = new Set(['usage', 'storeMissing', 'storeNotOurs', 'storeTooNew']);

/**
 * Copies a feed into a replica and keeps it current (specification 4.4). Every page is stored together with its position in one
 * transaction, so whenever the process ends, the next run continues where this one stopped. A watch ends when the signal is
 * aborted, or if its options are invalid; it reports any other failure, waits and continues.
 * @throws PlatError `usage` for invalid options
 * @throws RequestFailure (single run) if the source refuses the key, or fails for longer than a run waits
 * @throws PlatError `failed` (single run) if another process is working on the source
 * @throws LeaseLost (single run) if another process took over because this one did not renew its lease in time
 */
export const replicate = (options: ReplicateOptions): Promise<ReplicateResult> =>
  replicateContacted(options, undefined);

/** Like `replicate`, for a source that this process has contacted already. */
export async function replicateContacted(
  options: ReplicateOptions,
  contact: Contact | undefined,
): Promise<ReplicateResult> {
  const { environment, close } = environmentOf(options.environment);
  const { clock, processes } = environment;
  const base = sessionOf({ ...options, contact }, environment);
  const { signal } = base;
  const troubles = new TroubleLog(options.store, sourceName(options), clock);
  const onEvent: Listener = (event) => {
    base.onEvent(event);
    troubles.record(event);
  };
  const session = { ...base, onEvent };
  // All attempts use the same acquirer, which can acquire a source again that it failed to release.
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
/** Runs work while this process holds the lease of the copy. @throws LeaseLost as soon as another process has acquired it */
type RunAcquired = (work: Work) => Promise<ReplicateResult>;

/** Runs once, and continues after temporary failures of the store. */
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
      // A single run is not synchronized with others, so the wait needs no random part.
      const wait = signal.aborted ? 0 : delayAfter(failures, undefined, SHORT_DELAY, () => 1);
      if (wait > 0) session.onEvent({ kind: 'failed', reason: operatorMessage(error), wait });
      return wait;
    });
    try {
      return await result;
    } catch (error) {
      const { store } = session;
      // Do not store problems of a source that is not in the store, such as a mistyped one.
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

/** Watches until the signal is aborted, and starts again after every failure. */
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
          // The problem cannot be stored if the store is unreachable.
          if (!inner.signal.aborted && !endsWatch(error, hasBegun) && !isTransientStoreError(error)) {
            await recordTrouble(store, acquired.name, 'watch', error, clock.now()).catch(() => undefined);
          }
          throw error;
        }
      });
    } catch (error) {
      if (signal.aborted) return 'stopped';
      if (endsWatch(error, hasBegun)) throw error;
      // After a period without failures, the waits begin at their minimum again.
      if (clock.now() - openedAt > SHORT_DELAY.longest) failures = 1;
      const isShort = isTransientStoreError(error) || isTemporary(error) || isLeaseConflict(error);
      const floor = error instanceof RequestFailure ? error.retryAfter : undefined;
      const wait = delayAfter(failures, floor, isShort ? SHORT_DELAY : LONGEST_DELAY, random);
      onEvent({ kind: 'failed', reason: operatorMessage(error), wait });
      await clock.sleep(wait, signal);
      if (signal.aborted) return 'stopped';
    }
  }
}

/** Wrong options end a watch only at its start: if they worked once, something else has changed, and may change back. */
const endsWatch = (error: unknown, hasBegun: boolean): boolean =>
  !hasBegun && error instanceof PlatError && WRONG.has(error.code);

/** Whether another process holds the lease, which it may release at any time. */
const isLeaseConflict = (error: unknown): boolean =>
  error instanceof LeaseLost || (error instanceof PlatError && error.code === 'failed');
const isTransientStoreError = (error: unknown): error is PlatError =>
  error instanceof PlatError && TRANSIENT_STORE_ERRORS.has(error.code);

/** @param once what only the first attempt that gets this far does; it is not repeated after a failure of the store */
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
  // The source has responded, so the stored problems are those of an earlier run.
  if (Object.keys(copy.checkpoint.get('troubles') ?? {}).length > 0) {
    await clearTrouble(copy.store, copy.name);
  }
  onOpened();
  try {
    if (once.refresh) await refreshUntrusted(copy, 'it was requested');
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
