/**
 * Caches the fragments of agents and offices that listings contain (compile/text/linked-texts.ts). A fragment is used
 * only in a snapshot that shows no later change of its Member or Office (changes/change-follower.ts), so that a change shows in
 * every listing at the next request (I3). It knows neither engine nor SQL.
 */
import type { LinkedTexts } from '../../compile/text/linked-texts.ts';
import { registerCache, type SizedCache } from '../../shared/bounded-cache.ts';
import { ByteStringMap, NO_TEXT } from '../../shared/byte-texts.ts';
import {
  type Changes,
  containsCommit,
  FROM_NOW,
  type Place,
  placeAfterChanges,
  readChanges,
} from '../changes/change-follower.ts';
import type { Row } from '../session.ts';

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

  /**
   * Drops changed fragments. @returns the position of the snapshot; undefined if nothing in the cache is valid there
   */
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
