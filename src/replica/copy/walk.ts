/**
 * Reads the pages of a walk. The next page is requested while the current one is processed, and the page size adapts to what the
 * source can return.
 */
import {
  isDirectFailure,
  isServerError,
  mayBeRejectedForSize,
  mayPassIfSmaller,
  RequestFailure,
} from '../http/failure.ts';
import { LoopGuard } from '../source/loop-guard.ts';
import type { AnyPage, PageRequest, WalkPosition } from '../source/source.ts';
import type { PageSize } from './page-size.ts';

type WalkedPage = Omit<AnyPage, 'serverTime'>;

/** The number of attempts at a page before a smaller page is requested. */
const ATTEMPTS = 2;

/** The position of a walk is no longer valid, because a link has expired or the pages form a cycle. The walk has to start over. */
export class LostPosition extends RequestFailure {}

/**
 * The pages of a walk from a position on. Only one page is requested ahead, to bound memory. A generator would keep each page until
 * the next one is read.
 * @param known the keys of records that the source returned earlier
 * @throws LostPosition if the source rejects a position that it returned
 * @throws RequestFailure
 */
export function pagesFrom<P extends WalkedPage>(
  fetch: (request: PageRequest) => Promise<P>,
  from: WalkPosition | undefined,
  size: PageSize,
  known: () => readonly string[] = () => [],
): AsyncIterableIterator<P, void> {
  const guard = new LoopGuard();
  const ask = async (position: WalkPosition | undefined): Promise<P> => {
    try {
      const page = await fetchPage(fetch, position, size, known);
      guard.check(position, page);
      return page;
    } catch (error) {
      if (position === undefined || !isDirectFailure(error) || error.kind !== 'rejected') throw error;
      throw new LostPosition(error.kind, error.message, { cause: error });
    }
  };
  let request: (() => Promise<P>) | undefined = () => ask(from);
  return {
    async next() {
      if (request === undefined) return { done: true, value: undefined };
      const page = await request();
      const coming = page.next && ask(page.next);
      coming?.catch(() => undefined); // thrown when it is awaited
      request = coming && (() => coming);
      return { done: false, value: page };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function fetchPage<P extends WalkedPage>(
  fetch: (request: PageRequest) => Promise<P>,
  position: WalkPosition | undefined,
  size: PageSize,
  known: () => readonly string[],
): Promise<P> {
  for (let smaller = true; ; ) {
    try {
      const page = await fetch({ position, size: size.current, ...(smaller ? { attempts: ATTEMPTS } : {}) });
      size.recordSuccess(page.weight, page.keys.length);
      return page;
    } catch (error) {
      if (!isDirectFailure(error)) throw error;
      if (mayBeRejectedForSize(error)) {
        if (size.shrinkAfterRejection(position === undefined)) continue;
        size.restore();
        throw error;
      }
      if (!mayPassIfSmaller(error)) {
        // The failure has nothing to do with the size of the page, so the request is repeated with the usual number of attempts.
        if (smaller && error.kind === 'transient') smaller = false;
        else throw error;
      } else if (!size.shrink(error.kind === 'too-large' ? 'large' : 'slow')) {
        const request = { position, size: size.current };
        if (error.kind === 'too-large') return fetchRecordsSeparately(fetch, request, error);
        // If even the smallest page always fails, the source may fail at one of its records.
        if (!smaller && isServerError(error))
          return fetchRecordsSeparately(fetch, { ...request, attempts: ATTEMPTS, known: known() }, error);
        if (!smaller) throw error;
        smaller = false;
      }
    }
  }
}

/** Requests each record of the smallest page separately, so that only the records that the source cannot return are skipped. */
async function fetchRecordsSeparately<P>(
  fetch: (request: PageRequest) => Promise<P>,
  request: PageRequest,
  failure: RequestFailure,
): Promise<P> {
  try {
    return await fetch({ ...request, apart: true });
  } catch (error) {
    // If the source does not support these requests, the original failure is thrown: a rejection here does not mean that the
    // position is invalid.
    const isUnable = isDirectFailure(error) && (error.kind === 'rejected' || error.kind === 'too-large');
    throw isUnable ? failure : error;
  }
}
