/**
 * Reads pages of the sequence of changes, and serializes each once for all followers with the same view and position. It must not
 * know the followers, or how events are sent.
 */
import type { View } from '../../access/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { FileSigning } from '../../compile/read.ts';
import { type Resource, timestampFrom } from '../../dictionary/index.ts';
import { recordName } from '../../records/record-name.ts';
import { BoundedCache } from '../../shared/bounded-cache.ts';
import {
  defaultResources,
  type FeedPage,
  type FeedPosition,
  positionText,
} from '../../store/changes/change-feed.ts';
import { changedRecords, type RecordTexts } from '../../store/changes/follow-changes.ts';
import type { ReadOptions, Store } from '../../store/store.ts';
import { changeEvent, positionEvent } from './event-text.ts';

/** What a follower requests. */
export interface FollowRequest {
  /** Identifies the view: equal for followers with the same view. */
  readonly id: string;
  /** Absent: all resources that the role reads. */
  readonly resources?: readonly string[] | undefined;
  /** How records are written; absent: no records are requested. */
  readonly records?: {
    readonly root: string;
    readonly files: (view: View, now: number) => FileSigning;
    /** Converts the text of a record to the form in which the service writes values. */
    readonly written: (view: View, resource: Resource, text: string) => string;
  };
  readonly viewBy: (model: StoreModel) => View;
}

type EventPage =
  | {
      readonly kind: 'events';
      readonly text: Buffer;
      readonly events: number;
      readonly position: FeedPosition;
      readonly isLevel: boolean;
      /** Milliseconds since the first change was committed. */
      readonly age: number | undefined;
    }
  | { readonly kind: 'gone'; readonly position: FeedPosition };

/** The maximum number of changes in a page, without and with their records. */
const MOST = 1000;
const MOST_WITH_RECORDS = 100;

/** Pages are cached for followers that are slightly behind the others. */
const CACHE_BOUNDS = { bytes: 16 * 1024 * 1024, milliseconds: 2000 };

interface CachedPage {
  readonly page: EventPage;
  readonly commits: number;
  readonly at: number;
}

export class EventPages {
  readonly #store: Pick<Store, 'model' | 'now' | 'feed' | 'page'>;
  readonly #reading = new Map<string, Promise<EventPage>>();
  #ending: { readonly commits: number; readonly page: Promise<FeedPage> } | undefined;
  readonly #kept = new BoundedCache<CachedPage>('pages of events', CACHE_BOUNDS);

  constructor(store: Pick<Store, 'model' | 'now' | 'feed' | 'page'>) {
    this.#store = store;
  }

  /**
   * The page after a position.
   * @param commits the number of commits noticed so far: a page whose read began before a commit may lack it
   */
  async pageAfter(
    following: FollowRequest,
    position: FeedPosition,
    commits: number,
    read: ReadOptions,
  ): Promise<EventPage> {
    const id = `${positionText(position)} ${following.id}`;
    const kept = this.#kept.get(id);
    if (kept !== undefined && isFresh(kept, commits)) return kept.page;
    return this.#reading.getOrInsertComputed(`${commits} ${id}`, async (running) => {
      try {
        const page = await this.#read(following, position, read);
        if (page.kind === 'events' && page.text.length > 0) {
          this.#kept.put(id, { page, commits, at: performance.now() }, page.text.length);
        }
        return page;
      } finally {
        this.#reading.delete(running);
      }
    });
  }

  /** The end of the sequence. Streams that begin at the same time share one query. @param commits as in `pageAfter` */
  async endOfSequence(commits: number): Promise<FeedPage> {
    if (this.#ending?.commits !== commits) {
      const page = this.#store.feed({ since: 'end', limit: 0 });
      this.#ending = { commits, page };
    }
    const { page } = this.#ending;
    try {
      return await page;
    } finally {
      // The next call starts a query of its own.
      if (this.#ending?.page === page) this.#ending = undefined;
    }
  }

  close(): void {
    this.#kept.close();
  }

  async #read(following: FollowRequest, since: FeedPosition, read: ReadOptions): Promise<EventPage> {
    const model = await this.#store.model();
    const view = following.viewBy(model);
    const { records } = following;
    const resources = following.resources ?? defaultResources(view, model);
    const limit = records === undefined ? MOST : MOST_WITH_RECORDS;
    const page = await this.#store.feed({ since, scope: view.scope, resources, limit });
    if (page.kind === 'gone') return page;
    const { changes, position, isLevel, isWhole } = page;
    const now = await this.#store.now();
    let texts: RecordTexts | undefined;
    if (records !== undefined && changes.length > 0) {
      const asked = { view, now: timestampFrom(now), root: records.root, files: records.files(view, now) };
      const stored = await changedRecords(this.#store, changes, asked, read);
      texts = new Map(
        changes.flatMap(({ resource, key }) => {
          const named = recordName({ resource, key });
          const text = stored.get(named);
          const described = model.dictionary.resources.get(resource);
          return text === undefined || described === undefined
            ? []
            : [[named, records.written(view, described, text)]];
        }),
      );
    }
    const events = changes.map((change) => changeEvent(change, texts));
    const isNew = position.sequence !== since.sequence;
    if (isWhole && isNew) events.push(positionEvent(position, isLevel));
    const [first] = changes;
    return {
      kind: 'events',
      text: Buffer.from(events.join('')),
      events: changes.length,
      position,
      isLevel,
      age: first && now - Date.parse(first.at),
    };
  }
}

/** Whether a cached page is still valid. A page that ended with the sequence is outdated after another commit. */
const isFresh = ({ page, commits, at }: CachedPage, currentCommits: number): boolean =>
  performance.now() - at < CACHE_BOUNDS.milliseconds &&
  (commits === currentCommits || (page.kind === 'events' && !page.isLevel));
