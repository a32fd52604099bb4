/** Detects walks that would not end. This module does not know how pages are requested. */
import { hash } from 'node:crypto';
import { recordName } from '../../records/record-name.ts';
import { RequestFailure } from '../http/failure.ts';
import type { AnyPage, WalkPosition } from './source.ts';

/**
 * The set of texts that were seen, stored as 64 bits of their digests: a hundred thousand texts take about 6 MB. The probability
 * that two of a hundred thousand collide is less than one in a billion.
 */
export class SeenTexts {
  readonly #seen = new Set<string>();

  /** @returns whether the text is new */
  add(text: string): boolean {
    const { size } = this.#seen;
    return this.#seen.add(hash('sha256', text, 'latin1').slice(0, 8)).size > size;
  }
}

/** The number of consecutive pages without a new record after which a walk is considered endless. */
const IDLE_PAGES = 100;
/** The multiple of the announced number of records up to which a walk may continue. */
const TOO_MANY = 3;
/** Up to this number of records, a walk is not compared with the announced number. */
const SUSPICIOUS = 10_000;

type GuardedPage = Pick<AnyPage, 'next' | 'keys' | 'total'>;

/**
 * Detects a walk that loops, by a link or token that occurs twice, a page that occurs twice even if others were between, a series
 * of pages without new records, or several times as many records as the source announced. A page of one record may occur again,
 * because a skip token may include the record that it names.
 */
export class LoopGuard {
  readonly #positions = new SeenTexts();
  readonly #pages = new SeenTexts();
  #idle = 0;
  #rows = 0;
  #announced = 0;

  /** @throws RequestFailure `rejected` */
  check(position: WalkPosition | undefined, { next, keys, total }: GuardedPage): void {
    if (next === undefined) return;
    if (position !== undefined) this.#positions.add(describePosition(position));
    const words = describePosition(next);
    if (!this.#positions.add(words)) throw loopFailure(`The source gave ${words} twice`);
    // A page with the same records in another order is the same page.
    const names = keys.map(recordName).toSorted();
    const isNew = keys.length > 0 && this.#pages.add(names.join('\n'));
    if (keys.length > 1 && !isNew) {
      const where = position?.kind === 'skip' ? `at the offset ${position.skip} as before` : 'twice';
      throw loopFailure(`The source gave the same page ${where}`);
    }
    this.#idle = isNew ? 0 : this.#idle + 1;
    if (this.#idle >= IDLE_PAGES) {
      const what = keys.length === 0 ? 'a record' : 'a new record';
      throw loopFailure(`The source gave ${IDLE_PAGES} pages without ${what}`);
    }
    this.#rows += keys.length;
    // Some servers announce the number of records on the page, so the number is ignored if another page follows and it is not
    // larger than this page.
    const announced = total === undefined || total <= keys.length ? Number.POSITIVE_INFINITY : total;
    this.#announced = Math.max(this.#announced, announced);
    if (this.#rows > SUSPICIOUS && this.#rows > TOO_MANY * this.#announced) {
      throw loopFailure(`The source announced ${this.#announced} records and gave more than ${this.#rows}`);
    }
  }
}

function describePosition(position: WalkPosition): string {
  switch (position.kind) {
    case 'link':
      return `the link ${position.url}`;
    case 'token':
      return `the skip token ${position.token}`;
    case 'skip':
      return `the offset ${position.skip}`;
    case 'key':
      return `the key ${position.key}`;
  }
}

const loopFailure = (reason: string): RequestFailure =>
  new RequestFailure('rejected', `${reason}: the walk would not end`);
