import type { Command, OptionValues } from 'commander';
import { failedError } from '../../errors/index.ts';
import { systemClock } from '../../shared/clock.ts';
import type { Store } from '../../store/store.ts';
import {
  createWebhook,
  deleteWebhook,
  pauseWebhook,
  replayWebhook,
  resumeWebhook,
  rotateWebhookSecret,
  type ShownWebhook,
  testWebhook,
  withoutSecrets,
} from '../../webhooks/operations.ts';
import { JSON_OPTION, option, required, SYSTEM_OPTION } from '../options.ts';
import { print, printSecret, table } from '../output.ts';
import { defineStoreAction, idCommand } from '../store-command.ts';
import { reportLines } from '../terminal.ts';
import { webhookPost } from '../webhook-post.ts';

const SECRET_HINT =
  'The receiver verifies messages with this secret (Standard Webhooks). A process of "plat serve" delivers them.';

export function defineWebhooks(webhook: Command): void {
  const ofNew = [
    required('--url <url>', 'address to which changes are posted'),
    option('--role <role>', 'role whose view of the records it receives').default('idx'),
    option(
      '--resources <names>',
      'only these resources, separated by commas; default: all that the role reads',
    ),
    SYSTEM_OPTION(),
    option('--bearer <token>', 'token of the receiver, which requests contain'),
    option('--private-hosts', 'allow a URL in a private network'),
    JSON_OPTION(),
  ];
  const create = webhook.command('create').description('create a webhook and print its secret, once');
  const creating = async (store: Store, given: OptionValues): Promise<void> => {
    const { url, role, resources = '', system: systems, bearer = null, json } = given;
    const privateHosts = given.privateHosts === true;
    const names = String(resources).split(',').filter(Boolean);
    const made = await createWebhook(store, { url, role, resources: names, systems, bearer, privateHosts });
    const { id } = made.webhook;
    await printSecret(json ? { json: { ...made.webhook, secret: made.secret } } : made.secret, {
      what: `the secret of the webhook ${id}`,
      undo: () => deleteWebhook(store, id),
      undone: 'it is deleted',
      left: `delete it with "plat webhook delete ${id}"`,
    });
    // On stderr, since scripts take the secret from stdout.
    if (json !== true) reportLines(`${id} receives changes from now on. ${SECRET_HINT}`);
  };
  defineStoreAction(create, ofNew, creating, { isConfigured: true });
  const list = webhook.command('list').description('list webhooks, their positions and their last errors');
  defineStoreAction(list, [JSON_OPTION()], async (store, { json }) => {
    const webhooks = (await store.webhooks.list()).map(withoutSecrets);
    print(webhooks, webhookTable(webhooks, await store.now()), json);
  });
  const about = (name: string, description: string): Command => idCommand(webhook, name, description);
  const test = about('test', 'send a message without events now, and report the response of the receiver');
  defineStoreAction(test, [JSON_OPTION()], async (store, { json }, id: string) => {
    const { post, close } = webhookPost();
    const { signal } = new AbortController();
    const means = { post, now: () => systemClock.now(), signal };
    const outcome = await testWebhook(store, id, means).finally(close);
    if (outcome.kind !== 'delivered') {
      throw failedError(`${id} has not accepted the message: ${outcome.why}.`);
    }
    print({ id, outcome: 'accepted' }, `${id} has accepted the message`, json);
  });
  const pause = about('pause', 'stop deliveries until it is resumed; no change is lost');
  defineStoreAction(pause, [JSON_OPTION()], async (store, { json }, id: string) => {
    await pauseWebhook(store, id);
    print({ id, outcome: 'paused' }, `${id} is paused`, json);
  });
  const resume = about('resume', 'resume deliveries immediately where they stopped');
  defineStoreAction(resume, [JSON_OPTION()], async (store, { json }, id: string) => {
    await resumeWebhook(store, id);
    print({ id, outcome: 'resumed' }, `${id} is resumed`, json);
  });
  const rotate = about('rotate', 'print a new secret; for 24 hours, the old one also signs');
  defineStoreAction(rotate, [JSON_OPTION()], async (store, { json }, id: string) => {
    const { secret, undo } = await rotateWebhookSecret(store, id);
    await printSecret(json ? { json: { id, secret } } : secret, {
      what: `the new secret of the webhook ${id}`,
      undo,
      undone: 'it keeps the previous one',
      left: `repeat "plat webhook rotate ${id}"`,
    });
  });
  const remove = about('delete', 'delete a webhook');
  defineStoreAction(remove, [JSON_OPTION()], async (store, { json }, id: string) => {
    await deleteWebhook(store, id);
    print({ id, outcome: 'deleted' }, `${id} is deleted`, json);
  });
  const replay = about('replay', 'deliver again, or from another position on');
  const since = required('--since <position>', 'a number of the sequence of changes, start or end');
  defineStoreAction(replay, [since, JSON_OPTION()], async (store, { since, json }, id: string) => {
    await replayWebhook(store, id, since);
    print({ id, outcome: 'replayed', since }, `${id} delivers the changes since ${since}`, json);
  });
}

function webhookTable(webhooks: readonly ShownWebhook[], now: number): string[] {
  const head = [
    'id',
    'url',
    'role',
    'resources',
    'state',
    'delivered',
    'last delivery',
    'position',
    'last error',
  ];
  const rows = webhooks.map((each) => [
    ...[each.id, each.url, each.role, each.resources.join(',') || 'all', stateOf(each, now)],
    ...[String(each.delivered), each.deliveredAt ?? '', String(each.position), each.lastError ?? ''],
  ]);
  return table([head, ...rows]);
}

function stateOf({ paused, attempts, nextAttempt }: ShownWebhook, now: number): string {
  if (paused !== null) return `paused: ${paused}`;
  if (attempts === 0) return 'active';
  return `failed ${attempts === 1 ? 'once' : `${attempts} times`}, again in ${Math.max(0, Math.ceil((nextAttempt - now) / 1000))} s`;
}
