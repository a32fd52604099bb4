/** Opens a copy and its source. Checks that the copy belongs to this source, and that its fields and rights are unchanged. */
import type { Dictionary } from '../../dictionary/index.ts';
import { usageError } from '../../errors/index.ts';
import { filledError } from '../../records/parse-record.ts';
import { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { AcquiredSource } from '../checkpoint/lease.ts';
import { readNoteIfValid } from '../checkpoint/notes.ts';
import type { Copy } from '../copy/copy.ts';
import { PageSize } from '../copy/page-size.ts';
import { makeStoredPending } from '../copy/pending-fetches.ts';
import { RECORD } from '../copy/quarantine-entry.ts';
import { declareFields } from '../copy/schema-drift.ts';
import { type Environment, environmentOf } from '../environment.ts';
import type { Listener } from '../events.ts';
import { SourceClient } from '../http/client.ts';
import { isPrivateHost } from '../http/egress-policy.ts';
import { sharedAllowance, type UsageStore } from '../http/rate-budget.ts';
import { type BackoffOptions, DEFAULT_BACKOFF, FIRST_CONTACT, SHORT_BACKOFF } from '../http/retry.ts';
import { tokenSourceOf } from '../http/token-source.ts';
import { MediaFolder } from '../media/media-folder.ts';
import { discoverNative } from '../source/native/discover.ts';
import { discoverReso } from '../source/reso/discover.ts';
import type { Discovered } from '../source/response.ts';
import { type Capabilities, describeCapabilities, resourcesIn, type Source } from '../source/source.ts';
import { compareFingerprint, confirmClock } from './cycle.ts';
import { explainFirstContact, identityToStore, knownFeed } from './first-contact.ts';
import {
  DEFAULT_RESOURCES,
  OPTIONAL_RESOURCES,
  PAGE_SIZE,
  PURGE_SHARE,
  type ReplicateOptions,
  rootOf,
  shortestPollInterval,
  sourceName,
} from './options.ts';

/** Size limit of a response in bytes; larger ones are requested in smaller pages. */
const LARGEST_ANSWER = 32 * 1024 * 1024;
/** Milliseconds without data after which a request has failed. */
const TIMEOUT = 60_000;
/** Milliseconds after which a response is abandoned, even if data keeps coming. */
const LONGEST = 300_000;

/** What `contactSource` has found, once: the source is not asked for it again, but may show something else later. */
export interface Contact {
  take(): Discovered | undefined;
}

export interface SessionOptions extends ReplicateOptions {
  readonly contact?: Contact | undefined;
  readonly environment: Environment;
  readonly signal: AbortSignal;
  readonly onEvent: Listener;
}

/** Options with the defaults of everything that a session needs. */
export const sessionOf = <O extends Omit<ReplicateOptions, 'store'>>(
  options: O,
  environment: Environment,
): O & Pick<SessionOptions, 'environment' | 'onEvent' | 'signal'> => ({
  ...options,
  environment,
  onEvent: options.onEvent ?? (() => undefined),
  signal: options.signal ?? new AbortController().signal,
});

/**
 * A signal that is aborted at the end of a scope: `using scope = scopedSignal(signal)`. It ends the requests that the scope leaves
 * behind: a page that was requested ahead, and that nothing awaits any more, would otherwise be retried even after the run.
 * Aborting the given signal aborts it as well.
 */
export function scopedSignal(signal: AbortSignal): Disposable & { readonly signal: AbortSignal } {
  const left = new AbortController();
  return { signal: AbortSignal.any([signal, left.signal]), [Symbol.dispose]: () => left.abort() };
}

/** The name of the source in a replica. @throws PlatError `usage` if the store is not a replica */
export async function replicaName({ store, ...options }: SessionOptions): Promise<string> {
  const name = sourceName(options);
  const { settings } = await store.model();
  if (settings.owner === 'replica') return name;
  throw usageError(
    `${store.name} is not a replica: it is the authority for its records. Replicate into a separate store.`,
  );
}

/** The options for requests to a source, without a store. */
type ContactOptions = Omit<SessionOptions, 'store'>;

/** A client of the source that observes the limits of its token. */
function clientOf(
  { environment, onEvent, signal, ...options }: ContactOptions,
  usage: UsageStore,
  backoff = DEFAULT_BACKOFF,
  firstContact?: BackoffOptions,
): SourceClient {
  const tokens = tokenSourceOf(options.token);
  return new SourceClient({
    root: rootOf(options.from),
    tokens,
    environment,
    listener: onEvent,
    backoff,
    firstContact,
    allowance: sharedAllowance(usage, tokens.identity, options.limits ?? {}),
    largest: LARGEST_ANSWER,
    timeout: TIMEOUT,
    longest: LONGEST,
    signal,
  });
}

/** Determines what the source can do. @param known its capabilities according to an earlier run */
async function discover(
  options: ContactOptions,
  dictionary: Dictionary,
  client: SourceClient,
  known?: Capabilities,
): Promise<Discovered> {
  const { windowField, filter, assumeUtc = false, customFields = false } = options;
  const { resources = DEFAULT_RESOURCES } = options;
  if (filter !== undefined && options.interface === 'native') {
    throw usageError('--filter is an OData filter, which the native interface does not take.');
  }
  mustBeCopyable(resources, dictionary);
  const root = rootOf(options.from).href;
  // Many sources have no agents or offices, but resources that the user has named are required.
  const mayLack = options.resources === undefined ? OPTIONAL_RESOURCES : [];
  const common = { client, root, dictionary, resources, windowField, filter, assumeUtc, mayLack };
  return options.interface === 'reso'
    ? discoverReso({
        ...common,
        known,
        pollEvery: options.pollEvery,
        pollPace: shortestPollInterval(options.limits ?? {}),
      })
    : discoverNative({ ...common, customFields });
}

/** @throws PlatError `usage`, `resourceFilled` for resources that cannot be copied */
function mustBeCopyable(resources: readonly string[], dictionary: Dictionary): void {
  if (resources.length === 0) throw usageError('--resources names no resource.');
  const unknown = resources.find((name) => !dictionary.resources.has(name));
  if (unknown !== undefined) {
    throw usageError(`The dictionary has no resource ${unknown}.`);
  }
  for (const name of resources) {
    const resource = dictionary.resources.get(name);
    const filled = resource && filledError(resource);
    if (filled !== undefined) throw filled;
  }
}

/** Like `discover`, for the source of a copy in a store. */
async function rediscover(options: SessionOptions): Promise<Source> {
  const { dictionary } = await options.store.model();
  const { checkpoints } = options.store;
  const client = clientOf(options, checkpoints);
  const known = readNoteIfValid(await checkpoints.state(sourceName(options)), 'capabilities');
  return (await discover(options, dictionary, client, known))(client);
}

/** Determines the capabilities of a source at the first contact, when its address may be wrong, unless that has just been done. */
async function discoverNew(
  options: ContactOptions,
  dictionary: Dictionary,
  usage: UsageStore,
): Promise<{ readonly discovered: Discovered; readonly feed: Source }> {
  // A watch does not give up after a few attempts.
  const client = clientOf(
    options,
    usage,
    DEFAULT_BACKOFF,
    options.watch === true ? undefined : FIRST_CONTACT,
  );
  try {
    const discovered = options.contact?.take() ?? (await discover(options, dictionary, client));
    return { discovered, feed: discovered(client) };
  } catch (error) {
    throw await explainFirstContact(error, options, client);
  }
}

/**
 * Contacts a source before its store is created, so that a wrong address or token leaves no store behind.
 * @param dictionary the dictionary of the new store
 * @param usage keeps the usage of the token until there is a store
 * @throws RequestFailure, PlatError `usage`
 */
export async function contactSource(
  options: Omit<ReplicateOptions, 'store'>,
  dictionary: Dictionary,
  usage: UsageStore,
): Promise<Contact> {
  const { environment, close } = environmentOf(options.environment);
  try {
    const { discovered, feed } = await discoverNew(sessionOf(options, environment), dictionary, usage);
    mustHaveWindowField(feed, options.windowField);
    let found: Discovered | undefined = discovered;
    return {
      take: () => {
        const taken = found;
        found = undefined;
        return taken;
      },
    };
  } finally {
    await close();
  }
}

/** Determines the capabilities of the source, and opens everything that the steps need. */
export async function openCopy(options: SessionOptions, { name, lease }: AcquiredSource): Promise<Copy> {
  const { store, environment, signal, onEvent: report, force = false } = options;
  const checkpoint = await Checkpoint.open({ store, source: name, lease });
  const identity = await identityToStore(checkpoint, options);
  const pageSizes = new Map<string, PageSize>();
  const sizeOf = (collection: string): PageSize =>
    pageSizes.getOrInsertComputed(collection, () => new PageSize(options.pageSize ?? PAGE_SIZE, report));
  const feed = await (identity === undefined
    ? rediscover(options)
    : discoverNew(options, (await store.model()).dictionary, store.checkpoints).then((found) => found.feed));
  mustHaveWindowField(feed, options.windowField);
  if (identity !== undefined && checkpoint.get('identity') === undefined) {
    const reason = await knownFeed(store, { name, identity: identity.identity, feed });
    if (reason !== undefined) report({ kind: 'doubt', reason });
  }
  // A name belongs to a source that has responded, not to one that was only configured.
  if (identity !== undefined) await checkpoint.commit({ state: identity });
  const { drift = 'evolve', alsoWindow = [], purgeShare = PURGE_SHARE, mediaFolder } = options;
  const settings = { drift, alsoWindow, purgeShare, force };
  const common = { name, feed, store, checkpoint, environment, settings, report, signal, sizeOf };
  if (mediaFolder === undefined) return applyDiscovery(common);
  const isOwn = options.mediaPrivateHosts === true || isPrivateHost(rootOf(options.from));
  const files = await MediaFolder.open(mediaFolder, name);
  return applyDiscovery({ ...common, files, filesEgress: isOwn ? 'any' : 'public' });
}

/** @throws PlatError `usage` for a field that no copied collection has: its windows would silently use another one */
function mustHaveWindowField({ capabilities: { resources }, windowField }: Source, named?: string): void {
  if (named === undefined || resources.some((name) => windowField(name) === named)) return;
  throw usageError(
    `The source has no field ${named} in ${resources.join(', ')}, which --window-field names.`,
  );
}

/** @throws PlatError `usage` for a field of `--also-window` that no copied resource has: no window would use it */
async function mustHaveFields({ feed, settings, store }: Copy): Promise<void> {
  const model = await store.model();
  const resources = feed.capabilities.resources.flatMap(resourcesIn);
  const isUnknown = (name: string) => resources.every((each) => !model.resource(each).fields.has(name));
  const unknown = settings.alsoWindow.find(isUnknown);
  if (unknown === undefined) return;
  throw usageError(`There is no field ${unknown} in ${resources.join(', ')}, which --also-window names.`);
}

/** The same copy after the capabilities of its source have been determined again, because it shows other fields now. */
export async function reopenCopy(copy: Copy, options: SessionOptions): Promise<Copy> {
  return applyDiscovery({ ...copy, feed: await rediscover(options) });
}

/**
 * If a source has no agents and offices, only its listings have their names, so the copy keeps them. Once a store has records, where
 * these fields come from is settled.
 */
async function keepAgentFields({ feed, store }: Copy): Promise<void> {
  const copied = feed.capabilities.resources.flatMap(resourcesIn);
  if (!copied.includes('Property') || copied.includes('Member') || copied.includes('Office')) return;
  if ((await store.model()).settings.agentsFrom === 'payload') return;
  for (const source of await store.checkpoints.sources()) {
    for (const resource of ['Property', 'Member', 'Office']) {
      if ((await store.checkpoints.stored(source, resource)) > 0) return;
    }
  }
  await store.configure((settings) => ({ ...settings, agentsFrom: 'payload' }));
}

/** Stores the capabilities of the source, declares its fields, and reads everything again if they differ from before. */
async function applyDiscovery(copy: Copy): Promise<Copy> {
  const { checkpoint, feed, settings, store, report } = copy;
  const { capabilities } = feed;
  const { children, expansions, resources } = capabilities;
  await confirmClock(copy);
  // Files may change while they are not copied. If they are copied again later, the files of all listings become pending.
  const media = copy.files === undefined ? { media: 'records' as const } : {};
  const hadNone = checkpoint.get('capabilities')?.children === 'none';
  if (hadNone && children !== 'none' && resources.includes('Property')) {
    // The source returned no sub-resources before, or had no listings that could show whether it does. All of them become pending.
    await makeStoredPending(copy, 'Property', children === 'expanded' ? [RECORD] : expansions);
  }
  await checkpoint.commit({ state: { capabilities, ...media } });
  await keepAgentFields(copy);
  report({
    kind: 'source',
    interface: capabilities.interface,
    abilities: describeCapabilities(capabilities, (await store.model()).settings),
  });
  if (settings.drift === 'evolve') {
    const refused = await declareFields(store, feed.foreignFields, report);
    for (const { resource, name } of refused) report({ kind: 'field', resource, name, taken: 'ignored' });
  }
  await mustHaveFields(copy);
  await compareFingerprint(copy);
  return copy;
}

/** The copy, and how its source is queried. */
export type QuerySourceOptions = Omit<ReplicateOptions, 'step' | 'watch'>;

/**
 * Runs work that queries the source of a copy and stores nothing.
 * @throws RequestFailure; PlatError `usage` if nothing was ever copied from this source
 */
export async function querySource<T>(
  options: QuerySourceOptions,
  work: (copy: Copy) => Promise<T>,
): Promise<T> {
  const name = sourceName(options);
  const { store } = options;
  const checkpoint = await Checkpoint.open({ store, source: name });
  const known = checkpoint.get('capabilities');
  if (known === undefined) {
    throw usageError(`${store.name} contains no copy of ${name}.`);
  }
  const { environment, close } = environmentOf(options.environment);
  const {
    windowField = known.windowField,
    resources = known.resources.flatMap(resourcesIn),
    customFields = known.expansions.includes('CustomFields'),
    filter = known.filter,
    assumeUtc = known.assumesUtc,
  } = options;
  const given = sessionOf(
    { ...options, windowField, resources, customFields, filter, assumeUtc },
    environment,
  );
  using scope = scopedSignal(given.signal);
  const session = { ...given, signal: scope.signal };
  const { signal, onEvent: report, alsoWindow = [] } = session;
  const size = new PageSize(options.pageSize ?? PAGE_SIZE, report);
  const settings = { drift: 'discard', alsoWindow, purgeShare: PURGE_SHARE, force: false } as const;
  try {
    const { dictionary } = await store.model();
    const client = clientOf(session, store.checkpoints, SHORT_BACKOFF);
    const feed = (await discover(session, dictionary, client, known))(client);
    const sizeOf = (): PageSize => size;
    return await work({ name, feed, store, checkpoint, environment, settings, report, signal, sizeOf });
  } finally {
    await close();
  }
}
