/**
 * The memory of pages: its limit, and its reuse. If each page of five megabytes were allocated separately, the garbage collector
 * would run every few pages. It knows neither threads nor engines.
 */

import { type PlatError, platError } from '../../errors/index.ts';
import { registerCache, type SizedCache } from '../../shared/bounded-cache.ts';

/** A body, and how its memory is released; absent if it has memory of its own. */
export interface OwnedBody {
  readonly body: Uint8Array;
  readonly release?: () => void;
}

/** Smaller bodies have memory of their own. */
export const SMALLEST = 64 * 1024;
/** Larger memory is not kept. */
const LARGEST_KEPT = 64 * 1024 * 1024;
/** The number of pieces of memory that are kept for reuse. */
const KEPT = 3;

/** Memory that a body does not release: in a process that reads few pages. */
export const ownMemory = (length: number): OwnedBody => ({ body: new Uint8Array(length) });

/** How many times larger than requested a piece of memory may be. */
const MOST_ROOM = 4;

export class PageMemory<T extends ArrayBufferLike> implements SizedCache {
  readonly #make: (length: number) => T;
  /** The piece that was released last is at the end. */
  readonly #free: T[] = [];

  /** @param make allocates memory of a length */
  constructor(make: (length: number) => T) {
    this.#make = make;
    registerCache('page buffers', this);
  }

  get use(): SizedCache['use'] {
    return {
      entries: this.#free.length,
      bytes: this.#free.reduce((sum, { byteLength }) => sum + byteLength, 0),
    };
  }

  /** Memory for a body of exactly this length. */
  readonly body = (length: number): OwnedBody => {
    if (length < SMALLEST) return ownMemory(length);
    const memory = this.take(length);
    let isOut = true;
    const release = (): void => {
      // Memory that was released twice would be given to two pages.
      if (isOut) this.release(memory);
      isOut = false;
    };
    return { body: new Uint8Array(memory, 0, length), release };
  };

  /** Memory of at least this length. The caller releases it once, or leaves it to the garbage collector. */
  take(length: number): T {
    // A small page would occupy the memory of a large one until it has been sent.
    const most = Math.max(length, SMALLEST) * MOST_ROOM;
    const index = this.#free.findLastIndex(({ byteLength }) => byteLength >= length && byteLength <= most);
    const [found] = index < 0 ? [] : this.#free.splice(index, 1);
    // Somewhat larger than requested, so that the next page fits as well.
    return found ?? this.#make(Math.ceil(length * 1.25));
  }

  release(memory: T): void {
    if (memory.byteLength > LARGEST_KEPT) return;
    this.#free.push(memory);
    // Dropping the smallest would drop each piece of a smaller page as soon as larger ones fill the list, and V8 does not
    // count shared memory when it decides whether to collect garbage.
    if (this.#free.length > KEPT) this.#free.shift();
  }
}

/** The largest response in megabytes: 1000 listings with all of their parts take 30, but nested expansions multiply. */
const LARGEST_ANSWER = 256;

export const MOST_BYTES = LARGEST_ANSWER * 1_000_000;

/** @param cause the error of an engine that stopped by itself */
export const answerTooLargeError = (cause?: unknown): PlatError =>
  platError('answerTooLarge', { megabytes: LARGEST_ANSWER }, cause === undefined ? {} : { cause });

/** @throws PlatError `answerTooLargeError` */
export function mustNotBeTooLarge(bytes: number, most = MOST_BYTES): void {
  if (bytes > most) throw answerTooLargeError();
}

/** A body that stays in shared memory until the memory is returned. */
export interface SharedBody {
  readonly memory: SharedArrayBuffer;
  readonly length: number;
}

/** Passes pages of a thread to the main thread without creating garbage there. */
export function makeOutbox() {
  const memory = new PageMemory((length) => new SharedArrayBuffer(length));
  return {
    /** Allocates memory for a body that will be sent. */
    body: memory.body,
    /** Returns a body in shared memory, and copies it there if necessary; undefined if it is too small to be worth it. */
    put(body: Uint8Array): SharedBody | undefined {
      const { buffer, length } = body;
      if (buffer instanceof SharedArrayBuffer) return { memory: buffer, length };
      if (length < SMALLEST) return undefined;
      const shared = memory.take(length);
      new Uint8Array(shared).set(body);
      return { memory: shared, length };
    },
    /** Takes back memory that the main thread has finished with. */
    release: (shared: SharedArrayBuffer) => memory.release(shared),
  };
}
