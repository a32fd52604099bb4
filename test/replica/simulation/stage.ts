import { setTimeout } from 'node:timers/promises';
import { makeRandom, type Random } from 'plat-demo';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import type { TransportResponse } from '../../../src/replica/http/transport.ts';
import { positionText } from '../../../src/store/changes/change-feed.ts';
import type { Store } from '../../../src/store/store.ts';
import { WRITE_LIMITS } from '../../../src/store/write/time-limits.ts';
import { viewOf } from '../../support/views.ts';
import { changeStream } from '../support/change-stream.ts';
import { CommitWitness } from './commit-witness.ts';
import { type Ground, type Site, sqliteGround } from './ground.ts';
import { CUSTOM_FIELDS, FIELDS_IN_USE } from './market.ts';
import { Network } from './network.ts';
import { aheadOf, type Plan, START } from './plan.ts';
import { RequestWitness } from './request-witness.ts';
import { type Ask, ORIGIN, serve } from './serve.ts';
import { Source } from './source.ts';
import { machineOf, type SourceMachine, sourceMachine } from './source-machine.ts';
import { type TimeOptions, VirtualTime } from './time.ts';
import { TokenIssuer } from './tokens.ts';
import { type Accuse, Violation } from './violation.ts';

/** Everything that a history is played with. */
export interface Stage {
  readonly plan: Plan;
  readonly random: Random;
  readonly time: VirtualTime;
  readonly source: Source;
  /** The source's store in the process that serves. */
  readonly market: () => Store;
  readonly replica: Site;
  /** The replica, as a process reads it that takes no part in the history. */
  readonly observer: Store;
  readonly network: Network;
  readonly requests: RequestWitness;
  readonly commits: CommitWitness;
  readonly accuse: Accuse;
  /** Rejects with the first violation. */
  readonly violation: Promise<never>;
  readonly log: string[];
  /** Whether the copy was level at the end by reported changes alone. */
  isFollowed: boolean;
  /** Backs the source up. @returns a function that restores the backup */
  readonly backUp: () => Promise<() => Promise<void>>;
  readonly close: () => Promise<void>;
}

/** The host of links when the source does not know its own address. */
const INNER_ADDRESS = 'http://inner.test:9999';

/** A newest timestamp that is further ahead of the clock was written by a wrong clock (store/write/restamp-store.ts). */
const AHEAD = 3_600_000;

/** How long the close of one thing may take, which might hang. Milliseconds. */
const CLOSING = 30_000;
const patience = (): Promise<void> => setTimeout(CLOSING, undefined, { ref: false });

/** How long a history may take: far more than any does. Milliseconds. */
const MOST: TimeOptions['most'] = { virtual: 100 * 86_400_000, real: 10 * 60_000 };

export async function setStage(plan: Plan, ground: Ground, most = MOST): Promise<Stage> {
  const closers: (() => Promise<void> | void)[] = [];
  const scope = { after: (work: () => Promise<void> | void) => void closers.push(work) };
  // Only SQLite can be restored while it is open.
  const sourceGround = plan.restored === undefined ? ground : sqliteGround();
  const quiet = async (): Promise<void> => {
    await ground.quiet();
    if (sourceGround !== ground) await sourceGround.quiet();
  };
  const underWay = (): readonly string[] =>
    [...new Set([ground, sourceGround])].flatMap((one) => one.underWay());
  const grain = plan.wholeSeconds ? 1000 : 1;
  const time = new VirtualTime({ start: START, grain, quiet, most, underWay });
  // However slow the machine is, no transaction takes too long; waits for locks use this time as well.
  const limits = { ...WRITE_LIMITS, elapsed: () => time.now, sleep: time.clock().sleep };
  const log: string[] = [];
  const say = (line: string): void => {
    log.push(`${new Date(time.now).toISOString()} ${line}`);
  };
  const violation = Promise.withResolvers<never>();
  violation.promise.catch(() => undefined); // play() rejects with it
  const accuse: Accuse = (invariant, facts) => {
    const error = new Violation(`${invariant}: ${facts}`);
    say(error.message);
    violation.reject(error);
    throw error;
  };
  const fieldsInUse = plan.fieldsDeclared ? FIELDS_IN_USE : [];
  const machine = sourceMachine(time, plan.wrongClock);
  const market = await sourceGround.open(scope, {
    settings: { ...DEFAULT_SETTINGS, declarations: { customFields: CUSTOM_FIELDS, fieldsInUse } },
    clock: machine.clock,
    machine: machine.machine,
    limits,
  });
  const replica = await ground.open(scope, {
    settings: { ...DEFAULT_SETTINGS, owner: 'replica', declarations: { fieldsInUse } },
    clock: time.clock(aheadOf(plan)),
    machine: machineOf(time, 'the consumer’s'),
    limits,
  });
  const random = (purpose: string): Random => makeRandom(plan.seed, purpose);
  let served = market.store;
  const processes = {
    served: () => served,
    serveAnew: async () => {
      served = await market.again();
      service = start();
      say('source: another process serves');
    },
    importer: (allowsJump: boolean) => market.again({ allowClockJump: allowsJump }),
  };
  const source = new Source({ processes, machine, random: random('source'), time, plan, log: say });
  const commits = new CommitWitness({ plan, source, observer: replica.store, time, accuse, log: say });
  const requests = new RequestWitness(time, plan, accuse);
  const start = (): Ask =>
    serve({
      store: served,
      clock: machine.clock,
      role: () => source.shown.role,
      base: plan.misnamed ? INNER_ADDRESS : ORIGIN,
    });
  let service = start();
  const ask = linking(plan, time, (...given) => service(...given));
  const backUp = async (): Promise<() => Promise<void>> => {
    const restore = await market.backup?.();
    const goBack = source.keep();
    return async () => {
      // As `plat restore` does: no timestamp is used again, except for one ahead of the clock.
      const [now, newest] = [machine.clock.now(), await served.now()];
      source.isGoingBack = true;
      await restore?.(newest > now + AHEAD ? now : Math.max(now, newest + 1));
      source.epoch = (await served.model()).epoch;
      await goBack();
      source.isGoingBack = false;
      // The restored service has empty caches.
      service = start();
      say('source: restored from its backup');
    };
  };
  const { trouble } = plan;
  const network = new Network({
    ask,
    stream: streamOf({ plan, source, time, machine, served: () => served }),
    issuer: plan.tokens === undefined ? undefined : new TokenIssuer(time, random('tokens'), plan.tokens),
    time,
    random: random('network'),
    witness: requests,
    log: say,
    latency: plan.latency,
    trouble,
  });
  letRoleChange(source, commits, requests);
  return {
    plan,
    random: random('processes'),
    time,
    source,
    market: () => served,
    replica,
    observer: replica.store,
    network,
    requests,
    commits,
    accuse,
    violation: violation.promise,
    log,
    isFollowed: false,
    backUp,
    close: async () => {
      for (const work of closers.toReversed()) await Promise.race([work(), patience()]);
    },
  };
}

/** Milliseconds between two heartbeats. */
const HEARTBEAT = 15_000;
/** How long the stream is unavailable, and then available again. Milliseconds. */
const AWAY = 900_000;
/** How long its delta links are unavailable, out of three times as long. Milliseconds. */
const LINKS_AWAY = 1_300_000;
/** How long the source remembers changes, if it has a short memory. Milliseconds. */
const REMEMBERED = 600_000;

interface StreamOptions {
  readonly plan: Plan;
  readonly source: Source;
  readonly time: VirtualTime;
  readonly machine: SourceMachine;
  readonly served: () => Store;
}

/** The stream of the source's changes, if it has one. */
function streamOf({ plan, source, time, machine, served }: StreamOptions) {
  const waiting = new Set<AbortController>();
  source.onChange = () => {
    for (const each of waiting) each.abort();
  };
  const wait = async (signal: AbortSignal): Promise<void> => {
    const changed = new AbortController();
    waiting.add(changed);
    await time.sleep(HEARTBEAT, AbortSignal.any([signal, changed.signal]));
    waiting.delete(changed);
  };
  /** When each position was first used: a client that was away for too long finds its entries compacted. */
  const ages = new Map<string, number>();
  return async (url: string, signal: AbortSignal): Promise<TransportResponse> => {
    const headers = { date: new Date(machine.clock.now()).toUTCString(), 'x-plat-index': 'none' };
    const refusal = (status: number, more = {}): TransportResponse => ({
      status,
      headers: { ...headers, ...more },
      body: (async function* () {})(),
    });
    const isAway =
      (plan.reports === 'both' || plan.reports === 'all') && Math.floor(time.now / AWAY) % 2 === 0;
    if (plan.reports === undefined || isAway) return refusal(404);
    const { role } = source.shown;
    const { scope } = viewOf(await served().model(), { role });
    const isSame = (): boolean => source.shown.role === role;
    const since = new URL(url).searchParams.get('since') ?? '';
    const first = ages.get(since) ?? time.now;
    ages.set(since, first);
    if (plan.reports === 'forgets' && since !== 'end' && time.now - first > REMEMBERED) {
      const end = positionText((await served().feed({ since: 'end', limit: 1 })).position);
      if (end !== since) return refusal(410, { 'x-plat-position': end });
    }
    return changeStream(url, { store: served, scope, wait, isSame, signal, headers });
  };
}

/** The source's delta links: it has none, has none for a while, or lets each expire. */
function linking({ reports }: Plan, time: VirtualTime, ask: Ask): Ask {
  if (reports === undefined) return ask;
  const ages = new Map<string, number>();
  return async (url, { prefer = '', ...headers }) => {
    const isAway = reports === 'all' && Math.floor(time.now / LINKS_AWAY) % 3 === 0;
    const isLinked = (reports === 'links' || reports === 'all') && !isAway;
    const preferred = isLinked ? prefer : prefer.replace('odata.track-changes', '');
    const [link] = /deltatoken=.*/.exec(url) ?? [];
    const first = ages.get(link ?? '') ?? time.now;
    if (link !== undefined) ages.set(link, first);
    const isDead = link !== undefined && (!isLinked || time.now - first > REMEMBERED);
    const answer = await ask(url, { ...headers, prefer: preferred });
    return isDead ? { ...answer, status: 410 } : answer;
  };
}

/**
 * A role that changes and changes back before a consumer has looked leaves no trace but the records read meanwhile. The role
 * therefore changes again only after a consumer has noticed the last change.
 */
function letRoleChange(source: Source, commits: CommitWitness, requests: RequestWitness): void {
  let before: string | undefined;
  source.mayChangeRole = () => {
    const { fingerprint } = commits;
    if (fingerprint === undefined || fingerprint === before || requests.fieldsAskedAt <= source.roleSince)
      return false;
    before = fingerprint;
    return true;
  };
}
