/**
 * A buffer for bytes that arrive in chunks and are consumed from the front. The remaining bytes are always contiguous, so a reader
 * sees no chunk boundaries. This module does not know what they mean.
 */
export class ByteWindow {
  bytes: Buffer = Buffer.alloc(0);
  /** Start of the remaining bytes. */
  begin = 0;
  /** End of the remaining bytes. */
  end = 0;

  get size(): number {
    return this.end - this.begin;
  }

  /** Appends a chunk: by reference if the window is empty, otherwise by copying, in amortized linear time. */
  append(piece: Buffer): void {
    if (this.size === 0) {
      this.bytes = piece;
      this.begin = 0;
      this.end = piece.length;
      this.#isOwn = false;
      return;
    }
    const needed = this.size + piece.length;
    if (!this.#isOwn || needed > this.bytes.length) this.#move(Buffer.allocUnsafe(roomFor(needed)));
    else if (this.end + piece.length > this.bytes.length) this.#move(this.bytes);
    piece.copy(this.bytes, this.end);
    this.end += piece.length;
  }

  /** Whether the window owns the buffer and may write to it. */
  #isOwn = false;

  #move(to: Buffer): void {
    this.bytes.copy(to, 0, this.begin, this.end);
    this.end -= this.begin;
    this.begin = 0;
    this.bytes = to;
    this.#isOwn = true;
  }
}

const roomFor = (bytes: number): number => 1 << Math.ceil(Math.log2(bytes + 1));
