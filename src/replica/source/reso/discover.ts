/** Determines the capabilities of a RESO server from its metadata, and from requests for a few records. */
import { NAMES_OF_COLLECTIONS, REPLICA_TIMESTAMP } from '../../../dictionary/index.ts';
import { usageError } from '../../../errors/index.ts';
import { isObject, type JsonObject, LongNumber } from '../../../shared/json.ts';
import type { SourceClient, SourceResponse } from '../../http/client.ts';
import {
  isDirectFailure,
  isServerError,
  isTooLarge,
  isUnsupported,
  RequestFailure,
  unlessGone,
} from '../../http/failure.ts';
import {
  type Discovered,
  type DiscoveryOptions,
  factsUnder,
  fingerprintsOf,
  isFromPlat,
  keyFromValue,
  NO_FACTS,
  quotedText,
  readJson,
  readPlatHeaders,
  type SourceFacts,
} from '../response.ts';
import type { Capabilities } from '../source.ts';
import type { TopMeans } from './collections.ts';
import { nextLinkOf, readListPage } from './lists.ts';
import { foreignFields, parseMetadata, type SourceMetadata, typeOf } from './metadata.ts';
import { isOffsetToken, offsetOfLink } from './offsets.ts';
import { ATTEMPTS, type KeyList, probeOrders } from './probe-orders.ts';
import { resoSource } from './reso-source.ts';
import { type ChildAddress, childAddress, filterBy, literalOf, recordAddress, withOptions } from './urls.ts';

interface DiscoverResoOptions extends DiscoveryOptions {
  /** Milliseconds between two requests for new entity events or deltas. */
  readonly pollEvery: number | undefined;
  /** The minimum interval, in milliseconds, because of the limits of the token. */
  readonly pollPace: number;
  /** The capabilities of the source according to an earlier run. */
  readonly known: Capabilities | undefined;
}

/**
 * Milliseconds between two requests for entity events: for a plat source, whose limits permit frequent requests, and for others.
 */
const PLAT_POLL_INTERVAL = 500;
const POLL_INTERVAL = 10_000;
/** The minimum milliseconds between two requests for deltas of a plat source, each of which is for one collection. */
const PLAT_DELTA_INTERVAL = 200;

/** The collections of a listing by their names in the specification (4.2), for a source without metadata. */
const SPECIFIED = NAMES_OF_COLLECTIONS.map(([navigation = '', specified = navigation]) => specified);

export async function discoverReso(options: DiscoverResoOptions): Promise<Discovered> {
  const { client, root, dictionary, resources } = options;
  const found = await readMetadata(client, root);
  const { metadata } = found;
  const condition = filterBy(options.filter);
  const lacking =
    metadata === undefined
      ? await unanswered(client, root, options.mayLack, condition)
      : resources.filter((name) => !metadata.entitySets.has(name));
  const missing = lacking.find((name) => !options.mayLack.includes(name));
  if (missing !== undefined) {
    throw usageError(`The source has no ${missing}: its metadata has no such entity set.`);
  }
  const known = resources.filter((name) => !lacking.includes(name));
  const first = known.find((name) => name === 'Property') ?? known[0] ?? 'Property';
  const collection = `${root}${first}`;
  const key = dictionary.resources.get(first)?.key ?? 'ListingKey';
  const probe = await probeCollection(client, root, { collection, key, condition });
  const { expansions, isShown } = await workingExpansions(client, root, known, metadata, condition);
  const hasChildren = first === 'Property' && !isShown;
  const access: Partial<RecordAccess> = probe.isPlat
    ? {}
    : await probeRecords({
        client,
        collection,
        key,
        hasChildren,
        declaresChildren: declaresCollections(metadata),
        filter: options.filter,
      });
  const isReplica = typeOf(metadata, 'Property')?.properties.has(REPLICA_TIMESTAMP) === true;
  const windowField = options.windowField ?? (isReplica ? REPLICA_TIMESTAMP : 'ModificationTimestamp');
  // Not every resource of a source need have the source's own timestamp.
  const windowFieldOf = (name: string): string =>
    typeOf(metadata, name)?.properties.has(windowField) === false ? 'ModificationTimestamp' : windowField;
  const { revision } = fingerprintsOf(found);
  const orders = await probeOrders(options, {
    ...probe,
    resources: known,
    hasNumericKeys: access.hasNumericKeys === true,
    windowFieldOf,
    provenFor: JSON.stringify([root, options.filter, windowField, revision]),
  });
  const isExpanded = expansions.length > 0 && !('childrenAt' in access);
  const unasked =
    hasChildren && !probe.isPlat && !isExpanded && access.childrenAt === undefined
      ? await unaskedCollections(client, collection, condition)
      : [];
  const capabilities: Capabilities = {
    interface: 'reso',
    isPlat: probe.isPlat,
    children: isExpanded || unasked.length > 0 ? 'expanded' : 'childrenAt' in access ? 'per-listing' : 'none',
    expansions: isExpanded ? expansions : unasked.length > 0 ? unasked : SPECIFIED,
    unasked: unasked.length > 0,
    windowField,
    pagesByLink: probe.pagesByLink,
    ...orders,
    filter: options.filter,
    assumesUtc: options.assumeUtc,
    counts: probe.counts,
    asksForMany: probe.isPlat,
    resources: known,
    lacking,
    ...access,
  };
  return (client) =>
    resoSource({
      client,
      root,
      capabilities,
      dictionary,
      foreignFields: metadata === undefined ? [] : foreignFields(metadata, dictionary),
      topMeans: probe.topMeans,
      discovered: fingerprintsOf(factsUnder(options, found)),
      shown: async () => fingerprintsOf(factsUnder(options, await readMetadata(client, root))),
      pollEvery: metadata?.entitySets.has('EntityEvent') ? eventsEvery(options, probe.isPlat) : undefined,
      deltasEvery: (collections) => deltasEvery(options, probe.isPlat, collections),
      windowField: windowFieldOf,
    });
}

const eventsEvery = ({ pollPace, pollEvery }: DiscoverResoOptions, isPlat: boolean): number =>
  Math.max(pollPace, pollEvery ?? (isPlat ? PLAT_POLL_INTERVAL : POLL_INTERVAL));

function deltasEvery(
  { pollPace, pollEvery }: DiscoverResoOptions,
  isPlat: boolean,
  collections: number,
): number {
  const usual = isPlat ? Math.max(PLAT_POLL_INTERVAL, PLAT_DELTA_INTERVAL * collections) : POLL_INTERVAL;
  return Math.max(pollPace * collections, pollEvery ?? usual);
}

/**
 * Reads the metadata of a source; a source without metadata can be copied as well. An HTML page, which a source may return while it
 * is being restarted, is a transient failure: if it counted as missing metadata, the fields of the source would seem to have
 * changed.
 */
async function readMetadata(
  client: SourceClient,
  root: string,
): Promise<SourceFacts & { readonly metadata: SourceMetadata | undefined }> {
  const read = (answer: SourceResponse) => {
    const { text, headers, url } = answer;
    if (/html/i.test(headers['content-type'] ?? '')) {
      throw new RequestFailure('transient', `${url} responded with an HTML page: ${quotedText(text)}`);
    }
    if (isTruncated(text)) throw new RequestFailure('transient', `${url} ended before it was complete`);
    const metadata = parseMetadata(text);
    const fields = [...(metadata?.types ?? [])].flatMap(([type, { properties }]) =>
      [...properties].map(([name, property]) => `${type}.${name} ${property.type}`),
    );
    return {
      metadata,
      text,
      fields: metadata === undefined ? undefined : fields,
      ...readPlatHeaders(answer),
    };
  };
  try {
    return await client.get(`${root}$metadata`, read, { headers: { accept: 'application/xml' } });
  } catch (error) {
    if (isTooLarge(error) || (error instanceof RequestFailure && error.kind === 'rejected'))
      return { ...NO_FACTS, metadata: undefined };
    throw error;
  }
}

/** Whether a metadata document is cut off. Fields that are missing from it have not been removed. */
function isTruncated(text: string): boolean {
  const hasBegun = /<(?:\w+:)?Edmx\b/.test(text) || /^\s*(?:<\?[^>]*>?\s*)?<?$/.test(text);
  return hasBegun && !/<\/(?:\w+:)?Edmx\s*>\s*$/.test(text);
}

/** The resources of a source without metadata that it does not have. */
async function unanswered(
  client: SourceClient,
  root: string,
  names: readonly string[],
  condition: readonly string[],
): Promise<string[]> {
  const lacking: string[] = [];
  for (const name of names) {
    const url = withOptions(`${root}${name}`, ['$top=1', ...condition]);
    const found = await unlessGone(client.get(url, () => true));
    if (found === undefined) lacking.push(name);
  }
  return lacking;
}

interface Probe extends Pick<Capabilities, 'isPlat' | 'counts' | 'pagesByLink'> {
  readonly topMeans: TopMeans;
}

/**
 * Requests a page of one row, to find out whether the server returns a link to the next page, and what `$top` means to it. If the
 * feed has only one record, this shows nothing, and the feed is read by offset, which every server supports.
 */
async function probeCollection(
  client: SourceClient,
  root: string,
  { collection: address, key, condition }: Pick<ProbeOptions, 'collection' | 'key'> & Conditioned,
): Promise<Probe> {
  const read = (answer: SourceResponse) => {
    const list = readListPage(answer);
    const link = nextLinkOf(list, root);
    const isByOffset =
      link !== undefined && (offsetOfLink(link) !== undefined || isOffsetToken(link, list.values.length));
    return { page: list.page, link, isByOffset, isPlat: isFromPlat(answer) };
  };
  const one = (options: readonly string[], attempts?: number) =>
    client.get(withOptions(address, ['$top=1', ...condition, ...options]), read, { attempts });
  const ask = (...counted: readonly string[]) =>
    requestOrKeysOnly(key, (select, attempts) => one([...select, ...counted], attempts));
  const { page, link, isByOffset, isPlat } = await ask('$count=true').catch(async (error: unknown) => {
    if (isUnsupported(error)) return ask();
    if (!isDirectFailure(error) || !isServerError(error)) throw error;
    // Counting all records may be too much for the server.
    return one([`$select=${key}`], ATTEMPTS).catch(() => {
      throw error;
    });
  });
  const counts = typeof page['@odata.count'] === 'number';
  if (link !== undefined) return { isPlat, counts, topMeans: 'page', pagesByLink: !isByOffset };
  const headers = { prefer: 'odata.maxpagesize=1' };
  // If the server ignores the preference, a single large record can make the page too large.
  const further = await attempt(() =>
    requestOrKeysOnly(key, (select, attempts) =>
      client.get(withOptions(address, [...condition, ...select]), read, { headers, attempts }),
    ),
  );
  if (further?.link === undefined && !isPlat)
    return { isPlat, counts, topMeans: 'offset', pagesByLink: false };
  return { isPlat, counts, topMeans: 'total', pagesByLink: further?.isByOffset !== true };
}

/**
 * The collections that the server expands, by the names that it declares. A response that is too large to be read also shows that
 * the server expands; it only means that the first listing is large.
 * @returns the collections, and whether a listing had one of them; if none had any, the server may have ignored the option
 */
async function workingExpansions(
  client: SourceClient,
  root: string,
  resources: readonly string[],
  metadata: SourceMetadata | undefined,
  condition: readonly string[],
): Promise<{ readonly expansions: readonly string[]; readonly isShown: boolean }> {
  if (!resources.includes('Property')) return { expansions: [], isShown: false };
  let isShown = true;
  const declared = typeOf(metadata, 'Property')?.collections;
  const names =
    metadata === undefined
      ? SPECIFIED
      : NAMES_OF_COLLECTIONS.flatMap((known) => known.find((name) => declared?.has(name)) ?? []);
  const noticeAny =
    (list: readonly string[]): IsRight =>
    ({ value }) => {
      isShown = !Array.isArray(value) || value.length === 0 || value.some((each) => hasAny(each, list));
      return true;
    };
  const works = async (list: readonly string[]): Promise<boolean> => {
    const url = withOptions(`${root}Property`, ['$top=1', ...condition, `$expand=${list.join(',')}`]);
    // If the source fails at a listing, another one may show whether it expands.
    for (let skip = 0; skip < PROBED_RECORDS; skip++) {
      const skipped = skip === 0 ? '' : `&$skip=${skip}`;
      const answered = await probeAddress(client, `${url}${skipped}`, noticeAny(list));
      if (answered === 'works') return true;
      if (answered === 'rejected') {
        if (skip === 0) return false;
        // The server may not support $skip here.
        const select = withOptions(`${root}Property`, ['$top=1', ...condition, '$select=ListingKey']);
        const keys = await probeAddress(client, `${select}${skipped}`);
        if (keys === 'works') return false;
      }
      if (answered === 'rejected' || !isServerError(answered)) break;
    }
    return (await attempt<unknown>(() => client.get(url, readListPage), true)) !== undefined;
  };
  const work = (): Promise<boolean> =>
    works(names).catch((error: unknown) => {
      // All collections together may be too much for the server.
      if (names.length > 1 && isDirectFailure(error) && isServerError(error)) return false;
      throw error;
    });
  let working = names;
  if (names.length === 0 || !(await work())) {
    working = [];
    for (const name of names) if (await works([name])) working.push(name);
  }
  if (working.length === 0) return { expansions: [], isShown: false };
  if (!isShown) {
    isShown = true;
    const many = [`$top=${EXPANDED_RECORDS}`, ...condition, `$expand=${working.join(',')}`];
    await probeAddress(client, withOptions(`${root}Property`, many), noticeAny(working));
  }
  return { expansions: working, isShown };
}

/** Whether the metadata declares a collection of listings; also if there is none. */
function declaresCollections(metadata: SourceMetadata | undefined): boolean {
  const { collections, properties } = typeOf(metadata, 'Property') ?? {};
  const isDeclared = (name: string): boolean =>
    collections?.has(name) === true || properties?.has(name) === true;
  return metadata === undefined || NAMES_OF_COLLECTIONS.flat().some(isDeclared);
}

/** The number of listings of which one is expected to show a sub-resource that nobody requested. */
const SAMPLED_RECORDS = 30;

/** The collections of which a listing has members although the request names none. */
async function unaskedCollections(
  client: SourceClient,
  collection: string,
  condition: readonly string[],
): Promise<readonly string[]> {
  const url = withOptions(collection, [`$top=${SAMPLED_RECORDS}`, ...condition]);
  let found: readonly string[] = [];
  await probeAddress(client, url, ({ value }) => {
    const listings = Array.isArray(value) ? value.filter(isObject) : [];
    const isFilled = (list: unknown): boolean => Array.isArray(list) && list.some(isObject);
    found = NAMES_OF_COLLECTIONS.flatMap(
      (names) => names.find((name) => listings.some(({ [name]: list }) => isFilled(list))) ?? [],
    );
    return true;
  });
  return found;
}

/** The number of listings of which one is expected to have a sub-resource. */
const EXPANDED_RECORDS = 50;

/** Whether a listing has one of the collections, be it empty. */
const hasAny = (listing: unknown, names: readonly string[]): boolean =>
  isObject(listing) && Object.keys(listing).some((name) => names.includes(name.replace(/@.*/, '')));

/**
 * The response, or undefined if the server does not support the request.
 * @param large the result for a response that is too large to be read
 */
async function attempt<T>(ask: () => Promise<T>, large?: T): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (large !== undefined && isTooLarge(error)) return large;
    if (isUnsupported(error)) return undefined;
    throw error;
  }
}

/** `childrenAt` is absent if no listing returned a list of its media. */
type RecordAccess = Pick<Capabilities, 'isProbed' | 'hasNumericKeys' | 'byKey' | 'childrenAt'>;

/** The number of records that are tried, because one may be deleted, broken, or without sub-resources. */
const PROBED_RECORDS = 5;

/** The query option for the filter of the copy, if there is one. */
interface Conditioned {
  readonly condition: readonly string[];
}

interface ProbeOptions extends KeyList {
  /** Whether records of the collection have media. */
  readonly hasChildren: boolean;
  /** Whether the metadata declares a collection of listings, or there is no metadata. */
  readonly declaresChildren: boolean;
}

async function probeRecords(options: ProbeOptions): Promise<RecordAccess> {
  const { client, collection, key, hasChildren, filter } = options;
  const { values } = await readFew(options);
  const found = values
    .slice(0, PROBED_RECORDS)
    .map((record: unknown) => (isObject(record) ? record[key] : undefined));
  const hasNumericKeys = found.some((each) => typeof each === 'number' || each instanceof LongNumber);
  const literals = found.flatMap((each) => {
    const text = keyFromValue(each);
    return text === undefined ? [] : [literalOf(text, hasNumericKeys)];
  });
  const works = (addressOf: (literal: string) => string, isRight?: IsRight): Promise<boolean> =>
    anyWorks(client, literals.map(addressOf), isRight);
  // Some servers return an empty list for a key that they do not understand.
  const isRecord: IsRight = ({ [key]: given }) => keyFromValue(given) !== undefined;
  const byPath = await works((literal) => recordAddress(collection, literal), isRecord);
  const byFilter =
    byPath ||
    // If a filter finds nothing, the server may not have understood it.
    (await works((literal) => withOptions(collection, filterBy(filter, `${key} eq ${literal}`)), hasMembers));
  const childrenAt = hasChildren ? await findChildAddress(options, literals) : undefined;
  return {
    isProbed: literals.length > 0,
    hasNumericKeys,
    byKey: byPath || literals.length === 0 ? 'path' : byFilter ? 'filter' : 'none',
    ...(childrenAt === undefined ? {} : { childrenAt }),
  };
}

/**
 * The form of the URLs at which listings have their media. If the source fails at a form of URL while it returns records, the URLs
 * are assumed to exist: the download requests each of them, and reports its failure.
 */
async function findChildAddress(
  options: ProbeOptions,
  literals: readonly string[],
): Promise<ChildAddress | undefined> {
  const { client, collection } = options;
  let failing: ChildAddress | undefined;
  for (const form of ['key', 'segment'] as const) {
    try {
      const addresses = literals.map((literal) => childAddress(collection, literal, 'Media', form));
      if (await anyWorks(client, addresses)) return form;
    } catch (error) {
      if (!isDirectFailure(error) || !isServerError(error)) throw error;
      // Some servers fail at every path that they do not know.
      if (options.declaresChildren) failing ??= form;
    }
  }
  if (failing !== undefined) await readFew(options);
  return failing;
}

const hasMembers: IsRight = ({ value }) => Array.isArray(value) && value.length > 0;

/** Requests a few records, or only their keys. */
const readFew = ({ client, collection, key, filter }: ProbeOptions) =>
  requestOrKeysOnly(key, (select, attempts) =>
    client.get(
      withOptions(collection, [`$top=${PROBED_RECORDS}`, ...filterBy(filter), ...select]),
      readListPage,
      { attempts },
    ),
  );

/**
 * Requests records, or only their keys if one of the records is too large to be read or the source fails at it. The walk later
 * copies all records except that one (source/pages.ts).
 * @param ask makes the request with further query options
 * @throws RequestFailure if the source also fails at the keys
 */
async function requestOrKeysOnly<T>(
  key: string,
  ask: (select: readonly string[], attempts?: number) => Promise<T>,
): Promise<T> {
  try {
    return await ask([], ATTEMPTS);
  } catch (error) {
    if (!isDirectFailure(error)) throw error;
    const isPassing = error.kind === 'transient' && !isServerError(error);
    if (isPassing) return ask([]);
    if (error.kind !== 'transient' && error.kind !== 'too-large') throw error;
  }
  try {
    return await ask([`$select=${key}`]);
  } catch (error) {
    // The server does not support $select. Try the original request again, because the server may have recovered.
    if (isUnsupported(error)) return ask([]);
    throw error;
  }
}

/**
 * Whether one of the URLs works.
 * @throws RequestFailure if none does, unless the source rejects some of the requests and only fails at others
 */
async function anyWorks(
  client: SourceClient,
  addresses: readonly string[],
  isRight?: IsRight,
): Promise<boolean> {
  const rejected: string[] = [];
  let failing: RequestFailure | undefined;
  let refusal: RequestFailure | undefined;
  for (const address of addresses) {
    const answered = await probeAddress(client, address, isRight);
    if (answered === 'works') return true;
    failing = answered === 'rejected' ? undefined : answered;
    if (failing === undefined) rejected.push(address);
    else if (!isServerError(failing)) refusal ??= failing;
  }
  if (refusal !== undefined) throw refusal;
  if (failing === undefined) return false;
  // The last request failed, so check that the source still responds.
  const [other] = rejected;
  if (other === undefined || (await probeAddress(client, other)) instanceof RequestFailure) throw failing;
  return false;
}

/** Whether a response shows that the server supports the request. */
type IsRight = (answer: JsonObject) => boolean;

/**
 * How the source responds to a URL, with few attempts.
 * @throws RequestFailure `stopped`, or for an invalid token
 */
async function probeAddress(
  client: SourceClient,
  address: string,
  isRight: IsRight = () => true,
): Promise<'works' | 'rejected' | RequestFailure> {
  try {
    return isRight(await client.get(address, readJson, { attempts: ATTEMPTS })) ? 'works' : 'rejected';
  } catch (error) {
    // A response that is too large to be read shows that the URL exists.
    if (isTooLarge(error)) return 'works';
    if (!isDirectFailure(error) || error.kind === 'stopped' || error.status === 401) throw error;
    // Some servers reject requests with status 200.
    return isUnsupported(error) || error.status === 200 ? 'rejected' : error;
  }
}
