/** Notices walks that would not end. It knows nothing of how pages are requested. */
import { hash } from 'node:crypto';
import { RequestFailure } from '../http/failure.ts';
import type { SourceKey, WalkPosition } from './source.ts';

/**
 * The texts that were seen, by 64 bits of their digests: a hundred thousand take about 6 MB. The chance that two of as
 * many are taken for one is less than one in a billion.
 */
export class SeenTexts {
  readonly #seen = new Set<string>();

  /** @returns whether the text is new */
  add(text: string): boolean {
    const { size } = this.#seen;
    return this.#seen.add(hash('sha256', text, 'latin1').slice(0, 8)).size > size;
  }
}

/** Pages in a row without a new record after which a walk is taken to have no end. */
const IDLE_PAGES = 100;
/** How many times the announced number of records is accepted. */
const TOO_MANY = 3;
/** Below this no number of records is suspicious. */
const SUSPICIOUS = 10_000;

interface GuardedPage {
  readonly next?: WalkPosition | undefined;
  readonly keys: readonly SourceKey[];
  readonly total?: number | undefined;
}

/**
 * Ends a walk that loops: the same link or token twice, a page twice however many others came between, pages of nothing new, or many
 * times the number of records that the source announced. A page of one record may come again, since its token may include its own
 * record.
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
    // In another order they are the same records.
    const names = keys.map(({ resource, key }) => `${resource} ${key}`).toSorted();
    const isNew = keys.length > 0 && this.#pages.add(names.join('\n'));
    if (keys.length > 1 && !isNew) throw loopFailure('The source gave the same page twice');
    this.#idle = isNew ? 0 : this.#idle + 1;
    if (this.#idle >= IDLE_PAGES) {
      const what = keys.length === 0 ? 'a record' : 'a new record';
      throw loopFailure(`The source gave ${IDLE_PAGES} pages without ${what}`);
    }
    this.#rows += keys.length;
    // If a page follows, a number no larger than this page counts only the page, as on some servers.
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
  }
}

const loopFailure = (reason: string): RequestFailure =>
  new RequestFailure('rejected', `${reason}: the walk would not end`);
