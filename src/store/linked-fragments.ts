/**
 * Caches the fragments of agents and offices that listings contain (compile/text/linked-texts.ts). A fragment is used
 * only in a snapshot that shows no later change of its Member or Office (change-follower.ts), so that a change shows in
 * every listing at the next request (I3). It knows neither engine nor SQL.
 */
import type { LinkedTexts } from '../compile/text/linked-texts.ts';
import { type Reported, reportCache } from '../shared/bounded-cache.ts';
import { BytesMap } from '../shared/bytes-map.ts';
import { type Changes, changesIn, endOf, FROM_NOW, isThere, type Place } from './change-follower.ts';
import type { Row } from './session.ts';

/** Bytes of the recently used fragments; as many again are kept of those used before. */
const KEPT = 16 * 1024 * 1024;
/** Estimated bytes of a fragment in addition to its text. */
const FRAGMENT = 200;

/** The fragments that one snapshot may use, by the position of the link and the key that it refers to, in UTF-8. */
export interface SeenFragments {
  /** The fragment of the key from `start` to before `end` of some bytes. */
  get(link: number, bytes: Uint8Array, start: number, end: number): Buffer | undefined;
  put(link: number, key: Uint8Array, fragment: Buffer): void;
}

const NOTHING_KEPT: Place = { position: FROM_NOW, commit: '' };

/** For a snapshot that is older than the cache. */
const NOTHING: SeenFragments = { get: () => undefined, put: () => undefined };

export class LinkedFragments implements Reported {
  #recent = new Generation();
  #before = new Generation();
  /** The position at which everything in the cache is valid. */
  #place = NOTHING_KEPT;
  /** The number of times that fragments have changed. */
  #changes = 0;

  constructor() {
    reportCache('agents and offices', this);
  }

  get use(): Reported['use'] {
    const [recent, before] = [this.#recent, this.#before];
    return { entries: recent.entries + before.entries, bytes: recent.bytes + before.bytes };
  }

  /** The position since which a snapshot is to be queried for changes. */
  get position(): number {
    return this.#place.position;
  }

  /** @param rows what the snapshot sees of the changes since that position */
  seenBy(linked: LinkedTexts, since: number, rows: readonly Row[]): SeenFragments {
    const position = this.#follow(since, rows);
    if (position !== this.#place.position) return NOTHING;
    if (this.#recent.bytes > KEPT) {
      this.#before = this.#recent;
      this.#recent = new Generation();
    }
    const [recent, before] = [this.#recent, this.#before];
    const [fragments, earlier] = [recent.of(linked), before.of(linked)];
    const changes = this.#changes;
    const put = (link: number, key: Uint8Array, fragment: Buffer): void => {
      // Another snapshot may have shown a later change in the meantime.
      if (position === this.#place.position) recent.bytes += fragments[link]?.put(key, fragment) ?? 0;
    };
    return {
      get: (link, bytes, start, end) => {
        // Fragments that another snapshot has renewed meanwhile are not those of this one.
        if (changes !== this.#changes) return undefined;
        const found = fragments[link]?.byKey.get(bytes, start, end);
        if (found !== undefined) return found;
        const moved = earlier[link]?.byKey.get(bytes, start, end);
        if (moved !== undefined) put(link, Buffer.from(bytes.subarray(start, end)), moved);
        return moved;
      },
      put,
    };
  }

  /** Clears the cache: something that was read is damaged. */
  forget(): void {
    this.#changes++;
    this.#recent = new Generation();
    this.#before = new Generation();
  }

  /**
   * Drops changed fragments. @returns the position of the snapshot; undefined if nothing in the cache is valid there
   */
  #follow(since: number, rows: readonly Row[]): number | undefined {
    const changes = changesIn(since, rows);
    if (changes.kind === 'behind') return undefined;
    const { position, commit } = this.#place;
    if (since === FROM_NOW) {
      if (position === FROM_NOW) this.#place = endOf(changes);
      return changes.position;
    }
    if (since === position && !isThere({ position, commit }, changes)) {
      this.forget();
      this.#place = NOTHING_KEPT;
      return undefined;
    }
    if (changes.position > position) {
      this.#place = endOf(changes);
      if ([this.#recent, this.#before].map((each) => each.drop(changes)).includes(true)) this.#changes++;
    }
    return changes.position;
  }
}

/** The fragments of one link. */
class OfLink {
  readonly resource: string;
  readonly byKey = new BytesMap<Buffer>();

  constructor(resource: string) {
    this.resource = resource;
  }

  /** @returns the number of bytes by which it grew */
  put(key: Uint8Array, fragment: Buffer): number {
    // They are read together, and a page reads thousands of them all over the memory.
    const both = Buffer.concat([key, fragment]);
    const [text, value] = [both.subarray(0, key.length), both.subarray(key.length)];
    return this.byKey.set(text, value) ? both.length + FRAGMENT : 0;
  }
}

/** Fragments that were used at about the same time. */
class Generation {
  readonly #links = new Map<string, readonly OfLink[]>();
  bytes = 0;

  get entries(): number {
    return [...this.#links.values()].flat().reduce((sum, { byKey }) => sum + byKey.size, 0);
  }

  of({ id, links }: LinkedTexts): readonly OfLink[] {
    return this.#links.getOrInsertComputed(id, () => links.map(({ resource }) => new OfLink(resource)));
  }

  /** @returns whether a record that a link may lead to has changed */
  drop(changes: Exclude<Changes, { readonly kind: 'behind' }>): boolean {
    let isChanged = false;
    for (const { resource, byKey } of [...this.#links.values()].flat()) {
      const isWhole = changes.kind === 'everything' || changes.resources.has(resource);
      if (isWhole) byKey.clear();
      else for (const key of changes.keys.get(resource) ?? []) byKey.delete(Buffer.from(key));
      isChanged ||= isWhole || changes.keys.has(resource);
    }
    return isChanged;
  }
}
