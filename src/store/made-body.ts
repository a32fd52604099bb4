/**
 * The memory of bodies that are assembled from others, and their validation. It does not know the content of a body.
 */
import { MOST_BYTES, mustNotBeTooLarge } from './largest-answer.ts';
import type { LinkedBody } from './linked-body.ts';
import type { LinkedFragments } from './linked-fragments.ts';
import { type OwnedBody, SMALLEST } from './page-memory.ts';
import type { BodyCheck } from './whole/whole-bodies.ts';

/** What is needed to assemble bodies. */
export interface BodyMaking {
  readonly check: BodyCheck;
  readonly fragments: LinkedFragments;
  /** Memory of exactly this length. */
  readonly memory: (length: number) => OwnedBody;
}

/**
 * Validates a body. A body that must not be used releases its memory, and everything that it may have been made of is
 * read again.
 * @param commas as the check has them
 * @throws as the check does
 */
export function checkedBody<T extends Partial<OwnedBody>>(
  given: T,
  { check, fragments }: BodyMaking,
  commas?: (body: Uint8Array) => readonly number[],
): T {
  const { body } = given;
  if (body === undefined) return given;
  try {
    check(body, commas && (() => commas(body)));
    return given;
  } catch (error) {
    fragments.forget();
    given.release?.();
    throw error;
  }
}

/**
 * A body with agents and offices inserted. The memory of the given body is released.
 * @param most bytes of the body
 * @throws PlatError `answerTooLarge`
 */
export function filledBody(
  given: Partial<OwnedBody>,
  page: LinkedBody,
  { memory }: Pick<BodyMaking, 'memory'>,
  most = MOST_BYTES,
): OwnedBody {
  try {
    const { length } = page;
    mustNotBeTooLarge(length, most);
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
