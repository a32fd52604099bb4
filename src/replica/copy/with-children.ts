/**
 * Requests the sub-resources of the listings of a page before the page is stored, if they do not arrive with it. A listing that is
 * stored without them is written again when they arrive, for its timestamps and counts.
 */
import { isStorableKey } from '../../records/parsed-record.ts';
import { RequestFailure } from '../http/failure.ts';
import { joinPages } from '../source/pages.ts';
import type { Source, SourcePage } from '../source/source.ts';
import type { Copy } from './copy.ts';
import { PageSize } from './page-size.ts';

/** A page, with the number of characters of all responses for it. */
export interface PageWithChildren extends SourcePage {
  readonly children: Pick<SourcePage, 'items' | 'broken'>;
  /** The keys of the listings whose sub-resources were requested. */
  readonly completed: readonly string[];
}

/** A page whose sub-resources are not requested. */
export const withoutChildren = (page: SourcePage): PageWithChildren => ({
  ...page,
  children: { items: [], broken: [] },
  completed: [],
});

/**
 * The weight of a character of these responses, compared with one of RESO: they also contain members without values, so that a page
 * with as many listings takes less memory for each character.
 */
const NATIVE_WEIGHT = 2 / 3;

/** The number of attempts. What fails is requested again after the download, key by key if necessary. */
const ATTEMPTS = 2;

/**
 * Makes a function that requests the sub-resources of the listings of a page, as long as the source returns those of many listings in
 * one request, and no request fails.
 */
export function childrenRequester({
  feed,
  report,
}: Pick<Copy, 'feed' | 'report'>): (page: SourcePage) => Promise<PageWithChildren> {
  const size = new PageSize(feed.someAtOnce, report);
  let isPossible = true;
  return async (page) => {
    const keys = page.keys.map(({ key }) => key).filter(isStorableKey);
    // Requests for few listings each would use up the budget of a source whose pages are small.
    const areEnough = feed.capabilities.isPlat || keys.length * 2 >= feed.someAtOnce;
    const answers: SourcePage[] = [];
    let done = 0;
    while (isPossible && areEnough && done < keys.length) {
      const some = keys.slice(done, done + size.current);
      const answer = await childrenOf(feed, some);
      if (answer === undefined) isPossible = false;
      else {
        size.recordSuccess(answer.weight, some.length);
        answers.push(answer);
        done += some.length;
      }
    }
    const children = joinPages(answers);
    const weight = Math.round((page.weight + children.weight) * NATIVE_WEIGHT);
    return { ...page, children, completed: keys.slice(0, done), weight };
  };
}

async function childrenOf(feed: Source, keys: readonly string[]): Promise<SourcePage | undefined> {
  try {
    return await feed.childrenOfMany?.(keys, ATTEMPTS);
  } catch (error) {
    if (!(error instanceof RequestFailure) || error.kind === 'stopped') throw error;
    return undefined;
  }
}
