/**
 * A body with placeholders for agents and offices, which compile/text/linked-texts.ts wrote, and the same body with
 * their fragments inserted; and the cache of these fragments.
 */
import { NAME_MARK } from '../../compile/layout/index.ts';
import { LINK_MARK, type LinkedTexts, type PlannedLink } from '../../compile/text/linked-texts.ts';
import { registerCache, type SizedCache } from '../../shared/bounded-cache.ts';
import { ByteStringMap, fnv1a, NO_TEXT } from '../../shared/byte-string-map.ts';
import { tryParseJson } from '../../shared/json.ts';
import { memoizePerObject } from '../../shared/memoize.ts';
import {
  type Changes,
  containsCommit,
  FROM_NOW,
  type Place,
  placeAfterChanges,
  readChanges,
} from '../changes/change-follower.ts';
import type { Row } from '../session.ts';

/** A part of a body: the length with its fragments, and the hashes of the records that these fragments come from. */
export interface Piece {
  readonly length: number;
  readonly links: ReadonlySet<number>;
}

/** A hash of the key of a record whose values another record contains. Two keys with the same hash are treated as one. */
export function linkHash(resource: string, key: string): number {
  const bytes = Buffer.from(key);
  return hashOfKey(hashOfResource(resource), bytes, 0, bytes.length);
}

function hashOfResource(resource: string): number {
  const bytes = Buffer.from(resource);
  return fnv1a(bytes, 0, bytes.length);
}

const hashOfKey = (resource: number, key: Uint8Array, start: number, end: number): number =>
  fnv1a(key, start, end, resource) >>> 0;

interface LinkedBodyOptions {
  /**
   * The positions of the commas between its records, if they are known; otherwise, those that follow a placeholder with only closing
   * braces in between, where a record may end, are used.
   */
  readonly commas?: readonly number[] | undefined;
  /**
   * Called once if the body has placeholders, for memory into which the filled body is written while the placeholders are read, if it
   * is large enough and all fragments are known. Each part of the body is then copied while it is in the processor's cache.
   */
  readonly room?: () => Uint8Array | undefined;
  /** Whether the caller needs `pieces`. */
  readonly inPieces?: boolean;
}

/** A fragment that has to be read: the name of its link, and a key. */
interface MissingFragment {
  readonly link: string;
  readonly key: string;
}

const MARK = LINK_MARK.charCodeAt(0);
const [COMMA, OBJECT, OBJECT_END, LIST, LIST_END] = [0x2c, 0x7b, 0x7d, 0x5b, 0x5d];
const [SPACE, QUOTE, BACKSLASH] = [0x20, 0x22, 0x5c];
const NULL = Buffer.from('null');

/** Stand in place of the index of a fragment: the link has no key, or the fragment must be read. */
const [NO_KEY, LACKING] = [-2, NO_TEXT];

export class LinkedBody {
  readonly #body: Buffer;
  readonly #linked: LinkedTexts;
  readonly #seen: SnapshotFragments;
  readonly #without: readonly Buffer[];
  readonly #commas: readonly number[];
  /** Where the placeholders begin, and where they end. */
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  /** For each link of each placeholder, the index of its fragment among the known ones. */
  readonly #found: number[] = [];
  /** The fragments that had to be read, by their index in `#found`. */
  readonly #read = new Map<number, Buffer>();
  /** Keys of fragments that have to be read, by the name of the link. */
  readonly #lacking = new Map<string, Set<string>>();
  /** For `pieces`: the hash of each link's resource, and of the key of each link of each placeholder. */
  readonly #resources: readonly number[];
  readonly #hashes: number[] = [];
  /** Where the fragments of each placeholder end in the filled body, once this is known. */
  #reached: readonly number[] | undefined;
  /** The texts of runs of consecutive links without a key, by the first and last link of the run. */
  readonly #runs: Buffer[] = [];
  /** The length of the filled body, if it was written into its buffer during construction. */
  readonly written: number | undefined;

  constructor(
    body: Uint8Array,
    linked: LinkedTexts,
    seen: SnapshotFragments,
    { commas, room, inPieces = false }: LinkedBodyOptions = {},
  ) {
    this.#body = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    this.#linked = linked;
    this.#seen = seen;
    this.#without = linked.links.map(textWithoutRecord);
    this.#resources = inPieces ? linked.links.map(({ resource }) => hashOfResource(resource)) : [];
    const [reached, found]: [number[], number[]] = [[], []];
    this.#commas = commas ?? found;
    let to: Uint8Array | undefined;
    let [from, at] = [0, 0];
    for (let start = this.#body.indexOf(MARK); start >= 0; ) {
      const end = this.#readKeysAt(start + 1);
      if (end !== undefined) {
        const place = this.#starts.push(start) - 1;
        this.#ends.push(end);
        if (place === 0) to = room?.();
        const isKnown = this.#found.indexOf(LACKING, place * this.#without.length) < 0;
        if (to !== undefined) at = this.#put(place, from, to, at);
        reached.push(at);
        if (to !== undefined && (!isKnown || at >= to.length)) to = undefined;
        from = end;
        const comma = commas === undefined ? this.#commaAfter(end) : undefined;
        if (comma !== undefined) found.push(comma);
      }
      // A placeholder that plat did not write is damage, which the check of the body reports.
      start = this.#body.indexOf(MARK, end ?? start + 1);
    }
    if (to === undefined || at + this.#body.length - from > to.length) return;
    this.written = at + this.#body.copy(to, at, from);
    this.#reached = reached;
  }

  /** Whether the body has no placeholders. */
  get isFilled(): boolean {
    return this.#starts.length === 0;
  }

  /**
   * The fragments that must be read before the body can be filled, in the order of the keys, so that neighbors share pages of the
   * engine.
   */
  get lacking(): readonly MissingFragment[] {
    return [...this.#lacking].flatMap(([link, keys]) => [...keys].toSorted().map((key) => ({ link, key })));
  }

  /** @param rows the fragments that were missing; those that are not among the rows do not exist */
  addFragments(rows: readonly Row[]): void {
    const texts = new Map<string, Map<string, Uint8Array>>();
    for (const { link, key, text } of rows) {
      texts.getOrInsertComputed(String(link), () => new Map()).set(String(key), bytesOf(text));
    }
    const { links } = this.#linked;
    const made = links.map(() => new Map<string, Buffer>());
    let keys: readonly (string | null)[] = [];
    let read = -1;
    for (
      let index = this.#found.indexOf(LACKING);
      index >= 0;
      index = this.#found.indexOf(LACKING, index + 1)
    ) {
      const place = Math.floor(index / links.length);
      if (place !== read) keys = this.#keysOf(place);
      read = place;
      const number = index % links.length;
      const [link, key] = [links[number], keys[number]];
      if (link === undefined || key === undefined || key === null) continue;
      const known = made[number]?.get(key);
      const found = texts.get(link.name)?.get(key);
      const fragment =
        known ?? (found === undefined ? this.#without[number] : withPrefix(found, link.prefix));
      if (fragment === undefined) continue;
      this.#read.set(index, fragment);
      if (known !== undefined) continue;
      made[number]?.set(key, fragment);
      this.#seen.put(number, Buffer.from(key), fragment);
    }
    this.#reached = undefined;
  }

  /** The length of the filled body in bytes. */
  get length(): number {
    return this.#body.length + this.#growthBefore(this.#starts.length);
  }

  /**
   * The parts of the filled body.
   * @param ends the ends of the parts in the body with placeholders; a comma separates two parts
   */
  pieces(ends: readonly number[]): readonly Piece[] {
    const count = this.#without.length;
    let [from, place, grown] = [0, 0, 0];
    return ends.map((end) => {
      const links = new Set<number>();
      for (; (this.#ends[place] ?? Number.POSITIVE_INFINITY) <= end; place++) {
        for (let index = place * count; index < (place + 1) * count; index++) {
          if (this.#found[index] !== NO_KEY) links.add(this.#hashes[index] ?? 0);
        }
      }
      const growth = this.#growthBefore(place);
      const length = end - from + growth - grown;
      [from, grown] = [end + 1, growth];
      return { length, links };
    });
  }

  /** Writes the body. `set` would copy to shared memory byte by byte, since most parts begin at unaligned positions. */
  write(to: Uint8Array): void {
    let [from, at] = [0, 0];
    for (let place = 0; place < this.#starts.length; place++) {
      at = this.#put(place, from, to, at);
      from = this.#ends[place] ?? from;
    }
    this.#body.copy(to, at, from);
  }

  /**
   * Writes the bytes between a position and a placeholder, and the fragments of the placeholder. @returns the position after them
   */
  #put(place: number, from: number, to: Uint8Array, start: number): number {
    const { texts } = this.#seen;
    const found = this.#found;
    const count = this.#without.length;
    const first = place * count;
    let at = start + this.#body.copy(to, start, from, this.#starts[place]);
    for (let link = 0; link < count; ) {
      const begin = link;
      while (link < count && found[first + link] === NO_KEY) link++;
      if (link > begin) {
        // Most listings have several links without a key, one after the other: their texts are copied at once.
        const run = begin * count + link - 1;
        this.#runs[run] ??= Buffer.concat(this.#without.slice(begin, link));
        at += this.#runs[run]?.copy(to, at) ?? 0;
        continue;
      }
      const text = found[first + link] ?? LACKING;
      if (text >= 0) at += texts[link]?.copy(text, to, at) ?? 0;
      else at += this.#read.get(first + link)?.copy(to, at) ?? 0;
      link++;
    }
    return at;
  }

  /** The commas between the records of the filled body. */
  get commas(): readonly number[] {
    let place = 0;
    return this.#commas.map((comma) => {
      while ((this.#ends[place] ?? Number.POSITIVE_INFINITY) <= comma) place++;
      return comma + this.#growthBefore(place);
    });
  }

  /** The comma after a placeholder, if the record ends there. */
  #commaAfter(end: number): number | undefined {
    const body = this.#body;
    let at = end;
    while (body[at] === OBJECT_END) at++;
    return body[at] === COMMA && body[at + 1] === OBJECT ? at : undefined;
  }

  /** By how many bytes the fragments of the first placeholders are longer than these placeholders. */
  #growthBefore(place: number): number {
    return place === 0 ? 0 : (this.#filledEnds[place - 1] ?? 0) - (this.#ends[place - 1] ?? 0);
  }

  get #filledEnds(): readonly number[] {
    const { texts } = this.#seen;
    const count = this.#without.length;
    let growth = 0;
    this.#reached ??= this.#starts.map((start, place) => {
      const end = this.#ends[place] ?? start;
      growth -= end - start;
      for (let link = 0; link < count; link++) {
        const index = place * count + link;
        const found = this.#found[index] ?? LACKING;
        if (found >= 0) growth += texts[link]?.lengthOf(found) ?? 0;
        else growth += this.#ownOf(index, link, found)?.length ?? 0;
      }
      return end + growth;
    });
    return this.#reached;
  }

  /** A fragment that was not known when the body was made. */
  #ownOf(index: number, link: number, found: number): Buffer | undefined {
    return found === NO_KEY ? this.#without[link] : this.#read.get(index);
  }

  /** Finds the fragments for a JSON list of keys. @returns the end of its placeholder; undefined if the text is not one */
  #readKeysAt(start: number): number | undefined {
    const body = this.#body;
    const count = this.#without.length;
    const found = this.#found;
    const before = found.length;
    let at = start;
    for (let link = 0; link < count; link++) {
      if (body[at] !== (link === 0 ? LIST : COMMA)) break;
      if (body[++at] === SPACE) at++;
      const close = body[at] === QUOTE ? endOfKey(body, at + 1) : undefined;
      if (close !== undefined) this.#addKey(link, body, at + 1, close);
      else if (isNullAt(body, at)) this.#addNoKey();
      else break;
      at = close === undefined ? at + NULL.length : close + 1;
    }
    const isWhole = body[at] === LIST_END && body[at + 1] === MARK;
    if (isWhole && found.length === before + count) return at + 2;
    found.length = before;
    this.#hashes.length = Math.min(before, this.#hashes.length);
    // The keys contain escaped characters, or the text is not a placeholder.
    const end = body.indexOf(MARK, start);
    const keys = end < 0 ? undefined : parseKeys(body.toString('utf8', start, end), this.#linked);
    if (keys === undefined) return undefined;
    for (const [link, key] of keys.entries()) {
      const bytes = Buffer.from(key ?? '');
      if (key === null) this.#addNoKey();
      else this.#addKey(link, bytes, 0, bytes.length);
    }
    return end + 1;
  }

  #addKey(link: number, bytes: Buffer, start: number, end: number): void {
    this.#found.push(this.#find(link, bytes, start, end));
    const resource = this.#resources[link];
    if (resource !== undefined) this.#hashes.push(hashOfKey(resource, bytes, start, end));
  }

  #addNoKey(): void {
    this.#found.push(NO_KEY);
    if (this.#resources.length > 0) this.#hashes.push(0);
  }

  #keysOf(place: number): readonly (string | null)[] {
    const text = this.#body.toString('utf8', (this.#starts[place] ?? 0) + 1, (this.#ends[place] ?? 0) - 1);
    return parseKeys(text, this.#linked) ?? [];
  }

  #find(link: number, bytes: Buffer, start: number, end: number): number {
    const found = this.#seen.find(link, bytes, start, end);
    if (found !== NO_TEXT) return found;
    const name = this.#linked.links[link]?.name ?? '';
    this.#lacking.getOrInsertComputed(name, () => new Set()).add(bytes.toString('utf8', start, end));
    return LACKING;
  }
}

/** The fragment of a link that leads to no record. */
export const textWithoutRecord = memoizePerObject(({ without }: PlannedLink) => Buffer.from(without));

function isNullAt(body: Buffer, start: number): boolean {
  for (let at = 0; at < NULL.length; at++) if (body[start + at] !== NULL[at]) return false;
  return true;
}

/** The position of the quote that ends a key without escaped characters. */
function endOfKey(body: Buffer, start: number): number | undefined {
  for (let at = start; at < body.length; at++) {
    const byte = body[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH || byte === MARK) return undefined;
  }
  return undefined;
}

/** Parses the keys of a placeholder; undefined for a text that is not one. */
function parseKeys(text: string, { links }: LinkedTexts): (string | null)[] | undefined {
  const list = tryParseJson(text);
  if (!Array.isArray(list) || list.length !== links.length) return undefined;
  const keys: (string | null)[] = [];
  for (const each of list) {
    if (each !== null && typeof each !== 'string') return undefined;
    keys.push(each);
  }
  return keys;
}

/** A text of a row, as the engine's driver returns it. */
const bytesOf = (text: unknown): Uint8Array =>
  text instanceof Uint8Array ? text : Buffer.from(String(text ?? ''));

const MARK_OF_NAME = Buffer.from(NAME_MARK);

/** Makes a fragment whose members have the prefix of a link. */
function withPrefix(fragment: Uint8Array, prefix: string): Buffer {
  const bytes = Buffer.from(fragment.buffer, fragment.byteOffset, fragment.byteLength);
  const begin = Buffer.from(prefix);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let at = bytes.indexOf(MARK_OF_NAME); at >= 0; at = bytes.indexOf(MARK_OF_NAME, from)) {
    parts.push(bytes.subarray(from, at), begin);
    from = at + MARK_OF_NAME.length;
  }
  return Buffer.concat([...parts, bytes.subarray(from)]);
}

/** The size in bytes of one generation of fragments: those used recently, and those used before them. */
const KEPT_BYTES = 16 * 1024 * 1024;

/** The fragments that one snapshot may use, by the position of the link and the key of the linked record, in UTF-8. */
export interface SnapshotFragments {
  /** The texts of each link, in which `find` finds places. */
  readonly texts: readonly ByteStringMap[];
  /** The place of the fragment of the key from `start` to before `end` of some bytes, or `NO_TEXT`. */
  find(link: number, bytes: Uint8Array, start: number, end: number): number;
  put(link: number, key: Uint8Array, fragment: Uint8Array): void;
}

const EMPTY_PLACE: Place = { position: FROM_NOW, commit: '' };

/** The fragments for a snapshot that is older than the cache: none. */
const NOTHING: SnapshotFragments = { texts: [], find: () => NO_TEXT, put: () => undefined };

/**
 * Caches the fragments of agents and offices. A fragment is used only in a snapshot that shows no later change of its Member or
 * Office (changes/change-follower.ts), so that a change shows in every listing at the next request (I3).
 */
export class LinkedFragments implements SizedCache {
  #recent = new Generation();
  #before = new Generation();
  /** The position at which everything in the cache is valid. */
  #place = EMPTY_PLACE;
  /** The number of times that fragments have changed. */
  #changes = 0;
  /** The factor by which fragments lengthened the last body, with a margin. */
  growth = 1;

  constructor() {
    registerCache('agents and offices', this);
  }

  get use(): SizedCache['use'] {
    const [recent, before] = [this.#recent, this.#before];
    return { entries: recent.entries + before.entries, bytes: recent.bytes + before.bytes };
  }

  /** The position from which a snapshot must report its changes. */
  get position(): number {
    return this.#place.position;
  }

  /** @param rows the changes since that position, as the snapshot sees them */
  forSnapshot(linked: LinkedTexts, since: number, rows: readonly Row[]): SnapshotFragments {
    const position = this.#follow(since, rows);
    if (position !== this.#place.position) return NOTHING;
    if (this.#recent.bytes > KEPT_BYTES) {
      this.#before = this.#recent;
      this.#recent = new Generation();
    }
    const texts = this.#recent.textsOf(linked);
    const earlier = this.#before.textsOf(linked);
    const changes = this.#changes;
    return {
      texts,
      find: (link, bytes, start, end) => {
        const [own, before] = [texts[link], earlier[link]];
        // Another snapshot has replaced fragments in the meantime, and this one cannot use its versions.
        if (own === undefined || before === undefined || changes !== this.#changes) return NO_TEXT;
        const found = own.find(bytes, start, end);
        if (found !== NO_TEXT) return found;
        const moved = before.find(bytes, start, end);
        return moved === NO_TEXT ? NO_TEXT : own.put(bytes.subarray(start, end), before.textAt(moved));
      },
      put: (link, key, fragment) => {
        // Another snapshot may have shown a later change in the meantime.
        if (position === this.#place.position) texts[link]?.put(key, fragment);
      },
    };
  }

  /** Clears the cache, because something that was read is damaged. */
  clear(): void {
    this.#changes++;
    this.#recent = new Generation();
    this.#before = new Generation();
  }

  /** Drops changed fragments. @returns the position of the snapshot; undefined if nothing in the cache is valid there */
  #follow(since: number, rows: readonly Row[]): number | undefined {
    const changes = readChanges(since, rows);
    if (changes.kind === 'behind') return undefined;
    const { position, commit } = this.#place;
    if (since === FROM_NOW) {
      if (position === FROM_NOW) this.#place = placeAfterChanges(changes);
      return changes.position;
    }
    if (since === position && !containsCommit({ position, commit }, changes)) {
      this.clear();
      this.#place = EMPTY_PLACE;
      return undefined;
    }
    if (changes.position > position) {
      this.#place = placeAfterChanges(changes);
      if ([this.#recent, this.#before].map((each) => each.drop(changes)).includes(true)) this.#changes++;
    }
    return changes.position;
  }
}

/** The fragments of one link. */
interface OfLink {
  readonly resource: string;
  readonly texts: ByteStringMap;
}

/** Fragments that were used at about the same time. */
class Generation {
  readonly #links = new Map<string, OfLink[]>();

  get entries(): number {
    return this.#all.reduce((sum, { texts }) => sum + texts.size, 0);
  }

  get bytes(): number {
    return this.#all.reduce((sum, { texts }) => sum + texts.bytes, 0);
  }

  textsOf({ id, links }: LinkedTexts): readonly ByteStringMap[] {
    const known = this.#links.getOrInsertComputed(id, () =>
      links.map(({ resource }) => ({ resource, texts: new ByteStringMap() })),
    );
    return known.map(({ texts }) => texts);
  }

  /** @returns whether a record that a link may refer to has changed */
  drop(changes: Exclude<Changes, { readonly kind: 'behind' }>): boolean {
    let isChanged = false;
    for (const links of this.#links.values()) {
      for (const [index, { resource, texts }] of links.entries()) {
        const isWhole = changes.kind === 'everything' || changes.resources.has(resource);
        // A page that is being read may still use the old ones.
        if (isWhole) links[index] = { resource, texts: new ByteStringMap() };
        else for (const key of changes.keys.get(resource) ?? []) texts.delete(Buffer.from(key));
        isChanged ||= isWhole || changes.keys.has(resource);
      }
    }
    return isChanged;
  }

  get #all(): readonly OfLink[] {
    return [...this.#links.values()].flat();
  }
}
