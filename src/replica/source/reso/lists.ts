/** Collections in responses of a RESO server: single pages, and short lists that are read completely. */
import { REPEATED } from '../../../records/exact-json.ts';
import type { JsonObject } from '../../../shared/json.ts';
import type { SourceClient, SourceResponse } from '../../http/client.ts';
import { isDirectFailure, RequestFailure } from '../../http/failure.ts';
import { SeenTexts } from '../loop-guard.ts';
import { factsOf, faultWith200, readJson } from '../response.ts';
import type { KeyPage } from '../source.ts';

/** A page of a collection, and its URL. */
interface ListPage {
  readonly page: JsonObject;
  readonly values: readonly unknown[];
  readonly url: string;
}

export interface ListResponse extends ListPage {
  readonly facts: Pick<KeyPage, 'serverTime' | 'total' | 'weight'>;
}

/** Reads a page of a collection. @throws RequestFailure `transient` for a response in another format */
export function readListPage(answer: SourceResponse): ListPage {
  const page = readJson(answer);
  const { url } = answer;
  const { value: values, [`value${REPEATED}2`]: others } = page;
  if (Array.isArray(values) && others === undefined) return { page, values, url };
  throw faultWith200(`${url} responded without a list of records`);
}

export function readList(answer: SourceResponse): ListResponse {
  const list = readListPage(answer);
  const { page } = list;
  const count = page['@odata.count'] ?? page['@count'];
  const total = typeof count === 'number' && Number.isFinite(count) ? count : undefined;
  return { ...list, facts: { ...factsOf(answer), total } };
}

/** The next link, as the page has it. */
export function nextLinkIn(page: JsonObject): string | undefined {
  const link = page['@odata.nextLink'] ?? page['@nextLink'];
  return typeof link === 'string' && link !== '' ? link : undefined;
}

/** The next link, absolute. @throws RequestFailure `rejected` */
export function nextLinkOf(list: ListPage, root: string): string | undefined {
  return absolute(nextLinkIn(list.page), list.url, root);
}

/** The delta link, absolute, which the last page of a walk or of a delta has. @throws RequestFailure `rejected` */
export function deltaLinkOf({ page, url }: ListPage, root: string): string | undefined {
  return absolute(page['@odata.deltaLink'] ?? page['@deltaLink'], url, root);
}

/**
 * Makes a link absolute: a relative link is relative to the root of the service (the context URL), but one that is only a query is
 * relative to the URL of its page.
 */
function absolute(link: unknown, url: string, root: string): string | undefined {
  if (typeof link !== 'string' || link === '') return undefined;
  const base = link.startsWith('?') ? url : root;
  if (URL.canParse(link, base)) return new URL(link, base).href;
  throw new RequestFailure('rejected', `The source links to ${link}, which is not a URL`);
}

/** Requests a page of a collection at a URL, which may be a link. @param collection the URL of the collection, without options */
export type PageReader = (
  url: string,
  collection: string,
  options: Parameters<SourceClient['get']>[2],
) => Promise<ListResponse>;

/** Statuses with which a proxy responds to a path that it does not forward. */
const NOT_FORWARDED: ReadonlySet<unknown> = new Set([403, 404]);

/**
 * Reads pages. A server behind a proxy that removes a prefix of the path does not know its public path: if its links lead nowhere,
 * they are followed at the path of the collection.
 */
export function pageReader(client: SourceClient): PageReader {
  /** Whether links outside of the collection are right; undefined before one was followed. */
  let areRight: boolean | undefined;
  return async (url, collection, options) => {
    const [given, known] = [new URL(url), new URL(collection)];
    const name = known.pathname.slice(known.pathname.lastIndexOf('/'));
    const isElsewhere = given.pathname !== known.pathname && given.pathname.endsWith(name);
    const there = `${known.href}${given.search}`;
    if (!isElsewhere || areRight !== undefined) {
      return client.get(isElsewhere && areRight === false ? there : url, readList, options);
    }
    try {
      const page = await client.get(url, readList, options);
      areRight = true;
      return page;
    } catch (error) {
      if (!isDirectFailure(error) || !NOT_FORWARDED.has(error.status)) throw error;
      const page = await client.get(there, readList, options).catch((other: unknown) => {
        throw isDirectFailure(other) && NOT_FORWARDED.has(other.status) ? error : other;
      });
      areRight = false;
      return page;
    }
  };
}

/** More than the sub-resources of one kind of any listing, and more than the keys of one request. */
const MOST_RECORDS = 10_000;
const MOST_PAGES = 250;

/** A list that is read to its end, such as sub-resources or pending records. Its pages must be new, and their number is limited. */
export class ShortList {
  readonly #name: string;
  readonly #seen = new SeenTexts();
  readonly values: unknown[] = [];
  #pages = 0;

  /** @param name the name of the list in messages */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Adds a page.
   * @returns whether the page is new; a page that is not new is omitted, and a walk by offset ends there
   * @throws RequestFailure `rejected` for a list without an end
   */
  add(page: readonly unknown[]): boolean {
    this.#pages++;
    if (page.length > 0 && !this.#seen.add(JSON.stringify(page))) return false;
    this.values.push(...page);
    if (this.values.length > MOST_RECORDS) throw this.#endless(`more than ${MOST_RECORDS} records`);
    if (this.#pages > MOST_PAGES) throw this.#endless(`more than ${MOST_PAGES} pages`);
    return true;
  }

  /** @throws RequestFailure `rejected`, because a link led to an earlier page */
  failRepeated(): never {
    throw this.#endless('the same page twice');
  }

  #endless(what: string): RequestFailure {
    return new RequestFailure('rejected', `${this.#name} gave ${what}: the list would not end`);
  }
}
