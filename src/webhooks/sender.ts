/**
 * Sends the changes of a store to its webhooks while the process serves it. Each webhook has its own worker, so that a slow
 * receiver does not delay others. Processes that serve the same store share the work: only one of them holds a webhook at a time.
 */
import { randomUUID } from 'node:crypto';
import type { FeedPosition } from '../store/changes/change-feed.ts';
import type { DeadHold, Webhook } from '../store/changes/webhooks.ts';
import type { WebhookStates } from './controls.ts';
import { Deadlines } from './deadlines.ts';
import { MAX_RETRY_AFTER } from './retry-plan.ts';
import {
  deliverPending,
  HOLD_DURATION,
  nextStepFor,
  shouldSavePosition,
  type WorkerContext,
} from './worker.ts';

interface SenderOptions extends Omit<WorkerContext, 'signal' | 'holder' | 'isDue'> {
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  /** Called with an error that prevents the process from processing webhooks. */
  readonly onTrouble: (error: unknown) => void;
}

/**
 * The longest time between two checks, in milliseconds. It is needed because no commit reports that another process has created or
 * resumed a webhook, or has stopped holding one.
 */
const MAX_CHECK_INTERVAL = 2000;
/** The longest time between two checks after an error of the store, in milliseconds. */
const CHECK_INTERVAL_AFTER_ERROR = 5000;
/** The shortest time between two checks, in milliseconds, so that many consecutive commits are handled together. */
const MIN_CHECK_INTERVAL = 25;

/** The number of webhooks that this process works on at once. */
const MAX_CONCURRENT_WEBHOOKS = 64;

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
  /** The deadlines of holds of other processes, and of the next attempts. */
  readonly #holds: Deadlines;
  readonly #attempts: Deadlines;
  /** How far each webhook's changes have been searched for ones to deliver. */
  readonly #looked = new Map<string, { readonly from: number; readonly to: FeedPosition }>();
  #running: Promise<void> | undefined;
  /** The number of reasons for a check so far. */
  #calls = 0;
  /** Ends the wait for the next check. */
  #wake: (() => void) | undefined;
  /** Milliseconds from the last check to the earliest attempt that was not due then. */
  #due = Number.POSITIVE_INFINITY;
  /** Stops watching commits. */
  #unwatch: (() => void) | undefined;
  #states: WebhookStates = { active: 0, failing: 0, paused: 0 };

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#holds = new Deadlines(options.elapsed);
    this.#attempts = new Deadlines(options.elapsed);
  }

  /** The number of webhooks that are being processed. */
  get busy(): number {
    return this.#busy.size;
  }

  /** The states of the webhooks at the last check. */
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
        await this.check();
        this.#watchCommits();
        await sleep(MIN_CHECK_INTERVAL, signal);
        if (this.#calls === calls) await this.#rest();
      } catch (error) {
        onTrouble(error);
        await sleep(CHECK_INTERVAL_AFTER_ERROR, signal);
      }
    }
    this.#unwatch?.();
  }

  /** Watches commits while there is an active webhook; watching costs a little. */
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

  /** Waits until there is a reason for a check, or an attempt is due. */
  async #rest(): Promise<void> {
    const called = new AbortController();
    this.#wake = () => called.abort();
    await this.#options.sleep(
      Math.min(MAX_CHECK_INTERVAL, this.#due),
      AbortSignal.any([this.#closing.signal, called.signal]),
    );
    this.#wake = undefined;
  }

  /** Starts to process every webhook that has something due. */
  async check(): Promise<void> {
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
      if (hold === 'held' || this.#busy.has(webhook.id) || this.#busy.size >= MAX_CONCURRENT_WEBHOOKS)
        continue;
      if (this.#fromOf(webhook).sequence >= end.position.sequence) continue;
      this.#begin(webhook, hold === 'free' ? undefined : hold);
    }
  }

  /** Milliseconds until the next attempt; 0 or less: it is due. */
  #wait({ id, nextAttempt }: Webhook): number {
    const wait = nextAttempt - this.#options.now();
    return Math.min(wait, this.#attempts.remaining(id, String(nextAttempt), Math.min(wait, MAX_RETRY_AFTER)));
  }

  /** Whether another process holds a webhook; if that process has died, its hold. */
  #holdOf({ id, holder, heldUntil }: Webhook): 'free' | 'held' | DeadHold {
    if (holder === null || holder === this.#holder) return 'free';
    const left = this.#holds.remaining(id, `${holder} ${heldUntil}`, HOLD_DURATION);
    return left > 0 ? 'held' : { holder, heldUntil };
  }

  #begin(webhook: Webhook, over: DeadHold | undefined): void {
    const working = this.#work(webhook, over)
      .finally(() => this.#busy.delete(webhook.id))
      .then(
        // Changes that were committed in the meantime may not be delivered yet.
        () => this.#call(),
        (error: unknown) => this.#options.onTrouble(error),
      );
    this.#busy.set(webhook.id, working);
  }

  async #work(webhook: Webhook, over: DeadHold | undefined): Promise<void> {
    const { store } = this.#options;
    const next = await nextStepFor(store, webhook, this.#fromOf(webhook));
    if (next.kind === 'nothing' && !shouldSavePosition(webhook.position, next.position)) {
      this.#looked.set(webhook.id, { from: webhook.position.sequence, to: next.position });
      return;
    }
    await deliverPending(webhook.id, over, {
      ...this.#options,
      holder: this.#holder,
      signal: this.#closing.signal,
      isDue: (each) => this.#wait(each) <= 0,
    });
  }

  /** Where to continue searching. The last search is ignored if the webhook's position has been changed since. */
  #fromOf({ id, position }: Webhook): FeedPosition {
    const looked = this.#looked.get(id);
    return looked?.from === position.sequence ? looked.to : position;
  }
}
