/** A body whose length is only known once its last text has been read. Its memory is reused for the next page. */
import { mustNotBeTooLarge, type OwnedBody, PageMemory, SMALLEST } from './page-memory.ts';

/** A body of one text. @throws TooLarge */
export function bodyOfText(text: string): Buffer {
  const body = Buffer.from(text);
  mustNotBeTooLarge(body.length);
  return body;
}

/** The memory of the pages that this process reads. */
export const pageMemory = new PageMemory((length) => new ArrayBuffer(length));

const COMMA = Buffer.from(',');
/** The size of the last page in bytes, with which the buffer of the next one starts, so that it need not grow. */
let usual = SMALLEST;
const LARGEST_USUAL = 16 * 1024 * 1024;

/** Collects texts, joined by commas, in a growing buffer. A single text, such as that of a record, has its own memory. */
export class GrowingBody {
  #only: Buffer | undefined;
  #bytes = Buffer.alloc(0);
  #length = 0;
  #texts = 0;
  readonly commas: number[] = [];

  get length(): number {
    return this.#length;
  }

  /** Begins a text, after a comma if it is not the first. */
  begin(): void {
    if (this.#texts++ === 0) {
      this.#only = this.#bytes;
      return;
    }
    this.commas.push(this.#length);
    this.add(COMMA, 0, COMMA.length);
  }

  /** Copies a part of a chunk, which is reused afterwards. @throws PlatError `answerTooLarge` */
  add(chunk: Buffer, start: number, end: number): void {
    if (start === end) return;
    const most = this.#length + end - start;
    mustNotBeTooLarge(most);
    if (this.#length === 0) {
      this.#only = Buffer.from(chunk.subarray(start, end));
      this.#length = most;
      return;
    }
    if (this.#only !== undefined) {
      this.#bytes = Buffer.from(pageMemory.take(Math.max(usual, most)));
      this.#only.copy(this.#bytes);
      this.#only = undefined;
    }
    if (most > this.#bytes.length) this.#grow(Math.max(most, 2 * this.#bytes.length));
    chunk.copy(this.#bytes, this.#length, start, end);
    this.#length = most;
  }

  /** The collected texts; `release` frees their memory. @throws PlatError `answerTooLarge` */
  end(): Partial<OwnedBody> {
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
    if (length > 0) pageMemory.release(buffer);
  }

  #grow(length: number): void {
    const larger = Buffer.from(pageMemory.take(length));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.release();
    this.#bytes = larger;
  }
}
