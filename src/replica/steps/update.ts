import { timestampFrom } from '../../dictionary/index.ts';
import type { Copy } from '../copy/copy.ts';
import { NO_MASKS } from '../copy/masks.ts';
import { storePage } from '../copy/store-page.ts';
import { LostPosition, pagesFrom } from '../copy/walk.ts';
import { RequestFailure } from '../http/failure.ts';
import type { LoadEvent } from '../machine/load.ts';
import { edgesOf, type PageRequest, type SourcePage, type Walk } from '../source/source.ts';
import { childrenOfUpdated, fetchApart } from './children.ts';
import { masksAfter, settledAt, showsOtherFields } from './download.ts';
import { witnessesAfter } from './witnesses.ts';

/** Windows that are begun again in one update before the source is given up for now. */
const MOST_ROUNDS = 5;
/** A window may not end where the one before it did: the source would answer from the index of that one. */
const MOMENT = 1000;
/** A cursor so far beyond the source's clock is of a clock that was wrong. Clocks of one source differ by less. */
const BEYOND = 3_600_000;

/**
 * Brings what changed since the last update: one window with two bounds, from the cursor to a moment at which the
 * source is settled (specification 4.4, rule 3).
 */
export async function update(copy: Copy, resource: string): Promise<void> {
  const { book, tell } = copy;
  const before = book.load(resource);
  if (before.kind !== 'current' && before.kind !== 'updating') return;
  tell({
    kind: 'step',
    resource,
    step: 'update',
    state: before.kind === 'updating' ? 'resumed' : 'begun',
  });
  // The first page of a walk may have been asked for before; its filter is not asked twice.
  if (before.kind === 'updating' && before.position === undefined) await lose(copy, resource);
  let isTakenUp = book.load(resource).kind === 'updating';
  for (let round = 1; ; round++) {
    if (book.load(resource).kind === 'current' && !(await openWindow(copy, resource))) break;
    try {
      await readWindow(copy, resource);
      // A window that an earlier run opened may end long ago; what came since is in one of its own.
      if (!isTakenUp) break;
      isTakenUp = false;
    } catch (error) {
      if (!(error instanceof LostPosition)) throw error;
      await lose(copy, resource);
      if (round >= MOST_ROUNDS) {
        throw new RequestFailure('transient', `The window was lost ${MOST_ROUNDS} times: ${error.message}`);
      }
      tell({ kind: 'again', resource, step: 'update', reason: error.message });
    }
  }
  if (book.load(resource).kind === 'current') await fetchApart(copy, resource);
  tell({ kind: 'step', resource, step: 'update', state: 'done' });
}

function lose({ book }: Copy, resource: string): Promise<unknown> {
  return book.commit({ load: { resource, event: { kind: 'lost' } } });
}

/** @returns false when the source's clock has not moved past the cursor, or everything has to be read again */
async function openWindow(copy: Copy, resource: string): Promise<boolean> {
  const { book, environment, signal } = copy;
  for (;;) {
    const state = book.load(resource);
    if (state.kind !== 'current') return true;
    const upper = await settledAt(copy);
    if (Date.parse(state.cursor) - Date.parse(upper) > BEYOND) {
      // Whatever was stamped until the clock was right again is in no window.
      await refresh(copy, resource, `the source's clock went back to ${upper} from ${state.cursor} or later`);
      return false;
    }
    if (Date.parse(upper) <= Date.parse(state.cursor)) return false;
    if (upper !== state.lastUpper) {
      await book.commit({ load: { resource, event: { kind: 'window', upper } } });
      return true;
    }
    if (signal.aborted) throw new RequestFailure('stopped', 'It was told to stop');
    await environment.clock.sleep(MOMENT, signal);
  }
}

async function readWindow(copy: Copy, resource: string): Promise<void> {
  const { book, feed, settings } = copy;
  const { fields: known } = (await copy.store.model()).resource(resource);
  const also = settings.alsoWindow.filter((name) => known.has(name));
  const fields = [feed.windowField(resource), ...also];
  for (;;) {
    const state = book.load(resource);
    if (state.kind !== 'updating') return;
    const field = fields[state.pass] ?? feed.windowField(resource);
    const lower = timestampFrom(Date.parse(state.cursor) - edgesOf(copy.feed.capabilities).overlap);
    const window: Walk = { kind: 'window', field, lower, upper: state.upper };
    await readPass(copy, resource, window, state.pass >= fields.length - 1);
  }
}

async function readPass(copy: Copy, resource: string, window: Walk, isLast: boolean): Promise<void> {
  const { book, feed, sizeOf, tell } = copy;
  const state = book.load(resource);
  if (state.kind !== 'updating') return;
  const fetch = (place: PageRequest) => feed.page(resource, window, place);
  const keyField = (await copy.store.model()).resource(resource).key;
  let done = state.rows;
  for await (const page of pagesFrom(fetch, state.position, sizeOf(resource))) {
    const rows = page.items.length + page.broken.length;
    if (showsOtherFields(copy, page)) {
      await refresh(copy, resource, 'fields were masked that are open now, or the other way round');
      return;
    }
    await storePage(copy, page, async (intake) => ({
      want: await childrenOfUpdated(copy, resource, intake),
      ...witnessesAfter(copy, resource, page, keyField),
      state: masksAfter(copy, page),
      load: { resource, event: eventOf(page, rows, isLast) },
    }));
    done += rows;
    tell({ kind: 'page', resource, step: 'update', rows, done, total: page.total });
  }
}

function eventOf({ next, total }: SourcePage, rows: number, isLast: boolean): LoadEvent {
  if (next !== undefined) return { kind: 'page', next, rows, ...(total === undefined ? {} : { total }) };
  return isLast ? { kind: 'end', fills: false } : { kind: 'nextPass', rows };
}

/** Everything is read again, for what no window brings: the key may see something else, and no stamp moves by that. */
export async function refresh(copy: Copy, resource: string, reason: string): Promise<void> {
  const { book, tell } = copy;
  if (book.load(resource).kind === 'new') return;
  tell({ kind: 'refresh', reason });
  const since = await settledAt(copy);
  await book.commit({
    load: { resource, event: { kind: 'refresh', since } },
    // What has no key to ask by comes again if the source still has it.
    release: book
      .quarantined((of) => of.resource === resource && of.key === undefined)
      .map((kept) => ({ resource: kept.resource, keys: [kept.key] })),
    witnesses: { resource, newest: [] },
    state: { masks: NO_MASKS },
  });
}
