/**
 * Sends the changes of a store to its webhooks, as long as a process serves it. Each webhook is worked for by itself: a slow
 * receiver delays no other. Processes of one store share the work, since one of them at a time holds a webhook.
 */
import { randomUUID } from 'node:crypto';
import type { FeedPosition } from '../store/change-feed.ts';
import type { Store } from '../store/store.ts';
import type { Webhook } from '../store/webhooks.ts';
import type { WebhookStates } from './desk.ts';
import type { Post } from './post.ts';
import { isWorthNoting, nextOf, work } from './worker.ts';

interface SenderOptions {
  readonly store: Store;
  readonly post: Post;
  /** Milliseconds since 1970. */
  readonly now: () => number;
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
/** Milliseconds between two looks at least, so that many commits in a row are looked at together. */
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
  /** How far each webhook was looked through for what concerns it. */
  readonly #looked = new Map<string, { readonly from: number; readonly to: FeedPosition }>();
  #running: Promise<void> | undefined;
  /** Reasons so far to look again. */
  #calls = 0;
  /** Ends the wait for the next look. */
  #wake: (() => void) | undefined;
  /** When the next attempt is due of those that are not yet. */
  #due = Number.POSITIVE_INFINITY;
  /** Ends the watching of commits. */
  #unwatch: (() => void) | undefined;
  #states: WebhookStates = { active: 0, failing: 0, paused: 0 };

  constructor(options: SenderOptions) {
    this.#options = options;
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
    const until = Math.min(SAFETY, Math.max(0, this.#due - this.#options.now()));
    await this.#options.sleep(until, AbortSignal.any([this.#closing.signal, called.signal]));
    this.#wake = undefined;
  }

  /** Begins to work for each webhook that something is due for. */
  async look(): Promise<void> {
    const { store, now } = this.#options;
    const webhooks = await store.webhooks.list();
    this.#states = statesOf(webhooks);
    const moment = now();
    const active = webhooks.filter(({ paused }) => paused === null);
    const due = active.filter(({ nextAttempt }) => nextAttempt <= moment);
    this.#due = Math.min(...active.flatMap(({ nextAttempt: at }) => (at > moment ? [at] : [])));
    if (due.length === 0) return;
    const end = await store.feed({ since: 'end', limit: 1 });
    for (const webhook of due) {
      const { id, holder, heldUntil } = webhook;
      const isHeld = holder !== null && holder !== this.#holder && heldUntil >= moment;
      if (isHeld || this.#busy.has(id) || this.#busy.size >= AT_ONCE) continue;
      if (this.#fromOf(webhook).sequence >= end.position.sequence) continue;
      this.#begin(webhook);
    }
  }

  #begin(webhook: Webhook): void {
    const working = this.#work(webhook)
      .finally(() => this.#busy.delete(webhook.id))
      .then(
        // What was committed meanwhile may not be delivered yet.
        () => this.#call(),
        (error: unknown) => this.#options.onTrouble(error),
      );
    this.#busy.set(webhook.id, working);
  }

  async #work(webhook: Webhook): Promise<void> {
    const { store } = this.#options;
    const next = await nextOf(store, webhook, this.#fromOf(webhook));
    if (next.kind === 'nothing' && !isWorthNoting(webhook.position, next.position)) {
      this.#looked.set(webhook.id, { from: webhook.position.sequence, to: next.position });
      return;
    }
    await work(webhook.id, { ...this.#options, holder: this.#holder, signal: this.#closing.signal });
  }

  /** What was looked through counts as long as the webhook was not moved since, forward or back. */
  #fromOf({ id, position }: Webhook): FeedPosition {
    const looked = this.#looked.get(id);
    return looked?.from === position.sequence ? looked.to : position;
  }
}
