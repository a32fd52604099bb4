/** The paths of the admin port: this table both handles and describes them. */
import { KEY_KINDS } from '../../access/index.ts';
import { platError } from '../../errors/index.ts';
import {
  deleteWebhook,
  pauseWebhook,
  resumeWebhook,
  rotateWebhookSecret,
  withoutSecrets,
} from '../../webhooks/operations.ts';
import { allKeys, endKey, keyHistory, newKey } from '../console/keys.ts';
import { UNAVAILABLE_EVENT } from '../console/live-feed.ts';
import { QUARANTINE_OPTIONS, quarantine, replicationAt, retry } from '../console/replication.ts';
import { rolesInForce } from '../console/roles.ts';
import { STRING_SCHEMA } from '../description/openapi-elements.ts';
import { type Exchange, jsonReply } from '../exchange.ts';
import { PUBLIC_SURFACES, SURFACE } from '../surface.ts';
import type { AdminContext, AdminRoute, DescribedRoute } from './admin-route.ts';
import { PROBES } from './probes.ts';
import { VIEW_AS_ROUTES } from './view-as-routes.ts';
import { newWebhook, noContentAfter, replay } from './webhooks.ts';

/** @param more further members of the description */
const makeRoute =
  (method: AdminRoute['method']) =>
  (
    path: string,
    summary: string,
    answer: AdminRoute['answer'],
    more: Pick<AdminRoute, 'body' | 'query' | 'type' | 'isOpen'> = {},
  ): AdminRoute => ({ path, method, summary, answer, ...more });

const get = makeRoute('GET');
const post = makeRoute('POST');
const remove = makeRoute('DELETE');

export const ADMIN_ROUTES: readonly AdminRoute[] = [
  get('/live', 'Check whether the process is running', PROBES['/live'], { isOpen: true }),
  get(
    '/ready',
    'Check whether the process can serve requests; 503 with the reasons if it cannot',
    PROBES['/ready'],
    { isOpen: true },
  ),
  get('/metrics', 'Retrieve metrics in the Prometheus text format', PROBES['/metrics'], {
    type: 'text/plain',
    isOpen: true,
  }),
  post(
    '/session',
    'Log in to the console with the token in the body',
    ({ logIn }, { exchange }) => logIn.beginSession(exchange),
    { body: { required: ['token'], properties: { token: STRING_SCHEMA } }, isOpen: true },
  ),
  remove('/session', 'Log out of the console', ({ logIn }, { exchange }) => logIn.endSession(exchange), {
    isOpen: true,
  }),
  get(
    '/about',
    'Retrieve the addresses of the interfaces and the names of the roles',
    async (context, { exchange }) => jsonReply(await about(context, exchange)),
  ),
  get('/status', 'Retrieve the counts, lag and settings of the store', async ({ store }) =>
    jsonReply(await store.status()),
  ),
  get(
    '/roles',
    'List the roles in force, and the fields of each resource by access class',
    async ({ store }) => jsonReply(rolesInForce(await store.model())),
  ),
  get(
    '/outlines',
    'Retrieve the background of the map of the console as GeoJSON: outlines of places with their names',
    ({ outlines }) => jsonReply(outlines),
  ),
  get(
    '/keys',
    'List keys with their usage, in total and in the last day, and the limits of each kind of key',
    async (context) => {
      await context.usage.flush();
      return allKeys(context);
    },
  ),
  post(
    '/keys',
    'Create a key; only this response contains its token',
    async ({ store }, { given }) => newKey(store, await given()),
    {
      body: {
        required: ['name', 'kind', 'role'],
        properties: {
          name: STRING_SCHEMA,
          kind: { enum: KEY_KINDS },
          role: STRING_SCHEMA,
          systems: { type: 'array', items: STRING_SCHEMA },
          expires: STRING_SCHEMA,
        },
      },
    },
  ),
  remove('/keys/{id}', 'Revoke a key, effective immediately in every process', ({ store }, { names }) =>
    endKey(store, names.id ?? ''),
  ),
  get(
    '/keys/{id}/history',
    'Retrieve the usage of a key per minute of the last day, over all processes; null for minutes without data',
    (context, { names }) => keyHistory(context, names.id ?? ''),
  ),
  get(
    '/history',
    'Retrieve the requests, refusals, failures and times of each surface per minute of the last day, over all processes; null for minutes without data',
    async ({ days }) => jsonReply((await days.day()).surfaces()),
  ),
  get('/figures', 'Retrieve the metrics of /metrics as JSON', async ({ metrics }) =>
    jsonReply({ figures: await metrics.figures() }),
  ),
  get(
    '/replication',
    'Retrieve the state of the copies of a replica and their history of the last day, and the collections that each key is walking through, as seen by this process',
    async (context) => jsonReply(await replicationAt(context, context.clock.now())),
  ),
  get(
    '/replication/quarantine',
    'List records that a replica could not store, with their payloads and the reasons',
    ({ replica }, { exchange }) => quarantine(replica, exchange),
    { query: QUARANTINE_OPTIONS },
  ),
  post(
    '/replication/quarantine/retry',
    'Retry the quarantined records of a source, or one of them: the next update requests them again',
    async ({ replica }, { given }) => retry(replica, await given()),
    {
      body: {
        required: ['source'],
        properties: { source: STRING_SCHEMA, resource: STRING_SCHEMA, key: STRING_SCHEMA },
      },
    },
  ),
  get('/webhooks', 'List webhooks with the positions and errors of their deliveries', async ({ store }) =>
    jsonReply({ webhooks: (await store.webhooks.list()).map(withoutSecrets) }),
  ),
  post(
    '/webhooks',
    'Create a webhook for a receiver on the public internet; only this response contains its secret',
    async ({ store }, { given }) => newWebhook(store, await given()),
    {
      body: {
        required: ['url', 'role'],
        properties: {
          url: STRING_SCHEMA,
          role: STRING_SCHEMA,
          resources: { type: 'array', items: STRING_SCHEMA },
          systems: { type: 'array', items: STRING_SCHEMA },
          bearer: STRING_SCHEMA,
        },
      },
    },
  ),
  remove('/webhooks/{id}', 'Delete a webhook', ({ store }, { names }) =>
    noContentAfter(deleteWebhook(store, names.id ?? '')),
  ),
  post(
    '/webhooks/{id}/test',
    'Send the receiver a message without events and return its response',
    async ({ webhooks }, { names }) => {
      if (webhooks === undefined) throw platError('recordNotFound', { resource: 'webhook' });
      return jsonReply(await webhooks.test(names.id ?? ''));
    },
  ),
  post('/webhooks/{id}/pause', 'Pause the deliveries of a webhook', ({ store }, { names }) =>
    noContentAfter(pauseWebhook(store, names.id ?? '')),
  ),
  post(
    '/webhooks/{id}/resume',
    'Resume the deliveries of a webhook where they stopped',
    ({ store }, { names }) => noContentAfter(resumeWebhook(store, names.id ?? '')),
  ),
  post(
    '/webhooks/{id}/replay',
    'Deliver the changes since a position (a number, start or end) again',
    async ({ store }, { names, given }) => replay(store, names.id ?? '', await given()),
    { body: { required: ['since'], properties: { since: STRING_SCHEMA } } },
  ),
  post(
    '/webhooks/{id}/rotate',
    'Replace the secret of a webhook; for 24 hours, the old secret also signs',
    async ({ store }, { names }) =>
      jsonReply({ secret: (await rotateWebhookSecret(store, names.id ?? '')).secret }),
  ),
  get(
    '/stream',
    'Stream current figures every two seconds as server-sent events',
    ({ live }, { exchange }) => {
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
        away: UNAVAILABLE_EVENT,
      };
    },
    {
      type: 'text/event-stream',
      query: {
        with: 'replication: the stream also sends the content of GET /replication whenever it changes.',
      },
    },
  ),
];

/** What the console must know before any other request: the interfaces and their addresses, and the roles of the store. */
async function about({ store, addressOf }: AdminContext, { arrival }: Exchange): Promise<object> {
  const { settings, rules } = await store.model();
  const surfaces = PUBLIC_SURFACES.map((name) => {
    const { resoRoot, nativeRoot } = SURFACE[name];
    return { name, address: addressOf(name, arrival), resoRoot, nativeRoot };
  });
  return { store: store.name, owner: settings.owner, surfaces, roles: [...rules.roles.keys()] };
}

/** All paths that an operator may request, for the description. */
export const DESCRIBED_ROUTES: readonly DescribedRoute[] = [...ADMIN_ROUTES, ...VIEW_AS_ROUTES];
