/** The pages of a walk: the next one is under way while one is used, and no larger than the source can give. */
import { asksTooMuch, isOfRequest, mayAskTooMuch, type RequestFailure } from '../http/failure.ts';
import { LoopGuard } from '../source/loop-guard.ts';
import type { PageRequest, SourceKey, WalkPosition } from '../source/source.ts';
import type { PageSize } from './page-size.ts';

interface AnyPage {
  readonly next?: WalkPosition | undefined;
  readonly keys: readonly SourceKey[];
  readonly total?: number | undefined;
  readonly weight: number;
}

/** Attempts at a page before a smaller one is asked for. */
const ATTEMPTS = 2;

/** A position led nowhere: a link died, or the pages go round in circles. The walk has to begin again. */
export class LostPosition extends Error {
  override readonly name = 'LostPosition';
}

/**
 * The pages of a walk from a position on. One page is asked for ahead, and no more: what waits in memory is bounded.
 * @throws LostPosition when the source rejects a position that it gave
 * @throws RequestFailure
 */
export async function* pagesFrom<P extends AnyPage>(
  fetch: (request: PageRequest) => Promise<P>,
  from: WalkPosition | undefined,
  size: PageSize,
): AsyncGenerator<P> {
  const guard = new LoopGuard();
  const ask = async (position: WalkPosition | undefined): Promise<P> => {
    try {
      const page = await fetchPage(fetch, position, size);
      guard.check(position, page);
      return page;
    } catch (error) {
      if (position === undefined || !isOfRequest(error) || error.kind !== 'rejected') throw error;
      throw new LostPosition(error.message, { cause: error });
    }
  };
  for (let coming: Promise<P> | undefined = ask(from); coming !== undefined; ) {
    const page: P = await coming;
    coming = page.next === undefined ? undefined : ask(page.next);
    coming?.catch(() => undefined); // thrown when it is awaited
    yield page;
  }
}

async function fetchPage<P extends AnyPage>(
  fetch: (request: PageRequest) => Promise<P>,
  position: WalkPosition | undefined,
  size: PageSize,
): Promise<P> {
  for (let smaller = true; ; ) {
    try {
      const page = await fetch({ position, size: size.now, ...(smaller ? { attempts: ATTEMPTS } : {}) });
      size.praise(page.weight, page.keys.length);
      return page;
    } catch (error) {
      if (!isOfRequest(error)) throw error;
      if (mayAskTooMuch(error)) {
        if (size.tryLess(position === undefined)) continue;
        size.restore();
        throw error;
      }
      if (!asksTooMuch(error)) {
        // What a smaller page does not help deserves all attempts.
        if (smaller && error.kind === 'transient') smaller = false;
        else throw error;
      } else if (!size.shrink(error.kind === 'too-large' ? 'large' : 'slow')) {
        if (error.kind === 'too-large') return fetchApart(fetch, { position, size: size.now }, error);
        if (!smaller) throw error;
        smaller = false;
      }
    }
  }
}

/** The smallest page, of which a record alone may be too large: it is left out, and the others are not. */
async function fetchApart<P>(
  fetch: (request: PageRequest) => Promise<P>,
  request: PageRequest,
  failure: RequestFailure,
): Promise<P> {
  try {
    return await fetch({ ...request, apart: true });
  } catch (error) {
    // A source that does not know this says nothing of the position.
    throw isOfRequest(error) && error.kind === 'rejected' ? failure : error;
  }
}
