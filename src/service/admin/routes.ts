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

const JSON_NAME = 'application/json';

export const ADMIN_ROUTES: readonly AdminRoute[] = [
  {
    path: '/live',
    method: 'GET',
    gives: 'that the process runs',
    type: JSON_NAME,
    isOpen: true,
    answer: PROBES['/live'],
  },
  {
    path: '/ready',
    method: 'GET',
    gives: 'whether it can answer, and if not (503), why',
    type: JSON_NAME,
    isOpen: true,
    answer: (context) => PROBES['/ready'](probed(context)),
  },
  {
    path: '/metrics',
    method: 'GET',
    gives: 'figures for Prometheus',
    type: 'text/plain',
    isOpen: true,
    answer: (context) => PROBES['/metrics'](probed(context)),
  },
  {
    path: '/session',
    method: 'POST',
    gives: 'a session of the console, for the token in the body',
    type: JSON_NAME,
    body: { required: ['token'], properties: { token: TEXT } },
    isOpen: true,
    answer: ({ logIn }, { exchange }) => logIn.begin(exchange),
  },
  {
    path: '/session',
    method: 'DELETE',
    gives: 'the end of a session of the console',
    type: JSON_NAME,
    isOpen: true,
    answer: ({ logIn }, { exchange }) => logIn.end(exchange),
  },
  {
    path: '/about',
    method: 'GET',
    gives: 'where the interfaces are, and which roles there are',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ store, addressOf }, { exchange }) => json(await about(store, addressOf, exchange)),
  },
  {
    path: '/status',
    method: 'GET',
    gives: 'counts, lag and settings of the store',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ store }) => json(await store.status()),
  },
  {
    path: '/roles',
    method: 'GET',
    gives: 'the roles in force, and the fields of each resource by the class that decides who sees them',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ store }) => json(rolesInForce(await store.model())),
  },
  {
    path: '/outlines',
    method: 'GET',
    gives:
      'what the map of the console draws beneath its points, as GeoJSON: outlines of places with their names',
    type: JSON_NAME,
    isOpen: false,
    answer: ({ outlines }) => json(outlines),
  },
  {
    path: '/keys',
    method: 'GET',
    gives: 'every key with what it has used, in all and in the last day, and the limits of each kind',
    type: JSON_NAME,
    isOpen: false,
    answer: async (context) => {
      await context.usage.flush();
      return allKeys(context.store, context);
    },
  },
  {
    path: '/keys',
    method: 'POST',
    gives: 'a new key, with its token, which is shown this once',
    type: JSON_NAME,
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
    isOpen: false,
    answer: ({ store }, { exchange }) => newKey(store, exchange),
  },
  {
    path: '/keys/{id}',
    method: 'DELETE',
    gives: 'the end of a key, at once, in every process',
    type: JSON_NAME,
    isOpen: false,
    answer: ({ store }, { names }) => endKey(store, names.id ?? ''),
  },
  {
    path: '/keys/{id}/history',
    method: 'GET',
    gives:
      'what a key used in each minute of the last day, in all processes, and null where none is known to have counted',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ days }, { names }) => json((await days.day()).key(names.id ?? '')),
  },
  {
    path: '/history',
    method: 'GET',
    gives:
      'requests, refusals, failures and times of each surface in each minute of the last day, in all processes, and null where none is known to have counted',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ days }) => json((await days.day()).surfaces()),
  },
  {
    path: '/figures',
    method: 'GET',
    gives: 'the figures of /metrics as JSON',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ metrics }) => json({ figures: await metrics.figures() }),
  },
  {
    path: '/replication',
    method: 'GET',
    gives:
      'of a replica what its copies do and did in the last day; of every key what it walks through, as far as this process saw it',
    type: JSON_NAME,
    isOpen: false,
    answer: async (context) => json(await replicationAt(context, context.clock.now())),
  },
  {
    path: '/replication/quarantine',
    method: 'GET',
    gives: 'records that a replica could not store, with their payloads and the reasons',
    type: JSON_NAME,
    query: QUARANTINE_OPTIONS,
    isOpen: false,
    answer: ({ replica }, { exchange }) => quarantine(replica, exchange),
  },
  {
    path: '/replication/quarantine/retry',
    method: 'POST',
    gives:
      'what became of a retry of a source, or of one of its quarantined records: the next update asks for them again',
    type: JSON_NAME,
    body: { required: ['source'], properties: { source: TEXT, resource: TEXT, key: TEXT } },
    isOpen: false,
    answer: ({ replica }, { exchange }) => retry(replica, exchange),
  },
  {
    path: '/webhooks',
    method: 'GET',
    gives: 'every webhook, how far its deliveries are, and what went wrong',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ store }) => json({ webhooks: (await store.webhooks.list()).map(shown) }),
  },
  {
    path: '/webhooks',
    method: 'POST',
    gives: 'a new webhook on the public internet, with its secret, which is shown this once',
    type: JSON_NAME,
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
    isOpen: false,
    answer: ({ store }, { exchange }) => newWebhook(store, exchange),
  },
  {
    path: '/webhooks/{id}',
    method: 'DELETE',
    gives: 'the end of a webhook',
    type: JSON_NAME,
    isOpen: false,
    answer: ({ store }, { names }) => done(deleteWebhook(store, names.id ?? '')),
  },
  {
    path: '/webhooks/{id}/test',
    method: 'POST',
    gives: 'what the receiver answers to a message without events',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ webhooks }, { names }) => {
      if (webhooks === undefined) throw platError('recordNotFound', { resource: 'webhook' });
      return json(await webhooks.test(names.id ?? ''));
    },
  },
  {
    path: '/webhooks/{id}/pause',
    method: 'POST',
    gives: 'that nothing more is sent until it is resumed',
    type: JSON_NAME,
    isOpen: false,
    answer: ({ store }, { names }) => done(pauseWebhook(store, names.id ?? '')),
  },
  {
    path: '/webhooks/{id}/resume',
    method: 'POST',
    gives: 'that deliveries go on where they stopped, at once',
    type: JSON_NAME,
    isOpen: false,
    answer: ({ store }, { names }) => done(resumeWebhook(store, names.id ?? '')),
  },
  {
    path: '/webhooks/{id}/replay',
    method: 'POST',
    gives: 'that changes since a position (a number, start or end) are delivered again',
    type: JSON_NAME,
    body: { required: ['since'], properties: { since: TEXT } },
    isOpen: false,
    answer: ({ store }, { names, exchange }) => replay(store, names.id ?? '', exchange),
  },
  {
    path: '/webhooks/{id}/rotate',
    method: 'POST',
    gives: 'a new secret, which is shown this once; for a day the one before signs, too',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ store }, { names }) => json({ secret: await rotateWebhook(store, names.id ?? '') }),
  },
  {
    path: '/stream',
    method: 'GET',
    gives: 'figures of the present every two seconds, as server-sent events',
    type: 'text/event-stream',
    query: {
      with: 'replication: the stream also sends the content of GET /replication whenever it changes.',
    },
    isOpen: false,
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
