/**
 * Reads all texts of a statement's rows into the bytes of a body, so that the connection is free before any of them is sent. This
 * module must not know what the texts contain.
 */
import { Query, type QueryConfig } from 'pg';
import { mustNotBeTooLarge } from '../../../store/largest-answer.ts';
import { PageMemory, SMALLEST } from '../../../store/page-memory.ts';
import { takingRows } from '../connection/row-bytes.ts';
import type { ServerSession } from '../connection/session.ts';

/** The texts of rows, joined by commas. */
interface Texts {
  /** Absent if there are none. */
  readonly body?: Uint8Array;
  readonly rows: number;
  /** The key of the last row, if rows have keys. */
  readonly last?: string;
  /** Whether there was a row beyond the limit. */
  readonly more: boolean;
  /** Absent: the body's memory is not pooled. */
  readonly release?: () => void;
}

/** A body of one text. @throws TooLarge */
export function bodyOf(text: string): Buffer {
  const body = Buffer.from(text);
  mustNotBeTooLarge(body.length);
  return body;
}

/** The memory of the pages that this process reads. */
export const memories = new PageMemory((length) => new ArrayBuffer(length));

const COMMA = 0x2c;
/** The size of the last page in bytes, with which the buffer of the next one starts, so that it need not grow. */
let usual = SMALLEST;
const LARGEST_USUAL = 16 * 1024 * 1024;

/** Collects texts in a growing buffer. A single text, such as that of a record, has its own memory. */
class Body {
  #only: Buffer | undefined;
  #bytes = Buffer.alloc(0);
  #length = 0;
  #texts = 0;

  /** Copies a part of a chunk, which is reused afterwards. @throws PlatError `answerTooLarge` */
  add(chunk: Buffer, start: number, end: number): void {
    mustNotBeTooLarge(this.#length + end - start);
    if (this.#texts++ === 0) {
      this.#only = Buffer.from(chunk.subarray(start, end));
      this.#length = this.#only.length;
      return;
    }
    if (this.#only !== undefined) {
      this.#bytes = Buffer.from(memories.take(Math.max(usual, this.#length)));
      this.#only.copy(this.#bytes);
      this.#only = undefined;
    }
    const most = this.#length + 1 + end - start;
    if (most > this.#bytes.length) this.#grow(Math.max(most, 2 * this.#bytes.length));
    this.#bytes[this.#length] = COMMA;
    chunk.copy(this.#bytes, this.#length + 1, start, end);
    this.#length = most;
  }

  /** The collected texts; `release` frees their memory. @throws PlatError `answerTooLarge` */
  end(): Pick<Texts, 'body' | 'release'> {
    if (this.#only !== undefined) return { body: this.#only };
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
  /** The number of rows; a further one shows that more follow, and its text is omitted. */
  readonly limit?: number | undefined;
  /** Receives the text of the first row, which is not part of the body. */
  readonly before?: ((text: string) => void) | undefined;
  /** Called for each row of the body with its key and, if it has a text, the size of that in bytes. */
  readonly each?: (key: string | null, size: number | undefined) => void;
}

/** The sizes in bytes of the number of values in a row, and of the length of a value. */
const COUNT = 2;
const LENGTH = 4;

/** A value in the bytes of a row; a null has no bytes. */
interface Value {
  readonly start: number;
  readonly end: number;
  readonly isNull: boolean;
}

function valueAt(bytes: Buffer, at: number): Value {
  const length = bytes.readInt32BE(at);
  const start = at + LENGTH;
  return { start, end: start + Math.max(length, 0), isNull: length < 0 };
}

/** @param statement returns texts `x`, optionally with keys `k` before them */
export function readTexts(
  { client }: ServerSession,
  statement: QueryConfig,
  { limit = Number.POSITIVE_INFINITY, before, each = () => undefined }: TextsWish = {},
): Promise<Texts> {
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
  const take = (bytes: Buffer, start: number): void => {
    const isKeyed = bytes.readUInt16BE(start) > 1;
    const key = isKeyed ? valueAt(bytes, start + COUNT) : undefined;
    const text = valueAt(bytes, key?.end ?? start + COUNT);
    if (isBefore) {
      isBefore = false;
      before?.(bytes.toString('utf8', text.start, text.end));
      return;
    }
    if (hasFailed || ++rows > limit) return;
    const k = key === undefined || key.isNull ? null : bytes.toString('utf8', key.start, key.end);
    if (k !== null) last = k;
    if (!text.isNull) body.add(bytes, text.start, text.end);
    each(k, text.isNull ? undefined : text.end - text.start);
  };
  const query = new Query(
    takingRows(client, statement, (bytes, start) => {
      try {
        take(bytes, start);
      } catch (error) {
        fail(error);
        // The rest of the result is not needed.
        client.connection.stream.destroy();
      }
    }),
  );
  query.on('error', fail);
  query.on('end', () => {
    if (hasFailed) return;
    const known = { rows: Math.min(rows, limit), more: rows > limit };
    resolve({ ...known, ...(last === undefined ? {} : { last }), ...body.end() });
  });
  client.query(query);
  return promise;
}
