/**
 * The cached blocks of one view, resource and shape, in key order and without overlaps, and the effect of changes on them. This
 * module does not know where blocks come from, or how many there may be.
 */
import type { KeptRange } from '../../compile/read.ts';
import { compareKeys } from '../../shared/compare-keys.ts';
import type { Deflated } from '../../shared/gzip-member.ts';
import type { Changes } from '../../store/changes/change-follower.ts';
import { linkHash } from '../../store/read/linked-body.ts';
import type { CachedText } from './text-cache-file.ts';

/** A cached block. It is in the list as soon as it has been read, even while it is still being compressed. */
export interface CachedBlock extends KeptRange {
  readonly id: string;
  /** Hashes of the keys of agents and offices whose values the block contains. */
  readonly links: Uint32Array;
  /** Its compressed records, joined by commas; absent if the block is empty, if the text file has them, and in a list of texts. */
  deflated: Promise<Deflated> | undefined;
  /** Its records in the text file, or waiting to be written there. They are compressed, except in a list of texts. */
  text?: CachedText | undefined;
  /** The compressed records without their bytes, once only the text file has the bytes. */
  inFile?: Omit<Deflated, 'bytes'>;
  /** The list that contains the block; absent if it was removed because it may have changed. */
  list: BlockList | undefined;
}

export class BlockList {
  readonly #resource: string;
  #blocks: CachedBlock[] = [];

  constructor(resource: string) {
    this.#resource = resource;
  }

  /**
   * The blocks that make up a page that begins after a key.
   * @returns the blocks, and where the page begins: after the block that contains the key, if it has no records after the key
   */
  blocksAfter(
    key: string,
    limit: number,
  ): { readonly after: string; readonly blocks: readonly CachedBlock[] } {
    let index = this.#indexOf(key);
    let after = key;
    const around = this.#blocks[index];
    if (around !== undefined && compareKeys(around.after, key) < 0) {
      if (compareKeys(around.lastKey, key) <= 0) after = around.last;
      index++;
    }
    const blocks: CachedBlock[] = [];
    for (let rows = 0; rows < limit && index < this.#blocks.length; index++) {
      const block = this.#blocks[index];
      if (block === undefined) break;
      blocks.push(block);
      rows += block.rows;
    }
    return { after, blocks };
  }

  /** Adds a block, unless the list has others with keys in its range. */
  add(block: CachedBlock): boolean {
    const index = this.#indexOf(block.after);
    const next = this.#blocks[index];
    if (next !== undefined && compareKeys(next.after, block.last) < 0) return false;
    this.#blocks.splice(index, 0, block);
    block.list = this;
    return true;
  }

  /** Whether the list has the block of a range. */
  has({ after, last }: Pick<KeptRange, 'after' | 'last'>): boolean {
    const block = this.#blocks[this.#indexOf(after)];
    return block?.after === after && block.last === last;
  }

  remove(block: CachedBlock): void {
    if (block.list !== this) return;
    block.list = undefined;
    const index = this.#indexOf(block.after);
    if (this.#blocks[index] === block) this.#blocks.splice(index, 1);
  }

  /** Removes the blocks that may have changed. @returns these blocks */
  applyChanges({ keys, resources }: Changes & { kind: 'records' }): readonly CachedBlock[] {
    if (resources.has(this.#resource)) return this.clear();
    const ended = new Set<CachedBlock>();
    for (const key of keys.get(this.#resource) ?? []) {
      const block = this.#blocks[this.#indexBefore(key)];
      if (block !== undefined && compareKeys(block.after, key) < 0) ended.add(block);
    }
    const links = new Set<number>();
    for (const [resource, changed] of keys) {
      if (resource !== this.#resource) for (const key of changed) links.add(linkHash(resource, key));
    }
    const isLinked = (block: CachedBlock): boolean => block.links.some((link) => links.has(link));
    if (resources.size > 0) for (const block of this.#blocks) if (block.links.length > 0) ended.add(block);
    if (links.size > 0) for (const block of this.#blocks) if (isLinked(block)) ended.add(block);
    this.#end(ended);
    return [...ended];
  }

  clear(): readonly CachedBlock[] {
    const ended = this.#blocks;
    this.#end(new Set(ended));
    return ended;
  }

  #end(ended: ReadonlySet<CachedBlock>): void {
    if (ended.size === 0) return;
    for (const block of ended) block.list = undefined;
    this.#blocks = this.#blocks.filter((block) => !ended.has(block));
  }

  /** The index of the first block that has keys after this one. */
  readonly #indexOf = (key: string): number => this.#first((block) => compareKeys(block.last, key) > 0);

  /** The index of the first block that ends at this key or after it. */
  readonly #indexBefore = (key: string): number => this.#first((block) => compareKeys(block.last, key) >= 0);

  #first(is: (block: CachedBlock) => boolean): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const block = this.#blocks[middle];
      if (block !== undefined && is(block)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
