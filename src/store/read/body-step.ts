/** Reads the body of several records, and inserts their agents and offices, from the cache if they are unchanged. */
import type { PlannedStatement } from '../../compile/page-plan.ts';
import type { LinkedTexts } from '../../compile/text/linked-texts.ts';
import { NO_TEXT } from '../../shared/byte-string-map.ts';
import type { Row } from '../session.ts';
import type { BodyCheck } from '../whole/validate-body.ts';
import {
  LinkedBody,
  type LinkedFragments,
  type SnapshotFragments,
  textWithoutRecord,
} from './linked-body.ts';
import { MOST_BYTES, mustNotBeTooLarge, type OwnedBody, SMALLEST } from './page-memory.ts';
import {
  type FragmentOf,
  NO_RESULT,
  requestStatement,
  type StatementRequest,
  type StatementResult,
  type Steps,
} from './read-steps.ts';

/** The records and the query that fill the placeholders of a body. */
interface Linking {
  readonly linked: LinkedTexts;
  /** Returns the changes since the slot `position`. */
  readonly changes: PlannedStatement;
}

/** A body as it was read, possibly with placeholders, and as it will be sent; `body` is absent if there is none. */
interface Read {
  readonly given: StatementResult;
  readonly marked?: LinkedBody;
}

/** @throws whatever the check of the body throws */
export function* readBody(
  request: StatementRequest,
  linking: Linking | undefined,
  context: BodyContext,
): Steps<Read> {
  if (linking === undefined) {
    const { commas, ...given } = yield* requestStatement(request);
    return { given: checkBody(given, context, commas && (() => commas)) };
  }
  const { linked, changes } = linking;
  const { position } = context.fragments;
  let seen: SnapshotFragments | undefined;
  const receiveChanges = (rows: readonly Row[]): SnapshotFragments =>
    (seen ??= context.fragments.forSnapshot(linked, position, rows));
  const without = linked.links.map(textWithoutRecord);
  const fragmentOf: FragmentOf = (link, bytes, start = 0, end = 0) => {
    if (bytes === undefined) return without[link];
    const found = seen?.find(link, bytes, start, end) ?? NO_TEXT;
    return found === NO_TEXT ? undefined : seen?.texts[link]?.textAt(found);
  };
  const count = linked.links.length;
  // Blocks need to know which linked records their texts contain, so all of their placeholders stay.
  const links = request.gives === 'records' ? { count } : { count, fragmentOf };
  const [changed = NO_RESULT, { commas, ...given } = NO_RESULT] = yield [
    { gives: 'rows', statement: changes, slots: { position }, isKept: true, heard: receiveChanges },
    { ...request, links },
  ];
  const { body, rows } = given;
  if (body === undefined) return { given };
  const room = new FillBuffer(body, context);
  const inPieces = request.gives === 'records';
  const seenNow = receiveChanges([...changed.rows]);
  const marked = new LinkedBody(body, linked, seenNow, { commas, room: room.take, inPieces });
  if (marked.isFilled) return { given: checkBody(given, context, () => commas ?? []), marked };
  const { lacking } = marked;
  if (lacking.length > 0) {
    const slots = { links: JSON.stringify(lacking) };
    const found = yield* requestStatement({
      gives: 'rows',
      statement: linked.fragments,
      slots,
      isKept: true,
    });
    marked.addFragments([...found.rows]);
  }
  const filled = { rows, ...fillBody(given, marked, context, room) };
  return { given: checkBody(filled, context, () => marked.commas), marked };
}

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
function checkBody<T extends Partial<OwnedBody>>(
  given: T,
  { check, fragments }: BodyContext,
  commas?: () => readonly number[],
): T {
  const { body } = given;
  if (body === undefined) return given;
  try {
    check(body, commas);
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
