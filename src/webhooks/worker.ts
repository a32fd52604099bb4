/**
 * Delivers pending changes to one webhook, batch by batch, until everything is delivered or an attempt fails. A worker
 * holds its webhook, so that batches are sent in order. A delivery is recorded after the receiver has confirmed it, so
 * that a batch may be repeated and none is skipped.
 */
import type { StoreModel } from '../compile/model.ts';
import { timestampFrom } from '../dictionary/index.ts';
import type { FeedPosition, RecordChange } from '../store/changes/change-feed.ts';
import type { DeadHold, Webhook, WebhookChange } from '../store/changes/webhooks.ts';
import type { Store } from '../store/store.ts';
import { type AttemptContext, attemptDelivery, messageBody } from './attempt.ts';
import { failingSinceAt, nextAttemptTime } from './retry-plan.ts';

export interface WorkerContext extends AttemptContext {
  readonly store: Store;
  /** From 0 to 1. */
  readonly random: () => number;
  /** The name under which this process holds webhooks. */
  readonly holder: string;
  /** Waits; aborting the signal ends the wait early. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Whether the next attempt is due. */
  readonly isDue: (webhook: Webhook) => boolean;
  /** Called when nothing more will be sent until an operator resumes the webhook. */
  readonly onPaused: (webhook: Webhook, why: string) => void;
}

/** The number of events in a message; Standard Webhooks recommends less than 20 kB. */
const BATCH = 100;
const LARGEST_BODY = 20_000;

/** How long a hold on a webhook lasts if it is not renewed, and how often it is renewed, in milliseconds. */
export const HOLD_DURATION = 15_000;
const HOLD_RENEWAL_INTERVAL = 5000;

/** After this many entries that do not concern a webhook, its position is saved. */
const NOTED_AFTER = 20_000;

/** The next step for a webhook. `nothing`: everything up to the position does not concern it. `stop`: it cannot continue. */
type Next =
  | { readonly kind: 'batch'; readonly changes: readonly RecordChange[]; readonly position: FeedPosition }
  | { readonly kind: 'nothing'; readonly position: FeedPosition }
  | { readonly kind: 'stop'; readonly why: string };

/** @param from where to search for the first batch, if it is known */
export async function nextStepFor(store: Store, webhook: Webhook, from: FeedPosition): Promise<Next> {
  const scope = scopeOf(await store.model(), webhook);
  if (scope === undefined) return { kind: 'stop', why: `the role ${webhook.role} no longer exists` };
  const { batchEnd } = webhook;
  const resources = webhook.resources.length === 0 ? undefined : webhook.resources;
  let limit = BATCH;
  for (let since = from; ; ) {
    const page = await store.feed({ since, scope, limit, resources });
    if (page.kind === 'gone') {
      const why =
        'the changes since its last delivery are no longer kept; after a full download, replay it from "end"';
      return { kind: 'stop', why };
    }
    const { changes, position, isLevel } = page;
    if (changes.length === 0) {
      if (isLevel) return { kind: 'nothing', position };
      since = position;
      continue;
    }
    const most = batchSize(changes, batchEnd);
    if (most === changes.length) return { kind: 'batch', changes, position };
    limit = most;
  }
}

/** How many changes form a batch: those of the batch that is repeated, or as many as fit into a message. */
function batchSize(changes: readonly RecordChange[], batchEnd: number | null): number {
  const repeated = changes.filter(({ sequence }) => batchEnd !== null && sequence <= batchEnd).length;
  let most = repeated === 0 ? changes.length : repeated;
  while (most > 1 && messageBody(changes.slice(0, most)).length > LARGEST_BODY) most = Math.ceil(most / 2);
  return most;
}

function scopeOf({ rules }: StoreModel, { role, systems }: Webhook) {
  const known = rules.roles.get(role);
  return known && { bit: known.bit, systems: systems.length === 0 ? undefined : systems };
}

/**
 * Takes a webhook and works on it until there is nothing more to deliver, another process has taken it, or the signal is aborted.
 *
 * @param deadHold the hold of a process that has died
 */
export async function deliverPending(
  id: string,
  deadHold: DeadHold | undefined,
  means: WorkerContext,
): Promise<void> {
  const { store, now, holder } = means;
  if (!(await store.webhooks.hold(id, holder, now() + HOLD_DURATION, deadHold))) return;
  const [done, lost] = [new AbortController(), new AbortController()];
  const signal = AbortSignal.any([means.signal, lost.signal]);
  const holding = renewHold(id, means, done.signal).finally(() => lost.abort());
  holding.catch(() => undefined); // it is waited for below
  try {
    for (let more = true; more && !signal.aborted; ) {
      const webhook = (await store.webhooks.list()).find((each) => each.id === id);
      const isDue = webhook?.paused === null && means.isDue(webhook);
      more = isDue && (await deliverNextBatch(webhook, { ...means, signal }));
    }
  } finally {
    done.abort();
    await holding.finally(() => store.webhooks.release(id, holder));
  }
}

/** Renews the hold while an attempt is running. Resolves when the work is done, or when the webhook is lost to another process. */
async function renewHold(id: string, { store, now, holder, sleep }: WorkerContext, done: AbortSignal) {
  for (;;) {
    await sleep(HOLD_RENEWAL_INTERVAL, done);
    if (done.aborted || !(await store.webhooks.hold(id, holder, now() + HOLD_DURATION))) return;
  }
}

/** @returns whether there may be more to do */
async function deliverNextBatch(webhook: Webhook, means: WorkerContext): Promise<boolean> {
  const { store, now, holder, signal } = means;
  const saveState = (change: WebhookChange): Promise<boolean> =>
    store.webhooks.update(webhook.id, change, { holder, position: webhook.position });
  const pause = async (why: string): Promise<false> => {
    if (await saveState({ paused: why })) means.onPaused(webhook, why);
    return false;
  };
  const next = await nextStepFor(store, webhook, webhook.position);
  if (next.kind === 'stop') return pause(next.why);
  if (next.kind === 'nothing') {
    if (shouldSavePosition(webhook.position, next.position)) await saveState({ position: next.position });
    return false;
  }
  const begun = now();
  const outcome = await attemptDelivery(webhook, next.changes, means);
  if (signal.aborted && outcome.kind !== 'delivered') return false;
  switch (outcome.kind) {
    case 'delivered':
      return saveState({
        ...{ position: next.position, delivered: webhook.delivered + next.changes.length },
        ...{ deliveredAt: timestampFrom(now()), ...NO_FAILURE },
      });
    case 'ended':
      return pause(outcome.why);
    case 'failed': {
      const attempts = webhook.attempts + 1;
      const failingSince = failingSinceAt(webhook, begun);
      const { retryAfter, why: lastError } = outcome;
      const again = nextAttemptTime({
        attempts,
        failingSince,
        now: now(),
        retryAfter,
        random: means.random(),
      });
      const batchEnd = next.changes.at(-1)?.sequence ?? null;
      const failed = { attempts, failingSince, lastError, batchEnd };
      if (again !== undefined) await saveState({ ...failed, nextAttempt: again });
      else if (await saveState({ ...failed, paused: `it failed for 72 hours: ${lastError}` }))
        means.onPaused(webhook, lastError);
      return false;
    }
  }
}

/** The state of a webhook that is not failing. */
export const NO_FAILURE = {
  attempts: 0,
  failingSince: null,
  nextAttempt: 0,
  lastError: null,
  batchEnd: null,
} as const;

/** Whether enough entries were searched that the position should be saved. */
export const shouldSavePosition = (before: FeedPosition, after: FeedPosition): boolean =>
  after.sequence - before.sequence > NOTED_AFTER;
