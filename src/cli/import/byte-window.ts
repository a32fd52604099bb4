/**
 * Bytes that come in pieces and are taken from the front: what was not taken yet lies in one buffer, so that whoever
 * reads them sees no borders between the pieces. It knows nothing of what the bytes mean.
 */
export class ByteWindow {
  bytes: Buffer = Buffer.alloc(0);
  /** What was not taken begins here. */
  begin = 0;
  /** Nothing lies behind. */
  end = 0;

  get size(): number {
    return this.end - this.begin;
  }

  /** Takes a piece in. An empty window holds the piece itself; any other copies it, in time that grows with the bytes. */
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

  /** Whether the buffer is this window's own, and may be written to. */
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
