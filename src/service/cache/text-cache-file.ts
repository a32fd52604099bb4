/**
 * A file of texts: blocks, compressed blocks, and large responses. The file has no name, so no other process can open it, and the
 * system removes it when the process ends. Where each text is, and whether it is valid, is known only in the memory of the process.
 * A text that was read is used only if its tag matches (GMAC with a key that only this process knows). Texts are written after the
 * response that contains them has been sent. This module does not know what texts consist of, or what invalidates them.
 */
import { createCipheriv, randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, read, unlinkSync, write } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { PromiseQueue, settleAll } from '../../shared/promise-queue.ts';
import { makeFolder, PRIVATE_FOLDER_MODE } from '../../store/files/private-file.ts';
import { type OwnedBody, PageMemory } from '../../store/read/page-memory.ts';
import { Availability, type AvailabilityOptions } from './availability.ts';
import { FileSpace } from './file-space.ts';

interface TextFileOptions extends AvailabilityOptions {
  /** The beginning of the name that the file has only while it is being opened. */
  readonly path: string;
  /** The limit of this file and the file of compressed blocks together, in bytes. */
  readonly bytes: number;
  /** The number of bytes that the other file uses. */
  readonly taken: () => number;
}

type TextKind = 'block' | 'compressed block' | 'response';

/** A text in the file, or one that waits to be written. */
export interface CachedText {
  readonly kind: TextKind;
  readonly length: number;
  /** Called when the file no longer has the text. */
  readonly onDrop: () => void;
  /** Its position in the file; absent until space is allocated. */
  at?: number;
  tag: bigint;
  isWritten: boolean;
  isDropped: boolean;
  /** The number of reads and writes in progress: until they end, its space is not reused. */
  users: number;
  usedAt: number;
}

/** A text, and its position in a body. */
export interface PlacedText {
  readonly text: CachedText;
  readonly start: number;
}

const readFrom = promisify(read);
const writeTo = promisify(write);

const MODE = 0o600;
/** The part of the limit that texts may take. */
const SHARE = 3 / 4;
/**
 * For each kind of text: the part of the limit that the listed kinds together may fill when a text of that kind is added. Blocks for
 * clients without gzip leave room for compressed blocks, which would otherwise occupy memory, and both leave room for responses.
 */
const FILLS: Readonly<Record<TextKind, { readonly kinds: readonly TextKind[]; readonly part: number }>> = {
  block: { kinds: ['block'], part: 3 / 4 },
  'compressed block': { kinds: ['block', 'compressed block'], part: 15 / 16 },
  response: { kinds: ['block', 'compressed block', 'response'], part: 1 },
};
/**
 * The part of their room up to which blocks are added at the first request of their records. The rest is for records that are
 * requested again, so that walks that nobody repeats leave room for them.
 */
const ONCE = 7 / 8;
/** The maximum number of bytes of bodies that wait to be written. Texts of further bodies are not kept. */
const MOST_WAITING = 40 * 1024 * 1024;
/** The number of bytes that are written in one call: for smaller and for larger pieces, Linux allocates memory more slowly. */
const PIECE = 512 * 1024;
/**
 * Milliseconds without a read after which a text may be evicted. If texts were evicted earlier, a walk over more texts than fit
 * would evict its own.
 */
const EVICTABLE_AFTER = 60 * 60 * 1000;
/** Milliseconds after which a full file is tried again. */
const FULL_RETRY_INTERVAL = 10 * 60 * 1000;
/** The number of faulty reads after which the file is closed and replaced later. */
const MOST_FAULTS = 5;
const COMMA = 0x2c;

export class TextCacheFile {
  readonly #options: TextFileOptions;
  readonly #key = randomBytes(16);
  /** Memory from the operating system, like a resizable buffer: freed memory of malloc would leave gaps of several megabytes. */
  readonly #memory = new PageMemory((length) => new ArrayBuffer(length, { maxByteLength: length }));
  readonly #queue = new PromiseQueue();
  readonly #space = new FileSpace();
  /** The bytes that the texts of each kind use in the file. */
  readonly #used: Record<TextKind, number> = { block: 0, 'compressed block': 0, response: 0 };
  /** The texts, the least recently used first. */
  readonly #texts = new Set<CachedText>();
  #file: number | undefined;
  /** Whether the file has failed, and is closed once nothing uses it. */
  #isFailed = false;
  #size = 0;
  /** The number of reads and writes in progress. */
  #busy = 0;
  #waiting = 0;
  #faults = 0;
  readonly #fullSince = new Map<TextKind, number>();
  readonly #availability: Availability;

  constructor(options: TextFileOptions) {
    this.#options = options;
    this.#availability = new Availability(options);
  }

  /** Whether a text of this kind recently did not fit, and no space has been freed since. */
  isFull(kind: TextKind): boolean {
    return (
      this.#options.now() - (this.#fullSince.get(kind) ?? Number.NEGATIVE_INFINITY) < FULL_RETRY_INTERVAL
    );
  }

  /** Whether there is room for blocks of records that have not been requested before. */
  get hasRoomForFirst(): boolean {
    return this.#used.block < this.limit * FILLS.block.part * ONCE;
  }

  /** Whether the file cannot be used. A file that failed is replaced once its last read or write has ended. */
  get isOff(): boolean {
    return this.#availability.isOff || this.#isFailed;
  }

  /** Allocates memory for a page that is made of texts. */
  newBody(length: number): OwnedBody {
    return this.#memory.body(length);
  }

  /** Creates a text that will be written. */
  reserveText(kind: TextKind, length: number, onDrop: () => void): CachedText {
    const text = {
      kind,
      length,
      onDrop,
      tag: 0n,
      isWritten: false,
      isDropped: false,
      users: 0,
      usedAt: this.#options.now(),
    };
    this.#texts.add(text);
    return text;
  }

  /** Writes texts of a body, then releases the body. Never throws: a text that could not be written is dropped. */
  async writeTexts({ body, release }: OwnedBody, placed: readonly PlacedText[]): Promise<void> {
    if (placed.length === 0 || this.isOff || this.#waiting + body.length > MOST_WAITING) {
      for (const { text } of placed) this.#end(text);
      release?.();
      return;
    }
    this.#waiting += body.length;
    try {
      await this.#queue.run(() => this.#write(body, placed));
    } catch (error) {
      this.#turnOff(error);
    } finally {
      this.#waiting -= body.length;
      for (const { text } of placed) if (!text.isWritten) this.#end(text);
      release?.();
    }
  }

  async #write(body: Uint8Array, placed: readonly PlacedText[]): Promise<void> {
    const file = this.#opened();
    const runs = contiguousRuns(placed.filter(({ text }) => !text.isDropped));
    const limit = this.limit;
    const written = runs.flatMap((run) => this.#placed(run, limit));
    for (const { text } of written) text.users++;
    try {
      for (const { text, start } of written)
        text.tag = this.#tagOf(body.subarray(start, start + text.length));
      for (const run of contiguousRuns(written)) await this.#writeRun(file, body, run);
      for (const { text } of written) text.isWritten = true;
      if (written.length > 0) this.#availability.recordSuccess();
    } finally {
      for (const { text } of written) this.#leave(text);
    }
  }

  /** Allocates space for texts of one kind that follow one another in a body. @returns those that fit */
  #placed(run: readonly PlacedText[], limit: number): readonly PlacedText[] {
    const [first] = run;
    if (first === undefined) return [];
    if (this.#place(run, limit)) return run;
    this.evictUnused();
    if (this.#place(run, limit)) return run;
    this.#fullSince.set(first.text.kind, this.#options.now());
    return run.filter((one) => this.#place([one], limit));
  }

  #place(run: readonly PlacedText[], limit: number): boolean {
    const [first] = run;
    if (first === undefined) return false;
    const { kind } = first.text;
    const { kinds, part } = FILLS[kind];
    const length = run.reduce((sum, { text }) => sum + spaceOf(text), 0);
    if (kinds.reduce((sum, each) => sum + this.#used[each], length) > limit * part) return false;
    let at = this.#space.allocate(length, limit);
    if (at === undefined) return false;
    this.#used[kind] += length;
    for (const { text } of run) {
      text.at = at;
      at += spaceOf(text);
    }
    return true;
  }

  async #writeRun(file: number, body: Uint8Array, run: readonly PlacedText[]): Promise<void> {
    const [first, last] = [run[0], run.at(-1)];
    if (first?.text.at === undefined || last === undefined) return;
    const end = last.start + last.text.length;
    this.#size = Math.max(this.#size, first.text.at + end - first.start);
    for (let from = first.start; from < end; ) {
      const length = Math.min(PIECE, end - from);
      const at = first.text.at + from - first.start;
      const { bytesWritten } = await this.#during(() => writeTo(file, body, from, length, at));
      if (bytesWritten === 0) throw new Error('the file system accepts no more data');
      from += bytesWritten;
    }
  }

  /**
   * Reads texts into a body, with a comma behind each of them that does not end it.
   * @returns whether all of them are intact; a damaged one is dropped
   */
  async readTexts(body: Uint8Array, placed: readonly PlacedText[]): Promise<boolean> {
    const file = this.#file;
    // Texts may have been invalidated since the caller found them.
    if (file === undefined || this.isOff || placed.some(({ text }) => text.isDropped)) return false;
    const now = this.#options.now();
    for (const { text } of placed) {
      text.users++;
      text.usedAt = now;
      this.#texts.delete(text);
      this.#texts.add(text);
    }
    try {
      await settleAll(contiguousRuns(placed).map((run) => this.#readRun(file, body, run)));
      const wrong = placed.filter(({ text, start }) => !this.#isRight(body, text, start));
      if (wrong.length > 0) this.#fault(wrong, new Error('a text differs from what was written'));
      return wrong.length === 0;
    } catch (error) {
      this.#fault(placed, error);
      return false;
    } finally {
      for (const { text } of placed) this.#leave(text);
    }
  }

  async #readRun(file: number, body: Uint8Array, run: readonly PlacedText[]): Promise<void> {
    const [first, last] = [run[0], run.at(-1)];
    if (first?.text.at === undefined || last === undefined) return;
    const { start } = first;
    const { at } = first.text;
    const length = last.start + last.text.length - start;
    const { bytesRead } = await this.#during(() => readFrom(file, body, start, length, at));
    if (bytesRead < length) throw new Error('the file is too short');
    for (const { text, start: begin } of run) {
      if (begin + text.length < body.length) body[begin + text.length] = COMMA;
    }
  }

  #isRight(body: Uint8Array, { tag, length }: CachedText, start: number): boolean {
    return this.#tagOf(body.subarray(start, start + length)) === tag;
  }

  /** Computes the tag of a text. GMAC is five times as fast as a CRC if the processor has instructions for it. */
  #tagOf(text: Uint8Array): bigint {
    const mac = createCipheriv('aes-128-gcm', this.#key, NONCE);
    mac.setAAD(text);
    mac.final();
    return mac.getAuthTag().readBigUInt64LE();
  }

  /** Frees the space of a text, without calling `onDrop`. */
  free(text: CachedText): void {
    if (text.isDropped) return;
    text.isDropped = true;
    this.#texts.delete(text);
    this.#giveBack(text);
  }

  /** Truncates the file to the space that the file of compressed blocks leaves. */
  truncateToLimit(): void {
    const limit = this.limit;
    if (this.#size <= limit || this.#file === undefined || this.isOff) return;
    for (const text of this.#texts) if ((text.at ?? 0) + spaceOf(text) > limit) this.#end(text);
    const size = Math.max(this.#space.end, limit);
    if (size >= this.#size) return;
    try {
      ftruncateSync(this.#file, size);
      this.#size = size;
    } catch (error) {
      this.#turnOff(error);
    }
  }

  close(): void {
    this.#availability.disable();
    this.#leaveFile();
  }

  #leaveFile(): void {
    for (const text of this.#texts) this.#end(text);
    this.#isFailed = this.#file !== undefined;
    this.#closeIdle();
  }

  /** The maximum number of bytes that texts may currently take. */
  get limit(): number {
    const { bytes, taken } = this.#options;
    return Math.floor(Math.max(0, Math.min(bytes * SHARE, bytes - taken())));
  }

  #opened(): number {
    if (this.isOff) throw new Error('the file is closed');
    if (this.#file !== undefined) return this.#file;
    const path = `${this.#options.path}-${randomBytes(6).toString('hex')}`;
    makeFolder(dirname(path), PRIVATE_FOLDER_MODE);
    this.#file = openSync(path, 'wx+', MODE);
    unlinkSync(path);
    this.#size = 0;
    this.#faults = 0;
    return this.#file;
  }

  /** Evicts texts that have not been read for long. */
  evictUnused(): void {
    const since = this.#options.now() - EVICTABLE_AFTER;
    for (const text of this.#texts) {
      if (text.usedAt > since) return;
      this.#end(text);
    }
  }

  #end(text: CachedText): void {
    if (text.isDropped) return;
    this.free(text);
    text.onDrop();
  }

  #leave(text: CachedText): void {
    text.users--;
    this.#giveBack(text);
  }

  #giveBack(text: CachedText): void {
    if (!text.isDropped || text.users > 0 || text.at === undefined) return;
    this.#space.free(text.at, spaceOf(text));
    this.#used[text.kind] -= spaceOf(text);
    this.#fullSince.clear();
    delete text.at;
  }

  async #during<T>(work: () => Promise<T>): Promise<T> {
    this.#busy++;
    try {
      return await work();
    } finally {
      this.#busy--;
      if (this.#isFailed) this.#closeIdle();
    }
  }

  /** Closes the file once no read or write uses its descriptor, because the system may reuse the descriptor for another file. */
  #closeIdle(): void {
    if (this.#busy > 0 || this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
    this.#isFailed = false;
  }

  #fault(wrong: readonly PlacedText[], error: unknown): void {
    if (this.isOff) return;
    for (const { text } of wrong) this.#end(text);
    this.#faults++;
    if (this.#faults >= MOST_FAULTS) this.#turnOff(error);
    else if (this.#faults === 1) {
      this.#options.warn(
        `${this.#options.path} was damaged: the damaged texts are read from the store`,
        error,
      );
    }
  }

  #turnOff(error: unknown): void {
    if (this.isOff) return;
    const message = `${this.#options.path} cannot be used: pages without gzip are read from the store, and compressed blocks stay in memory`;
    this.#availability.recordFailure(message, error);
    this.#leaveFile();
  }
}

const NONCE = new Uint8Array(12);

/** The number of bytes of a text with the comma after it. */
const spaceOf = ({ length }: CachedText): number => length + 1;

/** Groups texts that follow one another in a body and, if they have been written, also in the file. */
function contiguousRuns(placed: readonly PlacedText[]): readonly (readonly PlacedText[])[] {
  const runs: PlacedText[][] = [];
  let before: PlacedText | undefined;
  for (const one of placed) {
    const { text, start } = one;
    const follows =
      before !== undefined &&
      start === before.start + spaceOf(before.text) &&
      (text.at === undefined) === (before.text.at === undefined) &&
      (text.at === undefined || text.at === (before.text.at ?? 0) + spaceOf(before.text));
    if (follows) runs.at(-1)?.push(one);
    else runs.push([one]);
    before = one;
  }
  return runs;
}
