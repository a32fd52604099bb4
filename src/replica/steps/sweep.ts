import { hash } from 'node:crypto';
import { timestampFrom } from '../../dictionary/index.ts';
import type { BookChange } from '../checkpoint/checkpoint.ts';
import type { Copy } from '../copy/copy.ts';
import { RECORD } from '../copy/pending-fetches.ts';
import { nameInAccount } from '../copy/read-page.ts';
import { storePage } from '../copy/store-page.ts';
import { LostPosition, pagesFrom } from '../copy/walk.ts';
import { wantable } from '../copy/wantable.ts';
import type { ReplicaEvent } from '../events.ts';
import { RequestFailure } from '../http/failure.ts';
import { least } from '../machine/load.ts';
import type { SweepEvent } from '../machine/sweep.ts';
import {
  ACCOUNTS,
  type KeyPage,
  type PageRequest,
  resourcesIn,
  type SourceKey,
  type SourcePage,
} from '../source/source.ts';
import { fetchApart } from './children.ts';
import { shortOf, tooShort } from './download.ts';
import { deleteUnseen } from './purge.ts';

/** Walks of one sweep; an offset misses rows, and two walks in a row have to agree (trap 4). */
const MOST_ROUNDS = 6;

export type SweepResult = 'done' | 'guarded' | 'unsure';

/**
 * One sweep over all keys that the source shows, begun or taken up where it stopped: what is not there any more is
 * deleted, what is not here is fetched (specification 4.4, rule 4).
 */
export async function sweep(copy: Copy, collection: string): Promise<SweepResult> {
  const { book, feed, name, store, tell } = copy;
  const before = book.sweep(collection).kind;
  const isNew = before === 'idle' || before === 'guarded';
  tell({ kind: 'step', resource: collection, step: 'sweep', state: isNew ? 'begun' : 'resumed' });
  if (isNew) {
    const at = timestampFrom(await feed.serverTime());
    await book.commit({ sweep: { collection, event: { kind: 'begin', at } } });
  }
  for (;;) {
    const state = book.sweep(collection);
    switch (state.kind) {
      case 'walking':
        await walkOnce(copy, collection);
        break;
      case 'deleting':
        await deleteUnseen(copy, collection);
        break;
      case 'guarded':
        return 'guarded';
      case 'fetching': {
        for (const resource of resourcesIn(collection)) {
          // Not beside a window: an older answer would overwrite a newer one.
          await book.inTurn(resource, () => fetchApart(copy, resource));
          while ((await store.ledger.forgetSeen(name, resource, state.sweep)) > 0);
        }
        await book.commit({ sweep: { collection, event: { kind: 'done' } } });
        tell({ kind: 'step', resource: collection, step: 'sweep', state: 'done' });
        return state.unsure ? 'unsure' : 'done';
      }
      case 'idle':
        return 'done';
    }
  }
}

async function walkOnce(copy: Copy, collection: string): Promise<void> {
  const { book, tell } = copy;
  try {
    await walk(copy, collection);
  } catch (error) {
    if (!(error instanceof LostPosition)) throw error;
    const state = book.sweep(collection);
    if (state.kind === 'walking' && state.round >= MOST_ROUNDS) {
      throw new RequestFailure('transient', `The sweep was lost ${MOST_ROUNDS} times: ${error.message}`);
    }
    tell({ kind: 'again', resource: collection, step: 'sweep', reason: error.message });
    await book.commit({ sweep: { collection, event: { kind: 'lost' } } });
  }
}

/** A page of keys, or of whole records where a sweep is how they are copied. */
type SweptPage = KeyPage | SourcePage;

async function walk(copy: Copy, collection: string): Promise<void> {
  const { book, feed, sizeOf, tell } = copy;
  const begun = book.sweep(collection);
  if (begun.kind !== 'walking') return;
  // Accounts have no windows: the first walk of each sweep brings the records.
  const brings = collection === ACCOUNTS && begun.round === 1;
  const fetch = (place: PageRequest): Promise<SweptPage> =>
    brings ? feed.page(collection, { kind: 'all' }, place) : feed.keys(collection, place);
  let { digest, keys: done } = begun;
  for await (const page of pagesFrom(
    fetch,
    begun.position,
    sizeOf(brings ? collection : `keys of ${collection}`),
  )) {
    for (const { resource, key } of page.keys)
      digest = hash('sha256', `${digest} ${resource} ${key}`, 'base64url');
    const { event, also } = eventOf(copy, collection, page, digest);
    await keep(copy, page, { sweep: { collection, event } });
    done += page.keys.length;
    tell({
      kind: 'page',
      resource: collection,
      step: 'sweep',
      rows: page.keys.length,
      done,
      total: page.total,
    });
    if (also !== undefined) tell(also);
  }
}

/** Marks the keys of a page, and what is not stored as wanted. */
async function keep(copy: Copy, page: SweptPage, change: BookChange): Promise<void> {
  if ('items' in page) {
    await storePage(copy, page, () => change);
    return;
  }
  const { book, name, store } = copy;
  const state = change.sweep === undefined ? undefined : book.sweep(change.sweep.collection);
  if (state?.kind !== 'walking') return;
  const seen: NonNullable<BookChange['seen']>[number][] = [];
  const want: NonNullable<BookChange['want']>[number][] = [];
  for (const [resource, keys] of grouped(page.keys)) {
    seen.push({ resource, keys: keys.map(nameInAccount), sweep: state.sweep });
    const missing = await store.ledger.missing(name, resource, keys);
    want.push({ resource, keys: missing, why: RECORD });
  }
  const { want: possible, quarantine } = await wantable(copy, want);
  await book.commit({ ...change, seen, want: possible, quarantine });
  for (const { resource, key, reason } of quarantine)
    copy.tell({ kind: 'quarantined', resource, key, reason });
}

function grouped(keys: readonly SourceKey[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { resource, key } of keys) {
    const group = groups.get(resource);
    if (group === undefined) groups.set(resource, [key]);
    else group.push(key);
  }
  return groups;
}

interface Meaning {
  readonly event: SweepEvent;
  /** What else is told of it. */
  readonly also?: ReplicaEvent;
}

/**
 * What the page means for the sweep. A walk by links or tokens that gave as many keys as were announced is whole by
 * itself; one by offset, or one that ended before, is not: two of them in a row have to be the same.
 */
function eventOf({ book, feed }: Copy, collection: string, page: SweptPage, digest: string): Meaning {
  const state = book.sweep(collection);
  if (state.kind !== 'walking') throw new Error(`A page of keys came while the sweep was ${state.kind}`);
  const keys = page.keys.length;
  const keyless = 'keyless' in page && page.keyless > 0;
  if (page.next !== undefined) {
    const { next, total } = page;
    return {
      event: { kind: 'page', next, keys, digest, keyless, ...(total === undefined ? {} : { total }) },
    };
  }
  const common = { resource: collection, step: 'sweep' } as const;
  // Not every account is a person or an office, so their number tells nothing.
  const announced = collection === ACCOUNTS ? undefined : least(state.total, page.total);
  const missed = shortOf(state.keys + keys, announced);
  if (keyless || state.keyless === true) {
    const reason = 'a row came without its key';
    return { event: { kind: 'unsure', keys }, also: { kind: 'unsure', resource: collection, reason } };
  }
  if (feed.capabilities.pagesByLink && collection !== ACCOUNTS && missed === undefined) {
    return { event: { kind: 'end', keys } };
  }
  if (state.previous === digest) {
    return {
      event: { kind: 'end', keys },
      ...(missed === undefined ? {} : { also: { kind: 'short', ...common, ...missed } }),
    };
  }
  if (state.round >= MOST_ROUNDS) {
    const reason = `no two of ${MOST_ROUNDS} walks were the same`;
    return { event: { kind: 'unsure', keys }, also: { kind: 'unsure', resource: collection, reason } };
  }
  return {
    event: { kind: 'agree', digest },
    ...(missed === undefined ? {} : { also: { kind: 'again', ...common, reason: tooShort(missed) } }),
  };
}
