/**
 * One run: it has its source to itself, and begins again where it stopped after what passes or a person mends. What a run
 * consists of is in schedule.ts.
 */
import { type ErrorCode, PlatError } from '../../errors/index.ts';
import { messageOf } from '../../shared/error-code.ts';
import { PromiseQueue } from '../../shared/promise-queue.ts';
import { LeaseLost } from '../../store/checkpoint/checkpoints.ts';
import { forgetUnreadable, replicaSources } from '../checkpoint/checkpoint.ts';
import { type Acquired, acquireSource, newAcquirer, whileAcquired } from '../checkpoint/lease.ts';
import { clearTrouble, noteTrouble, passesByItself, TroubleLog } from '../checkpoint/troubles.ts';
import { environmentOf } from '../environment.ts';
import type { Listener } from '../events.ts';
import { RequestFailure } from '../http/failure.ts';
import { LONGEST_REST, restAfter, retrying, SHORT_REST } from '../http/retry.ts';
import { doubtAll } from './cycle.ts';
import { type ReplicateOptions, sourceName } from './options.ts';
import { replicateOnce, watch } from './schedule.ts';
import { openCopy, reopenCopy, replicaName, type SessionOptions, sessionOf, untilLeft } from './session.ts';

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
const PASSING: ReadonlySet<ErrorCode> = new Set([
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
 * and for options that make no sense; whatever else happens to it, it reports it, rests and continues.
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
    troubles.note(event);
  };
  const session = { ...base, onEvent };
  // One acquirer for as long as this runs: it acquires again what it could not release.
  const acquirer = newAcquirer(clock, processes, signal);
  const acquiring: Acquiring = async (work) => {
    const acquired = await acquireSource(options.store, await replicaName(session), acquirer);
    return whileAcquired(options.store, acquired, { clock, signal }, (inner) =>
      work({ ...session, signal: inner }, acquired),
    );
  };
  try {
    return await (options.watch === true ? watchOn(session, acquiring) : patiently(session, acquiring));
  } catch (error) {
    if (error instanceof RequestFailure && error.kind === 'stopped') return 'stopped';
    if (error instanceof RequestFailure) troubles.note({ kind: 'failed', reason: error.message, wait: 0 });
    throw error;
  } finally {
    await troubles.idle();
    await close();
  }
}

type Work = (session: SessionOptions, acquired: Acquired) => Promise<ReplicateResult>;
/** Runs work while only this process writes the copy. @throws LeaseLost as soon as another one does */
type Acquiring = (work: Work) => Promise<ReplicateResult>;

/** Runs, and begins again where it stopped when the store was unreachable for a while. */
function patiently(
  { environment, ...session }: SessionOptions,
  acquiring: Acquiring,
): Promise<ReplicateResult> {
  const { clock } = environment;
  const once = { refresh: session.refresh === true };
  return acquiring(async ({ signal, ...inner }, acquired) => {
    const attempt = async (failures: number): Promise<ReplicateResult> =>
      failures > 1 && signal.aborted ? 'stopped' : run({ ...inner, signal }, acquired, once);
    const result = retrying({ clock, signal }, attempt, (error, failures) => {
      if (!isPassing(error) || failures > PATIENCE) throw error;
      // A single run retries by itself, so that no random part is needed.
      const wait = signal.aborted ? 0 : restAfter(failures, undefined, SHORT_REST, () => 1);
      if (wait > 0) session.onEvent({ kind: 'failed', reason: error.message, wait });
      return wait;
    });
    try {
      return await result;
    } catch (error) {
      const { store } = session;
      // A source that was never in the store, such as a mistyped one, is not part of its state.
      const isOurs = async (): Promise<boolean> => (await replicaSources(store)).includes(acquired.name);
      const isOfSource = !endsWatch(error, false) && !(error instanceof LeaseLost) && !isPassing(error);
      if (!signal.aborted && isOfSource && (await isOurs().catch(() => false))) {
        await noteTrouble(store, acquired.name, 'run', error, clock.now()).catch(() => undefined);
      }
      throw error;
    }
  });
}

/** Watches, and begins again after whatever ends it but the signal. */
async function watchOn(session: SessionOptions, acquiring: Acquiring): Promise<ReplicateResult> {
  const { environment, onEvent, signal, store } = session;
  const { clock, random } = environment;
  const once = { refresh: session.refresh === true };
  let hasBegun = false;
  for (let failures = 1; ; failures++) {
    let openedAt = Number.POSITIVE_INFINITY;
    const opened = (): void => {
      hasBegun = true;
      openedAt = clock.now();
      if (failures > 1) onEvent({ kind: 'recovered', attempts: failures });
    };
    try {
      return await acquiring(async (inner, acquired) => {
        try {
          return await run(inner, acquired, once, opened);
        } catch (error) {
          // A store that is unreachable can keep nothing.
          if (!inner.signal.aborted && !endsWatch(error, hasBegun) && !isPassing(error)) {
            await noteTrouble(store, acquired.name, 'watch', error, clock.now()).catch(() => undefined);
          }
          throw error;
        }
      });
    } catch (error) {
      if (signal.aborted) return 'stopped';
      if (endsWatch(error, hasBegun)) throw error;
      // One that went well for a while does not wait longer each time.
      if (clock.now() - openedAt > SHORT_REST.longest) failures = 1;
      const isShort = isPassing(error) || passesByItself(error) || isOfLease(error);
      const floor = error instanceof RequestFailure ? error.retryAfter : undefined;
      const wait = restAfter(failures, floor, isShort ? SHORT_REST : LONGEST_REST, random);
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
const isOfLease = (error: unknown): boolean =>
  error instanceof LeaseLost || (error instanceof PlatError && error.code === 'failed');
const isPassing = (error: unknown): error is PlatError =>
  error instanceof PlatError && PASSING.has(error.code);

/** @param once is done by the first run that reaches it, and not repeated after a failure of the store */
async function run(
  session: SessionOptions,
  acquired: Acquired,
  once: { refresh: boolean },
  hasOpened: () => void = () => undefined,
): Promise<ReplicateResult> {
  using scope = untilLeft(session.signal);
  const own = { ...session, signal: scope.signal };
  if (once.refresh) await forgetUnreadable(session.store, acquired.name, acquired.lease);
  let copy = await openCopy(own, acquired);
  // They are those of an earlier run.
  if (Object.keys(copy.checkpoint.get('troubles') ?? {}).length > 0) {
    await clearTrouble(copy.store, copy.name);
  }
  hasOpened();
  try {
    if (once.refresh) await doubtAll(copy, 'it was asked for');
    once.refresh = false;
    if (session.watch !== true) return await replicateOnce(copy, own);
    const reviews = new PromiseQueue();
    const look = async (): Promise<void> => {
      const isProbed = copy.feed.capabilities.isProbed ?? true;
      if (!isProbed || (await copy.feed.shown()).revision !== copy.checkpoint.get('revision'))
        copy = await reopenCopy(copy, own);
    };
    const review = (): Promise<void> => reviews.run(look);
    await watch({ copy: () => copy, review }, own);
    return 'stopped';
  } finally {
    copy.files?.close();
  }
}
