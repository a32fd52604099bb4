/**
 * Keeps small answers whole: records by their keys, and pages. Whoever sees the same and asks in the same words gets
 * a kept answer for as long as the sequence of changes has none of the records that it was made of, so that a change shows
 * in the next answer (I3). A page of a list that a filter found is kept for the key whose list it is, for as long as a request
 * would walk the same list (I5). Only what is asked for a second time is kept, so that a client that reads every record once
 * drops nothing. It must not know how an answer is made.
 */
import type { StoreModel } from '../../compile/model.ts';
import { BoundedCache, numberOf } from '../../shared/bounded-cache.ts';
import { FROM_NOW } from '../../store/change-follower.ts';
import {
  bytesOf,
  type Exchange,
  isDeflated,
  type Reply,
  type ServiceContext,
  type Session,
  signingFor,
  takesGzip,
} from '../exchange.ts';
import type { UsedList } from '../paging/filter-index.ts';
import { indexHeaders } from '../paging/read-page.ts';
import { unlessKnown } from '../reply/conditions.ts';
import { type Basis, isTouched } from './basis.ts';

interface Kept {
  readonly reply: Reply;
  readonly basis: Basis;
  readonly bytes: number;
}

/** Who asks, as far as an answer depends on it. */
type Asker = Pick<Session, 'key' | 'view' | 'model' | 'now'>;

const MOST = { bytes: 16 * 1024 * 1024 };
/** Characters of the names that are remembered of what was asked for once. */
const MOST_ASKED = 512 * 1024;
/** Bytes of the largest body that is kept, a page of 40 whole listings, and of what stands beside one. */
const LARGEST = 256 * 1024;
const BESIDE = 1500;

export class KeptReplies {
  readonly #context: Pick<ServiceContext, 'store' | 'indexes' | 'fileHours'>;
  /** Notes that a kept answer was given. */
  readonly #given: (of: 'list' | 'page' | 'record') => void;
  readonly #replies: BoundedCache<Kept>;
  /** The names of the answers that the cache holds. */
  readonly #names = new Map<Kept, string>();
  /** What was asked for lately and not kept. */
  readonly #asked = new Set<string>();
  #askedLength = 0;
  #model: StoreModel | undefined;
  /** The commit at which all kept answers hold; undefined before it is known. */
  #commit: number | undefined;
  /** The position in the sequence of changes up to which they have been dropped; within an epoch it only rises. */
  #position = FROM_NOW;
  /** What is being followed: requests that come together ask once. */
  #following: { readonly commit: number; readonly done: Promise<void> } | undefined;

  constructor(context: Pick<ServiceContext, 'store' | 'indexes' | 'fileHours'>, given: (of: string) => void) {
    this.#context = context;
    this.#given = given;
    this.#replies = new BoundedCache('kept answers', MOST, (kept) => void this.#names.delete(kept));
  }

  /**
   * Whether an answer may be kept, or is to be kept now. Where a look at the store is a round trip, this request begins with
   * one, and others with what they assume.
   */
  isWorthALook(exchange: Exchange, { key, view, model }: Omit<Asker, 'now'>): boolean {
    if (exchange.isPosted === true) return false;
    // What is kept is of another model: the look shows which of the two is the later one.
    if (this.#model !== undefined && this.#model !== model) return true;
    const { common, own } = namesOf(exchange, { key, view });
    return [common, own].some((name) => this.#replies.get(name) !== undefined || this.#asked.has(name));
  }

  /**
   * The kept answer to a request, or a new one.
   * @param commit as of the look at the store that the request rests on; undefined: it does not show what has changed
   */
  async of(
    exchange: Exchange,
    asker: Asker,
    commit: number | undefined,
    make: () => Promise<Reply> | Reply,
  ): Promise<Reply> {
    if (exchange.isPosted === true) return make();
    const { model } = asker;
    const names = namesOf(exchange, asker);
    if (commit === undefined) {
      const reply = await make();
      if (isKeepable(reply)) this.#remember(nameOf(names, reply.basis));
      return reply;
    }
    if (this.#model !== model) this.#startOver(model);
    if (this.#commit !== commit) await this.#reach(commit);
    const known = await this.#known(exchange, asker, names);
    if (known !== undefined) return known;
    const position = this.#position;
    const reply = await make();
    // Meanwhile a change may have been followed that the answer does not show.
    const holds = this.#model === model && this.#commit !== undefined && this.#position === position;
    if (!holds || !isKeepable(reply)) return reply;
    const name = nameOf(names, reply.basis);
    if (this.#isAskedAgain(name)) this.#keep(name, reply, reply.basis);
    return reply;
  }

  /** The kept answer, with what it has of the moment; one that no longer holds is dropped. */
  async #known(exchange: Exchange, asker: Asker, { common, own }: Names): Promise<Reply | undefined> {
    const known = this.#replies.get(common) ?? this.#replies.get(own);
    if (known === undefined) return undefined;
    const drop = (): undefined => {
      const name = this.#names.get(known);
      if (name !== undefined) this.#replies.delete(name);
    };
    const { reply, basis, bytes } = known;
    const { expires } = basis;
    if (expires !== undefined && expires !== signingFor(this.#context, exchange, asker).expires)
      return drop();
    const { account, timings, headers } = exchange;
    timings.start('store');
    const age = basis.lists === undefined ? undefined : await this.#ageOf(basis.lists);
    if (basis.lists !== undefined && age === undefined) return drop();
    account.begin('records');
    account.made(bytes);
    this.#given(basis.lists !== undefined ? 'list' : basis.keys.kind === 'one' ? 'record' : 'page');
    if (age === undefined) return unlessKnown(headers, reply);
    const index = { state: 'cached', age } as const;
    return { ...reply, headers: { ...reply.headers, ...indexHeaders({ index, openWindow: false }) } };
  }

  /** The age of the first of some lists, the one that the filter found; undefined if any of them is walked no more. */
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
    this.#position = FROM_NOW;
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

  /** Drops what has changed up to a commit. */
  async #follow(commit: number): Promise<void> {
    const model = this.#model;
    const changes = await this.#context.store.changesSince(this.#position);
    if (this.#model !== model) return;
    if (changes.kind === 'behind') {
      this.#startOver();
      return;
    }
    // One that was asked later has come first.
    if (this.#position !== FROM_NOW && changes.position < this.#position) return;
    if (changes.kind === 'everything') this.#replies.clear();
    else if (changes.keys.size > 0 || changes.resources.size > 0) {
      for (const [{ basis }, name] of this.#names) {
        if (isTouched(basis, changes)) this.#replies.delete(name);
      }
    }
    this.#position = changes.position;
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
    const whole = Buffer.concat(reply.body.flatMap((part) => (isDeflated(part) ? [] : Buffer.from(part))));
    const kept: Kept = { reply: { ...reply, body: [whole] }, basis, bytes: whole.length };
    this.#names.set(kept, name);
    this.#replies.put(name, kept, whole.length + BESIDE);
  }
}

const isKeepable = (reply: Reply): reply is Reply & { readonly basis: Basis } => {
  const { basis, status, body } = reply;
  if (basis === undefined || status !== 200 || body.some(isDeflated)) return false;
  return body.reduce((sum, part) => sum + bytesOf(part), 0) <= LARGEST;
};

/** All that an answer depends on beside the model and the records. */
interface Names {
  /** For whoever sees the same. */
  readonly common: string;
  /** For the key that asks. */
  readonly own: string;
}

const nameOf = ({ common, own }: Names, { lists }: Basis): string => (lists === undefined ? common : own);

/** A client that takes gzip gets compressed blocks (kept-blocks.ts) in place of the page that is kept for others. */
function namesOf(exchange: Exchange, { key, view }: Pick<Session, 'key' | 'view'>): Names {
  const { surface, base, path, query, headers } = exchange;
  const { accept = '', prefer = '', 'odata-version': version = '', 'odata-maxversion': most = '' } = headers;
  const form = takesGzip(exchange) ? 'gzip' : '';
  const parts = [numberOf(view), surface.name, base, path, query, accept, prefer, version, most, form];
  const common = parts.join('\n');
  return { common, own: `${common}\n${key.id}` };
}
