/**
 * Who asks: the key of a request, its limits and its turn, the session in which it is answered, and what that rests on. It must
 * not know what is asked.
 */
import { performance } from 'node:perf_hooks';
import { PlatError, platError } from '../errors/index.ts';
import { type AssumedLook, type Look, LookChanged } from '../store/store.ts';
import { authenticate, type Caller, recognize, sentTokenHash } from './access/authenticate.ts';
import { rateLimited, rateLimitHeaders } from './access/rate-limits.ts';
import { keySeen } from './console/see-as.ts';
import type { Exchange, Reply, Session, Standing } from './exchange.ts';
import type { Responder } from './responder.ts';
import { SURFACE } from './surface.ts';

/** Changes where the store went back in time: the timestamps that a consumer keeps mean nothing any more. */
const EPOCH_HEADER = 'x-plat-epoch';

/** What is known of who asks before the request is read. */
export interface Asking {
  readonly caller: Caller;
  /** Headers that the answer gets, whatever it is. */
  readonly extra: Record<string, string>;
}

/** Who asks where no key is needed, or none is known yet. */
export const NOBODY: Caller = { kind: 'unknown', why: platError('tokenMissing', {}) };

/**
 * The hash of the token of a request: of its own, or of the session of the console that it belongs to.
 * @param isUse whether a session counts as used
 */
async function tokenHashOf({ admin }: Responder, came: Exchange, isUse = true): Promise<string | undefined> {
  const { authorization } = came.headers;
  if (authorization !== undefined || came.surface.name !== 'admin') return sentTokenHash(authorization);
  return admin.logIn.tokenHashOf(came, isUse);
}

/**
 * Who sent a request.
 * @param mayAssume as of `recognize`
 */
export const callerOf = async (responder: Responder, came: Exchange, mayAssume: boolean): Promise<Caller> =>
  recognize(responder.context.store, await tokenHashOf(responder, came), mayAssume);

export const latelySeen = (caller: Caller) => (caller.kind === 'known' ? caller.lately?.() : undefined);

/**
 * Counts a request of a known key against its limit, opens its budget, and waits for the key's turn.
 * @throws PlatError `rateLimited`, or as of `RequestAccount`
 */
export async function count(
  { options, limiter, queue, admin: { history } }: Responder,
  { account }: Exchange,
  { caller, extra }: Asking,
): Promise<void> {
  if (caller.kind === 'unknown') return;
  const { id, kind } = caller.key;
  const allowance = await limiter.take(id, options.limits[kind], performance.now());
  Object.assign(extra, rateLimitHeaders(allowance));
  if (allowance.exceeded) {
    history.noteLimited(id, options.clock.now());
    throw rateLimited(allowance);
  }
  account.belongsTo(`key ${id}`);
  await queue.enter(account.name);
}

/**
 * Answers by what is known of the store; where that does not hold, nothing of the answer counts, be it a refusal, and the
 * store is asked first.
 * @param isWorthALook whether to ask the store first in any case
 */
export async function surely(
  caller: Caller,
  serve: (seen: Look | AssumedLook) => Promise<Reply>,
  isWorthALook: (assumed: AssumedLook) => boolean,
): Promise<Reply> {
  if (caller.kind === 'unknown') throw caller.why;
  const assumed = caller.assume?.();
  if (assumed === undefined || isWorthALook(assumed)) return serve(await caller.look());
  try {
    const reply = await serve(assumed);
    if (await assumed.holds()) return reply;
  } catch (error) {
    // A store that is away confirms nothing, and need not: whoever asks, that is the answer.
    const isAway = error instanceof PlatError && error.code === 'storeUnavailable';
    if (isAway || (!(error instanceof LookChanged) && (await assumed.holds()))) throw error;
  }
  return serve(await caller.look());
}

export async function sessionOf(responder: Responder, exchange: Exchange, asking: Asking): Promise<Session> {
  const { caller } = asking;
  if (caller.kind === 'unknown') throw caller.why;
  return sessionBy(responder, exchange, asking, await caller.look());
}

export async function sessionBy(
  { context, views }: Responder,
  exchange: Exchange,
  { extra }: Pick<Asking, 'extra'>,
  seen: Look,
): Promise<Session> {
  const { model, now } = seen;
  const { as, arrival } = exchange;
  const surface = as === undefined ? exchange.surface : SURFACE.admin;
  const own = authenticate(seen, surface, () => context.addressOf('replication', arrival));
  const key = as === undefined ? own : await keySeen(as, own, exchange, context.store.keys);
  extra[EPOCH_HEADER] = model.epoch;
  return { key, model, view: views.of(key, model), now };
}

/** Whether who began to follow events may still see them. */
export async function standingOf(responder: Responder, came: Exchange): Promise<Standing> {
  const hash = await tokenHashOf(responder, came, false);
  return hash === undefined ? 'ended' : responder.standings.of(hash, came.surface);
}
