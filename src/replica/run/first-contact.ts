/**
 * The first contact with a source. If there is no service at the address, suggests the root that the user may have meant.
 * Determines whether the store already has the feed under another name or from another address. This module stores nothing.
 */
import { type PlatError, usageError } from '../../errors/index.ts';
import { isObject, tryParseJson } from '../../shared/json.ts';
import type { Store } from '../../store/store.ts';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import { ANOTHER_SOURCE, type Notes, readNote } from '../checkpoint/notes.ts';
import type { SourceClient } from '../http/client.ts';
import { isUnreachable, RequestFailure } from '../http/failure.ts';
import type { Source } from '../source/source.ts';
import { identityOf, PAGE_SIZE, type ReplicateOptions, rootOf, sourceName } from './options.ts';

type Kind = ReplicateOptions['interface'] | 'floorplans';

/** The usual endings of a root, the most common first. */
const ENDINGS: Readonly<Record<Kind, readonly string[]>> = {
  reso: ['Reso/OData/', 'odata/', 'OData/', 'reso/odata/'],
  native: ['v1/'],
  floorplans: ['Reso/'],
};
/** A request of each interface that a service answers for every key. */
const ASKED: Readonly<Record<Kind, string>> = {
  reso: 'Property?$top=1',
  native: 'listings?_limit=1',
  floorplans: 'Media?$top=1',
};
const SERVICES: Readonly<Record<Kind, string>> = {
  reso: 'service of the reso interface',
  native: 'service of the native interface',
  floorplans: 'floor plan service',
};

/** A failure whose message says what is wrong with `--from`, if it can be determined. */
export async function explainFirstContact(
  error: unknown,
  { from, interface: kind, watch }: Pick<ReplicateOptions, 'from' | 'watch'> & { readonly interface: Kind },
  client: SourceClient,
): Promise<unknown> {
  if (!(error instanceof RequestFailure)) return error;
  if (isUnreachable(error)) {
    const canWait = kind !== 'floorplans' && watch !== true;
    const remedy = watch === true ? '' : `; check --from${canWait ? ', or wait for it with --watch' : ''}`;
    return new RequestFailure(error.kind, `${error.message}${remedy}`, { cause: error.cause });
  }
  // A service responds with 400 if `--from` names a resource, because it takes the next segment for a key.
  return error.status === 404 || error.status === 400
    ? explainMissingRoot(error, rootOf(from), kind, client)
    : error;
}

/** The usual roots below an address and its parents, nearest first, without the address itself. */
function nearRoots(root: URL, kind: Kind): string[] {
  const parts = root.pathname.split('/').filter((part) => part !== '');
  const above = parts.map((_, at) => `/${parts.slice(0, parts.length - at).join('/')}/`);
  const paths = [...above, '/'].flatMap((base, at) => [
    // The address may be one of a record or a collection, so its parent may be the root.
    ...(at > 0 && base !== '/' ? [base] : []),
    ...(at < 2 || base === '/' ? ENDINGS[kind].map((ending) => `${base}${ending}`) : []),
  ]);
  // These requests send the token, so they stay at its origin.
  return [...new Set(paths)].filter((path) => path !== root.pathname).map((path) => `${root.origin}${path}`);
}

/** Whether a URL returns the response that is expected of a service. */
async function answers(
  client: SourceClient,
  url: string,
  isRight: (text: string) => boolean,
): Promise<boolean> {
  try {
    return await client.get(url, ({ text }) => isRight(text), { attempts: 1 });
  } catch (error) {
    if (error instanceof RequestFailure && error.kind !== 'stopped') return false;
    throw error;
  }
}

function hasRows(text: string, kind: Kind): boolean {
  const value = tryParseJson(text);
  if (!isObject(value)) return false;
  return Array.isArray(kind !== 'native' ? value.value : isObject(value.D) ? value.D.Results : undefined);
}

/** @returns a usage error that names the root, if one of the usual roots responds; otherwise the failure, with a hint at roots */
async function explainMissingRoot(
  failure: RequestFailure,
  root: URL,
  kind: Kind,
  client: SourceClient,
): Promise<PlatError | RequestFailure> {
  // If metadata exists, the root is right, but something below it does not exist.
  const isMetadata = (text: string): boolean => /<(?:\w+:)?Edmx\b/.test(text);
  if (kind !== 'native' && (await answers(client, `${root.href}$metadata`, isMetadata))) return failure;
  const isRoot = (url: string, of: Kind): Promise<boolean> =>
    answers(client, `${url}${ASKED[of]}`, (text) => hasRows(text, of));
  const wrong = (right: string): PlatError =>
    usageError(`${root.href} is not the root of a service (${failure.status}); ${right}.`);
  const tried = nearRoots(root, kind);
  for (const each of tried) if (await isRoot(each, kind)) return wrong(`--from ${each} is one`);
  const other = kind === 'reso' ? 'native' : 'reso';
  // A floor plan token opens neither of the other interfaces.
  for (const each of kind === 'floorplans' ? [] : [root.href, ...nearRoots(root, other)]) {
    if (await isRoot(each, other))
      return wrong(`--from ${each} is one of the ${other} interface (--interface ${other})`);
  }
  if (failure.status !== 404) return failure;
  const usual = ENDINGS[kind].map((ending) => `/${ending.slice(0, -1)}`).slice(0, 2);
  return new RequestFailure(
    failure.kind,
    `${failure.message}; there is no ${SERVICES[kind]} at ${root.href}: its root usually ends in ${usual.join(' or ')}, and none of ${tried.join(', ')} answers`,
    { status: 404, cause: failure },
  );
}

/**
 * Makes sure that the copies of two sources are never mixed: the name of a source belongs to one interface at one address as soon
 * as something has been received from there.
 * @returns the notes to store if the address has changed
 * @throws PlatError `usage` if the copy belongs to another source
 */
export async function identityToStore(
  checkpoint: Checkpoint,
  options: ReplicateOptions,
): Promise<(Pick<Notes, 'identity'> & Partial<Pick<Notes, 'fingerprint'>>) | undefined> {
  const identity = identityOf(options);
  const before = checkpoint.get('identity');
  if (before === identity) return undefined;
  if (before === undefined) return { identity };
  if (options.force !== true && (await holdsAnything(checkpoint, options))) {
    throw usageError(
      `${sourceName(options)} was replicated from ${before}, not from ${identity}. Give the new source another name (--source), or use --force to move the copy to the new address.`,
    );
  }
  // The cursors of the previous address mean nothing here, so everything is read again.
  return { identity, fingerprint: ANOTHER_SOURCE };
}

/** Whether anything from a source is stored or quarantined. */
async function holdsAnything(checkpoint: Checkpoint, options: ReplicateOptions): Promise<boolean> {
  if (checkpoint.quarantined(() => true).length > 0) return true;
  const { store } = options;
  const { dictionary } = await store.model();
  for (const resource of dictionary.resources.keys()) {
    if (await hasStored(store, sourceName(options), resource)) return true;
  }
  return false;
}

const hasStored = async ({ checkpoints }: Store, source: string, resource: string): Promise<boolean> =>
  (await checkpoints.storedKeys(source, resource, '', 1)).length > 0;

/** A source that is queried for the first time. */
interface Newcomer {
  readonly name: string;
  readonly identity: string;
  readonly feed: Source;
}

/**
 * Detects a feed that the store already has under another name, for instance if one command says `localhost` and the next one
 * `127.0.0.1`. A key belongs to one source, so all records of the feed will be quarantined.
 * @returns what an operator has to know before that, if another source has every record of the first page
 * @throws RequestFailure if the first page cannot be read
 */
export async function knownFeed(
  store: Store,
  { name, identity, feed }: Newcomer,
): Promise<string | undefined> {
  const { resources } = feed.capabilities;
  const resource = resources.find((each) => each === 'Property') ?? resources[0];
  if (resource === undefined) return undefined;
  const others: string[] = [];
  for (const other of await store.checkpoints.sources()) {
    if (other !== name && (await hasStored(store, other, resource))) others.push(other);
  }
  if (others.length === 0) return undefined;
  const page = await feed.keys(resource, { position: undefined, size: PAGE_SIZE });
  const keys = page.keys.flatMap((each) => (each.resource === resource ? [each.key] : []));
  if (keys.length === 0) return undefined;
  for (const other of others) {
    if ((await store.checkpoints.missing(other, resource, keys)).length > 0) continue;
    const before = readNote(await store.checkpoints.state(other), 'identity');
    const force =
      before === undefined || before === identity ? '' : ` --force (it was replicated from ${before})`;
    return `${store.name} already has the records of ${name}, from the source ${other}. A key belongs to one source, so the records that both have go to the quarantine. If it is the same feed, stop this run: --source ${other}${force} continues that copy. For another feed, use a separate store.`;
  }
  return undefined;
}
