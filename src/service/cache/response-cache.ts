/**
 * Caches responses: single records and pages, small ones in memory and large ones in the text file. A request with the same view
 * and the same text gets the cached response until the sequence of changes contains one of the records that it was made from, so
 * that a change is visible in the next response (I3). A page of a filter's list is cached for the key that the list belongs to, as
 * long as a request would use the same list (I5). Only responses that are requested a second time are cached, so that a client that
 * reads every record once does not evict the others. This module must not know how a response is made.
 */
import type { StoreModel } from '../../compile/model.ts';
import { BoundedCache } from '../../shared/bounded-cache.ts';
import { objectId } from '../../shared/memoize.ts';
import {
  containsCommit,
  FROM_NOW,
  type Place,
  placeAfterChanges,
} from '../../store/changes/change-follower.ts';
import {
  acceptsGzip,
  byteLengthOf,
  type Exchange,
  isDeflated,
  type Reply,
  type ServiceContext,
  type Session,
  signingFor,
} from '../exchange.ts';
import type { UsedList } from '../paging/filter-index.ts';
import { indexHeaders, registerForRelease } from '../paging/read-page.ts';
import { replyOrNotModified } from '../reply/conditions.ts';
import { type Basis, isAffected } from './response-basis.ts';
import type { CachedText, TextCacheFile } from './text-cache-file.ts';

interface CachedResponse {
  /** The response, without its body if that is in the file. */
  readonly reply: Reply;
  readonly basis: Basis;
  readonly bytes: number;
  readonly text?: CachedText;
}

/** The position of an empty cache. */
const NOWHERE: Place = { position: FROM_NOW, commit: '' };

/** The parts of a session that a response may depend on. */
type SessionInputs = Pick<Session, 'key' | 'view' | 'model' | 'now'>;

const MOST = { bytes: 16 * 1024 * 1024 };
/** The maximum total length of the remembered names of requests that have been made once. */
const MOST_ASKED = 512 * 1024;
/** The largest body, in bytes, that is cached in memory (about 40 complete listings), and in the file. */
const MAX_BODY_IN_MEMORY = 256 * 1024;
const MAX_BODY_IN_FILE = 16 * 1024 * 1024;
/**
 * The share of the file that responses may take. It is limited because clients can vary requests at will, and blocks need room,
 * too.
 */
const SHARE = 1 / 2;
/** The memory of a response in addition to its body. */
const RESPONSE_OVERHEAD = 1500;

export class ResponseCache {
  readonly #context: Pick<ServiceContext, 'store' | 'indexes' | 'fileHours'>;
  /** Called when a cached response is used. */
  readonly #given: (of: 'list' | 'page' | 'record') => void;
  readonly #texts: TextCacheFile | undefined;
  readonly #replies: BoundedCache<CachedResponse>;
  /** The names of the cached responses. */
  readonly #names = new Map<CachedResponse, string>();
  /** The bytes of cached responses in the file. */
  #inFile = 0;
  /** Recent requests whose responses were not cached. */
  readonly #asked = new Set<string>();
  #askedLength = 0;
  #model: StoreModel | undefined;
  /** The commit at which all cached responses are valid; undefined before it is known. */
  #commit: number | undefined;
  /** The position in the sequence of changes up to which changes have been applied. Within an epoch, it only increases. */
  #place = NOWHERE;
  /** The request for changes that is in progress, which concurrent requests share. */
  #following: { readonly commit: number; readonly done: Promise<void> } | undefined;

  /** @param texts the file for large responses; absent: they are not cached */
  constructor(
    context: Pick<ServiceContext, 'store' | 'indexes' | 'fileHours'>,
    onHit: (of: 'list' | 'page' | 'record') => void,
    texts?: TextCacheFile,
  ) {
    this.#context = context;
    this.#given = onHit;
    this.#texts = texts;
    this.#replies = new BoundedCache('kept answers', MOST, (kept) => {
      this.#names.delete(kept);
      if (kept.text === undefined) return;
      this.#inFile -= kept.bytes;
      texts?.free(kept.text);
    });
  }

  /**
   * Whether to query the store first, because the response may be cached or should be cached now. If a query is a round trip, only
   * such requests begin with one; others assume the last known state.
   */
  shouldQueryStoreFirst(exchange: Exchange, { key, view, model }: Omit<SessionInputs, 'now'>): boolean {
    if (exchange.isPosted === true) return false;
    // The cache belongs to another model: the query shows which of the two is newer.
    if (this.#model !== undefined && this.#model !== model) return true;
    const { common, own } = namesOf(exchange, { key, view });
    return [common, own()].some((name) => this.#replies.get(name) !== undefined || this.#asked.has(name));
  }

  /**
   * Returns the cached response to a request, or makes a new one.
   * @param commit the last commit at the request's query of the store; undefined: the query does not show what has changed
   */
  async getOrMake(
    exchange: Exchange,
    asker: SessionInputs,
    commit: number | undefined,
    make: () => Promise<Reply> | Reply,
  ): Promise<Reply> {
    if (exchange.isPosted === true) return make();
    const { model } = asker;
    const names = namesOf(exchange, asker);
    if (commit === undefined) {
      const reply = await make();
      if (this.#isKeepable(reply)) this.#remember(nameOf(names, reply.basis));
      return reply;
    }
    if (this.#model !== model) this.#startOver(model);
    if (this.#commit !== commit) await this.#reach(commit);
    const known = await this.#known(exchange, asker, names);
    if (known !== undefined) return known;
    const { position } = this.#place;
    const reply = await make();
    // In the meantime, changes may have been applied that the response does not reflect.
    const holds = this.#model === model && this.#commit !== undefined && this.#place.position === position;
    if (!holds || !this.#isKeepable(reply)) return reply;
    const name = nameOf(names, reply.basis);
    // A response that is still being written to the file is made again.
    const isKept = this.#replies.get(name) !== undefined;
    if (!isKept && this.#isAskedAgain(name)) this.#keep(name, reply, reply.basis);
    return reply;
  }

  /** The cached response with current headers. A response that is no longer valid is removed. */
  async #known(
    exchange: Exchange,
    asker: SessionInputs,
    { common, own: ownName }: Names,
  ): Promise<Reply | undefined> {
    const known = this.#replies.get(common) ?? this.#replies.get(ownName());
    if (known === undefined) return undefined;
    const drop = (): undefined => {
      const name = this.#names.get(known);
      if (name !== undefined) this.#replies.delete(name);
    };
    const { basis, bytes, text } = known;
    const { expires } = basis;
    if (text?.isWritten === false && !text.isDropped) return undefined;
    const signing = { context: this.#context, exchange, session: asker };
    if (expires !== undefined && expires !== signingFor(signing).expires) return drop();
    const { account, timings, headers } = exchange;
    timings.start('store');
    const age = basis.lists === undefined ? undefined : await this.#ageOf(basis.lists);
    if (basis.lists !== undefined && age === undefined) return drop();
    account.begin('records');
    const given = age === undefined ? replyOrNotModified(headers, known.reply) : known.reply;
    const isMissing = text !== undefined && given === known.reply;
    const body = isMissing ? await this.#read(exchange, text) : given.body;
    if (body === undefined) return drop();
    account.made(given === known.reply ? bytes : 0);
    const reply = { ...given, body };
    this.#given(basis.lists !== undefined ? 'list' : basis.keys.kind === 'one' ? 'record' : 'page');
    if (age === undefined) return reply;
    const index = { state: 'cached', age } as const;
    return { ...reply, headers: { ...reply.headers, ...indexHeaders({ index, openWindow: false }) } };
  }

  /** A body from the file; undefined if it cannot be used. */
  async #read({ taken }: Exchange, text: CachedText): Promise<Reply['body'] | undefined> {
    const made = this.#texts?.newBody(text.length);
    if (made === undefined) return undefined;
    const isRight = await this.#texts?.readTexts(made.body, [{ text, start: 0 }]);
    registerForRelease(taken, made);
    return isRight === true ? [made.body] : undefined;
  }

  /** The age of the first list, which the filter found; undefined if a request would no longer use all of the lists. */
  async #ageOf(lists: readonly UsedList[]): Promise<number | undefined> {
    let first: number | undefined;
    for (const each of lists) {
      const age = await this.#context.indexes.ageOf(each);
      if (age === undefined) return undefined;
      first ??= age;
    }
    return first;
  }

  #startOver(model?: StoreModel): void {
    this.#replies.clear();
    this.#model = model;
    this.#commit = undefined;
    this.#place = NOWHERE;
  }

  #reach(commit: number): Promise<void> {
    if (this.#following?.commit === commit) return this.#following.done;
    const done = this.#follow(commit).finally(() => {
      if (this.#following === following) this.#following = undefined;
    });
    const following = { commit, done };
    this.#following = following;
    return done;
  }

  /** Removes responses that changes up to a commit affect. */
  async #follow(commit: number): Promise<void> {
    const model = this.#model;
    const since = this.#place.position;
    const changes = await this.#context.store.changesSince(since);
    if (this.#model !== model) return;
    const { position } = this.#place;
    // If two requests started from the latest change, the second result lacks the changes between them.
    if (since === FROM_NOW && position !== FROM_NOW) return this.#follow(commit);
    if (changes.kind === 'behind') return this.#startOver();
    // The result of a later request has been applied already.
    if (position !== FROM_NOW && changes.position < position) return;
    // If another commit is at the position, the store was restored by other means than plat.
    if (changes.kind === 'records' && since !== FROM_NOW && !containsCommit(this.#place, changes)) {
      return this.#startOver();
    }
    if (changes.kind === 'everything') this.#replies.clear();
    else if (changes.keys.size > 0 || changes.resources.size > 0) {
      for (const [{ basis }, name] of this.#names) {
        if (isAffected(basis, changes)) this.#replies.delete(name);
      }
    }
    this.#place = placeAfterChanges(changes);
    this.#commit = commit;
  }

  #isAskedAgain(name: string): boolean {
    if (!this.#asked.delete(name)) {
      this.#remember(name);
      return false;
    }
    this.#askedLength -= name.length;
    return true;
  }

  #remember(name: string): void {
    if (this.#asked.has(name)) return;
    if (this.#askedLength + name.length > MOST_ASKED) {
      this.#asked.clear();
      this.#askedLength = 0;
    }
    this.#asked.add(name);
    this.#askedLength += name.length;
  }

  #keep(name: string, reply: Reply, basis: Basis): void {
    const parts = reply.body.flatMap((part) => {
      if (isDeflated(part)) return [];
      return typeof part === 'string'
        ? Buffer.from(part)
        : Buffer.from(part.buffer, part.byteOffset, part.length);
    });
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    const put = (body: Reply['body'], text?: CachedText): void => {
      const kept = { reply: { ...reply, body }, basis, bytes, text };
      this.#names.set(kept, name);
      this.#replies.put(name, kept, body.length * bytes + RESPONSE_OVERHEAD);
    };
    const texts = this.#texts;
    if (bytes <= MAX_BODY_IN_MEMORY || texts === undefined) {
      put([Buffer.concat(parts)]);
      return;
    }
    if (!this.#hasRoom(bytes, texts)) return;
    const made = texts.newBody(bytes);
    let at = 0;
    for (const part of parts) at += part.copy(made.body, at);
    const text = texts.reserveText('response', bytes, () => this.#replies.delete(name));
    this.#inFile += bytes;
    put([], text);
    // Do not wait until the client has read the response: a slow client would keep the copy in memory, which no budget counts.
    setImmediate(() => void texts.writeTexts(made, [{ text, start: 0 }]));
  }

  /** Whether the file has room for a response. If necessary, evicts responses that have not been read for long. */
  #hasRoom(bytes: number, texts: TextCacheFile): boolean {
    const fits = (): boolean => this.#inFile + bytes <= texts.limit * SHARE;
    if (!fits()) texts.evictUnused();
    return fits();
  }

  #isKeepable(reply: Reply): reply is Reply & { readonly basis: Basis } {
    const { basis, status, body } = reply;
    if (basis === undefined || status !== 200 || body.some(isDeflated)) return false;
    const bytes = body.reduce((sum, part) => sum + byteLengthOf(part), 0);
    if (bytes <= MAX_BODY_IN_MEMORY) return true;
    const texts = this.#texts;
    if (texts === undefined || texts.isOff || texts.isFull('response')) return false;
    return bytes <= MAX_BODY_IN_FILE && !basis.isInBlocks;
  }
}

/** The names of a response in the cache, made from everything that it depends on except the model and the records. */
interface Names {
  /** The name for every key with the same view. */
  readonly common: string;
  /** The name for the key of the request. */
  readonly own: () => string;
}

const nameOf = ({ common, own: ownName }: Names, { lists }: Basis): string =>
  lists === undefined ? common : ownName();

/**
 * The names of the response to a request. Whether the client accepts gzip is part of them: such a client gets compressed blocks
 * (block-cache.ts) instead of the page that is cached for others.
 */
function namesOf(exchange: Exchange, { key, view }: Pick<Session, 'key' | 'view'>): Names {
  const { surface, base, path, query, headers } = exchange;
  const { accept = '', prefer = '', 'odata-version': version = '', 'odata-maxversion': most = '' } = headers;
  const form = acceptsGzip(exchange) ? 'gzip' : '';
  const parts = [objectId(view), surface.name, base, path, query, accept, prefer, version, most, form];
  const common = parts.join('\n');
  return { common, own: () => `${common}\n${key.id}` };
}
