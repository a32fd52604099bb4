/**
 * The memory of bodies that are assembled from parts, and their validation. It does not know the content of a body.
 */
import type { BodyCheck } from '../whole/whole-bodies.ts';
import { MOST_BYTES, mustNotBeTooLarge } from './largest-answer.ts';
import type { LinkedBody } from './linked-body.ts';
import type { LinkedFragments } from './linked-fragments.ts';
import { type OwnedBody, SMALLEST } from './page-memory.ts';

/** What is needed to assemble bodies. */
export interface BodyContext {
  readonly check: BodyCheck;
  readonly fragments: LinkedFragments;
  /** Memory of exactly this length. */
  readonly memory: (length: number) => OwnedBody;
}

/**
 * Validates a body. If it is invalid, its memory is released, and everything that it may have been assembled from is read again.
 * @param commas the positions that `check` takes
 * @throws the error of the check
 */
export function checkBody<T extends Partial<OwnedBody>>(
  given: T,
  { check, fragments }: BodyContext,
  commas?: (body: Uint8Array) => readonly number[],
): T {
  const { body } = given;
  if (body === undefined) return given;
  try {
    check(body, commas && (() => commas(body)));
    return given;
  } catch (error) {
    fragments.clear();
    given.release?.();
    throw error;
  }
}

/** Memory for a body that is filled while its placeholders are read: as large as the last such body suggests. */
export class FillBuffer {
  readonly #making: Pick<BodyContext, 'memory' | 'fragments'>;
  readonly #length: number;
  #made: OwnedBody | undefined;

  /** @param body with placeholders */
  constructor({ length }: Uint8Array, making: Pick<BodyContext, 'memory' | 'fragments'>) {
    this.#making = making;
    this.#length = length;
  }

  readonly take = (): Uint8Array | undefined => {
    const { memory, fragments } = this.#making;
    const length = Math.ceil(this.#length * fragments.growth);
    this.#made = fragments.growth > MOST_GROWTH || length > MOST_BYTES ? undefined : memory(length);
    return this.#made?.body;
  };

  /** Returns the filled body, if it was written into this buffer. @param length of the filled body */
  finish(length: number, written: number | undefined): OwnedBody | undefined {
    this.#making.fragments.growth = Math.max(1, (SPARE * length) / this.#length);
    const made = this.#made;
    if (made !== undefined && written === length) return { ...made, body: made.body.subarray(0, length) };
    made?.release?.();
    return undefined;
  }
}

/** A margin: how much bodies grow differs by this much among pages of similar listings. */
const SPARE = 1.02;
/** The largest growth that counts: very small records may grow by more, which says nothing about the next page. */
const MOST_GROWTH = 4;

/**
 * Inserts agents and offices into a body, and releases the memory of the given body.
 * @param room the buffer into which the body may have been written
 * @param most the maximum number of bytes of the body
 * @throws PlatError `answerTooLarge`
 */
export function fillBody(
  given: Partial<OwnedBody>,
  page: LinkedBody,
  { memory }: Pick<BodyContext, 'memory'>,
  room?: FillBuffer,
  most = MOST_BYTES,
): OwnedBody {
  try {
    const { length, written } = page;
    const filled = room?.finish(length, written);
    mustNotBeTooLarge(length, most);
    if (filled !== undefined) return filled;
    const made = memory(length);
    page.write(made.body);
    return made;
  } finally {
    if (given.release !== undefined) given.release();
    else if (given.body !== undefined) discard(given.body);
  }
}

/** Frees the memory of a large body immediately instead of when the garbage collector runs. */
function discard({ buffer, byteLength }: Uint8Array): void {
  if (byteLength >= SMALLEST && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer)
    buffer.transfer(0);
}
