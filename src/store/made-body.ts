/** The memory of bodies that are made of others, and their check. It does not know what a body says. */
import { MOST_BYTES, mustNotBeTooLarge } from './largest-answer.ts';
import type { LinkedBody } from './linked-body.ts';
import type { LinkedFragments } from './linked-fragments.ts';
import { type OwnedBody, SMALLEST } from './page-memory.ts';
import type { BodyCheck } from './whole/whole-bodies.ts';

/** What bodies are made with. */
export interface BodyMaking {
  readonly check: BodyCheck;
  readonly fragments: LinkedFragments;
  /** Memory of exactly this length. */
  readonly memory: (length: number) => OwnedBody;
}

/**
 * A body that must not be used gives its memory back, and what it may have been made of is read anew.
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
 * A body with agents and offices in it. The memory of the given one is free then.
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

/** Frees a large body at once, not only when the garbage collector finds it. */
function discard({ buffer, byteLength }: Uint8Array): void {
  if (byteLength >= SMALLEST && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer)
    buffer.transfer(0);
}
