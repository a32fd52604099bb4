import { Digests } from '../../digests.ts';
import { RequestFailure } from '../../http/failure.ts';

/** What a listing may have of one kind, and what a list of wanted records may come to, with much to spare. */
const MOST_RECORDS = 10_000;
const MOST_PAGES = 250;

/**
 * A list that is kept whole until its end: the sub-data of a listing, a few records that are wanted. It is gathered as
 * long as its pages are new, and not beyond what such a list can be.
 */
export class ShortList {
  readonly #name: string;
  readonly #seen = new Digests();
  readonly values: unknown[] = [];
  #pages = 0;

  /** @param name how messages call it */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Takes a page in.
   * @returns whether it is new; one that is not is left out, and whoever asks by offset is at the end
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

  /** @throws RequestFailure `rejected`, since a link led to a page that came before */
  repeated(): never {
    throw this.#endless('the same page twice');
  }

  #endless(what: string): RequestFailure {
    return new RequestFailure('rejected', `${this.#name} gave ${what}: the list would not end`);
  }
}
