import { timestampFrom } from '../../dictionary/index.ts';
import type { BookChange } from '../checkpoint/checkpoint.ts';
import type { Copy } from '../copy/copy.ts';
import { contradicts, NO_MASKS, withPage } from '../copy/masks.ts';
import { wantedApart } from '../copy/pending-fetches.ts';
import { noteDone } from '../copy/schedule.ts';
import { storePage } from '../copy/store-page.ts';
import { LostPosition, pagesFrom } from '../copy/walk.ts';
import { RequestFailure } from '../http/failure.ts';
import { type LoadEvent, least, type WalkEnd } from '../machine/load.ts';
import { edgesOf, type SourcePage } from '../source/source.ts';
import { fetchApart, wantedOfNew } from './children.ts';
import { witnessesAfter } from './witnesses.ts';

/** Downloads that are begun again before the source is given up for now. */
const MOST_ROUNDS = 5;

/** How far the source's clock may be off from this one without a word. */
const TOLD_OFFSET = 24 * 3_600_000;

/** The end of a window that nothing is stamped before any more, on the source's clock. */
export async function settledAt(copy: Copy): Promise<string> {
  const moment = await copy.feed.serverTime();
  const ahead = moment - copy.environment.clock.now();
  if (Math.abs(ahead) >= TOLD_OFFSET) {
    copy.tell({ kind: 'clock', sourceClock: timestampFrom(moment), ahead });
  }
  return timestampFrom(moment - edgesOf(copy.feed.capabilities).settle);
}

/**
 * The initial download, begun or taken up where it stopped, with the sub-data that follows it (specification 4.4,
 * rule 1). Afterwards the copy is complete up to the moment at which the download began.
 */
export async function download(copy: Copy, resource: string): Promise<void> {
  const { book, tell } = copy;
  const before = book.load(resource);
  if (before.kind === 'current' || before.kind === 'updating') return;
  tell({ kind: 'step', resource, step: 'initial', state: before.kind === 'new' ? 'begun' : 'resumed' });
  if (before.kind === 'new') {
    await book.commit({ load: { resource, event: { kind: 'begin', since: await settledAt(copy) } } });
  }
  for (;;) {
    const state = book.load(resource);
    if (state.kind !== 'initial') break;
    try {
      await walk(copy, resource);
    } catch (error) {
      if (!(error instanceof LostPosition)) throw error;
      if (state.round >= MOST_ROUNDS) {
        throw new RequestFailure('transient', `The walk was lost ${MOST_ROUNDS} times: ${error.message}`);
      }
      tell({ kind: 'again', resource, step: 'initial', reason: error.message });
      await book.commit({ load: { resource, event: { kind: 'lost' } } });
    }
  }
  if (book.load(resource).kind === 'filling') {
    await fetchApart(copy, resource);
    await book.commit({ load: { resource, event: { kind: 'filled' } } });
  }
  await noteDone(copy, 'downloaded', copy.environment.clock.now());
  tell({ kind: 'step', resource, step: 'initial', state: 'done' });
}

async function walk(copy: Copy, resource: string): Promise<void> {
  const { book, feed, sizeOf, tell } = copy;
  const begun = book.load(resource);
  if (begun.kind !== 'initial') return;
  const fetch = (place: Parameters<typeof feed.page>[2]) => feed.page(resource, { kind: 'all' }, place);
  const keyField = (await copy.store.model()).resource(resource).key;
  let done = begun.rows;
  let announced = begun.total;
  let end = '';
  for await (const page of pagesFrom(fetch, begun.position, sizeOf(resource))) {
    const rows = Math.max(page.items.length + page.broken.length, page.keys.length);
    announced = least(announced, page.total);
    end = page.keys.at(-1)?.key ?? end;
    const walked = { rows: done + rows, end };
    const missed = page.next === undefined ? shortOf(walked.rows, announced) : undefined;
    const isAgain = missed !== undefined && begun.round < MOST_ROUNDS && !isSame(walked, begun.previous);
    await storePage(copy, page, () => ({
      want: wantedOfNew(copy, resource, page),
      ...witnessesAfter(copy, resource, page, keyField),
      state: masksAfter(copy, page),
      load: {
        resource,
        event: isAgain ? { kind: 'short', ...walked } : eventOf(copy, resource, page, rows),
      },
    }));
    done += rows;
    tell({ kind: 'page', resource, step: 'initial', rows, done, total: page.total });
    if (missed === undefined) continue;
    const short = { resource, step: 'initial' } as const;
    tell(
      isAgain
        ? { kind: 'again', ...short, reason: tooShort(missed) }
        : { kind: 'short', ...short, ...missed },
    );
  }
}

function eventOf({ feed }: Copy, resource: string, { next, total }: SourcePage, rows: number): LoadEvent {
  if (next === undefined) return { kind: 'end', fills: wantedApart(feed.capabilities, resource).length > 0 };
  return { kind: 'page', next, rows, ...(total === undefined ? {} : { total }) };
}

const isSame = (one: WalkEnd, other: WalkEnd | undefined): boolean =>
  one.rows === other?.rows && one.end === other.end;

interface Missed {
  readonly rows: number;
  readonly announced: number;
}

/** What a walk that has ended gave, and what was announced, where that was more. */
export const shortOf = (rows: number, announced: number | undefined): Missed | undefined =>
  announced !== undefined && rows < announced ? { rows, announced } : undefined;

export const tooShort = ({ rows, announced }: Missed): string =>
  `The walk ended after ${rows} of ${announced} records`;

/** What a page tells of masks, to be kept with it. */
export function masksAfter({ book }: Copy, page: SourcePage): NonNullable<BookChange['state']> {
  const before = book.get('masks') ?? NO_MASKS;
  const after = withPage(before, page);
  return after === before ? {} : { masks: after };
}

/** Whether a page shows that the key may see other fields than when the copy was made. */
export function showsOtherFields({ book }: Copy, page: SourcePage): boolean {
  return contradicts(book.get('masks') ?? NO_MASKS, page);
}
