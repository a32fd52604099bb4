/**
 * The initial download, and the sub-resources that are requested after it (specification 4.4, rule 1). Its states are in
 * machine/states.ts.
 */
import { timestampFrom } from '../../dictionary/index.ts';
import type { Copy } from '../copy/copy.ts';
import { reasonsToFetchSeparately } from '../copy/pending-fetches.ts';
import { storePage } from '../copy/store-page.ts';
import { LostPosition, pagesFrom } from '../copy/walk.ts';
import { RequestFailure } from '../http/failure.ts';
import { type LoadEvent, lowerTotal, type WalkEnd } from '../machine/states.ts';
import { type PageRequest, windowEdges } from '../source/source.ts';
import { fetchPending } from './fetch-pending.ts';
import { notesOfPages } from './witnesses.ts';

/** The number of walks after which the source is given up for now. */
const MOST_ROUNDS = 5;

/** How far the source's clock may differ from this one without being reported, in milliseconds. */
const REPORTED_OFFSET = 24 * 3_600_000;

/** The latest time, on the source's clock, at which a window may end: no later commit will have a timestamp before it. */
export async function settledWindowEnd({ feed, environment, report }: Copy): Promise<string> {
  const moment = await feed.serverTime();
  const ahead = moment - environment.clock.now();
  if (Math.abs(ahead) >= REPORTED_OFFSET) {
    report({ kind: 'clock', sourceClock: timestampFrom(moment), ahead });
  }
  return timestampFrom(moment - windowEdges(feed.capabilities).settle);
}

/**
 * Begins the download, or continues where it stopped. Afterwards, the copy is complete up to the time at which the download began.
 */
export async function download(copy: Copy, resource: string): Promise<void> {
  const { checkpoint, report } = copy;
  const before = checkpoint.load(resource).kind;
  if (before === 'current' || before === 'updating') return;
  const step = { kind: 'step', resource, step: 'initial' } as const;
  report({ ...step, state: before === 'new' ? 'begun' : 'resumed' });
  if (before === 'new') {
    await checkpoint.commit({
      load: { resource, event: { kind: 'begin', since: await settledWindowEnd(copy) } },
    });
  }
  for (let state = checkpoint.load(resource); state.kind === 'initial'; state = checkpoint.load(resource)) {
    try {
      await walk(copy, resource);
    } catch (error) {
      if (!(error instanceof LostPosition)) throw error;
      if (state.round >= MOST_ROUNDS) {
        throw new RequestFailure('transient', `The walk was lost ${MOST_ROUNDS} times: ${error.message}`);
      }
      report({ kind: 'again', resource, step: 'initial', reason: error.message });
      await checkpoint.commit({ load: { resource, event: { kind: 'lost' } } });
    }
  }
  if (checkpoint.load(resource).kind === 'filling') {
    await fetchPending(copy, resource);
    await checkpoint.commit({ load: { resource, event: { kind: 'filled' } } });
  }
  await checkpoint.recordStepDone('downloaded', copy.environment.clock.now());
  report({ ...step, state: 'done' });
}

async function walk(copy: Copy, resource: string): Promise<void> {
  const { checkpoint, feed, sizeOf, report } = copy;
  const begun = checkpoint.load(resource);
  if (begun.kind !== 'initial') return;
  const fetch = (request: PageRequest) => feed.page(resource, { kind: 'all' }, request);
  const apart = reasonsToFetchSeparately(feed.capabilities, resource);
  const known = () => checkpoint.knownKeys(resource);
  const notesOf = await notesOfPages(copy, resource);
  let done = begun.rows;
  let announced = begun.total;
  let end = '';
  for await (const page of pagesFrom(fetch, begun.position, sizeOf(resource), known)) {
    const { next, total } = page;
    const rows = Math.max(page.items.length + page.broken.length, page.keys.length);
    announced = lowerTotal(announced, total);
    end = page.keys.at(-1)?.key ?? end;
    const walked = { rows: done + rows, end };
    const missed = next === undefined ? shortfallOf(walked.rows, announced) : undefined;
    const isAgain = missed !== undefined && begun.round < MOST_ROUNDS && !isSame(walked, begun.previous);
    const event: LoadEvent = isAgain
      ? { kind: 'short', ...walked }
      : next === undefined
        ? { kind: 'end', fills: apart.length > 0, rows }
        : { kind: 'page', next, rows, ...(total === undefined ? {} : { total }) };
    // Sub-resources that do not arrive with their listings are requested separately.
    const keys = page.keys.map(({ key }) => key);
    const want = apart.map((why) => ({ resource, keys, why }));
    const { delta } = page;
    const links = delta === undefined ? {} : { walked: { ...checkpoint.get('walked'), [resource]: delta } };
    await storePage(copy, page, () => {
      const { state, ...notes } = notesOf(page);
      return { want, ...notes, state: { ...state, ...links }, load: { resource, event } };
    });
    done += rows;
    report({ kind: 'page', resource, step: 'initial', rows, done, total });
    if (missed === undefined) continue;
    const common = { resource, step: 'initial' } as const;
    report(
      isAgain
        ? { kind: 'again', ...common, reason: shortfallReason(missed) }
        : { kind: 'short', ...common, ...missed },
    );
  }
}

const isSame = (one: WalkEnd, other: WalkEnd | undefined): boolean =>
  one.rows === other?.rows && one.end === other.end;

interface Shortfall {
  readonly rows: number;
  readonly announced: number;
}

/** The number of records of a complete walk and the announced number, if the announced number is larger. */
export const shortfallOf = (rows: number, announced: number | undefined): Shortfall | undefined =>
  announced !== undefined && rows < announced ? { rows, announced } : undefined;

export const shortfallReason = ({ rows, announced }: Shortfall): string =>
  `The walk ended after ${rows} of ${announced} records`;
