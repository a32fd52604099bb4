/**
 * A body with placeholders for agents and offices, which compile/text/linked-texts.ts wrote, and the same body with
 * their fragments inserted. It does not know where the fragments come from.
 */
import { NAME_MARK } from '../compile/layout/index.ts';
import { LINK_MARK, type LinkedTexts, type PlannedLink } from '../compile/text/linked-texts.ts';
import { perObject } from '../shared/per-object.ts';
import type { SeenFragments } from './linked-fragments.ts';
import type { Row } from './session.ts';

/** A placeholder of a body, and the fragments to insert there. */
interface Place {
  readonly start: number;
  readonly end: number;
  readonly fragments: (Buffer | undefined)[];
  keys?: readonly (string | null)[];
}

/** A part of a body: its bytes with its fragments, and the records of these fragments. */
export interface Piece {
  readonly length: number;
  readonly links: readonly { readonly resource: string; readonly key: string }[];
}

/** A fragment that has to be read: the name of its link, and a key. */
interface Lacking {
  readonly link: string;
  readonly key: string;
}

const MARK = LINK_MARK.charCodeAt(0);
const [COMMA, OBJECT, OBJECT_END, LIST, LIST_END] = [0x2c, 0x7b, 0x7d, 0x5b, 0x5d];
const [SPACE, QUOTE, BACKSLASH] = [0x20, 0x22, 0x5c];
const NULL = Buffer.from('null');

export class LinkedBody {
  readonly #body: Buffer;
  readonly #linked: LinkedTexts;
  readonly #seen: SeenFragments;
  readonly #without: readonly Buffer[];
  readonly #commas: readonly number[] | undefined;
  readonly #places: Place[] = [];
  /** Keys of fragments that have to be read, by the name of the link. */
  readonly #lacking = new Map<string, Set<string>>();

  /** @param commas between its records, if they are known */
  constructor(body: Uint8Array, linked: LinkedTexts, seen: SeenFragments, commas?: readonly number[]) {
    this.#body = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    this.#linked = linked;
    this.#seen = seen;
    this.#commas = commas;
    this.#without = linked.links.map(withoutOf);
    for (let start = this.#body.indexOf(MARK); start >= 0; ) {
      const end = this.#body.indexOf(MARK, start + 1) + 1;
      const fragments = end === 0 ? undefined : this.#fragmentsAt(start + 1, end - 1);
      // A placeholder that plat did not write is damage, which the check of the body reports.
      if (fragments !== undefined) this.#places.push({ start, end, fragments });
      start = this.#body.indexOf(MARK, fragments === undefined ? start + 1 : end);
    }
  }

  /** Reads the keys of all placeholders, for `pieces`: the body's memory is released once it is filled. */
  readKeys(): void {
    for (const place of this.#places) place.keys = this.#keysOf(place);
  }

  /** Whether the body has no placeholders. */
  get isFilled(): boolean {
    return this.#places.length === 0;
  }

  /** What must be read before the body can be filled, in the order of the keys, so that neighbors share pages of the engine. */
  get lacking(): readonly Lacking[] {
    return [...this.#lacking].flatMap(([link, keys]) => [...keys].toSorted().map((key) => ({ link, key })));
  }

  /** @param rows the fragments that were missing; those that are not among the rows do not exist */
  supply(rows: readonly Row[]): void {
    const texts = new Map<string, Map<string, Uint8Array>>();
    for (const { link, key, text } of rows) {
      texts.getOrInsertComputed(String(link), () => new Map()).set(String(key), bytesOf(text));
    }
    const { links } = this.#linked;
    const made = links.map(() => new Map<string, Buffer>());
    for (const place of this.#places) {
      const { fragments } = place;
      if (!fragments.includes(undefined)) continue;
      for (const [index, key] of this.#keysOf(place).entries()) {
        const link = links[index];
        if (link === undefined || key === null || fragments[index] !== undefined) continue;
        const known = made[index]?.get(key);
        const found = texts.get(link.name)?.get(key);
        const fragment = known ?? (found === undefined ? this.#without[index] : named(found, link.prefix));
        if (fragment === undefined) continue;
        fragments[index] = fragment;
        if (known !== undefined) continue;
        made[index]?.set(key, fragment);
        this.#seen.put(index, Buffer.from(key), fragment);
      }
    }
  }

  /** The bytes of the body with its fragments. */
  get length(): number {
    return this.#places.reduce((length, place) => length + growthOf(place), this.#body.length);
  }

  /** The parts of the body, once the keys have been read. @param ends of the parts in the body as it was given; two parts are separated by a comma */
  pieces(ends: readonly number[]): readonly Piece[] {
    let from = 0;
    let index = 0;
    return ends.map((end) => {
      let length = end - from;
      const links: { resource: string; key: string }[] = [];
      for (let place = this.#places[index]; place !== undefined && place.end <= end; ) {
        length += growthOf(place);
        for (const [link, key] of (place.keys ?? []).entries()) {
          const resource = this.#linked.links[link]?.resource;
          if (key !== null && resource !== undefined) links.push({ resource, key });
        }
        place = this.#places[++index];
      }
      from = end + 1;
      return { length, links };
    });
  }

  /**
   * Writes the body with its fragments. `set` would copy byte by byte to shared memory, since most parts begin at
   * unaligned positions.
   */
  write(to: Uint8Array): void {
    let [from, at] = [0, 0];
    for (const { start, end, fragments } of this.#places) {
      at += this.#body.copy(to, at, from, start);
      for (const fragment of fragments) if (fragment !== undefined) at += fragment.copy(to, at);
      from = end;
    }
    this.#body.copy(to, at, from);
  }

  /**
   * The commas between the records of the filled body; if they are not known, those that follow a placeholder with only closing
   * braces in between: a record may end there.
   */
  commasIn(filled: Uint8Array): readonly number[] {
    let grown = 0;
    if (this.#commas !== undefined) {
      let index = 0;
      return this.#commas.map((comma) => {
        for (let place = this.#places[index]; place !== undefined && place.end <= comma; ) {
          grown += growthOf(place);
          place = this.#places[++index];
        }
        return comma + grown;
      });
    }
    return this.#places.flatMap((place) => {
      grown += growthOf(place);
      let at = place.end + grown;
      while (filled[at] === OBJECT_END) at++;
      return filled[at] === COMMA && filled[at + 1] === OBJECT ? [at] : [];
    });
  }

  /** The fragments of a JSON list of keys; undefined for a text that is not one. */
  #fragmentsAt(start: number, end: number): (Buffer | undefined)[] | undefined {
    const body = this.#body;
    const fragments: (Buffer | undefined)[] = [];
    let at = start;
    for (let link = 0; link < this.#without.length; link++) {
      if (body[at] !== (link === 0 ? LIST : COMMA)) break;
      if (body[++at] === SPACE) at++;
      const close = body[at] === QUOTE ? endOfKey(body, at + 1) : undefined;
      if (close !== undefined) fragments.push(this.#find(link, body, at + 1, close));
      else if (isNullAt(body, at)) fragments.push(this.#without[link]);
      else break;
      at = close === undefined ? at + NULL.length : close + 1;
    }
    const isWhole = body[at] === LIST_END && at + 1 === end;
    if (isWhole && fragments.length === this.#without.length) return fragments;
    // Keys with escaped characters, or something else.
    return keysIn(this.#body.toString('utf8', start, end), this.#linked)?.map((key, link) => {
      if (key === null) return this.#without[link];
      const bytes = Buffer.from(key);
      return this.#find(link, bytes, 0, bytes.length);
    });
  }

  #keysOf({ start, end }: Place): readonly (string | null)[] {
    return keysIn(this.#body.toString('utf8', start + 1, end - 1), this.#linked) ?? [];
  }

  #find(link: number, bytes: Buffer, start: number, end: number): Buffer | undefined {
    const found = this.#seen.get(link, bytes, start, end);
    if (found !== undefined) return found;
    const name = this.#linked.links[link]?.name ?? '';
    this.#lacking.getOrInsertComputed(name, () => new Set()).add(bytes.toString('utf8', start, end));
    return undefined;
  }
}

/** The fragment of a link that leads to no record. */
export const withoutOf = perObject(({ without }: PlannedLink) => Buffer.from(without));

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

/** The number of bytes by which the fragments are longer than their placeholder. */
const growthOf = ({ start, end, fragments }: Place): number =>
  fragments.reduce((sum, fragment) => sum + (fragment?.length ?? 0), start - end);

/** The keys of a placeholder; undefined for a text that is not one. */
function keysIn(text: string, { links }: LinkedTexts): (string | null)[] | undefined {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return undefined;
  }
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

/** A fragment with the names that it has in a link. */
function named(fragment: Uint8Array, prefix: string): Buffer {
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
