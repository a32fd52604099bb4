/**
 * The initial download with its sub-resources (specification 4.4, rule 1), and updates, which read what has changed since: one
 * window with two bounds, from the cursor to a time before which no further change will appear (rule 3). Their states are in
 * machine/states.ts.
 */
import { timestampFrom } from '../../dictionary/index.ts';
import { ChangesRolledBack } from '../../store/checkpoint/checkpoints.ts';
import { dueAt } from '../checkpoint/checkpoint.ts';
import type { Copy } from '../copy/copy.ts';
import { changedChildren, quarantinedChildren, reasonsToFetchSeparately } from '../copy/pending-fetches.ts';
import { CHILDREN } from '../copy/quarantine-entry.ts';
import { preparePage, type ReadyPage, storePage, storePages } from '../copy/store-page.ts';
import { LostPosition, pagesFrom } from '../copy/walk.ts';
import { childrenRequester, type PageWithChildren, withoutChildren } from '../copy/with-children.ts';
import type { Listener, ReplicaEvent } from '../events.ts';
import { isDirectFailure, isUnsupported, RequestFailure, RowsMoved, stopped } from '../http/failure.ts';
import { isDownloaded, type LoadEvent, lowerTotal, type WalkEnd } from '../machine/states.ts';
import { type PageRequest, type SourcePage, type Walk, windowEdges } from '../source/source.ts';
import { fetchPending } from './fetch-pending.ts';
import { contradictsMasks, NO_MASKS, notesOfPages } from './witnesses.ts';

/** The number of downloads, or of windows of one update, after which the source is given up for now. */
const MOST_ROUNDS = 5;

/** The milliseconds after which a source that rejected the windows of a resource is asked for one again. */
const UNWINDOWED = 20 * 3_600_000;

/** How far the source's clock may differ from this one without being reported, in milliseconds. */
const REPORTED_OFFSET = 24 * 3_600_000;

/** The latest time, on the source's clock, at which a window may end: no later commit will have a timestamp before it. */
async function settledWindowEnd({ feed, environment, report }: Copy): Promise<string> {
  const moment = await feed.serverTime();
  const ahead = moment - environment.clock.now();
  if (Math.abs(ahead) >= REPORTED_OFFSET) {
    report({ kind: 'clock', sourceClock: timestampFrom(moment), ahead });
  }
  return timestampFrom(moment - windowEdges(feed.capabilities).settle);
}

/** Begins or resumes the download. Afterwards, the copy is complete up to the time at which the download began. */
export async function download(copy: Copy, resource: string): Promise<void> {
  const { checkpoint, report } = copy;
  const load = checkpoint.load(resource);
  if (isDownloaded(load)) return;
  const before = load.kind;
  const step = { kind: 'step', resource, step: 'initial' } as const;
  report({ ...step, state: before === 'new' ? 'begun' : 'resumed' });
  if (before === 'new') {
    await checkpoint.commit({
      load: { resource, event: { kind: 'begin', since: await settledWindowEnd(copy) } },
    });
  }
  let alone = 0;
  for (let state = checkpoint.load(resource); state.kind === 'initial'; state = checkpoint.load(resource)) {
    try {
      await walk(copy, resource, alone);
    } catch (error) {
      if (error instanceof ChangesRolledBack) {
        alone = Math.max(error.changes, 2 * alone);
        continue;
      }
      if (!(error instanceof LostPosition)) throw error;
      if (state.round >= MOST_ROUNDS) {
        throw new RequestFailure('transient', `The walk was lost ${MOST_ROUNDS} times: ${error.message}`);
      }
      report({ kind: 'again', resource, step: 'initial', reason: error.message });
      await recordLostWindow(copy, resource);
    }
  }
  if (checkpoint.load(resource).kind === 'filling') {
    await fetchPending(copy, resource);
    await checkpoint.commit({ load: { resource, event: { kind: 'filled' } } });
  }
  await checkpoint.recordStepDone('downloaded', copy.environment.clock.now());
  report({ ...step, state: 'done' });
}

/** @param alone as in `storePages` */
async function walk(copy: Copy, resource: string, alone: number): Promise<void> {
  const { checkpoint, feed, sizeOf, report } = copy;
  const begun = checkpoint.load(resource);
  if (begun.kind !== 'initial') return;
  const from = begun.position;
  const apart = reasonsToFetchSeparately(feed.capabilities, resource);
  const extended = apart.includes(CHILDREN) ? childrenRequester(copy) : withoutChildren;
  const fetch = async (request: PageRequest) => extended(await feed.page(resource, { kind: 'all' }, request));
  const known = () => checkpoint.knownKeys(resource);
  const notesOf = await notesOfPages(copy, resource);
  const step = { resource, step: 'initial' } as const;
  let done = begun.rows;
  let announced = begun.total;
  let end = '';
  const prepare = async (page: PageWithChildren): Promise<ReadyPage> => {
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
        : { kind: 'page', next, rows, total };
    const { delta, children, completed } = page;
    const links = delta === undefined ? {} : { walked: { ...checkpoint.get('walked'), [resource]: delta } };
    const whole = {
      items: [...page.items, ...children.items],
      broken: [...page.broken, ...children.broken],
      keys: page.keys,
    };
    done = walked.rows;
    const ready = await preparePage(copy, whole, () => {
      const { state, ...notes } = notesOf(page);
      // The other sub-resources are requested separately.
      const has = new Set(completed);
      const keys = page.keys.flatMap(({ key }) => (has.has(key) ? [] : [key]));
      return {
        want: apart.map((why) => ({ resource, keys, why })),
        got: [{ resource, keys: completed, why: CHILDREN }],
        release: [{ resource, keys: quarantinedChildren(copy, resource, completed) }],
        ...notes,
        state: { ...state, ...links },
        load: { resource, event },
      };
    });
    const facts = { kind: 'page', ...step, rows, done: walked.rows, total } as const;
    return { ...ready, report: pageReporter(report, ready.report, facts, isAgain, missed) };
  };
  const pages = pagesFrom(fetch, from, sizeOf(resource), known);
  const next = async (): Promise<IteratorResult<ReadyPage, void>> => {
    const { done, value } = await pages.next();
    return done === true ? { done, value } : { value: await prepare(value) };
  };
  await storePages(copy, step, { next }, alone);
}

/** Reports a page of a download when it is stored; it keeps no records in memory. */
const pageReporter =
  (
    report: Listener,
    ready: ReadyPage['report'],
    facts: ReplicaEvent & { readonly kind: 'page' },
    isAgain: boolean,
    missed: Shortfall | undefined,
  ): ReadyPage['report'] =>
  (rejected) => {
    ready(rejected);
    report(facts);
    if (missed === undefined) return;
    const { resource, step } = facts;
    report(
      isAgain
        ? { kind: 'again', resource, step, reason: shortfallReason(missed) }
        : { kind: 'short', resource, step, ...missed },
    );
  };

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

/**
 * The wait, in milliseconds, if a window would end at the same time as the previous one: the source would answer from the index of
 * that window.
 */
const MOMENT = 1000;
/**
 * A cursor that is further ahead of the source's clock than this, in milliseconds, is from a wrong clock. The clocks of the servers
 * of one source differ by less.
 */
const BEYOND = 3_600_000;

export async function update(copy: Copy, resource: string): Promise<void> {
  const { checkpoint, environment, feed, report } = copy;
  const before = checkpoint.load(resource);
  if (!isDownloaded(before)) return;
  const rejectedAt = checkpoint.get('unwindowed')?.[resource];
  const now = environment.clock.now();
  if (rejectedAt !== undefined && dueAt(rejectedAt, UNWINDOWED, now) > now) return readAll(copy, resource);
  const step = { kind: 'step', resource, step: 'update' } as const;
  report({ ...step, state: before.kind === 'updating' ? 'resumed' : 'begun' });
  // The first page of this window may have been requested before, and a filter must not be sent twice.
  if (before.kind === 'updating' && before.position === undefined) await recordLostWindow(copy, resource);
  let isResumed = checkpoint.load(resource).kind === 'updating';
  let moved: string | undefined;
  for (let round = 1; ; round++) {
    if (checkpoint.load(resource).kind === 'current' && !(await openWindow(copy, resource))) break;
    try {
      // If the records of a source change all the time, pages are accepted even if they do not overlap.
      const isLoose = round >= MOST_ROUNDS && moved !== undefined;
      await readWindow(copy, resource, isLoose);
      if (isLoose) report({ kind: 'unsure', resource, reason: `${moved}, of ${MOST_ROUNDS - 1} windows` });
      // A window that an earlier run opened may have ended long ago, so another window follows.
      if (!isResumed) break;
      isResumed = false;
    } catch (error) {
      if (!(error instanceof LostPosition)) {
        const rejection = await rejectionOfWindows(copy, resource, error);
        if (rejection === undefined) throw error;
        const reason = `${resource} cannot be read by windows on ${feed.windowField(resource)} (${rejection.message}), so each update reads all of its records`;
        report({ kind: 'doubt', reason });
        await readAll(copy, resource);
        await checkpoint.commit({
          state: { unwindowed: { ...checkpoint.get('unwindowed'), [resource]: now } },
        });
        break;
      }
      await recordLostWindow(copy, resource);
      moved = error.cause instanceof RowsMoved ? error.message : undefined;
      if (round >= MOST_ROUNDS) {
        throw new RequestFailure('transient', `The window was lost ${MOST_ROUNDS} times: ${error.message}`);
      }
      report({ kind: 'again', resource, step: 'update', reason: error.message });
    }
  }
  if (checkpoint.load(resource).kind === 'current') await fetchPending(copy, resource);
  report({ ...step, state: 'done' });
}

function recordLostWindow({ checkpoint }: Copy, resource: string): Promise<unknown> {
  return checkpoint.commit({ load: { resource, event: { kind: 'lost' } } });
}

/** @returns false if the source's clock has not moved past the cursor, or everything has to be read again */
async function openWindow(copy: Copy, resource: string): Promise<boolean> {
  const { checkpoint, environment, signal } = copy;
  for (;;) {
    const state = checkpoint.load(resource);
    if (state.kind !== 'current') return true;
    const upper = await settledWindowEnd(copy);
    const beyond = Date.parse(state.cursor) - Date.parse(upper);
    if (beyond > BEYOND) {
      // Changes with timestamps from before the cursor, made after the clock was corrected, are in no window.
      await refresh(copy, resource, `the source's clock went back to ${upper} from ${state.cursor} or later`);
      return false;
    }
    if (beyond >= 0) return false;
    if (upper !== state.lastUpper) {
      await checkpoint.commit({ load: { resource, event: { kind: 'window', upper } } });
      return true;
    }
    if (signal.aborted) throw stopped();
    await environment.clock.sleep(MOMENT, signal);
  }
}

/** @param isLoose whether pages by offset are accepted even if they do not overlap */
async function readWindow(copy: Copy, resource: string, isLoose: boolean): Promise<void> {
  const { checkpoint, feed, settings, store } = copy;
  const { fields: known } = (await store.model()).resource(resource);
  const mainField = feed.windowField(resource);
  const fields = [mainField, ...settings.alsoWindow.filter((name) => known.has(name))];
  for (;;) {
    const state = checkpoint.load(resource);
    if (state.kind !== 'updating') return;
    const field = fields[state.pass] ?? mainField;
    const lower = timestampFrom(Date.parse(state.cursor) - windowEdges(feed.capabilities).overlap);
    const window: Walk = { kind: 'window', field, lower, upper: state.upper };
    const isLast = state.pass >= fields.length - 1;
    await readPass(copy, resource, window, { isLast, isLoose });
  }
}

async function readPass(
  copy: Copy,
  resource: string,
  window: Walk,
  { isLast, isLoose }: { readonly isLast: boolean; readonly isLoose: boolean },
): Promise<void> {
  const { checkpoint, feed, sizeOf, report } = copy;
  const state = checkpoint.load(resource);
  if (state.kind !== 'updating') return;
  const fetch = (request: PageRequest) => {
    const { position } = request;
    const isFree = isLoose && position?.kind === 'skip';
    const at: typeof position = isFree ? { kind: 'skip', skip: position.skip } : position;
    return feed.page(resource, window, { ...request, position: at });
  };
  const known = () => checkpoint.knownKeys(resource);
  const notesOf = await notesOfPages(copy, resource);
  let done = state.rows;
  for await (const page of pagesFrom(fetch, state.position, sizeOf(resource), known)) {
    const { next, total } = page;
    const rows = page.items.length + page.broken.length;
    if (await refreshIfMasked(copy, resource, page)) return;
    const end: LoadEvent = isLast ? { kind: 'end', fills: false, rows } : { kind: 'nextPass', rows };
    const event: LoadEvent = next === undefined ? end : { kind: 'page', next, rows, total };
    await storePage(copy, page, async (intake) => ({
      want: await changedChildren(copy, resource, intake),
      ...notesOf(page),
      load: { resource, event },
    }));
    done += rows;
    report({ kind: 'page', resource, step: 'update', rows, done, total });
  }
}

/** Reads everything again if a page shows that the rights of the key have changed. @returns whether it does */
export async function refreshIfMasked(copy: Copy, resource: string, page: SourcePage): Promise<boolean> {
  if (!contradictsMasks(copy.checkpoint.get('masks') ?? NO_MASKS, page)) return false;
  await refresh(copy, resource, 'fields that were masked are readable now, or vice versa');
  return true;
}

/** The rejection of a window of a resource that is read completely instead: listings and their parts are too many for that. */
async function rejectionOfWindows(
  { store }: Copy,
  resource: string,
  error: unknown,
): Promise<RequestFailure | undefined> {
  if (!isDirectFailure(error) || !isUnsupported(error) || resource === 'Property') return undefined;
  return (await store.model()).resource(resource).parent === undefined ? error : undefined;
}

/** Reads all records of a resource in place of a window. Unchanged records cost no writes, and a purge finds deleted ones. */
async function readAll(copy: Copy, resource: string): Promise<void> {
  await beginAgain(copy, resource);
  await download(copy, resource);
}

/** Reads everything again after a change that no window shows, such as other rights of the key, which move no timestamp. */
export async function refresh(copy: Copy, resource: string, reason: string): Promise<void> {
  if (copy.checkpoint.load(resource).kind === 'new') return;
  copy.report({ kind: 'refresh', reason });
  await beginAgain(copy, resource);
}

async function beginAgain(copy: Copy, resource: string): Promise<void> {
  const { checkpoint } = copy;
  const since = await settledWindowEnd(copy);
  await checkpoint.commit({
    load: { resource, event: { kind: 'refresh', since } },
    // An entry without a key cannot be requested, but its record arrives again if the source still has it.
    release: checkpoint
      .quarantined((of) => of.resource === resource && of.key === undefined)
      .map((entry) => ({ resource: entry.resource, keys: [entry.key] })),
    witnesses: { resource, newest: [] },
    state: { masks: NO_MASKS },
  });
}
