/**
 * Follows the changes of a source by the best method that it offers, and determines which collections this keeps current. If the
 * source offers no method, windows and purges continue as before, and methods are tried again later. Changes are applied in
 * follow/.
 */
import { timestampFrom } from '../../dictionary/index.ts';
import type { Chain, Following } from '../checkpoint/notes.ts';
import type { Copy } from '../copy/copy.ts';
import { applyChanges } from '../follow/apply.ts';
import { isKeptCurrent } from '../follow/chain.ts';
import { type Batch, Inbox } from '../follow/inbox.ts';
import { RequestFailure } from '../http/failure.ts';
import { delayAfter, LONGEST_DELAY } from '../http/retry.ts';
import { CHANGE_METHODS, type ChangeFeed, type ChangeMethod, type StartPosition } from '../source/source.ts';
import { fetchPending } from '../steps/fetch-pending.ts';
import { downloadAll, refreshAll, windowedCollections } from './cycle.ts';
import { type ReplicateOptions, shortestPollInterval } from './options.ts';

/** Milliseconds between two batches, so that records that change at about the same time are requested together. */
const PACE = 250;
/** Milliseconds after which the checkpoint is updated even if nothing changes, to record that the copy is up to date. */
const NOTED = 60_000;
/** Milliseconds after which a source that neither sends anything nor fails is no longer relied on. */
const LONGEST_IDLE = 3 * NOTED;

const REQUESTED = 'windows were requested';
const UNKNOWN = 'the source offers no other method that is known or allowed';

/** @param review opens the source again if it shows other fields or records than before */
export function followerOf(
  current: () => Copy,
  review: () => Promise<void>,
  { follow: method = 'auto', limits = {} }: Pick<ReplicateOptions, 'follow' | 'limits'>,
) {
  const failed = new FailedMethods(current().environment.random);
  const pace = Math.max(PACE, shortestPollInterval(limits));
  const prepared = Promise.withResolvers<void>();
  /**
   * When the copy was last up to date with the reports of the source, in milliseconds since 1970; undefined: the source is not
   * being followed.
   */
  let heardAt: number | undefined;
  let requests = 0;

  return {
    /**
     * Resolves when a download may begin, because the position from which changes will be followed is known, or no method is
     * available.
     */
    prepared: prepared.promise,
    keepsCurrent,
    run,
  };

  /** Whether following changes is currently enough to keep these collections current. */
  function keepsCurrent(collections: readonly string[]): boolean {
    const { checkpoint, environment } = current();
    const { clock } = environment;
    const isHeard = heardAt !== undefined && Math.abs(clock.now() - heardAt) < LONGEST_IDLE;
    return isHeard && collections.every((each) => isKeptCurrent(checkpoint, each));
  }

  /** Follows changes until the signal is aborted. @throws LeaseLost, PlatError of the store */
  async function run(ends: AbortSignal): Promise<void> {
    try {
      while (!ends.aborted) {
        const feed = best();
        if (feed === undefined) await rest(ends);
        else await tryBy(feed, ends);
      }
    } finally {
      heardAt = undefined;
      prepared.resolve();
    }
  }

  function offered(): readonly ChangeFeed[] {
    return current().feed.changeFeeds.filter(({ way }) => method === 'auto' || method === way);
  }

  /** The best method that has not failed recently. */
  function best(): ChangeFeed | undefined {
    const { checkpoint, environment } = current();
    return failed.best(offered(), checkpoint.get('chain'), environment.clock.now());
  }

  /** Leaves the work to windows until a method may be tried again. */
  async function rest(ends: AbortSignal): Promise<void> {
    const { environment } = current();
    const { clock } = environment;
    prepared.resolve();
    const isOffered = offered().length > 0;
    const { until, reason } = failed.suspension(offered(), clock.now());
    if (!isOffered) await note('windows', method === 'windows' ? REQUESTED : UNKNOWN);
    else if (reason !== undefined) await note('windows', reason);
    await clock.sleep(Math.max(1, until - clock.now()), ends);
  }

  async function tryBy(feed: ChangeFeed, ends: AbortSignal): Promise<void> {
    try {
      await followBy(feed, ends);
    } catch (error) {
      if (ends.aborted) return;
      if (!(error instanceof RequestFailure)) throw error;
      const { environment } = current();
      failed.recordFailure(feed.way, error, environment.clock.now());
    } finally {
      heardAt = undefined;
    }
  }

  async function followBy(feed: ChangeFeed, ends: AbortSignal): Promise<void> {
    const collections = resources();
    const known = current().checkpoint.get('chain');
    if (known === undefined || !(await goesOn(feed, known, collections))) {
      await begin(feed, await now(feed, ends), false);
      if (known === undefined) await purgeUnfollowed();
    }
    prepared.resolve();
    await settle();
    // If the source is opened again with another view, a new stream has to follow it.
    const copy = current();
    let chain = copy.checkpoint.get('chain');
    if (chain === undefined || ends.aborted) return;
    const left = new AbortController();
    const signal = AbortSignal.any([ends, left.signal]);
    const inbox = new Inbox();
    const filling = inbox.fill(
      feed.changesSince(chain.position, collections, signal, () => copy.checkpoint.reads),
    );
    try {
      for (;;) {
        await arrival(inbox, signal);
        // `best` may return a better method that may be tried again.
        if (ends.aborted || current() !== copy || best()?.way !== feed.way) return;
        const batch = inbox.take();
        chain = await apply(chain, feed, batch);
        if (batch === undefined) continue;
        if (batch.isLevel) {
          failed.recordSuccess(feed.way);
          await note(feed.way, failed.reasonsAgainstBetter(feed.way));
        }
        if (batch.expired !== undefined) {
          const { position } = batch.expired;
          const known = position === undefined ? undefined : { position, unreported: [] };
          await begin(feed, known ?? (await now(feed, ends)), true);
          failed.recordBreak(feed.way, copy.environment.clock.now());
          return;
        }
        if (batch.changes.length > 0) await current().environment.clock.sleep(pace, signal);
      }
    } finally {
      left.abort();
      inbox.close();
      await filling;
    }
  }

  /**
   * Makes a purge due if the copy has been updated by windows until now: the source will not report what was deleted since the last
   * purge, and the chain needs a sweep anyway.
   */
  async function purgeUnfollowed(): Promise<void> {
    const { checkpoint } = current();
    const fresh = checkpoint.get('foundation')?.fresh ?? [];
    if (resources().some((each) => !fresh.includes(each))) await checkpoint.requestPurge();
  }

  /** Whether a stored chain can continue with a method, after its position has been translated if necessary. */
  async function goesOn(feed: ChangeFeed, known: Chain, resources: readonly string[]): Promise<boolean> {
    if (known.resources.join() !== resources.join()) return false;
    if (known.way === feed.way) return true;
    const position = feed.translatePosition(known);
    if (position === undefined) return false;
    const { checkpoint } = current();
    await checkpoint.commit({ state: { chain: { ...known, way: feed.way, position } } });
    return true;
  }

  /** Waits for the next reports, but not longer than until the checkpoint has to be updated without any. */
  async function arrival(inbox: Inbox, signal: AbortSignal): Promise<void> {
    const { clock } = current().environment;
    const came = new AbortController();
    await Promise.race([inbox.arrival, clock.sleep(NOTED, AbortSignal.any([signal, came.signal]))]);
    came.abort();
  }

  /** Applies a batch to the copy; undefined: nothing has arrived for a while. @returns the chain after the batch */
  async function apply(chain: Chain, { isPushed }: ChangeFeed, batch: Batch | undefined): Promise<Chain> {
    const copy = current();
    const now = copy.environment.clock.now();
    const isLevel = batch?.isLevel ?? (isPushed && heardAt !== undefined);
    if (isLevel) heardAt = now;
    const position = batch?.position ?? chain.position;
    const changes = batch?.changes ?? [];
    const isNoted = chain.level !== undefined && Math.abs(now - chain.level) < NOTED;
    const isWhole = isLevel && resources().every((each) => isKeptCurrent(copy.checkpoint, each));
    if (changes.length === 0 && position === chain.position && (!isWhole || isNoted)) return chain;
    return applyChanges(copy, chain, changes, { position, isLevel: isWhole, distinct });
  }

  /**
   * A unique value that is not the key of any record. Added to the keys of a filter, it makes the filter different from every
   * earlier one.
   */
  function distinct(): string {
    return `~${current().environment.clock.now().toString(36)}.${++requests}`;
  }

  function resources(): string[] {
    return windowedCollections(current()).toSorted();
  }

  function now(feed: ChangeFeed, ends: AbortSignal): Promise<StartPosition> {
    return feed.currentPosition(resources(), ends, current().checkpoint.get('walked') ?? {});
  }

  /** Begins a chain at a position that the source has just returned. */
  async function begin(
    feed: ChangeFeed,
    { position, unreported }: StartPosition,
    isBroken: boolean,
  ): Promise<void> {
    const { checkpoint, name, store, ...copy } = current();
    const since = timestampFrom(await copy.feed.serverTime());
    const fresh: string[] = [];
    for (const each of isBroken ? [] : resources()) {
      const isNew = checkpoint.load(each).kind === 'new';
      if (isNew && (await store.checkpoints.stored(name, each)) === 0) fresh.push(each);
    }
    const chain: Chain = {
      way: feed.way,
      resources: resources(),
      ...(unreported.length === 0 ? {} : { untold: unreported }),
      position,
      ...(isBroken ? { isBroken } : {}),
    };
    await checkpoint.commit({ state: { chain, foundation: { since, fresh } } });
  }

  /**
   * Prepares the copy for applying changes: reads everything again if the sequence was interrupted, and completes downloads and
   * pending fetches.
   */
  async function settle(): Promise<void> {
    const { checkpoint } = current();
    const chain = checkpoint.get('chain');
    if (chain?.isBroken === true) {
      await review();
      await refreshAll(current(), BROKEN);
      const { isBroken: _, ...whole } = chain;
      await checkpoint.commit({ state: { chain: whole } });
    }
    const copy = current();
    await downloadAll(copy, resources());
    // Fetch what is still pending from an earlier run.
    for (const resource of resources()) {
      await checkpoint.fetchInTurn(resource, () => fetchPending(copy, resource));
    }
  }

  /** Stores and reports the method by which changes arrive, if it has changed. */
  async function note(way: Following['way'], reason?: string): Promise<void> {
    const { checkpoint, environment, report } = current();
    const before = checkpoint.get('following');
    if (before?.way === way && before.reason === reason) return;
    const why = reason === undefined ? {} : { reason };
    await checkpoint.commit({ state: { following: { way, since: environment.clock.now(), ...why } } });
    report({ kind: 'follow', way, ...why });
  }
}

/** The wait after a method failed. It begins short, because a source that is being restarted is back soon. Milliseconds. */
const FAILURE_DELAY = { base: 1000, longest: 300_000 } as const;
/** The wait after which a method that the source does not offer is tried again. */
const UNOFFERED_DELAY = { base: 3_600_000, longest: 3_600_000 } as const;
/** The wait after the sequence was interrupted several times within a period. */
const BREAK_DELAY = { base: 60_000, longest: 3_600_000 } as const;
const FORGIVEN = 6 * 3_600_000;
/** The number of failures in a row that are not reported, because they may be due to one lost connection. */
const UNREPORTED = 1;
/** The number of failures in a row, within about half a minute, after which a method is no longer expected back soon. */
const LASTING = 6;

/** Why a chain of changes has ended. */
const BROKEN = 'the source no longer has the changes since the last position';

interface MethodFailure {
  readonly failures: number;
  readonly until: number;
  readonly reason: string;
  /** Whether the method is not expected back soon. */
  readonly isLasting: boolean;
}

/** Until when no method is tried, and why. */
interface Suspension {
  /** Milliseconds since 1970. */
  readonly until: number;
  /** Undefined while a single lost connection may be the only cause. */
  readonly reason: string | undefined;
}

/** Chooses the best method that a source offers and that has not failed recently. */
export class FailedMethods {
  readonly #failed = new Map<ChangeMethod, MethodFailure>();
  readonly #random: () => number;
  /** The recent times at which the sequence was interrupted, in milliseconds since 1970. */
  #broken: number[] = [];

  constructor(random: () => number) {
    this.#random = random;
  }

  /**
   * The best method that has not failed recently. A method that cannot continue from the current position requires windows and a
   * sweep, so it does not replace a better method that is expected back soon. @param offered the offered methods, the best first
   */
  best(
    offered: readonly ChangeFeed[],
    chain: { readonly way: ChangeMethod; readonly position: string } | undefined,
    now: number,
  ): ChangeFeed | undefined {
    let isExpected = false;
    for (const feed of offered) {
      const failed = this.#failed.get(feed.way);
      const goesOn =
        chain === undefined || chain.way === feed.way || feed.translatePosition(chain) !== undefined;
      if ((failed?.until ?? now) <= now && (goesOn || !isExpected)) return feed;
      isExpected ||= failed !== undefined && !failed.isLasting;
    }
    return undefined;
  }

  /** How long no method is tried, and why, if `best` returns none. */
  suspension(offered: readonly ChangeFeed[], now: number): Suspension {
    const failed = offered.flatMap(({ way }) => this.#failed.get(way) ?? []);
    const until = Math.min(now + UNOFFERED_DELAY.longest, ...failed.map((each) => each.until));
    const isReported = failed.some(({ failures }) => failures > UNREPORTED);
    return { until, reason: isReported ? failed.map(({ reason }) => reason).join('; ') : undefined };
  }

  /** Why no better method is in use; undefined for the best one. */
  reasonsAgainstBetter(way: ChangeMethod): string | undefined {
    const better = CHANGE_METHODS.slice(0, CHANGE_METHODS.indexOf(way)).flatMap(
      (each) => this.#failed.get(each)?.reason ?? [],
    );
    return better.length === 0 ? undefined : better.join('; ');
  }

  recordSuccess(way: ChangeMethod): void {
    this.#failed.delete(way);
  }

  recordFailure(way: ChangeMethod, { kind, message: reason, retryAfter }: RequestFailure, now: number): void {
    const failures = (this.#failed.get(way)?.failures ?? 0) + 1;
    const isOffered = kind !== 'rejected';
    const delay = !isOffered ? UNOFFERED_DELAY : kind === 'refused' ? LONGEST_DELAY : FAILURE_DELAY;
    this.#failed.set(way, {
      // A method that is not offered is reported at once; a lost connection is common, and is not.
      failures: isOffered ? failures : Math.max(failures, UNREPORTED + 1),
      until: now + delayAfter(failures, retryAfter, delay, this.#random),
      reason,
      isLasting: !isOffered || failures >= LASTING,
    });
  }

  /**
   * Records that the sequence was interrupted. Each interruption requires reading everything again, so if it happens repeatedly,
   * the method is not used for a while.
   */
  recordBreak(way: ChangeMethod, now: number): void {
    this.#broken = [...this.#broken.filter((at) => Math.abs(now - at) < FORGIVEN), now];
    const again = this.#broken.length - 1;
    if (again === 0) return;
    const until = now + delayAfter(again, undefined, BREAK_DELAY, this.#random);
    this.#failed.set(way, { failures: again + UNREPORTED, until, reason: BROKEN, isLasting: true });
  }
}
