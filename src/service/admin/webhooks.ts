/**
 * The operator's actions on webhooks through the admin port, with the same rules as the command line (webhooks/operations.ts).
 */
import { malformedError } from '../../errors/index.ts';
import type { Store } from '../../store/store.ts';
import { createWebhook, replayWebhook } from '../../webhooks/operations.ts';
import { type BodyMembers, requireString } from '../console/json-body.ts';
import { jsonReply, type Reply } from '../exchange.ts';

/** @throws PlatError `requestMalformed`; `usage` as of `createWebhook` */
export async function newWebhook(store: Store, given: BodyMembers): Promise<Reply> {
  const made = await createWebhook(store, {
    url: requireString(given, 'url'),
    role: requireString(given, 'role'),
    resources: textsIn(given, 'resources'),
    systems: textsIn(given, 'systems'),
    bearer: given.bearer === undefined ? null : requireString(given, 'bearer'),
    // Otherwise anyone with a token could explore a private network through this port.
    privateHosts: false,
  });
  return { ...jsonReply(made), status: 201 };
}

/** @throws PlatError `requestMalformed` */
function textsIn(given: BodyMembers, name: string): string[] {
  const texts = given[name] ?? [];
  if (Array.isArray(texts) && texts.every((each) => typeof each === 'string')) return texts;
  throw malformedError(`${name} is not a list of strings`);
}

/** @throws PlatError `requestMalformed`; `usage` for an unknown position */
export async function replay(store: Store, id: string, given: BodyMembers): Promise<Reply> {
  const since = typeof given.since === 'number' ? String(given.since) : requireString(given, 'since');
  return noContentAfter(replayWebhook(store, id, since));
}

/** A response without content, once an action is complete. */
export async function noContentAfter(work: Promise<void>): Promise<Reply> {
  await work;
  return { status: 204, headers: {}, body: [] };
}
