/**
 * Caches blocks of complete records in key order, so that a second client that walks a collection gets its pages at almost no cost:
 * compressed blocks, which are joined to one gzip member per page, and the texts of records that were requested without gzip, once
 * while the file has ample room, otherwise twice. Both are in the text file of this process. Compressed blocks are in memory until
 * they are written there, and also in a file that processes share. All keys with the same view share the blocks. A block is used
 * only if the sequence of changes, read in the same snapshot as the rest of the page, shows that it is still valid. This module
 * knows neither SQL nor HTTP.
 */
import { viewVersion } from '../../compile/blocks-plan.ts';
import { isVisibilityCurrent, type StoreModel } from '../../compile/model.ts';
import { isByKey } from '../../compile/page-plan.ts';
import type { BlockForm, Page, PageRequest, Shape } from '../../compile/read.ts';
import { isWhole } from '../../compile/text/reso-text.ts';
import { BoundedCache, bytesOfText } from '../../shared/bounded-cache.ts';
import { type Deflated, deflatedList } from '../../shared/gzip-member.ts';
import {
  type Changes,
  containsCommit,
  FROM_NOW,
  type Place,
  placeAfterChanges,
} from '../../store/changes/change-follower.ts';
import type { BlocksPage, ReadBlock } from '../../store/read/blocks-task.ts';
import { isSent } from '../../store/read/lanes.ts';
import type { ReadOptions, Store } from '../../store/store.ts';
import type { BlockCacheFile } from './block-cache-file.ts';
import { BlockList, type CachedBlock } from './block-list.ts';
import type { BlockListName } from './file-tables.ts';
import { RequestedRanges } from './requested-ranges.ts';
import type { CachedText, PlacedText, TextCacheFile } from './text-cache-file.ts';

/** The minimum number of rows of a page. Smaller pages would produce blocks that are too small to be worth caching. */
const MIN_ROWS = 64;
/** The number of rows up to which the rest of a page is read without a separate thread. */
const MAX_ROWS_INLINE = 64;
/**
 * The number of attempts to assemble a page if some of its blocks turn out to have changed. After that, it is read without the
 * cache.
 */
const TRIES = 3;
/** The memory of a block in addition to its content, in bytes. */
const BLOCK = 500;
/** The maximum number of combinations of role, systems, shape and form whose blocks are cached. Exceeding it clears the cache. */
const MOST_LISTS = 400;

const EMPTY = new Uint8Array(0);
const NOWHERE: Place = { position: FROM_NOW, commit: '' };

export class BlockCache {
  readonly #store: Pick<Store, 'blocks' | 'readStores'>;
  readonly #file: BlockCacheFile | undefined;
  readonly #texts: TextCacheFile | undefined;
  #isWriting = false;
  readonly #bytes: number;
  readonly #blocks: BoundedCache<CachedBlock>;
  /** One list for each combination of view, resource and shape. */
  readonly #lists = new Map<string, NamedList>();
  #stamp = '';
  /** The position in the sequence of changes at which everything in the cache is valid. */
  #place = NOWHERE;
  /** The position at which the newest blocks from the file were valid: an older snapshot must not use them. */
  #newest: Place | undefined;
  #made = 0;

  /**
   * @param bytes the memory limit of the cache; 0: nothing is cached
   * @param file a file that also stores the blocks; absent: none
   * @param texts a file that stores the texts of pages; absent: none
   */
  constructor(
    store: Pick<Store, 'blocks' | 'readStores'>,
    bytes: number,
    { file, texts }: { readonly file?: BlockCacheFile; readonly texts?: TextCacheFile } = {},
  ) {
    this.#store = store;
    this.#file = file;
    this.#texts = texts;
    this.#bytes = bytes;
    this.#blocks = new BoundedCache('kept blocks', { bytes: Math.max(1, Math.floor(bytes)) }, (block) => {
      block.list?.remove(block);
      if (block.text !== undefined) texts?.free(block.text);
    });
  }

  /** The page of a request as gzip; undefined if pages of its kind are not cached. */
  async gzipPage(request: PageRequest, model: StoreModel, read: ReadOptions): Promise<Page | undefined> {
    if (this.#bytes === 0 || !isCacheable(request, model, read)) return undefined;
    const stamp = viewVersion(model);
    for (let tries = 0; tries < TRIES; tries++) {
      const list = this.#listOf(request, 'deflated', model, stamp);
      this.#fill(request, list, stamp);
      const page = await this.#read(request, list, stamp, read);
      if (page === 'changed') continue;
      this.#writeLater();
      return page;
    }
    return undefined;
  }

  /**
   * The uncompressed page of a request, which the caller has to release; undefined if the texts of such pages are not cached, or if
   * its records have not been requested before and the file has no room for such. The caller reports a page that it reads itself
   * (`noteRead`).
   */
  async textPage(request: PageRequest, model: StoreModel, read: ReadOptions): Promise<Page | undefined> {
    const texts = this.#texts;
    if (texts === undefined || !this.cachesTexts(request, model, read)) return undefined;
    const stamp = viewVersion(model);
    for (let tries = 0; tries < TRIES; tries++) {
      const list = this.#listOf(request, 'text', model, stamp);
      if (!texts.hasRoomForFirst && !list.requested.covers(beginOf(request.position))) return undefined;
      // Start at the position of the file of compressed blocks, so that the blocks in it remain usable.
      if (this.#place.position === FROM_NOW) this.#place = this.#file?.place(stamp) ?? NOWHERE;
      const page = await this.#readTexts(request, list, stamp, { texts, read });
      if (page === 'changed') continue;
      if (page !== undefined) this.noteRead(request, page);
      this.#writeLater();
      return page;
    }
    return undefined;
  }

  /** Whether the texts of such pages are cached. */
  cachesTexts(request: PageRequest, model: StoreModel, read: ReadOptions): boolean {
    return this.#texts?.isOff === false && this.#bytes > 0 && isCacheable(request, model, read);
  }

  /** Records which records a page without compression contained. */
  noteRead(request: PageRequest, { more, last }: Pick<Page, 'more' | 'last'>): void {
    const upTo = more ? last?.key : undefined;
    this.#lists.get(listId(request, 'text'))?.requested.add(beginOf(request.position), upTo);
  }

  async #read(
    request: PageRequest,
    named: NamedList,
    stamp: string,
    read: ReadOptions,
  ): Promise<Page | undefined | 'changed'> {
    const asking = this.#askingFor(request, named);
    const { blocks } = asking;
    const found = await this.#ask(request, asking, 'deflated', read);
    // A page that awaits a block gets the block's error.
    for (const part of found.parts) {
      if (typeof part !== 'number') Promise.resolve(part.deflated).catch(() => undefined);
    }
    const state = this.#follow(found, asking, stamp);
    if (state !== 'holds') return state === 'changed' ? state : undefined;
    const isNew = this.#isNew(found);
    const used = found.parts.flatMap((part) => {
      const block = typeof part === 'number' ? blocks[part] : this.#blockOf(part);
      if (block === undefined) return [];
      if (typeof part !== 'number' && isNew) this.#keep(named, block);
      return block;
    });
    if (found.rows === 0) return { body: EMPTY, rows: 0, more: false };
    for (const { id } of blocks) this.#blocks.get(id);
    const made = await this.#deflatedOf(used, read);
    if (made === undefined) return 'changed';
    const last = { key: found.last, values: [] };
    return { body: EMPTY, ...made, rows: found.rows, more: found.more, last };
  }

  /** The compressed records of blocks, from memory and the text file; undefined if the file no longer has some of them. */
  async #deflatedOf(
    blocks: readonly CachedBlock[],
    { caller }: ReadOptions,
  ): Promise<Pick<Page, 'deflated' | 'release'> | undefined> {
    const texts = this.#texts;
    const page = new TextPage();
    const parts = blocks.flatMap((block) => {
      const { deflated, text, inFile } = block;
      if (inFile !== undefined && text !== undefined) return { inFile, ...page.addKept(text) };
      return deflated === undefined ? [] : { block, deflated };
    });
    const { body, release } = texts?.newBody(page.length) ?? { body: EMPTY };
    using taken = new DisposableStack();
    if (release !== undefined) taken.defer(release);
    if (page.kept.length > 0) {
      caller?.made(page.length);
      if (!(await texts?.readTexts(body, page.kept))) return undefined;
    }
    const inMemory: [CachedBlock, Deflated][] = [];
    const list = await Promise.all(
      parts.map(async (part): Promise<Deflated> => {
        if ('inFile' in part) {
          const { inFile, start, text } = part;
          return { ...inFile, bytes: body.subarray(start, start + text.length) };
        }
        const deflated = await part.deflated;
        inMemory.push([part.block, deflated]);
        return deflated;
      }),
    );
    taken.defer(() => void this.#moveToFile(inMemory));
    const owned = taken.move();
    return { deflated: deflatedList(list), release: () => owned.dispose() };
  }

  /** Moves compressed blocks from memory to the text file, after the page that contains them has been sent. */
  async #moveToFile(inMemory: readonly (readonly [CachedBlock, Deflated])[]): Promise<void> {
    const texts = this.#texts;
    if (texts === undefined || texts.isOff || texts.isFull('compressed block')) return;
    // Skip blocks that another page has begun to write, and blocks that have been removed because of a change.
    const moved = inMemory.filter(([{ list, text }]) => list !== undefined && text === undefined);
    const page = new TextPage();
    for (const [block, { bytes }] of moved) {
      block.text = texts.reserveText('compressed block', bytes.length, () => this.#leaveFile(block));
      page.addKept(block.text);
    }
    const { body, release } = texts.newBody(page.length);
    for (const [index, { start }] of page.kept.entries()) body.set(moved[index]?.[1].bytes ?? EMPTY, start);
    await texts.writeTexts({ body, release }, page.kept);
    for (const [block, { bytes: _, ...inFile }] of moved) {
      if (block.list === undefined || block.text?.isWritten !== true) continue;
      block.inFile = inFile;
      block.deflated = undefined;
      this.#blocks.put(block.id, block, overheadOf(block));
    }
  }

  /** Handles a block whose compressed records could not be written to the text file, or were dropped from it. */
  #leaveFile(block: CachedBlock): void {
    block.text = undefined;
    // If the block was not written, its records are still in memory.
    if (block.inFile !== undefined) this.#blocks.delete(block.id);
  }

  async #readTexts(
    request: PageRequest,
    named: NamedList,
    stamp: string,
    { texts, read }: { readonly texts: TextCacheFile; readonly read: ReadOptions },
  ): Promise<Page | undefined | 'changed'> {
    const { list, name } = named;
    const asking = this.#askingFor(request, named);
    const { blocks } = asking;
    // While a text of the page is being written, the page is read without the cache.
    if (blocks.some(({ text }) => text?.isWritten === false)) return undefined;
    // The file is full, so new blocks would not be cached, and reading blocks is slower than reading a page.
    if (texts.isFull('block') && rowsOf(blocks) < request.limit / 2) return undefined;
    const found = await this.#ask(request, asking, 'text', read);
    const state = this.#follow(found, asking, stamp);
    if (state !== 'holds') {
      found.release?.();
      return state === 'changed' ? state : undefined;
    }
    const page = new TextPage();
    // A list that was dropped in the meantime no longer follows changes.
    const isNew = this.#isNew(found) && this.#lists.get(name.id)?.list === list;
    for (const part of found.parts) {
      const block = typeof part === 'number' ? blocks[part] : this.#textBlockOf(part, texts);
      if (block === undefined) continue;
      const isToKeep = typeof part !== 'number' && isNew && list.add(block);
      if (block.text === undefined) continue;
      if (typeof part === 'number') page.addKept(block.text);
      else page.addRead(block.text, isToKeep);
      if (typeof part !== 'number' && !isToKeep) texts.free(block.text);
    }
    const { rows, more } = found;
    if (rows === 0) {
      found.release?.();
      return { body: EMPTY, rows: 0, more: false };
    }
    const last = { key: found.last, values: [] };
    const keep = (): void => void texts.writeTexts({ body: EMPTY, ...found }, page.toKeep);
    if (page.kept.length === 0) return { body: found.body ?? EMPTY, rows, more, last, release: keep };
    const made = texts.newBody(page.length);
    read.caller?.made(page.length);
    const release = (): void => {
      made.release?.();
      keep();
    };
    if (!(await texts.readTexts(made.body, page.kept))) {
      release();
      return 'changed';
    }
    page.write(found.body ?? EMPTY, made.body);
    return { body: made.body, rows, more, last, release };
  }

  /** The cached blocks of a page, and the position at which the cache is valid. */
  #askingFor({ position, limit }: PageRequest, { list }: NamedList): CachedPart {
    return { ...list.blocksAfter(beginOf(position), limit), from: this.#place, newest: this.#newest };
  }

  /** Requests the rest of a page from the store. `#follow` must process the result at once, before any other result. */
  #ask(
    { query, limit, shape, files }: PageRequest,
    { after, blocks, from }: CachedPart,
    form: BlockForm,
    read: ReadOptions,
  ): Promise<BlocksPage> {
    return this.#store.blocks(
      {
        ...{ query, limit, shape, files, after, since: from.position, form },
        kept: blocks.map(({ after: begin, last, rows: count, lastKey }) => {
          return { after: begin, last, rows: count, lastKey };
        }),
        isSmall: (gapIn(after, blocks, limit)?.limit ?? 0) <= MAX_ROWS_INLINE,
      },
      read,
    );
  }

  /** Whether blocks that were just read may be cached: those of an older snapshot may have changed in the meantime. */
  #isNew({ changes }: BlocksPage): boolean {
    return changes.kind !== 'behind' && changes.position === this.#place.position;
  }

  /** Applies the changes that a snapshot shows. @returns whether the cached blocks of a page are valid in it */
  #follow(
    { stamp: found, changes }: BlocksPage,
    { blocks, from, newest }: CachedPart,
    stamp: string,
  ): 'holds' | 'changed' | 'other' {
    if (found !== stamp || this.#stamp !== stamp) return 'other';
    if (changes.kind === 'behind' || (newest !== undefined && changes.position < newest.position)) {
      // The snapshot is older than the cache. If there is no standby that may lag behind, the store has been replaced.
      if (this.#store.readStores === undefined) this.#startOver();
      return 'other';
    }
    // This also discards the cache if another page has passed a position without confirming it.
    const known = [from, newest ?? from].filter(({ position }) => position !== FROM_NOW);
    if (changes.kind === 'records' && !known.every((place) => containsCommit(place, changes))) {
      this.#startOver();
      return 'other';
    }
    if (this.#newest === newest) this.#newest = undefined;
    this.#apply(from.position, changes);
    return blocks.some(({ list: of }) => of === undefined) ? 'changed' : 'holds';
  }

  /** Makes a block of records that have been read, and that may still have to be compressed. */
  #blockOf({ bytes: _, deflated, ...read }: ReadBlock): CachedBlock {
    const id = String(++this.#made);
    return { ...read, id, deflated: deflated && Promise.resolve(deflated), list: undefined };
  }

  /** Makes a block whose text has been read, and will be written to the text file. */
  #textBlockOf({ bytes, deflated: _, ...read }: ReadBlock, texts: TextCacheFile): CachedBlock {
    const block: CachedBlock = { ...read, id: String(++this.#made), deflated: undefined, list: undefined };
    if (bytes > 0) block.text = texts.reserveText('block', bytes, () => block.list?.remove(block));
    return block;
  }

  #keep({ list, name }: NamedList, block: CachedBlock): void {
    if (!list.add(block)) return;
    const keep = (deflated?: Deflated): void => {
      this.#putInMemory(list, block, deflated);
      // A list that has been dropped in the meantime no longer follows changes.
      const holds = (): boolean => block.list === list && this.#lists.get(name.id)?.list === list;
      this.#file?.queueBlock(name, { ...block, deflated }, holds);
    };
    if (block.deflated === undefined) keep();
    else block.deflated.then(keep, () => list.remove(block)); // the page that awaits it gets the error
  }

  #putInMemory(list: BlockList, block: CachedBlock, deflated: Deflated | undefined): void {
    const bytes = deflated?.bytes.length ?? 0;
    if (block.list === list) this.#blocks.put(block.id, block, overheadOf(block) + bytes);
    // A block that exceeds the limit on its own is not cached.
    if (this.#blocks.get(block.id) === undefined) list.remove(block);
  }

  /** Adds the blocks of a page that are not in memory from the file. */
  #fill({ position, limit }: PageRequest, { list, name }: NamedList, stamp: string): void {
    if (this.#file === undefined) return;
    const { after, blocks } = list.blocksAfter(beginOf(position), limit);
    const gap = gapIn(after, blocks, limit);
    if (gap === undefined) return;
    const kept = { stamp, ...this.#place };
    const found = this.#file.find(kept, name, gap, (range) => list.has(range));
    if (found === undefined) return;
    const place = { position: found.position, commit: found.commit };
    if (this.#place.position === FROM_NOW) this.#place = place;
    if (place.position > (this.#newest ?? this.#place).position) this.#newest = place;
    const stored = new BlockList(name.resource);
    for (const block of found.blocks) {
      const deflated = block.deflated === undefined ? undefined : Promise.resolve(block.deflated);
      stored.add({ ...block, id: String(++this.#made), deflated, list: undefined });
    }
    // Applies changes that have not been written to the file yet.
    if (found.changes !== undefined) stored.applyChanges(found.changes);
    const sizes = new Map(found.blocks.map((block) => [block.last, block.deflated]));
    for (const block of stored.clear()) {
      if (list.add(block)) this.#putInMemory(list, block, sizes.get(block.last));
    }
  }

  /** Writes new blocks and changes to the file after the page has been sent. */
  #writeLater(): void {
    if (this.#file === undefined || this.#isWriting) return;
    this.#isWriting = true;
    setImmediate(() => {
      this.#isWriting = false;
      const isMore = this.#file?.writeSome({ stamp: this.#stamp, ...this.#place });
      this.#texts?.truncateToLimit();
      if (isMore === true) this.#writeLater();
    });
  }

  /** Discards everything, in memory and in the file. */
  #startOver(): void {
    const { position } = this.#place;
    this.#clear();
    this.#place = NOWHERE;
    this.#newest = undefined;
    this.#file?.noteChanges(FROM_NOW, { kind: 'everything', position, commits: new Map() });
  }

  /** @param since where the changes begin, which is never after the position of the cache */
  #apply(since: number, changes: Exclude<Changes, { kind: 'behind' }>): void {
    // If two pages started from the latest change, the second does not report the changes between them.
    const { position } = this.#place;
    if (since === FROM_NOW && position !== FROM_NOW) return;
    // Changes up to the current position have already been recorded.
    if (changes.kind === 'everything' || changes.position > position) this.#file?.noteChanges(since, changes);
    if (changes.kind === 'everything') this.#clear();
    else {
      for (const { list } of this.#lists.values()) {
        for (const { id, text } of list.applyChanges(changes)) {
          this.#blocks.delete(id);
          if (text !== undefined) this.#texts?.free(text);
        }
      }
    }
    if (position === FROM_NOW || changes.position > position) this.#place = placeAfterChanges(changes);
  }

  #clear(): void {
    for (const { list } of this.#lists.values()) {
      // Only the texts of blocks are freed; the file also has other texts.
      for (const { text } of list.clear()) if (text !== undefined) this.#texts?.free(text);
    }
    this.#lists.clear();
    this.#blocks.clear();
  }

  #listOf(request: PageRequest, form: BlockForm, model: StoreModel, stamp: string): NamedList {
    if (stamp !== this.#stamp) {
      this.#clear();
      this.#stamp = stamp;
      // A new epoch has other numbers in its sequence.
      this.#place = NOWHERE;
      this.#newest = undefined;
      this.#file?.discardQueue();
    }
    const id = listId(request, form);
    const known = this.#lists.get(id);
    if (known !== undefined) return known;
    if (this.#lists.size >= MOST_LISTS) this.#clear();
    const { resource } = request.query;
    const linked = model.layout(resource.name).links.map((link) => link.resource);
    const name = { id, resource: resource.name, linked };
    const made = { name, list: new BlockList(resource.name), requested: new RequestedRanges() };
    this.#lists.set(id, made);
    return made;
  }

  close(): void {
    while (this.#file?.writeSome({ stamp: this.#stamp, ...this.#place }) === true);
    this.#file?.close();
    this.#texts?.close();
    this.#clear();
    this.#blocks.close();
  }
}

/** What the cache has of a page when its request begins. */
interface CachedPart {
  /** Where the page begins. */
  readonly after: string;
  readonly blocks: readonly CachedBlock[];
  /** The position at which the cache is valid. */
  readonly from: Place;
  /** The position at which the newest blocks from the file are valid. */
  readonly newest: Place | undefined;
}

/** A page that is assembled to one body from texts of the file and texts that have just been read. */
class TextPage {
  readonly #read: { readonly from: number; readonly start: number; readonly length: number }[] = [];
  readonly kept: PlacedText[] = [];
  /** Texts to be written, with their positions in the body that was read. */
  readonly toKeep: PlacedText[] = [];
  #length = 0;
  #lengthRead = 0;

  get length(): number {
    return Math.max(0, this.#length - 1);
  }

  addKept(text: CachedText): PlacedText {
    const placed = { text, start: this.#length };
    this.kept.push(placed);
    this.#length += text.length + 1;
    return placed;
  }

  addRead(text: CachedText, isToKeep: boolean): void {
    const { length } = text;
    const from = this.#lengthRead;
    this.#read.push({ from, start: this.#length, length });
    if (isToKeep) this.toKeep.push({ text, start: from });
    this.#length += length + 1;
    this.#lengthRead += length + 1;
  }

  /** Copies the texts that were read to their positions. */
  write(read: Uint8Array, to: Uint8Array): void {
    for (const { from, start, length } of this.#read) {
      to.set(read.subarray(from, from + length), start);
      if (start + length < to.length) to[start + length] = COMMA;
    }
  }
}

const COMMA = 0x2c;

/** The blocks of a view, a resource and a shape. */
interface NamedList {
  readonly name: BlockListName;
  readonly list: BlockList;
  /** Of the pages without compression. */
  readonly requested: RequestedRanges;
}

function listId({ query: { view, resource }, shape }: PageRequest, form: BlockForm): string {
  const { role, scope } = view;
  const kind = form === 'text' ? [form] : [];
  return JSON.stringify([role.name, scope, resource.name, shapeIdentity(shape), ...kind]);
}

const rowsOf = (blocks: readonly CachedBlock[]): number => blocks.reduce((sum, { rows }) => sum + rows, 0);

const beginOf = (position: PageRequest['position']): string => ('key' in position ? position.key : '');

/** Where the blocks of a page have their first gap, and how many records are missing from there on. */
function gapIn(
  after: string,
  blocks: readonly CachedBlock[],
  limit: number,
): { readonly from: string; readonly limit: number } | undefined {
  let from = after;
  let missing = limit;
  for (const block of blocks) {
    if (block.after !== from) break;
    from = block.last;
    missing -= block.rows;
  }
  return missing <= 0 ? undefined : { from, limit: missing };
}

/** The memory of a block in addition to its records, in bytes. */
const overheadOf = ({ after, last, lastKey, links }: CachedBlock): number =>
  BLOCK + bytesOfText(after) + bytesOfText(last) + bytesOfText(lastKey) + 4 * links.length;

/** What determines the form of a record, in addition to the view. */
function shapeIdentity(shape: Shape): readonly unknown[] {
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
 * Whether blocks of such a page are cached: its records must be complete, in key order, and contain only their own values and those
 * of agents and offices. Pages with media are not cached, because URLs of files are signed and expire. While damage is known,
 * nothing is cached, because every record must be checked.
 */
function isCacheable(request: PageRequest, model: StoreModel, { damaged, caller }: ReadOptions): boolean {
  const { query, limit, shape } = request;
  return (
    limit >= MIN_ROWS &&
    damaged === undefined &&
    isSent(caller) &&
    isByKey(request) &&
    isVisibilityCurrent(model) &&
    !query.view.scope.onlyFloorPlans &&
    query.resource.name !== 'Media' &&
    !query.resource.fromChanges &&
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
