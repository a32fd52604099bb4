/** What an operator can do with webhooks, for the command line and the admin port. It must not know who the operator is. */
import { randomBytes } from 'node:crypto';
import { timestampFrom } from '../dictionary/index.ts';
import { platError, usageError } from '../errors/index.ts';
import { type FeedPosition, parsePosition, SEQUENCE_START } from '../store/changes/change-feed.ts';
import type { Webhook, WebhookTarget } from '../store/changes/webhooks.ts';
import { findRole, mustNotBeBlank } from '../store/keys/new-key.ts';
import type { Store } from '../store/store.ts';
import { type AttemptContext, attemptDelivery, type DeliveryOutcome } from './attempt.ts';
import { makeSecret } from './sign.ts';
import { NO_FAILURE } from './worker.ts';

/** A webhook as an operator sees it, without its secrets. */
export interface ShownWebhook
  extends Omit<WebhookTarget, 'bearer'>,
    Pick<
      Webhook,
      'paused' | 'delivered' | 'deliveredAt' | 'attempts' | 'failingSince' | 'nextAttempt' | 'lastError'
    > {
  readonly position: number;
  readonly hasBearer: boolean;
}

type NewWebhook = Pick<WebhookTarget, 'url' | 'role' | 'systems' | 'resources' | 'bearer' | 'privateHosts'>;

/**
 * Creates a webhook that receives changes from now on.
 *
 * @returns the webhook and its secret, which is shown only this once
 * @throws PlatError `usage` for an invalid URL, role, resource or system
 */
export async function createWebhook(
  store: Store,
  asked: NewWebhook,
): Promise<{ readonly webhook: ShownWebhook; readonly secret: string }> {
  const model = await store.model();
  const url = addressOf(asked);
  mustBeToken(asked.bearer);
  mustNotBeBlank(asked.systems, 'system');
  const role = findRole(model, asked.role);
  for (const resource of asked.resources) {
    if (!model.dictionary.resources.has(resource)) throw platError('resourceUnknown', { name: resource });
    if (!role.readsResource(resource)) throw usageError(`The role ${asked.role} does not read ${resource}.`);
  }
  const { position } = await store.feed({ since: 'end', limit: 1 });
  const secret = makeSecret();
  const id = `wh_${randomBytes(8).toString('hex')}`;
  const createdAt = timestampFrom(await store.now());
  const state = { paused: null, position, delivered: 0, deliveredAt: null, ...NO_FAILURE };
  await store.webhooks.add({ id, ...asked, url, createdAt, secret, former: null, ...state });
  return { webhook: await webhookOf(store, id).then(withoutSecrets), secret };
}

/** The maximum length of a URL. The URLs of receivers are much shorter. */
const LONGEST_ADDRESS = 2000;

/** The normalized URL, to which requests are sent. @throws PlatError `usage` */
function addressOf({ url, privateHosts }: NewWebhook): string {
  if (url.length > LONGEST_ADDRESS)
    throw usageError(`The address has more than ${LONGEST_ADDRESS} characters.`);
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^https?:$/.test(address.protocol)) {
    throw usageError(`${url} is not a web address, such as https://example.com/events.`);
  }
  if (address.username !== '' || address.password !== '') {
    throw usageError(
      'The address of a webhook must not contain a password; --bearer takes a token of the receiver.',
    );
  }
  if (address.protocol === 'http:' && !privateHosts) {
    throw usageError(
      `${url} is not encrypted; only hosts in a private network (--private-hosts) may use http.`,
    );
  }
  address.hash = '';
  return address.href;
}

/** Checks that a header can contain the token; the error does not repeat it. @throws PlatError `usage` */
function mustBeToken(bearer: string | null): void {
  if (bearer !== null && !/^[\x21-\x7e]+$/.test(bearer))
    throw usageError('The token of the receiver has characters other than visible ASCII.');
}

/** The webhook without its secrets. Members are listed explicitly, so that none is shown by mistake. */
export function withoutSecrets(webhook: Webhook): ShownWebhook {
  const { id, url, role, systems, resources, privateHosts, createdAt } = webhook;
  const { paused, delivered, deliveredAt, attempts, failingSince, nextAttempt, lastError } = webhook;
  return {
    ...{ id, url, role, systems, resources, privateHosts, createdAt },
    ...{ paused, delivered, deliveredAt, attempts, failingSince, nextAttempt, lastError },
    position: webhook.position.sequence,
    hasBearer: webhook.bearer !== null,
  };
}

/** @throws PlatError `recordNotFound` */
async function webhookOf(store: Store, id: string): Promise<Webhook> {
  const found = (await store.webhooks.list()).find((each) => each.id === id);
  if (found === undefined) throw notFound();
  return found;
}

const notFound = () => platError('recordNotFound', { resource: 'webhook' });

/** Sends a message without events, whether the webhook is paused or not. */
export async function testWebhook(store: Store, id: string, means: AttemptContext): Promise<DeliveryOutcome> {
  return attemptDelivery(await webhookOf(store, id), [], means);
}

export async function pauseWebhook(store: Store, id: string): Promise<void> {
  if (!(await store.webhooks.update(id, { paused: 'an operator paused it' }))) throw notFound();
}

/** Resumes deliveries at once where they stopped. */
export async function resumeWebhook(store: Store, id: string): Promise<void> {
  const resumed = { paused: null, ...NO_FAILURE };
  if (!(await store.webhooks.update(id, resumed))) throw notFound();
}

/**
 * Delivers changes again, or skips some, and resumes a paused webhook.
 *
 * @param since a number or a position of the sequence of changes, `start` or `end`
 * @throws PlatError `usage`
 */
export async function replayWebhook(store: Store, id: string, since: string): Promise<void> {
  const position = await positionOf(store, since);
  const page = await store.feed({ since: position, limit: 1 });
  if (page.kind === 'gone') {
    throw usageError(
      `The changes since ${since} are unknown: they are no longer kept, or have not happened yet.`,
    );
  }
  if (!(await store.webhooks.update(id, { position, paused: null, ...NO_FAILURE }))) throw notFound();
}

async function positionOf(store: Store, since: string): Promise<FeedPosition> {
  if (since === 'start') return SEQUENCE_START;
  if (since === 'end') return (await store.feed({ since: 'end', limit: 1 })).position;
  const position = parsePosition(since);
  if (position === undefined) throw usageError(`${since} is not a position; use a number, start or end.`);
  return position;
}

/** How long the previous secret still signs, in milliseconds. */
const OVERLAP = 24 * 3_600_000;

/**
 * Gives a webhook a new secret; for a day, the old one also signs.
 *
 * @returns the new secret, which is shown only this once, and a function that restores the old one if the new one could not be
 * delivered
 */
export async function rotateWebhookSecret(
  store: Store,
  id: string,
): Promise<{ readonly secret: string; readonly undo: () => Promise<unknown> }> {
  const { secret: before, former } = await webhookOf(store, id);
  const secret = makeSecret();
  const until = (await store.now()) + OVERLAP;
  if (!(await store.webhooks.update(id, { secret, former: { secret: before, until } }))) throw notFound();
  return { secret, undo: () => store.webhooks.update(id, { secret: before, former }) };
}

export async function deleteWebhook(store: Store, id: string): Promise<void> {
  if (!(await store.webhooks.remove(id))) throw notFound();
}
