/**
 * Sends the changes of a store to its webhooks, as long as a process serves it. Each webhook is worked for by itself: a slow
 * receiver delays no other. Processes of one store share the work, since one of them at a time holds a webhook.
 */
import { randomUUID } from 'node:crypto';
import type { FeedPosition } from '../store/change-feed.ts';
import type { Store } from '../store/store.ts';
import type { DeadHold, Webhook } from '../store/webhooks.ts';
import { Deadlines } from './deadlines.ts';
import type { WebhookStates } from './desk.ts';
import type { Post } from './post.ts';
import { LONGEST_WAIT } from './retry-plan.ts';
import { HOLD, isWorthNoting, nextOf, work } from './worker.ts';

interface SenderOptions {
  readonly store: Store;
  readonly post: Post;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds since any moment, by a clock that nobody sets. */
  readonly elapsed: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Resolves after so many milliseconds, or when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  readonly onPaused: (webhook: Webhook, why: string) => void;
  /** Called with what keeps the process from looking after webhooks. */
  readonly onTrouble: (error: unknown) => void;
}

/**
 * Milliseconds until the next look if no commit calls for one before: no commit shows that another process has made or
 * resumed a webhook, or no longer holds one.
 */
const SAFETY = 2000;
/** The same after the store could not be asked. */
const AFTER_TROUBLE = 5000;
/** The minimum milliseconds between two checks, so that many consecutive commits are handled together. */
const BETWEEN_LOOKS = 25;

/** Webhooks that this process works for at once. */
const AT_ONCE = 64;

function statesOf(webhooks: readonly Webhook[]): WebhookStates {
  const active = webhooks.filter(({ paused }) => paused === null);
  const failing = active.filter(({ attempts }) => attempts > 0).length;
  return { active: active.length, failing, paused: webhooks.length - active.length };
}

export class WebhookSender {
  readonly #options: SenderOptions;
  readonly #closing = new AbortController();
  readonly #holder = randomUUID();
  readonly #busy = new Map<string, Promise<void>>();
  /** Until when holds of other processes count, and when attempts are due. */
  readonly #holds: Deadlines;
  readonly #attempts: Deadlines;
  /** How far each webhook was looked through for what concerns it. */
  readonly #looked = new Map<string, { readonly from: number; readonly to: FeedPosition }>();
  #running: Promise<void> | undefined;
  /** Reasons so far to look again. */
  #calls = 0;
  /** Ends the wait for the next look. */
  #wake: (() => void) | undefined;
  /** Milliseconds from the last look to the next attempt of those that are not due yet. */
  #due = Number.POSITIVE_INFINITY;
  /** Ends the watching of commits. */
  #unwatch: (() => void) | undefined;
  #states: WebhookStates = { active: 0, failing: 0, paused: 0 };

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#holds = new Deadlines(options.elapsed);
    this.#attempts = new Deadlines(options.elapsed);
  }

  /** Webhooks that are being sent to now. */
  get busy(): number {
    return this.#busy.size;
  }

  /** How many webhooks there were at the last look. */
  get states(): WebhookStates {
    return this.#states;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await Promise.allSettled(this.#busy.values());
  }

  async #run(): Promise<void> {
    const { sleep, onTrouble } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const calls = this.#calls;
      try {
        await this.look();
        this.#watchCommits();
        await sleep(BETWEEN_LOOKS, signal);
        if (this.#calls === calls) await this.#rest();
      } catch (error) {
        onTrouble(error);
        await sleep(AFTER_TROUBLE, signal);
      }
    }
    this.#unwatch?.();
  }

  /** Watches commits, which costs little but not nothing, while there is a webhook that is sent to. */
  #watchCommits(): void {
    if (this.#states.active > 0) {
      this.#unwatch ??= this.#options.store.watch(() => this.#call());
    } else {
      this.#unwatch?.();
      this.#unwatch = undefined;
    }
  }

  #call(): void {
    this.#calls++;
    this.#wake?.();
  }

  /** Waits until something calls for a look, or an attempt is due. */
  async #rest(): Promise<void> {
    const called = new AbortController();
    this.#wake = () => called.abort();
    await this.#options.sleep(
      Math.min(SAFETY, this.#due),
      AbortSignal.any([this.#closing.signal, called.signal]),
    );
    this.#wake = undefined;
  }

  /** Begins to work for each webhook that something is due for. */
  async look(): Promise<void> {
    const { store } = this.#options;
    const webhooks = await store.webhooks.list();
    this.#states = statesOf(webhooks);
    const ids = new Set(webhooks.map(({ id }) => id));
    this.#holds.retain(ids);
    this.#attempts.retain(ids);
    const active = webhooks.filter(({ paused }) => paused === null);
    const waits = active.map((webhook) => this.#wait(webhook));
    this.#due = Math.min(...waits.filter((wait) => wait > 0));
    const due = active.filter((_, index) => (waits[index] ?? 0) <= 0);
    if (due.length === 0) return;
    const end = await store.feed({ since: 'end', limit: 1 });
    for (const webhook of due) {
      const hold = this.#holdOf(webhook);
      if (hold === 'held' || this.#busy.has(webhook.id) || this.#busy.size >= AT_ONCE) continue;
      if (this.#fromOf(webhook).sequence >= end.position.sequence) continue;
      this.#begin(webhook, hold === 'free' ? undefined : hold);
    }
  }

  /** Milliseconds until the next attempt; 0 or less: it is due. */
  #wait({ id, nextAttempt }: Webhook): number {
    const wait = nextAttempt - this.#options.now();
    return Math.min(wait, this.#attempts.left(id, String(nextAttempt), Math.min(wait, LONGEST_WAIT)));
  }

  /** Whether another process holds a webhook, and if one does that has died, which. */
  #holdOf({ id, holder, heldUntil }: Webhook): 'free' | 'held' | DeadHold {
    if (holder === null || holder === this.#holder) return 'free';
    const left = this.#holds.left(id, `${holder} ${heldUntil}`, HOLD);
    return left > 0 ? 'held' : { holder, heldUntil };
  }

  #begin(webhook: Webhook, over: DeadHold | undefined): void {
    const working = this.#work(webhook, over)
      .finally(() => this.#busy.delete(webhook.id))
      .then(
        // What was committed meanwhile may not be delivered yet.
        () => this.#call(),
        (error: unknown) => this.#options.onTrouble(error),
      );
    this.#busy.set(webhook.id, working);
  }

  async #work(webhook: Webhook, over: DeadHold | undefined): Promise<void> {
    const { store } = this.#options;
    const next = await nextOf(store, webhook, this.#fromOf(webhook));
    if (next.kind === 'nothing' && !isWorthNoting(webhook.position, next.position)) {
      this.#looked.set(webhook.id, { from: webhook.position.sequence, to: next.position });
      return;
    }
    await work(webhook.id, over, {
      ...this.#options,
      holder: this.#holder,
      signal: this.#closing.signal,
      isDue: (each) => this.#wait(each) <= 0,
    });
  }

  /** What was looked through counts as long as the webhook was not moved since, forward or back. */
  #fromOf({ id, position }: Webhook): FeedPosition {
    const looked = this.#looked.get(id);
    return looked?.from === position.sequence ? looked.to : position;
  }
}
