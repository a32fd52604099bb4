/**
 * Keeps compressed blocks of whole records in key order, so that the second client that walks a collection gets pages that
 * cost next to nothing: a page is one gzip member of kept blocks. What is kept is the same for every key that sees the same,
 * and is used only in a snapshot whose sequence of changes says that it still holds. It knows neither SQL nor HTTP.
 */

import { keptStamp } from '../../compile/blocks-plan.ts';
import { isVisibilityCurrent, type StoreModel } from '../../compile/model.ts';
import { isByKey } from '../../compile/page-plan.ts';
import type { Page, PageRequest, Shape } from '../../compile/read.ts';
import { isWhole } from '../../compile/text/reso-text.ts';
import { BoundedCache, bytesOfText } from '../../shared/bounded-cache.ts';
import { deflatedList } from '../../shared/gzip-member.ts';
import type { ReadBlock } from '../../store/blocks-task.ts';
import { type Changes, FROM_NOW } from '../../store/change-follower.ts';
import { isSent } from '../../store/lanes.ts';
import type { ReadOptions, Store } from '../../store/store.ts';
import { BlockList, type KeptBlock } from './block-list.ts';

/** Pages of fewer rows would cut blocks that are too small to be worth keeping. */
const FEWEST_ROWS = 64;
/** Up to so many rows are read without a thread of their own. */
const FEW_ROWS = 64;
/** How often a page is planned whose blocks are found to have changed; then it is read as if none were kept. */
const TRIES = 3;
/** Bytes that a block takes beside what it holds. */
const BLOCK = 500;
/** Views of a store whose blocks are kept: roles, sets of systems and shapes. Others drop all. */
const MOST_LISTS = 200;

const EMPTY = new Uint8Array(0);

export class KeptBlocks {
  readonly #store: Pick<Store, 'blocks'>;
  readonly #bytes: number;
  readonly #blocks: BoundedCache<KeptBlock>;
  /** Each of a view, a resource and a shape. */
  readonly #lists = new Map<string, BlockList>();
  #stamp = '';
  /** The position in the sequence of changes at which all that is kept holds. */
  #position = FROM_NOW;
  #made = 0;

  /** @param bytes the limit of what is kept; 0: nothing is */
  constructor(store: Pick<Store, 'blocks'>, bytes: number) {
    this.#store = store;
    this.#bytes = bytes;
    this.#blocks = new BoundedCache('kept blocks', { bytes: Math.max(1, Math.floor(bytes)) }, (block) =>
      block.list?.remove(block),
    );
  }

  /** The page of a request; undefined where no blocks are kept of such pages. */
  async page(request: PageRequest, model: StoreModel, read: ReadOptions): Promise<Page | undefined> {
    if (this.#bytes === 0 || !isKept(request, model, read)) return undefined;
    const stamp = keptStamp(model);
    for (let tries = 0; tries < TRIES; tries++) {
      const list = this.#listOf(request, stamp);
      const page = await this.#read(request, list, stamp, read);
      if (page !== 'changed') return page;
    }
    return undefined;
  }

  async #read(
    { query, position, limit, shape, files }: PageRequest,
    list: BlockList,
    stamp: string,
    read: ReadOptions,
  ): Promise<Page | undefined | 'changed'> {
    const begin = 'key' in position ? position.key : '';
    const { after, blocks } = list.from(begin, limit);
    const since = this.#position;
    const rows = blocks.reduce((sum, block) => sum + block.rows, 0);
    const found = await this.#store.blocks(
      {
        ...{ query, limit, shape, files, after },
        since,
        kept: blocks.map(({ after: from, last, rows: count, lastKey }) => {
          return { after: from, last, rows: count, lastKey };
        }),
        isSmall: limit - rows <= FEW_ROWS,
      },
      read,
    );
    const { changes } = found;
    if (found.stamp !== stamp || this.#stamp !== stamp || changes.kind === 'behind') return undefined;
    this.#apply(since, changes);
    if (blocks.some(({ list: of }) => of === undefined)) return 'changed';
    // Blocks of a snapshot before that of what is kept may have changed meanwhile.
    const isNew = changes.position === this.#position;
    const parts = found.parts.flatMap((part) => {
      const block = typeof part === 'number' ? blocks[part] : this.#blockOf(part);
      if (block === undefined) return [];
      if (typeof part !== 'number' && isNew) this.#keep(list, block);
      return block.deflated ?? [];
    });
    if (found.rows === 0) return { body: EMPTY, rows: 0, more: false };
    for (const { id } of blocks) this.#blocks.get(id);
    const deflated = deflatedList(await Promise.all(parts));
    const last = { key: found.last, values: [] };
    return { body: EMPTY, deflated, rows: found.rows, more: found.more, last };
  }

  /** The block of records that were read, which may still be compressed. */
  #blockOf({ bytes: _, deflated, ...read }: ReadBlock): KeptBlock {
    const id = String(++this.#made);
    return { ...read, id, deflated: deflated && Promise.resolve(deflated), list: undefined };
  }

  #keep(list: BlockList, block: KeptBlock): void {
    if (!list.add(block)) return;
    const keep = (bytes: number): void => {
      if (block.list === list) this.#blocks.put(block.id, block, sizeOf(block) + bytes);
      // What alone exceeds the limit is not kept.
      if (this.#blocks.get(block.id) === undefined) list.remove(block);
    };
    if (block.deflated === undefined) keep(0);
    else
      block.deflated.then(
        ({ bytes }) => keep(bytes.length),
        () => list.remove(block), // whoever waits for it is told
      );
  }

  /** @param since where the changes begin, which is never after what is kept */
  #apply(since: number, changes: Exclude<Changes, { kind: 'behind' }>): void {
    // Where two pages began with the last change, the one that comes second does not tell what lies between them.
    if (since === FROM_NOW && this.#position !== FROM_NOW) return;
    if (changes.kind === 'everything') this.#clear();
    else {
      for (const list of this.#lists.values()) {
        for (const { id } of list.apply(changes)) this.#blocks.delete(id);
      }
    }
    const { position } = changes;
    this.#position = this.#position === FROM_NOW ? position : Math.max(this.#position, position);
  }

  #clear(): void {
    for (const list of this.#lists.values()) list.clear();
    this.#lists.clear();
    this.#blocks.clear();
  }

  #listOf({ query: { view, resource }, shape }: PageRequest, stamp: string): BlockList {
    if (stamp !== this.#stamp) {
      this.#clear();
      this.#stamp = stamp;
      // In another epoch the numbers of the sequence are others, too.
      this.#position = FROM_NOW;
    }
    const { role, scope } = view;
    const id = JSON.stringify([role.name, scope, resource.name, shapeOf(shape)]);
    const known = this.#lists.get(id);
    if (known !== undefined) return known;
    if (this.#lists.size >= MOST_LISTS) this.#clear();
    const made = new BlockList(resource.name);
    this.#lists.set(id, made);
    return made;
  }

  close(): void {
    this.#clear();
    this.#blocks.close();
  }
}

/** Bytes that a block takes beside its records. */
const sizeOf = ({ after, last, lastKey, links }: KeptBlock): number =>
  BLOCK + bytesOfText(after) + bytesOfText(last) + bytesOfText(lastKey) + 4 * links.length;

/** What decides how a record is written, beside the view. */
function shapeOf(shape: Shape): readonly unknown[] {
  switch (shape.kind) {
    case 'reso':
      return [shape.kind, shape.omitNulls, shape.annotateHidden, shape.ownOnly === true];
    case 'native-listing':
      return [shape.kind, shape.display];
    case 'native-part':
      return [shape.kind];
  }
}

/**
 * Whether blocks are kept of such a page: of whole records in key order that hold nothing but their own values and those of
 * agents and offices. Addresses of files are signed and expire, so nothing of media is kept; while damage is known, every
 * record is looked at.
 */
function isKept(request: PageRequest, model: StoreModel, { damaged, caller }: ReadOptions): boolean {
  const { query, limit, shape } = request;
  return (
    limit >= FEWEST_ROWS &&
    damaged === undefined &&
    isSent(caller) &&
    isByKey(request) &&
    isVisibilityCurrent(model) &&
    !query.view.scope.onlyFloorPlans &&
    query.resource.name !== 'Media' &&
    isPlain(shape)
  );
}

function isPlain(shape: Shape): boolean {
  switch (shape.kind) {
    case 'reso':
      return isWhole(shape) && shape.computed.length === 0 && shape.expansions.length === 0;
    case 'native-listing':
      return isWhole(shape) && (shape.computed ?? []).length === 0 && shape.expansions.length === 0;
    case 'native-part':
      return false;
  }
}
