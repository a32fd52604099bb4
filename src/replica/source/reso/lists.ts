/** Collections in responses of a RESO server: a page of one, and a short one that is collected completely. */
import { REPEATED } from '../../../records/exact-json.ts';
import type { JsonObject } from '../../../shared/json.ts';
import type { SourceResponse } from '../../http/client.ts';
import { RequestFailure } from '../../http/failure.ts';
import { factsOf, faultWith200, readJson } from '../answer.ts';
import { SeenTexts } from '../loop-guard.ts';
import type { KeyPage } from '../source.ts';

/** A page of a collection, and its address. */
interface ListPage {
  readonly page: JsonObject;
  readonly values: readonly unknown[];
  readonly url: string;
}

export interface ListResponse extends ListPage {
  readonly facts: Pick<KeyPage, 'serverTime' | 'total' | 'weight'>;
}

/** @throws RequestFailure `transient` for a response of another form */
export function readListPage(answer: SourceResponse): ListPage {
  const page = readJson(answer);
  const { url } = answer;
  const { value: values, [`value${REPEATED}2`]: others } = page;
  if (Array.isArray(values) && others === undefined) return { page, values, url };
  throw faultWith200(`${url} answered without a list of records`);
}

export function readList(answer: SourceResponse): ListResponse {
  const list = readListPage(answer);
  const { page } = list;
  const count = page['@odata.count'] ?? page['@count'];
  const total = typeof count === 'number' && Number.isFinite(count) ? count : undefined;
  return { ...list, facts: { ...factsOf(answer), total } };
}

/** The link to what follows, as the page has it. */
export function nextLinkIn(page: JsonObject): string | undefined {
  const link = page['@odata.nextLink'] ?? page['@nextLink'];
  return typeof link === 'string' && link !== '' ? link : undefined;
}

/** The link to what follows, absolute. @throws RequestFailure `rejected` */
export function nextLinkOf(list: ListPage, root: string): string | undefined {
  return absolute(nextLinkIn(list.page), list.url, root);
}

/** The delta link, absolute, which the last page of a walk or of a delta has. @throws RequestFailure `rejected` */
export function deltaLinkOf({ page, url }: ListPage, root: string): string | undefined {
  return absolute(page['@odata.deltaLink'] ?? page['@deltaLink'], url, root);
}

/** A relative link is relative to the root, as its context says; a query alone, to the address of its page. */
function absolute(link: unknown, url: string, root: string): string | undefined {
  if (typeof link !== 'string' || link === '') return undefined;
  const base = link.startsWith('?') ? url : root;
  if (URL.canParse(link, base)) return new URL(link, base).href;
  throw new RequestFailure('rejected', `The source links to ${link}, which is not a URL`);
}

/** More than any listing has of one kind, or than are requested by their keys at once. */
const MOST_RECORDS = 10_000;
const MOST_PAGES = 250;

/**
 * A list that is collected to its end: the sub-resources of a listing, a few pending records. It grows as long as its pages are new,
 * up to a limit for such lists.
 */
export class ShortList {
  readonly #name: string;
  readonly #seen = new SeenTexts();
  readonly values: unknown[] = [];
  #pages = 0;

  /** @param name how messages call it */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Adds a page.
   * @returns whether it is new; one that is not is omitted, and a walk by offset is at its end
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

  /** @throws RequestFailure `rejected`, since a link led to an earlier page */
  failRepeated(): never {
    throw this.#endless('the same page twice');
  }

  #endless(what: string): RequestFailure {
    return new RequestFailure('rejected', `${this.#name} gave ${what}: the list would not end`);
  }
}
