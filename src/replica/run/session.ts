import { platError } from '../../errors/index.ts';
import { Book } from '../checkpoint/checkpoint.ts';
import { type Hold, type Holder, holdSource } from '../checkpoint/lease.ts';
import { ANOTHER_SOURCE, type StateShapes } from '../checkpoint/notes.ts';
import type { Copy } from '../copy/copy.ts';
import { PageSize } from '../copy/page-size.ts';
import { RECORD } from '../copy/pending-fetches.ts';
import { declareFields } from '../copy/schema-drift.ts';
import type { Environment } from '../environment.ts';
import type { Listener } from '../events.ts';
import { SourceClient } from '../http/client.ts';
import { isPrivateHost } from '../http/egress-policy.ts';
import { isUnreached, RequestFailure } from '../http/failure.ts';
import { sharedAllowance } from '../http/rate-budget.ts';
import { type BackoffOptions, FIRST_CONTACT, USUAL_BACKOFF } from '../http/retry.ts';
import { MediaFolder } from '../media/folder.ts';
import { discoverNative } from '../source/native/discover.ts';
import { discoverReso } from '../source/reso/discover.ts';
import type { Source } from '../source/source.ts';
import { compareFingerprint, confirmClock } from './cycle.ts';
import { describe } from './describe.ts';
import { missingRoot } from './near-roots.ts';
import { DEFAULT_RESOURCES, MAY_LACK, PAGE_SIZE, PURGE_SHARE, type ReplicateOptions } from './options.ts';
import { knownByAnotherName } from './same-feed.ts';

/** Bytes of an answer's content; what is larger is asked for in smaller pages. */
const LARGEST_ANSWER = 32 * 1024 * 1024;
/** Milliseconds without a byte after which a request has failed. */
const TIMEOUT = 60_000;
/** Milliseconds for the whole of an answer, however it drips. */
const LONGEST = 300_000;
/** A source's name stands in messages, addresses and SQL views. */
const NAME = /^[\w.-]{1,100}$/;

export interface SessionOptions extends ReplicateOptions {
  readonly environment: Environment;
  readonly signal: AbortSignal;
  readonly onEvent: Listener;
}

/** The root of a service without a query, ending in `/`. @throws PlatError `usage` */
export function rootOf(from: string): URL {
  const root = URL.canParse(from) ? new URL(from) : undefined;
  if (root === undefined || !/^https?:$/.test(root.protocol)) {
    throw platError('usage', { reason: `--from takes the http(s) address of a service, not ${from}.` });
  }
  root.search = '';
  root.hash = '';
  root.pathname = `${root.pathname.replace(/\/+$/, '')}/`;
  return root;
}

export function sourceName({ source, from }: Pick<ReplicateOptions, 'source' | 'from'>): string {
  const name = source ?? rootOf(from).hostname.replace(/[^\w.-]/g, '');
  if (NAME.test(name)) return name;
  throw platError('usage', {
    reason: `A source has a name of letters, digits, "_", "." and "-", not ${name}.`,
  });
}

/** @throws PlatError `usage` for a store that is no replica; `failed` when another process is at work on this source */
export async function hold({ store, ...options }: SessionOptions, holder: Holder): Promise<Hold> {
  const name = sourceName(options);
  const { settings } = await store.model();
  if (settings.owner !== 'replica') {
    throw platError('usage', {
      reason: `${store.name} is no replica: its records are its own. Replicate into a store of its own.`,
    });
  }
  return holdSource(store, name, holder);
}

/** A client of the source, within what its token may use. */
export function clientOf(
  { store, environment, onEvent, signal, ...options }: SessionOptions,
  backoff = USUAL_BACKOFF,
  firstContact?: BackoffOptions,
): SourceClient {
  return new SourceClient({
    root: rootOf(options.from),
    token: options.token,
    environment,
    listener: onEvent,
    backoff,
    firstContact,
    allowance: sharedAllowance(store.ledger, options.token, options.limits ?? {}),
    largest: LARGEST_ANSWER,
    timeout: TIMEOUT,
    longest: LONGEST,
    signal,
  });
}

/** Finds out what the source can do. */
export async function discover(options: SessionOptions, client: SourceClient): Promise<Source> {
  const { windowField, customFields = false, resources = DEFAULT_RESOURCES } = options;
  if (resources.length === 0) throw platError('usage', { reason: '--resources names no resource.' });
  const { dictionary } = await options.store.model();
  for (const name of resources) {
    if (!dictionary.resources.has(name)) {
      throw platError('usage', { reason: `The dictionary has no resource ${name}.` });
    }
  }
  const root = rootOf(options.from).href;
  // Many sources have no agents or offices; who names them wants them.
  const mayLack = options.resources === undefined ? MAY_LACK : [];
  const common = { client, root, dictionary, resources, windowField };
  return options.interface === 'reso'
    ? discoverReso({ ...common, mayLack })
    : discoverNative({ ...common, customFields });
}

/** Everything that the steps need, after the source was asked what it is. */
export async function openCopy(options: SessionOptions, { name, lease }: Hold): Promise<Copy> {
  const { store, environment, signal, onEvent: tell, force = false } = options;
  const book = await Book.open({ store, source: name, lease });
  const identity = await checkedIdentity(book, options);
  const pageSizes = new Map<string, PageSize>();
  const sizeOf = (collection: string): PageSize => {
    const known = pageSizes.get(collection);
    if (known !== undefined) return known;
    const made = new PageSize(options.pageSize ?? PAGE_SIZE, tell);
    pageSizes.set(collection, made);
    return made;
  };
  const feed = await (identity === undefined ? discover(options, clientOf(options)) : meet(options));
  if (identity !== undefined && book.get('identity') === undefined && !force) {
    const wrong = await knownByAnotherName(store, { name, identity: identityOf(options), feed });
    if (wrong !== undefined) throw wrong;
  }
  // A name stands for a source that has answered, and for none that was only meant.
  if (identity !== undefined) await book.commit({ state: identity });
  const files =
    options.mediaFolder === undefined ? undefined : await MediaFolder.open(options.mediaFolder, name);
  const { drift = 'evolve', alsoWindow = [], purgeShare = PURGE_SHARE } = options;
  const settings = { drift, alsoWindow, purgeShare, force };
  const common = { name, feed, store, book, environment, settings, tell, signal, sizeOf };
  if (files === undefined) return welcome(common);
  const isOwn = options.mediaPrivateHosts === true || isPrivateHost(rootOf(options.from));
  return welcome({ ...common, files, filesEgress: isOwn ? 'any' : 'public' });
}

/** The same copy with a source that was asked anew, since it shows other fields now. */
export async function reopenCopy(copy: Copy, options: SessionOptions): Promise<Copy> {
  return welcome({ ...copy, feed: await discover(options, clientOf(options)) });
}

/** Keeps what the source can do, takes over its fields, and reads everything again if it shows others than before. */
async function welcome(copy: Copy): Promise<Copy> {
  const { book, feed, settings, store, tell } = copy;
  const { capabilities } = feed;
  await confirmClock(copy);
  // Files that nobody wanted meanwhile are all looked at when they are wanted again.
  const media = copy.files === undefined ? { media: 'records' as const } : {};
  if (book.get('capabilities')?.children === 'none') await wantSubData(copy);
  await book.commit({ state: { capabilities, ...media } });
  tell({ kind: 'source', interface: capabilities.interface, abilities: describe(capabilities) });
  if (settings.drift === 'evolve') {
    const refused = await declareFields(store, feed.foreignFields, tell);
    for (const { resource, name } of refused) tell({ kind: 'field', resource, name, taken: 'ignored' });
  }
  await compareFingerprint(copy);
  return copy;
}

/** Stored keys that are wanted in one transaction. */
const AT_ONCE = 1000;

/** The source gave no sub-data before, or nothing was there to find it out with: that of everything stored is wanted. */
async function wantSubData(copy: Copy): Promise<void> {
  const { book, feed, name, store } = copy;
  const { children, expansions, resources } = feed.capabilities;
  if (children === 'none' || !resources.includes('Property')) return;
  const whys = children === 'expanded' ? [RECORD] : expansions;
  for (let after = ''; ; ) {
    const keys = await store.ledger.storedKeys(name, 'Property', after, AT_ONCE);
    const last = keys.at(-1);
    if (last === undefined) return;
    await book.commit({ want: whys.map((why) => ({ resource: 'Property', keys, why })) });
    after = last;
  }
}

/** Finds out what a source can do that was never asked before; its address may be wrong. */
async function meet(options: SessionOptions): Promise<Source> {
  // A watch waits for as long as it takes, and what was met before is known to be there.
  const client = clientOf(options, USUAL_BACKOFF, options.watch === true ? undefined : FIRST_CONTACT);
  try {
    return await discover(options, client);
  } catch (error) {
    if (error instanceof RequestFailure && isUnreached(error)) throw unreached(error, options);
    if (!(error instanceof RequestFailure) || (error.status !== 404 && error.status !== 400)) throw error;
    throw await missingRoot(error, rootOf(options.from), options.interface, client);
  }
}

function unreached(failure: RequestFailure, { from, watch }: SessionOptions): RequestFailure {
  const remedy = watch === true ? '' : '; check --from, or wait for it with --watch';
  const reason = `Nothing answers at ${rootOf(from).href} (${failure.message})${remedy}`;
  return new RequestFailure(failure.kind, reason, { cause: failure.cause });
}

/**
 * The copy of one source is never mixed with another: the name stands for an interface at an address, as soon as
 * something came from there.
 * @returns what is to be kept of an address that is another one than before
 * @throws PlatError `usage` when the copy is of another source
 */
async function checkedIdentity(
  book: Book,
  options: SessionOptions,
): Promise<{ readonly [N in 'identity' | 'fingerprint']?: StateShapes[N] } | undefined> {
  const identity = identityOf(options);
  const before = book.get('identity');
  if (before === identity) return undefined;
  if (before === undefined) return { identity };
  if (options.force !== true && (await holdsAnything(book, options))) {
    throw platError('usage', {
      reason: `${sourceName(options)} was replicated from ${before}, not from ${identity}. Give the new source a name of its own (--source), or take the copy over with --force.`,
    });
  }
  // Cursors of another address mean nothing: everything is read again.
  return { identity, fingerprint: ANOTHER_SOURCE };
}

function identityOf(options: Pick<SessionOptions, 'from' | 'interface'>): string {
  const { host, pathname } = rootOf(options.from);
  return `${options.interface} ${host}${pathname}`;
}

/** Whether anything of a source is stored, or lies in quarantine. */
async function holdsAnything(book: Book, options: SessionOptions): Promise<boolean> {
  if (book.quarantined(() => true).length > 0) return true;
  const { store } = options;
  const { dictionary } = await store.model();
  for (const resource of dictionary.resources.keys()) {
    const keys = await store.ledger.storedKeys(sourceName(options), resource, '', 1);
    if (keys.length > 0) return true;
  }
  return false;
}
