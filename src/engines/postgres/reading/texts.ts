/**
 * Reads the texts of a statement's rows to their end, as the bytes of a body, so that the connection is free before any of
 * them is sent. It must not know what the texts say.
 */
import { Query, type QueryConfig } from 'pg';
import { mustNotBeTooLarge } from '../../../store/largest-answer.ts';
import { PageMemory, SMALLEST } from '../../../store/page-memory.ts';
import { takingRows } from '../connection/row-bytes.ts';
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
/** Bytes of the last page, for the memory of the next one, so that it need not grow. */
let usual = SMALLEST;
const LARGEST_USUAL = 16 * 1024 * 1024;

/** Collects texts in memory that grows with them. One text, such as that of a record, has memory of its own. */
class Body {
  #only: Buffer | undefined;
  #bytes = Buffer.alloc(0);
  #length = 0;
  #texts = 0;

  /** Adds a part of a chunk, which is used for something else afterwards. @throws PlatError `answerTooLarge` */
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

  /** What was collected; its memory is free again when it is released. @throws PlatError `answerTooLarge` */
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
  /** Of rows; one more tells that more follow, and its text is left out. */
  readonly limit?: number | undefined;
  /** Takes the text of the first row, which belongs to no body. */
  readonly before?: ((text: string) => void) | undefined;
  /** Is told of the rows of the body: key, and bytes of the text, if there is one. */
  readonly each?: (key: string | null, size: number | undefined) => void;
}

/** Bytes of the number of values in a row, and of the length of each. */
const COUNT = 2;
const LENGTH = 4;

/** A value in the bytes of a row; null: it ends where it starts. */
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

/** @param statement gives texts `x`, with keys `k` before them or without */
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
        // What the server would still send is not wanted.
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
