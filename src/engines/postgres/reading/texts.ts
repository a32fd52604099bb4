/**
 * Reads the texts of a statement's rows to their end, as the bytes of a body, so that the connection is free before any of
 * them is sent. It must not know what the texts say.
 */
import { Query, type QueryConfig } from 'pg';
import { mustNotBeTooLarge } from '../../../store/largest-answer.ts';
import { PageMemory, SMALLEST } from '../../../store/page-memory.ts';
import type { Row } from '../../../store/session.ts';
import type { ServerSession } from '../connection/session.ts';

/** The texts of rows, joined by commas. */
interface Texts {
  /** Absent where there are none. */
  readonly body?: Uint8Array;
  readonly rows: number;
  /** The key of the last row, where rows have keys. */
  readonly last?: string;
  /** Whether there was a row beyond the limit. */
  readonly more: boolean;
  /** Absent: the body has memory of its own. */
  readonly release?: () => void;
}

/** A body of one text. @throws TooLarge */
export function bodyOf(text: string): Buffer {
  const body = Buffer.from(text);
  mustNotBeTooLarge(body.length);
  return body;
}

/** Of the pages that this process reads. */
export const memories = new PageMemory((length) => new ArrayBuffer(length));

const COMMA = 0x2c;
/** Bytes of UTF-8 that a character of a string takes at most. */
const WIDEST = 3;

/** Bytes of the last page, for the memory of the next one, so that it need not grow. */
let usual = SMALLEST;
const LARGEST_USUAL = 16 * 1024 * 1024;

/** Collects texts in memory that grows with them. One text, such as that of a record, has memory of its own. */
class Body {
  #only: string | undefined;
  #bytes = Buffer.alloc(0);
  #length = 0;
  #texts = 0;
  /** Of the texts. */
  #written = 0;

  /** @returns bytes of the text @throws PlatError `answerTooLarge` */
  add(text: string): number {
    if (this.#texts++ === 0) {
      this.#only = text;
      return Buffer.byteLength(text);
    }
    if (this.#only !== undefined) {
      this.#bytes = Buffer.from(memories.take(usual));
      this.#append(this.#only);
      this.#only = undefined;
    }
    const written = this.#append(text);
    mustNotBeTooLarge(this.#length);
    return written;
  }

  #append(text: string): number {
    const most = this.#length + 1 + text.length * WIDEST;
    if (most > this.#bytes.length)
      this.#grow(Math.max(this.#length + 1 + Buffer.byteLength(text), 2 * this.#bytes.length));
    if (this.#written++ > 0) this.#bytes[this.#length++] = COMMA;
    const written = this.#bytes.write(text, this.#length);
    this.#length += written;
    return written;
  }

  /** What was collected; its memory is free again when it is released. @throws PlatError `answerTooLarge` */
  end(): Pick<Texts, 'body' | 'release'> {
    if (this.#only !== undefined) return { body: bodyOf(this.#only) };
    if (this.#texts === 0) return {};
    const whole = this.#bytes.subarray(0, this.#length);
    const isLarge = this.#length >= Math.max(SMALLEST, this.#bytes.length / 4);
    usual = Math.min(Math.max(this.#length, SMALLEST), LARGEST_USUAL);
    if (isLarge) return { body: whole, release: () => this.release() };
    const body = Buffer.from(whole);
    this.release();
    return { body };
  }

  release(): void {
    const { buffer, length } = this.#bytes;
    this.#bytes = Buffer.alloc(0);
    if (length > 0) memories.release(buffer);
  }

  #grow(length: number): void {
    const larger = Buffer.from(memories.take(length));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.release();
    this.#bytes = larger;
  }
}

interface TextsWish {
  /** Of rows; one more tells that more follow, and its text is left out. */
  readonly limit?: number | undefined;
  /** Takes the text of the first row, which belongs to no body. */
  readonly before?: ((text: string) => void) | undefined;
  /** Is told of the rows of the body: key, and bytes of the text, if there is one. */
  readonly each?: (key: unknown, size: number | undefined) => void;
}

/** @param statement gives texts `x`, with keys `k` or without */
export function readTexts(
  { client }: ServerSession,
  statement: QueryConfig,
  { limit = Number.POSITIVE_INFINITY, before, each = () => undefined }: TextsWish = {},
): Promise<Texts> {
  const query = new Query<Row>(statement);
  const body = new Body();
  let rows = 0;
  let last: string | undefined;
  let hasFailed = false;
  let isBefore = before !== undefined;
  const { promise, resolve, reject } = Promise.withResolvers<Texts>();
  const fail = (error: unknown): void => {
    hasFailed = true;
    body.release();
    reject(error);
  };
  query.on('row', ({ k, x }) => {
    if (isBefore) {
      isBefore = false;
      before?.(String(x));
      return;
    }
    if (hasFailed || ++rows > limit) return;
    if (typeof k === 'string') last = k;
    try {
      each(k, typeof x === 'string' ? body.add(x) : undefined);
    } catch (error) {
      fail(error);
      // What the server would still send is not wanted.
      client.connection.stream.destroy();
    }
  });
  query.on('error', fail);
  query.on('end', () => {
    if (hasFailed) return;
    const known = { rows: Math.min(rows, limit), more: rows > limit };
    try {
      resolve({ ...known, ...(last === undefined ? {} : { last }), ...body.end() });
    } catch (error) {
      fail(error);
    }
  });
  client.query(query);
  return promise;
}
