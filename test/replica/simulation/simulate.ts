import { makeRandom, type Random } from 'plat-demo';
import { isObject } from '../../../src/shared/json.ts';
import {
  type Consumer,
  type End,
  type Errand,
  isExpected,
  type Mutant,
  SOURCE,
  startConsumer,
} from './consumer.ts';
import { differences } from './equality.ts';
import type { Ground } from './ground.ts';
import type { Fate } from './mortal.ts';
import { aheadOf, drawPlan, type Plan, START } from './plan.ts';
import { type Stage, setStage } from './stage.ts';
import type { TimeOptions } from './time.ts';

export interface SimulationOptions {
  readonly seed: number;
  readonly ground: Ground;
  /** Makes the consumer of one history erroneous. */
  readonly mutant?: () => Mutant;
  /** Parts of the plan that do not depend on the seed. */
  readonly plan?: Partial<Plan>;
  /** How long it may take; absent: far longer than any history does. */
  readonly most?: TimeOptions['most'];
}

export interface Outcome {
  readonly plan: Plan;
  /** Everything that happened, with its time; the same for the same seed on an engine in this thread. */
  readonly log: readonly string[];
  readonly requests: number;
  /** Whether its copy was level at the end by reported changes alone. */
  readonly isFollowed: boolean;
  /** The violated invariant, or another error. */
  readonly failure: string | undefined;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Plays the history of a seed: a source that changes, faults, processes that die, and at the end one complete cycle. */
export async function simulate({
  seed,
  ground,
  mutant,
  plan: fixed,
  most,
}: SimulationOptions): Promise<Outcome> {
  const plan = { ...drawPlan(seed), ...fixed };
  const stage = await setStage(plan, ground, most);
  let failure: string | undefined;
  try {
    await stage.time.run(Promise.race([play(stage, mutant?.()), stage.violation]));
  } catch (error) {
    failure =
      error instanceof Error
        ? error.name === 'Violation'
          ? error.message
          : (error.stack ?? error.message)
        : String(error);
  }
  await stage.close();
  const { log, requests, isFollowed } = stage;
  return { plan, log, requests: requests.count, isFollowed, failure };
}

async function play(stage: Stage, mutant: Mutant | undefined): Promise<void> {
  const { plan, source, network, time, market, observer, accuse } = stage;
  await source.fill(plan.listings);
  if (plan.narrowed !== undefined) await source.happen('rule');
  let isOver = false;
  const changing = changeSource(stage, () => isOver);
  changing.catch(() => undefined); // awaited below
  network.faults = plan.faults;
  const heldUp: Consumer[] = [];
  for (let number = 1; number <= plan.processes; number++) {
    const errand = drawErrand(stage, number);
    const consumer = await startConsumer(stage, { ...errand, mutant });
    await outcomeOf(stage, consumer, heldUp);
    await time.sleep(drawPause(stage.random));
  }
  isOver = true;
  network.faults = 0;
  await changing;
  for (const consumer of heldUp) await recordEnd(stage, consumer, await endOf(consumer));
  // Setting a clock is a disturbance as well.
  await time.sleep(Math.max(0, ...plan.steps.map(({ at }) => START + at - time.now)));
  await source.settle();
  // The lease of a dead process expires meanwhile.
  await time.sleep(2 * MINUTE);
  await source.lookAtClock();
  if (plan.reports !== undefined) await follow(stage, mutant);
  const result = await finish(stage, mutant);
  if (result !== 'done') accuse('a cycle that nothing disturbs is done', result);
  const { role } = source.shown;
  const sides = { source: market(), replica: observer, role, plan, now: time.now };
  const found = await differences(sides);
  if (found.length > 0) accuse('the replica equals what the key may see', found.join('\n'));
  const quarantined = await observer.checkpoints.quarantined();
  if (quarantined.length > 0) accuse('nothing is left in the quarantine', JSON.stringify(quarantined));
}

/** Changes the source at times of its own, also while it responds to requests. */
async function changeSource(
  { plan, source, random, time, backUp }: Stage,
  isOver: () => boolean,
): Promise<void> {
  const { restored, narrowed } = plan;
  let restore: (() => Promise<void>) | undefined;
  for (let left = plan.changes; left > 0; left--) {
    const done = plan.changes - left;
    if (done === restored?.after) restore = await backUp();
    if (restored !== undefined && done === restored.after + restored.changes) await restore?.();
    if (narrowed !== undefined && (done === narrowed.after || done === narrowed.after + narrowed.changes))
      await source.happen('rule');
    const pause = random.weighted([
      [random.integer(0, SECOND), 6],
      [random.integer(SECOND, MINUTE), 3],
      [random.integer(MINUTE, HOUR), 1],
    ]);
    // After the last process, changes are made without pauses.
    await time.sleep(isOver() ? SECOND : pause * plan.pace);
    await source.lookAtClock();
    await source.change();
  }
}

function drawPause(random: Random): number {
  return random.weighted([
    [random.integer(0, 3 * SECOND), 4],
    [random.integer(3 * SECOND, 5 * MINUTE), 3],
    [random.integer(5 * MINUTE, 8 * HOUR), 2],
  ]);
}

/** Moments at which the database closes connections; drawn separately, since only some engines have connections. */
function drawCuts({ seed, faults }: Plan, number: number): number[] {
  const random = makeRandom(seed, `cuts ${number}`);
  const count = faults > 0 && random.chance(0.5) ? random.integer(1, 3) : 0;
  return Array.from({ length: count }, () => Math.ceil(Math.exp(random.between(0, Math.log(1500)))));
}

function drawErrand(
  { plan, random, time }: Stage,
  number: number,
): Pick<Errand, 'name' | 'fate' | 'options' | 'cuts' | 'allowsJump'> {
  const cuts = drawCuts(plan, number);
  const allowsJump = makeRandom(plan.seed, `told ${number}`).chance(0.5);
  const name = `process ${number}`;
  const fatal = random.chance(0.5)
    ? random.integer(1, 500)
    : Math.ceil(Math.exp(random.between(0, Math.log(1000))));
  const unlucky: Fate = random.chance(plan.standstills)
    ? { kind: 'held-up', step: fatal, milliseconds: random.integer(1, 20) * MINUTE }
    : { kind: 'killed', step: fatal };
  const fate = random.chance(plan.mortality) ? unlucky : ({ kind: 'lives' } as const);
  const kind = random.chance(plan.watches) ? 'watch' : random.pick(['once', 'once', 'once', 'step']);
  const sweeping = (milliseconds: number): number => (plan.sweeps ? milliseconds : Number.MAX_SAFE_INTEGER);
  if (kind === 'once')
    return { name, fate, cuts, allowsJump, options: { purgeEvery: sweeping(random.pick([0, 6 * HOUR])) } };
  if (kind === 'step') {
    const step = random.pick(['initial', 'update', plan.sweeps ? 'purge' : 'update'] as const);
    return { name, fate, cuts, allowsJump, options: { step } };
  }
  const stop = new AbortController();
  void time.sleep(random.integer(1, 45) * MINUTE).then(() => stop.abort());
  const every = {
    updateEvery: random.integer(1, 15) * MINUTE,
    purgeEvery: sweeping(random.integer(5, 60) * MINUTE),
  };
  return {
    name,
    fate,
    cuts,
    allowsJump,
    options: { watch: true, signal: stop.signal, accountsEvery: 20 * MINUTE, ...every },
  };
}

function endOf({ end, mortal }: Consumer): Promise<End> {
  return Promise.race([end, mortal.death.then((): End => ({ kind: 'killed' }))]);
}

/** Waits for the end of a process, or until it is suspended and another one may take its place. */
async function outcomeOf(stage: Stage, consumer: Consumer, heldUp: Consumer[]): Promise<void> {
  const { mortal } = consumer;
  const end = await Promise.race([endOf(consumer), mortal.standstill.then(() => 'held-up' as const)]);
  if (end === 'held-up') {
    stage.log.push(`${consumer.name} is held up`);
    stage.requests.heldUp(consumer.name);
    heldUp.push(consumer);
  } else await recordEnd(stage, consumer, end);
}

async function recordEnd(
  { plan, log, accuse, requests }: Stage,
  { name, mortal }: Consumer,
  end: End,
): Promise<void> {
  switch (end.kind) {
    case 'killed':
      requests.killed(name);
      log.push(`${name} is killed at step ${mortal.steps}`);
      return;
    case 'result':
      log.push(`${name} ends: ${end.result}`);
      return;
    case 'failed': {
      const text = end.error instanceof Error ? (end.error.stack ?? '') : String(end.error);
      if (!isExpected(end.error, plan)) accuse('a consumer fails only where its source does', text);
      log.push(`${name} fails: ${String(end.error).replace(/\S+:\d+:[0-9a-f]{8}/, 'another process')}`);
    }
  }
}

/**
 * Runs a watch without faults while the source continues to change. If reported changes are all that the copy needs, it must equal
 * the source without another window or sweep.
 */
async function follow(stage: Stage, mutant: Mutant | undefined): Promise<void> {
  const { time, plan, source, observer, market, accuse, log } = stage;
  const stop = new AbortController();
  const name = 'the follower';
  const options = {
    watch: true,
    signal: stop.signal,
    updateEvery: 5 * MINUTE,
    purgeEvery: 10 * MINUTE,
    accountsEvery: 5 * MINUTE,
    force: true,
  };
  const consumer = await startConsumer(stage, {
    name,
    fate: { kind: 'lives' },
    allowsJump: true,
    options,
    mutant,
  });
  // A download, a window and a sweep, whose bounds are later than the beginning of the followed changes.
  await time.sleep(25 * MINUTE);
  for (let left = 5; left > 0; left--) {
    await source.lookAtClock();
    await source.change();
    await time.sleep(20 * SECOND);
  }
  await source.settle();
  // The next update finds renamed fields, and then requests nothing else.
  await time.sleep(8 * MINUTE);
  // Events continue while the source's rate limit delays the reading of its fields.
  const held = consumer.waitsUntil() - time.now;
  if (held > 0) await time.sleep(held + 8 * MINUTE);
  // A stream reports within half a minute what a new day hides.
  if (time.now % DAY < MINUTE) await time.sleep(MINUTE);
  const { chain, following } = await observer.checkpoints.state(SOURCE);
  stop.abort();
  await recordEnd(stage, consumer, await consumer.end);
  const level = isObject(chain) && typeof chain.level === 'number' ? chain.level : 0;
  log.push(`the follower ends: ${JSON.stringify([following, chain])}`);
  // Sweeps bring the agents and offices of the native interface.
  if (plan.interface === 'native' && plan.resources.includes('Member')) return;
  // The clock may have been set back since, so that the copy was level at a moment in the future.
  if (Math.abs(aheadOf(plan)(time.now) + time.now - level) > 3 * MINUTE) return;
  stage.isFollowed = true;
  const { role } = source.shown;
  const found = await differences({ source: market(), replica: observer, role, plan, now: time.now });
  if (found.length > 0) accuse('a copy that is level equals what the key may see', found.join('\n'));
}

/** Runs the consumer once without faults, and again if a day has begun meanwhile, by which records leave a role's view. */
async function finish(stage: Stage, mutant: Mutant | undefined): Promise<string> {
  const { day } = await stage.market().model();
  const result = await runOnce(stage, mutant);
  return (await stage.market().model()).day === day ? result : finish(stage, mutant);
}

async function runOnce(stage: Stage, mutant: Mutant | undefined): Promise<string> {
  const options = { force: true, purgeEvery: 0 };
  const errand = { name: 'the last', fate: { kind: 'lives' } as const, allowsJump: true, options, mutant };
  const consumer = await startConsumer(stage, errand);
  const end = await consumer.end;
  await recordEnd(stage, consumer, end);
  return end.kind === 'result' ? end.result : end.kind;
}
