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
import type { ChangeFeed, StartPosition } from '../source/source.ts';
import { fetchPending } from '../steps/fetch-pending.ts';
import { downloadAll, refreshAll, windowedCollections } from './cycle.ts';
import { type FollowMethod, type ReplicateOptions, shortestPollInterval } from './options.ts';
import { BROKEN, FailedMethods } from './ways.ts';

/** Milliseconds between two batches, so that records that change at about the same time are requested together. */
const PACE = 250;
/** Milliseconds after which the checkpoint is updated even if nothing changes, to record that the copy is up to date. */
const NOTED = 60_000;
/** Milliseconds after which a source that neither sends anything nor fails is no longer relied on. */
const LONGEST_IDLE = 3 * NOTED;

const REQUESTED = 'windows were requested';
const UNKNOWN = 'the source offers no other method that is known or allowed';

export class Follower {
  readonly #copy: () => Copy;
  readonly #review: () => Promise<void>;
  readonly #method: FollowMethod;
  readonly #pace: number;
  readonly #failed: FailedMethods;
  readonly #prepared = Promise.withResolvers<void>();
  /**
   * When the copy was last up to date with the reports of the source, in milliseconds since 1970; undefined: the source is not
   * being followed.
   */
  #heardAt: number | undefined;
  #requests = 0;

  /** @param review opens the source again if it shows other fields or records than before */
  constructor(
    copy: () => Copy,
    review: () => Promise<void>,
    { follow = 'auto', limits = {} }: Pick<ReplicateOptions, 'follow' | 'limits'>,
  ) {
    this.#copy = copy;
    this.#review = review;
    this.#failed = new FailedMethods(copy().environment.random);
    this.#method = follow;
    this.#pace = Math.max(PACE, shortestPollInterval(limits));
  }

  /**
   * Resolves when a download may begin, because the position from which changes will be followed is known, or no method is
   * available.
   */
  get prepared(): Promise<void> {
    return this.#prepared.promise;
  }

  /** Whether following changes is currently enough to keep these collections current. */
  keepsCurrent(collections: readonly string[]): boolean {
    const { checkpoint, environment } = this.#copy();
    const { clock } = environment;
    const isHeard = this.#heardAt !== undefined && Math.abs(clock.now() - this.#heardAt) < LONGEST_IDLE;
    return isHeard && collections.every((each) => isKeptCurrent(checkpoint, each));
  }

  /** Follows changes until the signal is aborted. @throws LeaseLost, PlatError of the store */
  async run(ends: AbortSignal): Promise<void> {
    try {
      while (!ends.aborted) {
        const feed = this.#best();
        if (feed === undefined) await this.#rest(ends);
        else await this.#tryBy(feed, ends);
      }
    } finally {
      this.#heardAt = undefined;
      this.#prepared.resolve();
    }
  }

  get #offered(): readonly ChangeFeed[] {
    const method = this.#method;
    return this.#copy().feed.changeFeeds.filter(({ way }) => method === 'auto' || method === way);
  }

  /** The best method that has not failed recently. */
  #best(): ChangeFeed | undefined {
    const { checkpoint, environment } = this.#copy();
    return this.#failed.best(this.#offered, checkpoint.get('chain'), environment.clock.now());
  }

  /** Leaves the work to windows until a method may be tried again. */
  async #rest(ends: AbortSignal): Promise<void> {
    const { environment } = this.#copy();
    const { clock } = environment;
    this.#prepared.resolve();
    const isOffered = this.#offered.length > 0;
    const { until, reason } = this.#failed.suspension(this.#offered, clock.now());
    if (!isOffered) await this.#note('windows', this.#method === 'windows' ? REQUESTED : UNKNOWN);
    else if (reason !== undefined) await this.#note('windows', reason);
    await clock.sleep(Math.max(1, until - clock.now()), ends);
  }

  async #tryBy(feed: ChangeFeed, ends: AbortSignal): Promise<void> {
    try {
      await this.#followBy(feed, ends);
    } catch (error) {
      if (ends.aborted) return;
      if (!(error instanceof RequestFailure)) throw error;
      const { environment } = this.#copy();
      this.#failed.recordFailure(feed.way, error, environment.clock.now());
    } finally {
      this.#heardAt = undefined;
    }
  }

  async #followBy(feed: ChangeFeed, ends: AbortSignal): Promise<void> {
    const resources = this.#resources();
    const known = this.#copy().checkpoint.get('chain');
    if (known === undefined || !(await this.#goesOn(feed, known, resources))) {
      await this.#begin(feed, await this.#now(feed, ends), false);
    }
    this.#prepared.resolve();
    await this.#settle();
    // If the source is opened again with another view, a new stream has to follow it.
    const copy = this.#copy();
    let chain = copy.checkpoint.get('chain');
    if (chain === undefined || ends.aborted) return;
    const left = new AbortController();
    const signal = AbortSignal.any([ends, left.signal]);
    const inbox = new Inbox();
    const filling = inbox.fill(
      feed.changesSince(chain.position, resources, signal, () => copy.checkpoint.reads),
    );
    try {
      for (;;) {
        await this.#arrival(inbox, signal);
        // `#best` may return a better method that may be tried again.
        if (ends.aborted || this.#copy() !== copy || this.#best()?.way !== feed.way) return;
        const batch = inbox.take();
        chain = await this.#apply(chain, feed, batch);
        if (batch === undefined) continue;
        if (batch.isLevel) {
          this.#failed.recordSuccess(feed.way);
          await this.#note(feed.way, this.#failed.reasonsAgainstBetter(feed.way));
        }
        if (batch.expired !== undefined) {
          const { position } = batch.expired;
          const known = position === undefined ? undefined : { position, unreported: [] };
          await this.#begin(feed, known ?? (await this.#now(feed, ends)), true);
          this.#failed.recordBreak(feed.way, copy.environment.clock.now());
          return;
        }
        if (batch.changes.length > 0) await this.#copy().environment.clock.sleep(this.#pace, signal);
      }
    } finally {
      left.abort();
      inbox.close();
      await filling;
    }
  }

  /** Whether a stored chain can continue with a method, after its position has been translated if necessary. */
  async #goesOn(feed: ChangeFeed, known: Chain, resources: readonly string[]): Promise<boolean> {
    if (known.resources.join() !== resources.join()) return false;
    if (known.way === feed.way) return true;
    const position = feed.translatePosition(known);
    if (position === undefined) return false;
    const { checkpoint } = this.#copy();
    await checkpoint.commit({ state: { chain: { ...known, way: feed.way, position } } });
    return true;
  }

  /** Waits for the next reports, but not longer than until the checkpoint has to be updated without any. */
  async #arrival(inbox: Inbox, signal: AbortSignal): Promise<void> {
    const { clock } = this.#copy().environment;
    const came = new AbortController();
    await Promise.race([inbox.arrival, clock.sleep(NOTED, AbortSignal.any([signal, came.signal]))]);
    came.abort();
  }

  /** Applies a batch to the copy; undefined: nothing has arrived for a while. @returns the chain after the batch */
  async #apply(chain: Chain, { isPushed }: ChangeFeed, batch: Batch | undefined): Promise<Chain> {
    const copy = this.#copy();
    const now = copy.environment.clock.now();
    const isLevel = batch?.isLevel ?? (isPushed && this.#heardAt !== undefined);
    if (isLevel) this.#heardAt = now;
    const position = batch?.position ?? chain.position;
    const changes = batch?.changes ?? [];
    const isNoted = chain.level !== undefined && Math.abs(now - chain.level) < NOTED;
    const isWhole = isLevel && this.#resources().every((each) => isKeptCurrent(copy.checkpoint, each));
    if (changes.length === 0 && position === chain.position && (!isWhole || isNoted)) return chain;
    return applyChanges(copy, chain, changes, {
      position,
      isLevel: isWhole,
      distinct: () => this.#distinct(),
    });
  }

  /**
   * A unique value that is not the key of any record. Added to the keys of a filter, it makes the filter different from every
   * earlier one.
   */
  #distinct(): string {
    return `~${this.#copy().environment.clock.now().toString(36)}.${++this.#requests}`;
  }

  #resources(): string[] {
    return windowedCollections(this.#copy()).toSorted();
  }

  #now(feed: ChangeFeed, ends: AbortSignal): Promise<StartPosition> {
    return feed.currentPosition(this.#resources(), ends, this.#copy().checkpoint.get('walked') ?? {});
  }

  /** Begins a chain at a position that the source has just returned. */
  async #begin(feed: ChangeFeed, { position, unreported }: StartPosition, isBroken: boolean): Promise<void> {
    const { checkpoint, name, store, ...copy } = this.#copy();
    const since = timestampFrom(await copy.feed.serverTime());
    const fresh: string[] = [];
    for (const each of isBroken ? [] : this.#resources()) {
      const isNew = checkpoint.load(each).kind === 'new';
      if (isNew && (await store.checkpoints.stored(name, each)) === 0) fresh.push(each);
    }
    const chain: Chain = {
      way: feed.way,
      resources: this.#resources(),
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
  async #settle(): Promise<void> {
    const { checkpoint } = this.#copy();
    const chain = checkpoint.get('chain');
    if (chain?.isBroken === true) {
      await this.#review();
      await refreshAll(this.#copy(), BROKEN);
      const { isBroken: _, ...whole } = chain;
      await checkpoint.commit({ state: { chain: whole } });
    }
    const copy = this.#copy();
    await downloadAll(copy, this.#resources());
    // Fetch what is still pending from an earlier run.
    for (const resource of this.#resources()) {
      await checkpoint.fetchInTurn(resource, () => fetchPending(copy, resource));
    }
  }

  /** Stores and reports the method by which changes arrive, if it has changed. */
  async #note(way: Following['way'], reason?: string): Promise<void> {
    const { checkpoint, environment, report } = this.#copy();
    const before = checkpoint.get('following');
    if (before?.way === way && before.reason === reason) return;
    const why = reason === undefined ? {} : { reason };
    await checkpoint.commit({ state: { following: { way, since: environment.clock.now(), ...why } } });
    report({ kind: 'follow', way, ...why });
  }
}
