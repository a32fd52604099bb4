import { type ErrorCode, PlatError } from '../../errors/index.ts';
import { LeaseLost } from '../../store/ledger.ts';
import { RequestFailure } from '../http/failure.ts';
import { refreshAll } from './cycle.ts';
import { type Hold, LEASE } from './hold.ts';
import { replicateOnce } from './once.ts';
import type { ReplicateOptions } from './options.ts';
import { environmentOf } from './real-environment.ts';
import { hold, openCopy, reopenCopy, type SessionOptions } from './session.ts';
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

/**
 * Copies a feed into a replica and keeps it current (specification 4.4). Every page is stored with its place in one
 * transaction: whenever the process ends, the next run goes on where this one stopped.
 * @throws RequestFailure when the source refuses the key, or fails for longer than a run waits
 * @throws PlatError `usage` for options that make no sense, `failed` when another process is at work on the source
 * @throws LeaseLost when another process took over while this one was held up
 */
export async function replicate(options: ReplicateOptions): Promise<ReplicateResult> {
  const { environment, close } = environmentOf(options.environment);
  const lost = new AbortController();
  const signals = options.signal === undefined ? [lost.signal] : [options.signal, lost.signal];
  const session: SessionOptions = {
    ...options,
    environment,
    onEvent: options.onEvent ?? (() => undefined),
    signal: AbortSignal.any(signals),
  };
  const held = await hold(session);
  const heart = beat(session, held, lost);
  try {
    const result = await patiently(session, held);
    if (result === 'stopped' && lost.signal.aborted) throw lost.signal.reason;
    return result;
  } catch (error) {
    if (lost.signal.aborted) throw lost.signal.reason;
    if (error instanceof RequestFailure && error.kind === 'stopped') return 'stopped';
    throw error;
  } finally {
    heart.abort();
    // Of a store that cannot be reached it ends by itself.
    if (!lost.signal.aborted) await held.release().catch(() => undefined);
    await close();
  }
}

/** Runs, and begins again where it stopped when the store could not be reached for a while. */
async function patiently(session: SessionOptions, held: Hold): Promise<ReplicateResult> {
  const { environment, onEvent, signal, watch: isWatch = false } = session;
  const once: { refresh: boolean } = { refresh: session.refresh === true };
  for (let failures = 1; ; failures++) {
    const begun = environment.clock.now();
    try {
      return await run(session, held, once);
    } catch (error) {
      // A source that is away when a watch begins is waited for as one that goes away later.
      const passes = isPassing(error) || (isWatch && isTransient(error));
      if (!passes || (!isWatch && failures > PATIENCE)) throw error;
      if (signal.aborted) return 'stopped';
      // A watch that went well for a while does not wait longer each time.
      if (isWatch && environment.clock.now() - begun > LONGEST_WAIT) failures = 1;
      const wait = Math.min(LONGEST_WAIT, 500 * 2 ** failures);
      onEvent({ kind: 'failed', reason: error.message, wait });
      await environment.clock.sleep(wait, signal);
    }
  }
}

const isPassing = (error: unknown): error is PlatError =>
  error instanceof PlatError && PASSING.has(error.code);
const isTransient = (error: unknown): error is RequestFailure =>
  error instanceof RequestFailure && error.kind === 'transient';

/** @param once what is done by the first run that comes to it, and not again after a failure of the store */
async function run(
  session: SessionOptions,
  held: Hold,
  once: { refresh: boolean },
): Promise<ReplicateResult> {
  let copy = await openCopy(session, held);
  try {
    if (once.refresh) await refreshAll(copy, 'it was asked for');
    once.refresh = false;
    if (session.watch !== true) return await replicateOnce(copy, session);
    const review = async (): Promise<void> => {
      const isProbed = copy.feed.capabilities.isProbed ?? true;
      if (!isProbed || (await copy.feed.shown()).revision !== copy.book.get('revision'))
        copy = await reopenCopy(copy, session);
    };
    await watch({ copy: () => copy, review }, session);
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
