/** The paths of the admin port: this table both handles and describes them. */
import { KEY_KINDS } from '../../access/index.ts';
import { platError } from '../../errors/index.ts';
import {
  deleteWebhook,
  pauseWebhook,
  resumeWebhook,
  rotateWebhook,
  shown,
} from '../../webhooks/operations.ts';
import { allKeys, endKey, newKey } from '../console/keys.ts';
import { AWAY } from '../console/live.ts';
import { QUARANTINE_OPTIONS, quarantine, replicationAt, retry } from '../console/replication.ts';
import { rolesInForce } from '../console/roles.ts';
import { TEXT } from '../description/parts.ts';
import { json } from '../exchange.ts';
import { about } from './about.ts';
import type { AdminContext, AdminRoute, DescribedRoute } from './admin-route.ts';
import { PROBES, type Probed } from './probes.ts';
import { problemsOf } from './readiness.ts';
import { SEEN_ROUTES } from './seen-routes.ts';
import { done, newWebhook, replay } from './webhooks.ts';

export const ADMIN_ROUTES: readonly AdminRoute[] = [
  {
    path: '/live',
    method: 'GET',
    summary: 'Check whether the process is running',
    isOpen: true,
    answer: PROBES['/live'],
  },
  {
    path: '/ready',
    method: 'GET',
    summary: 'Check whether the process can serve requests; 503 with the reasons if it cannot',
    isOpen: true,
    answer: (context) => PROBES['/ready'](probed(context)),
  },
  {
    path: '/metrics',
    method: 'GET',
    summary: 'Retrieve metrics in the Prometheus text format',
    type: 'text/plain',
    isOpen: true,
    answer: (context) => PROBES['/metrics'](probed(context)),
  },
  {
    path: '/session',
    method: 'POST',
    summary: 'Log in to the console with the token in the body',
    body: { required: ['token'], properties: { token: TEXT } },
    isOpen: true,
    answer: ({ logIn }, { exchange }) => logIn.begin(exchange),
  },
  {
    path: '/session',
    method: 'DELETE',
    summary: 'Log out of the console',
    isOpen: true,
    answer: ({ logIn }, { exchange }) => logIn.end(exchange),
  },
  {
    path: '/about',
    method: 'GET',
    summary: 'Retrieve the addresses of the interfaces and the names of the roles',
    answer: async ({ store, addressOf }, { exchange }) => json(await about(store, addressOf, exchange)),
  },
  {
    path: '/status',
    method: 'GET',
    summary: 'Retrieve the counts, lag and settings of the store',
    answer: async ({ store }) => json(await store.status()),
  },
  {
    path: '/roles',
    method: 'GET',
    summary: 'List the roles in force, and the fields of each resource by access class',
    answer: async ({ store }) => json(rolesInForce(await store.model())),
  },
  {
    path: '/outlines',
    method: 'GET',
    summary:
      'Retrieve the background of the map of the console as GeoJSON: outlines of places with their names',
    answer: ({ outlines }) => json(outlines),
  },
  {
    path: '/keys',
    method: 'GET',
    summary: 'List keys with their usage, in total and in the last day, and the limits of each kind of key',
    answer: async (context) => {
      await context.usage.flush();
      return allKeys(context.store, context);
    },
  },
  {
    path: '/keys',
    method: 'POST',
    summary: 'Create a key; only this response contains its token',
    body: {
      required: ['name', 'kind', 'role'],
      properties: {
        name: TEXT,
        kind: { enum: KEY_KINDS },
        role: TEXT,
        systems: { type: 'array', items: TEXT },
        expires: TEXT,
      },
    },
    answer: ({ store }, { exchange }) => newKey(store, exchange),
  },
  {
    path: '/keys/{id}',
    method: 'DELETE',
    summary: 'Revoke a key, effective immediately in every process',
    answer: ({ store }, { names }) => endKey(store, names.id ?? ''),
  },
  {
    path: '/keys/{id}/history',
    method: 'GET',
    summary:
      'Retrieve the usage of a key per minute of the last day, over all processes; null for minutes without data',
    answer: async ({ days }, { names }) => json((await days.day()).key(names.id ?? '')),
  },
  {
    path: '/history',
    method: 'GET',
    summary:
      'Retrieve the requests, refusals, failures and times of each surface per minute of the last day, over all processes; null for minutes without data',
    answer: async ({ days }) => json((await days.day()).surfaces()),
  },
  {
    path: '/figures',
    method: 'GET',
    summary: 'Retrieve the metrics of /metrics as JSON',
    answer: async ({ metrics }) => json({ figures: await metrics.figures() }),
  },
  {
    path: '/replication',
    method: 'GET',
    summary:
      'Retrieve the state of the copies of a replica and their history of the last day, and the collections that each key is walking through, as seen by this process',
    answer: async (context) => json(await replicationAt(context, context.clock.now())),
  },
  {
    path: '/replication/quarantine',
    method: 'GET',
    summary: 'List records that a replica could not store, with their payloads and the reasons',
    query: QUARANTINE_OPTIONS,
    answer: ({ replica }, { exchange }) => quarantine(replica, exchange),
  },
  {
    path: '/replication/quarantine/retry',
    method: 'POST',
    summary: 'Retry the quarantined records of a source, or one of them: the next update requests them again',
    body: { required: ['source'], properties: { source: TEXT, resource: TEXT, key: TEXT } },
    answer: ({ replica }, { exchange }) => retry(replica, exchange),
  },
  {
    path: '/webhooks',
    method: 'GET',
    summary: 'List webhooks with the positions and errors of their deliveries',
    answer: async ({ store }) => json({ webhooks: (await store.webhooks.list()).map(shown) }),
  },
  {
    path: '/webhooks',
    method: 'POST',
    summary: 'Create a webhook for a receiver on the public internet; only this response contains its secret',
    body: {
      required: ['url', 'role'],
      properties: {
        url: TEXT,
        role: TEXT,
        resources: { type: 'array', items: TEXT },
        systems: { type: 'array', items: TEXT },
        bearer: TEXT,
      },
    },
    answer: ({ store }, { exchange }) => newWebhook(store, exchange),
  },
  {
    path: '/webhooks/{id}',
    method: 'DELETE',
    summary: 'Delete a webhook',
    answer: ({ store }, { names }) => done(deleteWebhook(store, names.id ?? '')),
  },
  {
    path: '/webhooks/{id}/test',
    method: 'POST',
    summary: 'Send the receiver a message without events and return its response',
    answer: async ({ webhooks }, { names }) => {
      if (webhooks === undefined) throw platError('recordNotFound', { resource: 'webhook' });
      return json(await webhooks.test(names.id ?? ''));
    },
  },
  {
    path: '/webhooks/{id}/pause',
    method: 'POST',
    summary: 'Pause the deliveries of a webhook',
    answer: ({ store }, { names }) => done(pauseWebhook(store, names.id ?? '')),
  },
  {
    path: '/webhooks/{id}/resume',
    method: 'POST',
    summary: 'Resume the deliveries of a webhook where they stopped',
    answer: ({ store }, { names }) => done(resumeWebhook(store, names.id ?? '')),
  },
  {
    path: '/webhooks/{id}/replay',
    method: 'POST',
    summary: 'Deliver the changes since a position (a number, start or end) again',
    body: { required: ['since'], properties: { since: TEXT } },
    answer: ({ store }, { names, exchange }) => replay(store, names.id ?? '', exchange),
  },
  {
    path: '/webhooks/{id}/rotate',
    method: 'POST',
    summary: 'Replace the secret of a webhook; for 24 hours, the old secret also signs',
    answer: async ({ store }, { names }) => json({ secret: await rotateWebhook(store, names.id ?? '') }),
  },
  {
    path: '/stream',
    method: 'GET',
    summary: 'Stream current figures every two seconds as server-sent events',
    type: 'text/event-stream',
    query: {
      with: 'replication: the stream also sends the content of GET /replication whenever it changes.',
    },
    answer: ({ live }, { exchange }) => {
      const wanted = new URLSearchParams(exchange.query).get('with');
      if (wanted !== null && wanted !== 'replication') {
        throw platError('optionInvalid', { name: 'with', value: wanted, expected: 'replication' });
      }
      if (live.isFull) throw platError('overloaded', { seconds: 10 }, { retryAfter: 10 });
      return {
        status: 200,
        headers: {},
        body: [],
        events: (until: AbortSignal) => live.events(until, wanted !== null),
        away: AWAY,
      };
    },
  },
];

const probed = (context: AdminContext): Probed => ({
  metrics: context.metrics,
  problems: () => problemsOf(context),
});

/** All paths that an operator may request, for the description. */
export const DESCRIBED_ROUTES: readonly DescribedRoute[] = [...ADMIN_ROUTES, ...SEEN_ROUTES];
