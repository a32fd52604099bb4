import type { Command } from 'commander';
import { platError } from '../../errors/index.ts';
import { systemClock } from '../../store/clock.ts';
import {
  createWebhook,
  deleteWebhook,
  pauseWebhook,
  replayWebhook,
  resumeWebhook,
  rotateWebhook,
  type ShownWebhook,
  shown,
  testWebhook,
} from '../../webhooks/operations.ts';
import { withStore } from '../open-store.ts';
import {
  addOptions,
  applyConfig,
  CONFIG_OPTION,
  collect,
  JSON_OPTION,
  option,
  required,
  STORE_OPTION,
} from '../options.ts';
import { print, table } from '../output.ts';
import { reportLines, writeLines } from '../terminal.ts';
import { webhookPost } from '../webhook-post.ts';

const ID = 'as "webhook list" shows it';
const SECRET_HINT =
  'The receiver verifies messages with this secret (Standard Webhooks). A process of "plat serve" delivers them.';

export function defineWebhooks(webhook: Command): void {
  addOptions(
    webhook.command('create').description('create a webhook and print its secret, once'),
    STORE_OPTION(),
    CONFIG_OPTION(),
    required('--url <url>', 'address to which changes are posted'),
    option('--role <role>', 'role whose view of the records it is told of').default('idx'),
    option(
      '--resources <names>',
      'only these resources, separated by commas; default: all that the role reads',
    ),
    option('--system <OUID>', 'only this originating system; may be repeated').argParser(collect).default([]),
    option('--bearer <token>', 'token of the receiver, which requests carry'),
    option('--private-hosts', 'let the address lead into a private network'),
    JSON_OPTION(),
  ).action(async (_options, command: Command) => {
    const config = await applyConfig(command);
    const {
      store: address,
      url,
      role,
      resources = '',
      system: systems,
      bearer = null,
      json,
    } = command.opts();
    const privateHosts = command.opts().privateHosts === true;
    const names = String(resources).split(',').filter(Boolean);
    await withStore(address, { create: false, config }, async (store) => {
      const made = await createWebhook(store, { url, role, resources: names, systems, bearer, privateHosts });
      print({ ...made.webhook, secret: made.secret }, made.secret, json);
      // On stderr, since scripts take the secret from stdout.
      if (json !== true) reportLines(`${made.webhook.id} is told of changes from now on. ${SECRET_HINT}`);
    });
  });
  addOptions(
    webhook.command('list').description('list webhooks, how far they are, and what went wrong'),
    STORE_OPTION(),
    CONFIG_OPTION(),
    JSON_OPTION(),
  ).action(async (_options, command: Command) => {
    await applyConfig(command);
    const { store: address, json } = command.opts();
    await withStore(address, { create: false }, async (store) => {
      const webhooks = (await store.webhooks.list()).map(shown);
      print(webhooks, webhookTable(webhooks, await store.now()), json);
    });
  });
  define(
    'test',
    'send a message without events now, and say what the receiver answered',
    async (store, id) => {
      const { post, close } = webhookPost();
      const signal = new AbortController().signal;
      const outcome = await testWebhook(store, id, { post, now: () => systemClock.now(), signal }).finally(
        close,
      );
      if (outcome.kind === 'delivered') return `${id} has taken the message`;
      throw platError('failed', { reason: `${id} has not taken the message: ${outcome.why}.` });
    },
  );
  define('pause', 'send nothing more until it is resumed; it misses nothing', async (store, id) => {
    await pauseWebhook(store, id);
    return `${id} is paused`;
  });
  define('resume', 'go on where deliveries stopped, at once', async (store, id) => {
    await resumeWebhook(store, id);
    return `${id} is resumed`;
  });
  define('rotate', 'print a new secret; for 24 hours the one before signs, too', (store, id) =>
    rotateWebhook(store, id),
  );
  define('delete', 'delete a webhook', async (store, id) => {
    await deleteWebhook(store, id);
    return `${id} is deleted`;
  });
  addOptions(
    webhook.command('replay').description('deliver again, or from somewhere else on').argument('<id>', ID),
    STORE_OPTION(),
    CONFIG_OPTION(),
    required('--since <position>', 'a number of the sequence of changes, start or end'),
  ).action(async (id: string, _options, command: Command) => {
    await applyConfig(command);
    const { store: address, since } = command.opts();
    await withStore(address, { create: false }, async (store) => {
      await replayWebhook(store, id, since);
      writeLines(`${id} gets what has changed since ${since}`);
    });
  });

  /** A command that does one thing with one webhook. */
  function define(
    name: string,
    description: string,
    action: (store: Parameters<typeof pauseWebhook>[0], id: string) => Promise<string>,
  ): void {
    addOptions(
      webhook.command(name).description(description).argument('<id>', ID),
      STORE_OPTION(),
      CONFIG_OPTION(),
    ).action(async (id: string, _options, command: Command) => {
      await applyConfig(command);
      await withStore(command.opts().store, { create: false }, async (store) => {
        writeLines(await action(store, id));
      });
    });
  }
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
  return `failed ${attempts} times, again in ${Math.max(0, Math.ceil((nextAttempt - now) / 1000))} s`;
}
