import { hash } from 'node:crypto';
import type { Dictionary } from '../../../dictionary/index.ts';
import { platError } from '../../../errors/index.ts';
import type { Answer, SourceClient } from '../../http/client.ts';
import { isTooLarge, RequestFailure } from '../../http/failure.ts';
import { readEpoch, readJson, readView } from '../answer.ts';
import type { Capabilities, Shown, Source } from '../source.ts';
import { foreignFields } from './foreign-fields.ts';
import { type EntityShape, parseMetadata, type SourceMetadata } from './metadata.ts';
import { probeRecords, type RecordWays } from './probe-records.ts';
import { resoSource, type TopMeans } from './reso-source.ts';

export interface DiscoverOptions {
  readonly client: SourceClient;
  /** Root of the service, ends with `/`. */
  readonly root: string;
  readonly dictionary: Dictionary;
  readonly resources: readonly string[];
  /** Of these, those that the source may lack; any other is an error. */
  readonly mayLack: readonly string[];
  /** The field that windows are on; undefined: the source's own stamp if it has one, else ModificationTimestamp. */
  readonly windowField: string | undefined;
}

/** The collections of a listing by the specification's names (4.2), for a source without metadata. */
const SPECIFIED = ['Media', 'Unit', 'Room', 'OpenHouse'];
/** Collections of a listing in the dictionary's names, and the other names that sources use. */
const KNOWN: readonly (readonly string[])[] = [
  ['Media'],
  ['UnitTypes', 'UnitType', 'Unit', 'Units', 'PropertyUnitTypes'],
  ['Rooms', 'Room', 'PropertyRooms'],
  ['OpenHouses', 'OpenHouse'],
];
const REPLICA_STAMP = 'ReplicaModificationTimestamp';

/** Finds out what a RESO server can do: from its metadata, and by asking it for one listing. */
export async function discoverReso(options: DiscoverOptions): Promise<Source> {
  const { client, root, dictionary, resources } = options;
  const { metadata } = await readMetadata(client, root);
  const lacking = metadata === undefined ? [] : resources.filter((name) => !metadata.entitySets.has(name));
  const missing = lacking.find((name) => !options.mayLack.includes(name));
  if (missing !== undefined) {
    throw platError('usage', {
      reason: `The source has no ${missing}: its metadata name no such entity set.`,
    });
  }
  const known = resources.filter((name) => !lacking.includes(name));
  const first = known.find((name) => name === 'Property') ?? known[0] ?? 'Property';
  const firstKey = dictionary.resources.get(first)?.key ?? 'ListingKey';
  const probe = await probeCollection(client, `${root}${first}`, firstKey);
  const expansions = await workingExpansions(client, root, known, metadata);
  const ways = probe.isPlat
    ? undefined
    : await probeRecords({
        client,
        collection: `${root}${first}`,
        key: firstKey,
        hasChildren: first === 'Property' && expansions.length === 0,
      });
  const windowField = options.windowField ?? stampOf(metadata);
  const capabilities: Capabilities = {
    interface: 'reso',
    isPlat: probe.isPlat,
    children: expansions.length > 0 ? 'expanded' : ways?.childrenAt === undefined ? 'none' : 'per-listing',
    expansions: expansions.length > 0 ? expansions : SPECIFIED,
    windowField,
    pagesByLink: probe.topMeans !== 'offset',
    counts: probe.counts,
    asksForMany: probe.isPlat,
    resources: known,
    lacking,
    ...(ways === undefined ? {} : waysOf(ways)),
  };
  return resoSource({
    client,
    root,
    capabilities,
    dictionary,
    foreignFields: metadata === undefined ? [] : foreignFields(metadata, dictionary),
    topMeans: probe.topMeans,
    shown: async () => digests(await readMetadata(client, root)),
    // A source's own stamp need not stand in all of its resources.
    windowField: (name) =>
      shapeOf(metadata, name)?.properties.has(windowField) === false ? 'ModificationTimestamp' : windowField,
  });
}

const waysOf = ({ childrenAt, ...ways }: RecordWays): Partial<Capabilities> =>
  childrenAt === undefined ? ways : { ...ways, childrenAt };

interface ReadMetadata {
  readonly metadata: SourceMetadata | undefined;
  readonly text: string;
  /** What a plat says of the records that the key may see. */
  readonly view: string;
  readonly epoch: string | undefined;
}

const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

function digests({ metadata, text, view, epoch }: ReadMetadata): Shown {
  const fields = [...(metadata?.types ?? [])].flatMap(([type, { properties }]) =>
    [...properties].map(([name, property]) => `${type}.${name} ${property.type}`),
  );
  return {
    epoch,
    revision: digest(text + view + (epoch ?? '')),
    fingerprint: metadata === undefined ? undefined : digest([...fields.toSorted(), view].join('\n')),
  };
}

/**
 * A source without metadata can be copied as well. One that is being restarted, and gives a page of HTML in its place,
 * is not taken for such: its fields would seem to have changed.
 */
async function readMetadata(client: SourceClient, root: string): Promise<ReadMetadata> {
  const read = ({ text, headers, url }: Answer): ReadMetadata => {
    if (/html/i.test(headers['content-type'] ?? '')) {
      throw new RequestFailure('transient', `${url} answered with a page of HTML`);
    }
    if (isBrokenOff(text)) throw new RequestFailure('transient', `${url} broke off before its end`);
    return { metadata: parseMetadata(text), text, view: readView(headers), epoch: readEpoch(headers) };
  };
  try {
    return await client.get(`${root}$metadata`, read, { headers: { accept: 'application/xml' } });
  } catch (error) {
    if (isTooLarge(error) || (error instanceof RequestFailure && error.kind === 'rejected'))
      return { metadata: undefined, text: '', view: '', epoch: undefined };
    throw error;
  }
}

/** The beginning of a metadata document without its end: what it does not tell of is not gone. */
function isBrokenOff(text: string): boolean {
  const hasBegun = /<(?:\w+:)?Edmx\b/.test(text) || /^\s*(?:<\?[^>]*>?\s*)?<?$/.test(text);
  return hasBegun && !/<\/(?:\w+:)?Edmx\s*>\s*$/.test(text);
}

const shapeOf = (metadata: SourceMetadata | undefined, resource: string): EntityShape | undefined =>
  metadata?.types.get(metadata.entitySets.get(resource) ?? resource);

function stampOf(metadata: SourceMetadata | undefined): string {
  return shapeOf(metadata, 'Property')?.properties.has(REPLICA_STAMP)
    ? REPLICA_STAMP
    : 'ModificationTimestamp';
}

interface Probe {
  readonly isPlat: boolean;
  readonly counts: boolean;
  readonly topMeans: TopMeans;
}

/**
 * One row of many tells whether the server links to the rest, that is, what `$top` means to it. A feed of one record
 * tells nothing: by offset every server can be read.
 */
async function probeCollection(client: SourceClient, address: string, key: string): Promise<Probe> {
  const read = (answer: Answer) => ({ page: readJson(answer), headers: answer.headers });
  const one = async (options: string): Promise<ReturnType<typeof read>> => {
    const counted = await attempt(() => client.get(`${address}?$top=1${options}&$count=true`, read));
    return counted ?? client.get(`${address}?$top=1${options}`, read);
  };
  const { page, headers } = await one('').catch((error: unknown) => {
    // A record that is too large is the walk's to deal with: all records are copied but this one.
    if (isTooLarge(error)) return one(`&$select=${key}`);
    throw error;
  });
  const isPlat = headers['x-plat-index'] !== undefined;
  const counts = typeof page['@odata.count'] === 'number';
  if (links(page)) return { isPlat, counts, topMeans: 'page' };
  const wish = { headers: { prefer: 'odata.maxpagesize=1' } };
  // A page that is too large for one record does not heed the wish; nor does a link lie in what is read of it.
  const linksOn = await attempt(() => client.get(address, (answer) => links(readJson(answer)), wish), false);
  return { isPlat, counts, topMeans: linksOn === true || isPlat ? 'total' : 'offset' };
}

const links = (page: Readonly<Record<string, unknown>>): boolean =>
  page['@odata.nextLink'] !== undefined || page['@nextLink'] !== undefined;

/**
 * The collections that the server expands, by the names that it declares. An answer that is too large to be read is one:
 * it is that of the first listing, and what is in this says nothing of the others.
 */
async function workingExpansions(
  client: SourceClient,
  root: string,
  resources: readonly string[],
  metadata: SourceMetadata | undefined,
): Promise<string[]> {
  if (!resources.includes('Property')) return [];
  const names = metadata === undefined ? SPECIFIED : declaredCollections(metadata);
  const works = async (list: readonly string[]): Promise<boolean> => {
    const url = `${root}Property?$top=1&$expand=${list.join(',')}`;
    return (await attempt(() => client.get(url, (answer) => readJson(answer) !== undefined), true)) === true;
  };
  if (names.length === 0) return [];
  if (await works(names)) return [...names];
  const working: string[] = [];
  for (const name of names) if (await works([name])) working.push(name);
  return working;
}

function declaredCollections({ types, entitySets }: SourceMetadata): string[] {
  const declared = types.get(entitySets.get('Property') ?? 'Property')?.collections;
  return KNOWN.flatMap((names) => names.find((name) => declared?.has(name)) ?? []);
}

/**
 * The answer, or undefined when the server does not know what is asked.
 * @param large what an answer means that is too large to be read; it came, all the same
 */
async function attempt<T>(ask: () => Promise<T>, large?: T): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (large !== undefined && isTooLarge(error)) return large;
    if (error instanceof RequestFailure && error.kind === 'rejected') return undefined;
    if (error instanceof RequestFailure && error.status === 501) return undefined;
    throw error;
  }
}
