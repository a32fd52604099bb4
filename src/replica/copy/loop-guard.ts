import { RequestFailure } from '../http/failure.ts';
import type { Position, SourceKey } from '../source/source.ts';

/** Pages without a record, one after the other, after which a walk is taken to have no end. */
const EMPTY_PAGES = 100;
/** How many times more records than announced may come. */
const TOO_MANY = 3;
/** Below this no number of records is suspicious. */
const SUSPICIOUS = 10_000;

interface GuardedPage {
  readonly next?: Position | undefined;
  readonly keys: readonly SourceKey[];
  readonly total?: number | undefined;
}

/**
 * Ends a walk that goes round in circles: the same link or token twice, the same page twice, pages of nothing, or many
 * times the number of records that the source announced.
 */
export class LoopGuard {
  readonly #places = new Set<string>();
  #previous = '';
  #empty = 0;
  #rows = 0;
  #announced = 0;

  /** @throws RequestFailure `rejected` */
  check(position: Position | undefined, { next, keys, total }: GuardedPage): void {
    if (next === undefined) return;
    if (position !== undefined) this.#places.add(nameOf(position));
    const place = nameOf(next);
    if (this.#places.has(place)) throw loop(`The source gave ${place} twice`);
    this.#places.add(place);
    const content = keys.map(({ resource, key }) => `${resource} ${key}`).join('\n');
    if (keys.length > 1 && content === this.#previous) throw loop('The source gave the same page twice');
    this.#previous = content;
    this.#empty = keys.length === 0 ? this.#empty + 1 : 0;
    if (this.#empty >= EMPTY_PAGES) throw loop(`The source gave ${EMPTY_PAGES} pages without a record`);
    this.#rows += keys.length;
    this.#announced = Math.max(this.#announced, total ?? Number.POSITIVE_INFINITY);
    if (this.#rows > SUSPICIOUS && this.#rows > TOO_MANY * this.#announced) {
      throw loop(`The source announced ${this.#announced} records and gave more than ${this.#rows}`);
    }
  }
}

function nameOf(position: Position): string {
  switch (position.kind) {
    case 'link':
      return `the link ${position.url}`;
    case 'token':
      return `the skip token ${position.token}`;
    case 'skip':
      return `the offset ${position.skip}`;
  }
}

const loop = (reason: string): RequestFailure =>
  new RequestFailure('rejected', `${reason}: the walk would not end`);
