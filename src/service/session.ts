/**
 * The client of a request: its key, its limits and its turn in the queue, the session in which it is answered, and the state of the
 * store that the session assumes. It must not know what is requested.
 */
import { performance } from 'node:perf_hooks';
import { PlatError, platError } from '../errors/index.ts';
import { type AssumedLook, type Look, LookChanged } from '../store/store.ts';
import { authenticate, type Caller, identifyCaller, sentTokenHash } from './access/authenticate.ts';
import { rateLimited, rateLimitHeaders } from './access/rate-limits.ts';
import { effectiveKey } from './console/view-as.ts';
import type { Exchange, KeyStatus, Reply, Session } from './exchange.ts';
import type { Responder } from './responder.ts';
import { SURFACE } from './surface.ts';

/**
 * The header with the store's epoch. The epoch changes if the store was restored to an earlier state; timestamps that a consumer
 * has saved are then invalid.
 */
const EPOCH_HEADER = 'x-plat-epoch';

/** What is known about the client before its request is handled. */
export interface ClientState {
  readonly caller: Caller;
  /** Headers that every response to the request gets, errors included. */
  readonly extra: Record<string, string>;
}

/** The caller of a request that needs no key, or whose key has not been read yet. */
export const NO_CALLER: Caller = { kind: 'unknown', why: platError('tokenMissing', {}) };

/**
 * The hash of the token that a request sent, or of the token behind its console session.
 *
 * @param isUse whether the request counts as activity of the session
 */
async function tokenHashOf(
  { admin }: Responder,
  received: Exchange,
  isUse = true,
): Promise<string | undefined> {
  const { authorization } = received.headers;
  if (authorization !== undefined || received.surface.name !== 'admin') return sentTokenHash(authorization);
  return admin.logIn.tokenHashOf(received, isUse);
}

/**
 * Who sent a request.
 * @param mayAssume as in `identifyCaller`
 */
export const callerOf = async (
  responder: Responder,
  received: Exchange,
  mayAssume: boolean,
): Promise<Caller> =>
  identifyCaller(responder.context.store, await tokenHashOf(responder, received), mayAssume);

export const freshLook = (caller: Caller) => (caller.kind === 'known' ? caller.lately?.() : undefined);

/**
 * Counts a request of a known key against its limit, opens its budget, and waits in the queue of the key.
 * @throws PlatError `rateLimited`, or as in `RequestAccount`
 */
export async function admitRequest(
  { options, limiter, queue, admin: { history } }: Responder,
  { account }: Exchange,
  { caller, extra }: ClientState,
): Promise<void> {
  if (caller.kind === 'unknown') return;
  const { id, kind } = caller.key;
  const allowance = await limiter.countRequest(id, options.limits[kind], performance.now());
  Object.assign(extra, rateLimitHeaders(allowance));
  if (allowance.exceeded) {
    history.addRateLimited(id, options.clock.now());
    throw rateLimited(allowance);
  }
  account.chargeTo(`key ${id}`);
  await queue.enter(account.name);
}

/**
 * Answers a request on the assumption that the state of the store is as last known. If it turns out to have changed, the response,
 * even an error, is discarded, and the request is answered again with the state that the store returns.
 * @param shouldQueryStoreFirst whether to query the store first in any case
 */
export async function withConfirmedState(
  caller: Caller,
  serve: (seen: Look | AssumedLook) => Promise<Reply>,
  shouldQueryStoreFirst: (assumed: AssumedLook) => boolean,
): Promise<Reply> {
  if (caller.kind === 'unknown') throw caller.why;
  const assumed = caller.assume?.();
  if (assumed === undefined || shouldQueryStoreFirst(assumed)) return serve(await caller.look());
  try {
    const reply = await serve(assumed);
    if (await assumed.holds()) return reply;
  } catch (error) {
    // If the store is unavailable, the assumption cannot be verified, and need not be, because every client gets this error.
    const isUnavailable = error instanceof PlatError && error.code === 'storeUnavailable';
    if (isUnavailable || (!(error instanceof LookChanged) && (await assumed.holds()))) throw error;
  }
  return serve(await caller.look());
}

export async function sessionOf(
  responder: Responder,
  exchange: Exchange,
  asking: ClientState,
): Promise<Session> {
  const { caller } = asking;
  if (caller.kind === 'unknown') throw caller.why;
  return sessionFromLook(responder, exchange, asking, await caller.look());
}

export async function sessionFromLook(
  { context, views }: Responder,
  exchange: Exchange,
  { extra }: Pick<ClientState, 'extra'>,
  seen: Look,
): Promise<Session> {
  const { model, now } = seen;
  const { as, arrival } = exchange;
  const surface = as === undefined ? exchange.surface : SURFACE.admin;
  const own = authenticate(seen, surface, () => context.addressOf('replication', arrival));
  const key = as === undefined ? own : await effectiveKey(as, own, exchange, context.store.keys);
  extra[EPOCH_HEADER] = model.epoch;
  return { key, model, view: views.viewOf(key, model), now };
}

/** Whether a client that began to follow events may still see them. */
export async function keyStatusOf(responder: Responder, received: Exchange): Promise<KeyStatus> {
  const hash = await tokenHashOf(responder, received, false);
  return hash === undefined ? 'ended' : responder.standings.statusOf(hash, received.surface);
}
