/**
 * The endpoints for probes and scrapers, and the port of a process that answers nothing else, such as a watching
 * replicator. It uses the server and the responses of the service's admin port, and needs no store.
 */
import { randomUUID } from 'node:crypto';
import { platError } from '../../errors/index.ts';
import { settlesWithin } from '../../shared/settles-within.ts';
import type { Store } from '../../store/store.ts';
import { jsonReply, type Reply } from '../exchange.ts';
import { ALLOWED, meaningOf, methodNotAllowed } from '../http/methods.ts';
import {
  abortResponse,
  type HttpRequest,
  type HttpResponse,
  headersOf,
  makeServer,
  writeHead,
} from '../http/server.ts';
import { isParseError, refuseUnreadable, unreadableRequestFrom } from '../http/unreadable.ts';
import type { Metrics } from '../metrics.ts';
import { resoError } from '../reply/errors.ts';
import { type CommonHeaderValues, commonHeaders } from '../reply/send.ts';

/** What prevents a process from being ready, by name; empty if it is ready. */
export type Problems = Readonly<Record<string, string>>;

/** How long a probe waits for the store, in milliseconds: less than probes and scrapers usually wait for a response. */
const PROBE_PATIENCE = 3000;

/**
 * Makes a check answer in time although the store does not: a suspended server, or one behind a network that drops packets, fails no
 * statement for a long time. Until a check that took too long ends, no other is started, so that probes take no more connections.
 * @param late the result of a check that takes too long
 */
export function inTime<T>(
  check: () => Promise<T>,
  late: () => T,
  milliseconds = PROBE_PATIENCE,
): () => Promise<T> {
  let overdue: Promise<T> | undefined;
  return async () => {
    const running = overdue ?? check();
    if (await settlesWithin(milliseconds, running)) return running;
    const forget = (): void => {
      if (overdue === running) overdue = undefined;
    };
    if (overdue !== running) running.then(forget, forget);
    overdue = running;
    return late();
  };
}

/** The problems of a process whose store does not respond. */
export const unresponsive = (store: Pick<Store, 'trouble'> | undefined): Problems => ({
  store: store?.trouble?.() ?? 'the store does not respond',
});

export interface Probed {
  readonly metrics: Pick<Metrics, 'contentType' | 'text'>;
  problems(): Promise<Problems>;
}

/** Whether the process can do its work; if not, 503 with the reasons. */
async function readiness({ problems }: Probed): Promise<Reply> {
  const found = await problems();
  const isReady = Object.keys(found).length === 0;
  const reply = jsonReply({ ready: isReady, ...(isReady ? {} : { problems: found }) });
  return { ...reply, status: isReady ? 200 : 503 };
}

async function figures({ metrics }: Probed): Promise<Reply> {
  return { status: 200, headers: { 'content-type': metrics.contentType }, body: [await metrics.text()] };
}

/** The responses to probes by their paths; they need no token. */
export const PROBES = {
  '/live': async () => jsonReply({ live: true }),
  '/ready': readiness,
  '/metrics': figures,
} as const satisfies Readonly<Record<string, (probed: Probed) => Promise<Reply>>>;

/**
 * The maximum milliseconds for a request to arrive, for a connection to be idle between two requests, and for everything to end on
 * closing.
 */
const TIMEOUTS = { request: 10_000, idle: 60_000, close: 2000 } as const;

/** Listens for probes. @throws PlatError if the port cannot be opened */
export async function serveProbes(
  probed: Probed,
  { host, port }: { readonly host: string; readonly port: number },
) {
  const common = (): CommonHeaderValues => ({ requestId: randomUUID(), now: Date.now(), isOfOperator: true });
  const server = makeServer(
    { tls: undefined, requestPatience: TIMEOUTS.request, idlePatience: TIMEOUTS.idle, endsIdle: true },
    {
      request: (request, response) => {
        answer(probed, request, response, common()).catch(() => abortResponse(response));
      },
      connection: () => undefined,
      fault: (error, socket) => {
        if (isParseError(error)) refuseUnreadable(unreadableRequestFrom(error), socket, common());
        else socket.destroy();
      },
      connect: (request, socket) =>
        refuseUnreadable({ error: methodNotAllowed(String(request.method)), path: '' }, socket, common()),
    },
  );
  const actual = await server.listen(host, port);
  return {
    address: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    close: () => server.close(TIMEOUTS.close),
  };
}

async function answer(
  probed: Probed,
  request: HttpRequest,
  response: HttpResponse,
  common: CommonHeaderValues,
): Promise<void> {
  const { method = 'GET', url = '/' } = request;
  const reply = await replyTo(probed, method, url.replace(/\?.*$/s, ''), headersOf(request)).catch(
    (cause: unknown) => resoError(platError('internal', { requestId: common.requestId }, { cause }), {}),
  );
  const body = reply.body.join('');
  writeHead(response, reply.status, {
    ...commonHeaders(common),
    ...reply.headers,
    'content-length': String(Buffer.byteLength(body)),
  });
  response.end(method === 'HEAD' ? '' : body);
}

async function replyTo(
  probed: Probed,
  method: string,
  path: string,
  headers: Readonly<Record<string, string | undefined>>,
): Promise<Reply> {
  const wanted = meaningOf({ method, path, headers }, false);
  if (wanted.kind === 'options') return { status: 204, headers: { allow: wanted.allow }, body: [] };
  if (wanted.kind === 'refused') return resoError(methodNotAllowed(method, wanted.takes), { allow: ALLOWED });
  const [, probe] = Object.entries(PROBES).find(([each]) => each === path.replace(/\/+$/, '')) ?? [];
  if (probe === undefined) return resoError(platError('pathNotFound', { path }), {});
  return probe(probed);
}
