/** Compares the service with the oracle for random queries. */
import { after, before } from 'node:test';
import { type Engine, runsOn } from '../support/engine.ts';
import { makeRecords, NOW } from './data/records.ts';
import type { Catalogue } from './generate/context.ts';
import { type Expected, makeCatalogues } from './query.ts';
import { type Asked, openSubject, type Subject } from './subject.ts';
import { dateText, Unsure } from './values.ts';
import { makeWorld, type Viewer, type World } from './world.ts';

/** One query in both forms. */
export interface Trial {
  readonly resource: string;
  readonly viewer: Viewer;
  /** Its text, for messages. */
  readonly text: string;
  bind(subject: Subject): Asked;
  expect(): Expected;
}

export interface Bench {
  readonly world: World;
  readonly subject: Subject;
  readonly now: number;
  readonly catalogueOf: (viewer: Viewer) => Catalogue;
}

/** A store of the engine, and a world of the same records, for the tests of one suite. */
export function useBench(engine: Engine): () => Bench {
  let bench: Bench | undefined;
  const endings: (() => Promise<void> | void)[] = [];
  before(async () => {
    const records = makeRecords();
    const world = makeWorld(records.dictionary, dateText(NOW), records.byResource);
    const subject = await openSubject(engine, { after: (work) => void endings.push(work) }, records);
    bench = { world, subject, now: NOW, catalogueOf: makeCatalogues(world) };
  });
  after(async () => {
    for (const work of endings.toReversed()) await work();
  });
  return () => {
    if (bench === undefined) throw new Error('the bench stands once the tests run');
    return bench;
  };
}

/** `PLAT_SEED=n` runs only the query of that seed; `PLAT_FULL=1` runs many more than usual. */
export function seeds(engine: Engine): readonly number[] {
  const { PLAT_SEED: one, PLAT_FULL: full } = process.env;
  if (one !== undefined) return [Number(one)];
  return Array.from({ length: full === '1' ? 20_000 : runsOn(engine, 2200) }, (_, index) => index + 1);
}

/** Whether there are enough queries that every kind of query should occur. */
export const isWhole = (engine: Engine): boolean => seeds(engine).length >= 2000;

export type Outcome =
  | { readonly kind: 'same'; readonly matched: number; readonly visible: number; readonly unsure: number }
  /** The standard leaves the order open. */
  | { readonly kind: 'open' }
  | { readonly kind: 'different'; readonly how: string };

const SHOWN = 5;

/** How much is tested besides the keys. */
export interface Walking {
  /** The approximate number of pages in which the result is read; 0: none. */
  readonly pages: number;
  /** The seed of walks over the list of the filter. */
  readonly lists?: number | undefined;
}

/** What is tested for a seed: pages for one in six, lists for one in eighteen. */
export const walkingOf = (seed: number): Walking => ({
  pages: seed % 6 === 0 ? (seed % 5) + 1 : 0,
  lists: seed % 18 === 7 ? seed : undefined,
});

export async function compare(trial: Trial, { subject }: Bench, { pages, lists }: Walking): Promise<Outcome> {
  let wanted: Expected;
  try {
    wanted = trial.expect();
  } catch (error) {
    if (error instanceof Unsure) return { kind: 'open' };
    throw error;
  }
  const { keys, unsure, visible } = wanted;
  const { resource, viewer } = trial;
  try {
    const asked = trial.bind(subject);
    const found = await subject.keys(asked, resource, viewer);
    const how = difference(
      keys,
      found.filter((key) => !unsure.has(key)),
    );
    if (how !== undefined) return { kind: 'different', how };
    if (pages > 0) {
      const limit = Math.ceil((found.length + 1) / pages);
      const walked = await subject.walk(asked, resource, viewer, limit, found.length);
      const gap = difference(found, walked);
      if (gap !== undefined) return { kind: 'different', how: `page by page: ${gap}` };
    }
    if (lists !== undefined && asked.filter !== undefined) {
      const how = await subject.lists(asked, resource, viewer, lists);
      if (how !== undefined) return { kind: 'different', how };
    }
  } catch (error) {
    return { kind: 'different', how: error instanceof Error ? error.message : String(error) };
  }
  return { kind: 'same', matched: keys.length, visible, unsure: unsure.size };
}

function difference(wanted: readonly string[], found: readonly string[]): string | undefined {
  const [expected, given] = [new Set(wanted), new Set(found)];
  const missing = wanted.filter((key) => !given.has(key));
  const surplus = found.filter((key) => !expected.has(key));
  if (missing.length > 0 || surplus.length > 0) {
    const list = (keys: readonly string[]): string => JSON.stringify(keys.slice(0, SHOWN));
    return `${missing.length} missing ${list(missing)}, ${surplus.length} too many ${list(surplus)}`;
  }
  const at = wanted.findIndex((key, index) => found[index] !== key);
  if (at < 0 && found.length === wanted.length) return undefined;
  return `order or repetition differs at ${at}: ${JSON.stringify(wanted[at])} wanted, ${JSON.stringify(found[at])} found`;
}

/** The results of a run of queries. */
export interface Tally {
  same: number;
  open: number;
  /** Queries that match some of the visible records, but not all. */
  selective: number;
  unsure: number;
  readonly failures: string[];
}

export const emptyTally = (): Tally => ({ same: 0, open: 0, selective: 0, unsure: 0, failures: [] });

/** The number of failures that are reported in full. */
const MOST_FAILURES = 5;

/** @param smaller simpler queries that may explain a failing one */
export async function runTrial<Query>(
  seed: number,
  query: Query,
  tally: Tally,
  bench: Bench,
  trialOf: (query: Query) => Trial,
  smaller: (query: Query) => Iterable<Query>,
  walking: Walking,
): Promise<void> {
  const trial = trialOf(query);
  const outcome = await compare(trial, bench, walking);
  switch (outcome.kind) {
    case 'open':
      tally.open += 1;
      return;
    case 'same':
      tally.same += 1;
      tally.unsure += outcome.unsure;
      if (outcome.matched > 0 && outcome.matched < outcome.visible) tally.selective += 1;
      return;
    case 'different': {
      if (tally.failures.length < MOST_FAILURES) {
        const least = await smallest(query, bench, trialOf, smaller, walking);
        tally.failures.push(
          [
            `PLAT_SEED=${seed} (${JSON.stringify(trial.viewer)}, ${trial.resource}): ${outcome.how}`,
            `  ${trial.text}`,
            ...(least === undefined ? [] : [`  in short (${least.how}):`, `  ${least.text}`]),
          ].join('\n'),
        );
      } else tally.failures.push(`PLAT_SEED=${seed}`);
    }
  }
}

/** Tries simpler and simpler queries as long as they fail as well. */
async function smallest<Query>(
  failing: Query,
  bench: Bench,
  trialOf: (query: Query) => Trial,
  smaller: (query: Query) => Iterable<Query>,
  walking: Walking,
): Promise<{ readonly text: string; readonly how: string } | undefined> {
  let best: { readonly text: string; readonly how: string } | undefined;
  let at = failing;
  for (let tries = 0, found = true; found; ) {
    found = false;
    for (const next of smaller(at)) {
      if (++tries > TRIES) return best;
      const trial = trialOf(next);
      const outcome = await compare(trial, bench, walking);
      if (outcome.kind !== 'different') continue;
      best = { text: trial.text, how: outcome.how };
      at = next;
      found = true;
      break;
    }
  }
  return best;
}

const TRIES = 300;
