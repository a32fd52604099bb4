/**
 * Keeps small answers whole: records by their keys, and pages of keys. Whoever sees the same and asks in the same words gets
 * a kept answer for as long as the sequence of changes has none of the records that it was made of, so that a change shows
 * in the next answer (I3). Only what is asked for a second time is kept, so that a client that reads every record once drops
 * nothing. It must not know how an answer is made.
 */
import type { StoreModel } from '../../compile/model.ts';
import { BoundedCache, numberOf } from '../../shared/bounded-cache.ts';
import { FROM_NOW } from '../../store/change-follower.ts';
import type { Store } from '../../store/store.ts';
import { bytesOf, type Exchange, isDeflated, type Reply, type Session } from '../exchange.ts';
import { unlessKnown } from '../reply/conditions.ts';
import { type Basis, isTouched } from './basis.ts';

interface Kept {
  readonly reply: Reply;
  readonly basis: Basis;
  readonly bytes: number;
}

const MOST = { bytes: 16 * 1024 * 1024 };
/** Characters of the names that are remembered of what was asked for once. */
const MOST_ASKED = 512 * 1024;
/** Bytes of the largest body that is kept, and of what stands beside one. */
const LARGEST = 64 * 1024;
const BESIDE = 1500;

export class KeptReplies {
  readonly #store: Pick<Store, 'changesSince'>;
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

  constructor(store: Pick<Store, 'changesSince'>) {
    this.#store = store;
    this.#replies = new BoundedCache('kept answers', MOST, (kept) => void this.#names.delete(kept));
  }

  /**
   * Whether an answer may be kept, or is to be kept now. Where a look at the store is a round trip, this request begins with
   * one, and others with what they assume.
   */
  isWorthALook(exchange: Exchange, { view, model }: Pick<Session, 'view' | 'model'>): boolean {
    if (exchange.isPosted === true || (this.#model !== undefined && this.#model !== model)) return false;
    const name = nameOf(exchange, view);
    return this.#replies.get(name) !== undefined || this.#asked.has(name);
  }

  /**
   * The kept answer to a request, or a new one.
   * @param commit as of the look at the store that the request rests on; undefined: it does not show what has changed
   */
  async of(
    exchange: Exchange,
    { view, model }: Pick<Session, 'view' | 'model'>,
    commit: number | undefined,
    make: () => Promise<Reply> | Reply,
  ): Promise<Reply> {
    if (exchange.isPosted === true) return make();
    const name = nameOf(exchange, view);
    if (commit === undefined) {
      const reply = await make();
      if (reply.basis !== undefined) this.#remember(name);
      return reply;
    }
    if (this.#model !== model) this.#startOver(model);
    if (this.#commit !== commit) await this.#reach(commit);
    const known = this.#replies.get(name);
    if (known !== undefined) {
      const { account, timings, headers } = exchange;
      timings.start('store');
      account.begin('records');
      account.made(known.bytes);
      return unlessKnown(headers, known.reply);
    }
    const position = this.#position;
    const reply = await make();
    // Meanwhile a change may have been followed that the answer does not show.
    const holds = this.#model === model && this.#commit !== undefined && this.#position === position;
    if (holds && reply.basis !== undefined && this.#isAskedAgain(name)) this.#keep(name, reply, reply.basis);
    return reply;
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
    const changes = await this.#store.changesSince(this.#position);
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
    const { status, body } = reply;
    const bytes = body.reduce((sum, part) => sum + bytesOf(part), 0);
    if (status !== 200 || bytes > LARGEST || body.some(isDeflated)) return;
    const whole = Buffer.concat(body.flatMap((part) => (isDeflated(part) ? [] : Buffer.from(part))));
    const kept: Kept = { reply: { ...reply, body: [whole] }, basis, bytes };
    this.#names.set(kept, name);
    this.#replies.put(name, kept, bytes + BESIDE);
  }
}

/** All that an answer depends on beside the model and the records. */
function nameOf({ surface, base, path, query, headers }: Exchange, view: Session['view']): string {
  const { accept = '', prefer = '', 'odata-version': version = '', 'odata-maxversion': most = '' } = headers;
  return [numberOf(view), surface.name, base, path, query, accept, prefer, version, most].join('\n');
}
