import type { Answer } from '../../http/client.ts';
import { RequestFailure } from '../../http/failure.ts';
import { readDate, readJson } from '../answer.ts';
import type { KeyPage } from '../source.ts';

/** A page of a collection. */
export interface ListAnswer {
  readonly page: Readonly<Record<string, unknown>>;
  readonly values: readonly unknown[];
  readonly facts: Pick<KeyPage, 'serverTime' | 'total' | 'weight'>;
}

export function readList(answer: Answer): ListAnswer {
  const page = readJson(answer);
  const { value: values } = page;
  if (!Array.isArray(values)) {
    throw new RequestFailure('transient', `${answer.url} answered without a list of records`);
  }
  const count = total(page);
  const facts = {
    serverTime: readDate(answer),
    total: Number.isFinite(count) ? count : undefined,
    weight: answer.text.length,
  };
  return { page, values, facts };
}

/** How many records there are, if the page tells; else infinitely many. */
export function total(page: Readonly<Record<string, unknown>>): number {
  const count = page['@odata.count'] ?? page['@count'];
  return typeof count === 'number' ? count : Number.POSITIVE_INFINITY;
}

/** The link to what follows, absolute. */
export function linkOf(page: Readonly<Record<string, unknown>>, root: string): string | undefined {
  const link = page['@odata.nextLink'] ?? page['@nextLink'];
  if (typeof link !== 'string' || link === '') return undefined;
  if (!URL.canParse(link, root))
    throw new RequestFailure('rejected', `The source links to ${link}, which is no address`);
  return new URL(link, root).href;
}
