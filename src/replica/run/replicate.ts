import { type ErrorCode, PlatError } from '../../errors/index.ts';
import { LeaseLost } from '../../store/ledger.ts';
import { type Hold, type Holder, LEASE, newHolder } from '../checkpoint/lease.ts';
import { clearTrouble, noteTrouble, passesByItself } from '../checkpoint/troubles.ts';
import { forgetUnreadable } from '../checkpoint/unreadable-notes.ts';
import { RequestFailure } from '../http/failure.ts';
import { LONGEST_REST, type RestOptions, restAfter, SHORT_REST } from '../http/retry.ts';
import { doubtAll } from './cycle.ts';
import { replicateOnce } from './once.ts';
import type { ReplicateOptions } from './options.ts';
import { environmentOf } from './real-environment.ts';
import { hold, openCopy, reopenCopy, type SessionOptions } from './session.ts';
import { untilLeft } from './until-left.ts';
import { watch } from './watch.ts';

/** How a run ended. */
export type ReplicateResult =
  | 'done'
  /** A purge would have deleted more than is expected; `force` lets it. */
  | 'guarded'
  /** No two walks by offset agreed, so nothing was deleted. */
  | 'unsure'
  /** The signal came. What was stored until then counts, and the next run goes on there. */
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
const LONGEST_WAIT = 30_000;
/** What was asked for wrongly: no time mends it. */
const WRONG: ReadonlySet<ErrorCode> = new Set(['usage', 'storeMissing', 'storeNotOurs', 'storeTooNew']);

/**
 * Copies a feed into a replica and keeps it current (specification 4.4). Every page is stored with its place in one
 * transaction: whenever the process ends, the next run goes on where this one stopped. A watch ends when it is told to,
 * and for options that make no sense; whatever else happens to it, it tells, rests and goes on.
 * @throws PlatError `usage` for options that make no sense
 * @throws RequestFailure (one run) when the source refuses the key, or fails for longer than a run waits
 * @throws PlatError `failed` (one run) when another process is at work on the source
 * @throws LeaseLost (one run) when another process took over while this one was held up
 */
export async function replicate(options: ReplicateOptions): Promise<ReplicateResult> {
  const { environment, close } = environmentOf(options.environment);
  const session: SessionOptions = {
    ...options,
    environment,
    onEvent: options.onEvent ?? (() => undefined),
    signal: options.signal ?? new AbortController().signal,
  };
  // One holder for as long as this runs: it takes again what it could not give back.
  const holder = newHolder(environment.clock, environment.processes, session.signal);
  try {
    return await (options.watch === true ? watchOn(session, holder) : holding(session, holder, patiently));
  } catch (error) {
    if (error instanceof RequestFailure && error.kind === 'stopped') return 'stopped';
    throw error;
  } finally {
    await close();
  }
}

/** Runs work while this process alone writes the copy. @throws LeaseLost as soon as another one does */
async function holding(
  { signal, ...options }: SessionOptions,
  holder: Holder,
  work: (session: SessionOptions, held: Hold) => Promise<ReplicateResult>,
): Promise<ReplicateResult> {
  const lost = new AbortController();
  const session = { ...options, signal: AbortSignal.any([signal, lost.signal]) };
  const held = await hold(session, holder);
  const heart = beat(session, held, lost);
  try {
    const result = await work(session, held);
    if (result === 'stopped' && lost.signal.aborted) throw lost.signal.reason;
    return result;
  } catch (error) {
    if (lost.signal.aborted) throw lost.signal.reason;
    throw error;
  } finally {
    heart.abort();
    // Of a store that cannot be reached it ends by itself.
    if (!lost.signal.aborted) await held.release().catch(() => undefined);
  }
}

/** Runs, and begins again where it stopped when the store could not be reached for a while. */
async function patiently(session: SessionOptions, held: Hold): Promise<ReplicateResult> {
  const { environment, onEvent, signal } = session;
  const once = { refresh: session.refresh === true };
  for (let failures = 1; ; failures++) {
    try {
      return await run(session, held, once);
    } catch (error) {
      if (!isPassing(error) || failures > PATIENCE) throw error;
      if (signal.aborted) return 'stopped';
      const wait = Math.min(LONGEST_WAIT, 500 * 2 ** failures);
      onEvent({ kind: 'failed', reason: error.message, wait });
      await environment.clock.sleep(wait, signal);
    }
  }
}

/** Watches, and begins again after whatever ends it but the signal. */
async function watchOn(session: SessionOptions, holder: Holder): Promise<ReplicateResult> {
  const { environment, onEvent, signal, store } = session;
  const { clock, random } = environment;
  const once = { refresh: session.refresh === true };
  let hasBegun = false;
  for (let failures = 1; ; failures++) {
    let openedAt = Number.POSITIVE_INFINITY;
    try {
      return await holding(session, holder, async (inner, held) => {
        try {
          return await run(inner, held, once, () => {
            hasBegun = true;
            openedAt = clock.now();
            if (failures > 1) onEvent({ kind: 'recovered', attempts: failures });
          });
        } catch (error) {
          // A store that is away can keep nothing.
          if (!inner.signal.aborted && !endsWatch(error, hasBegun) && !isPassing(error)) {
            await noteTrouble(store, held.name, 'watch', error, clock.now()).catch(() => undefined);
          }
          throw error;
        }
      });
    } catch (error) {
      if (signal.aborted) return 'stopped';
      if (endsWatch(error, hasBegun)) throw error;
      // One that went well for a while does not wait longer each time.
      if (clock.now() - openedAt > SHORT_REST.longest) failures = 1;
      const wait = restAfter(failures, floorOf(error), restOf(error), random);
      onEvent({ kind: 'failed', reason: error instanceof Error ? error.message : String(error), wait });
      await clock.sleep(wait, signal);
      if (signal.aborted) return 'stopped';
    }
  }
}

/** What was asked for wrongly ends a watch at its start. Later it is the world that has changed. */
const endsWatch = (error: unknown, hasBegun: boolean): boolean =>
  !hasBegun && error instanceof PlatError && WRONG.has(error.code);

const restOf = (error: unknown): RestOptions =>
  isPassing(error) || passesByItself(error) || isAboutHold(error) ? SHORT_REST : LONGEST_REST;
const floorOf = (error: unknown): number | undefined =>
  error instanceof RequestFailure ? error.retryAfter : undefined;

/** Whether another process is at work: it may end at any time. */
const isAboutHold = (error: unknown): boolean =>
  error instanceof LeaseLost || (error instanceof PlatError && error.code === 'failed');
const isPassing = (error: unknown): error is PlatError =>
  error instanceof PlatError && PASSING.has(error.code);

/** @param once what is done by the first run that comes to it, and not again after a failure of the store */
async function run(
  session: SessionOptions,
  held: Hold,
  once: { refresh: boolean },
  hasOpened: () => void = () => undefined,
): Promise<ReplicateResult> {
  using scope = untilLeft(session.signal);
  const own = { ...session, signal: scope.signal };
  if (once.refresh) await forgetUnreadable(session.store, held.name, held.lease);
  let copy = await openCopy(own, held);
  // Of whoever was at work before.
  if (Object.keys(copy.book.get('troubles') ?? {}).length > 0) await clearTrouble(copy.store, copy.name);
  hasOpened();
  try {
    if (once.refresh) await doubtAll(copy, 'it was asked for');
    once.refresh = false;
    if (session.watch !== true) return await replicateOnce(copy, own);
    const review = async (): Promise<void> => {
      const isProbed = copy.feed.capabilities.isProbed ?? true;
      if (!isProbed || (await copy.feed.shown()).revision !== copy.book.get('revision'))
        copy = await reopenCopy(copy, own);
    };
    await watch({ copy: () => copy, review }, own);
    return 'stopped';
  } finally {
    copy.files?.close();
  }
}

/** Renews the lease while nothing is committed, and ends the run when another process took it. */
function beat(
  { environment, store }: SessionOptions,
  { name, lease }: Hold,
  lost: AbortController,
): AbortController {
  const heart = new AbortController();
  const run = async (): Promise<void> => {
    for (;;) {
      await environment.clock.sleep(LEASE / 3, heart.signal);
      if (heart.signal.aborted) return;
      try {
        await store.ledger.commit(name, { lease: lease() });
      } catch (error) {
        // A store that cannot be reached is told of by whoever needs it next.
        if (!(error instanceof LeaseLost)) continue;
        lost.abort(error);
        return;
      }
    }
  };
  void run();
  return heart;
}
