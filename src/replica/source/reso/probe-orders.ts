/** Determines how the lists of a RESO server can be read to their end without links: in the order of keys, or by offset. */
import { isObject } from '../../../shared/json.ts';
import type { SourceClient, SourceResponse } from '../../http/client.ts';
import { isDirectFailure, isUnsupported } from '../../http/failure.ts';
import { type DiscoveryOptions, keyFromValue } from '../response.ts';
import type { Capabilities, KeyProof } from '../source.ts';
import type { TopMeans } from './collections.ts';
import { readListPage } from './lists.ts';
import { filterBy, literalOf, newCondition, windowCondition, withOptions } from './urls.ts';

/** The number of attempts at a request that another request can replace. */
export const ATTEMPTS = 2;

interface OrderOptions extends Pick<DiscoveryOptions, 'client' | 'root' | 'dictionary' | 'filter'> {
  /** Capabilities of an earlier run, whose proofs may still hold. */
  readonly known: Capabilities | undefined;
}

/** What is known of the source. */
interface OrderProbe extends Pick<Capabilities, 'isPlat' | 'pagesByLink'> {
  readonly topMeans: TopMeans;
  /** The resources to be copied; the first of them that is Property, or the first one, also shows what offsets do. */
  readonly resources: readonly string[];
  readonly hasNumericKeys: boolean;
  readonly windowFieldOf: (resource: string) => string;
  /** What proofs of an earlier run must be of, to hold for this one. */
  readonly provenFor: string;
}

type Orders = Pick<
  Capabilities,
  'keyed' | 'keyedWindows' | 'takesKeys' | 'proofs' | 'lacksOffsets' | 'lacksOffsetsInWindows'
>;

export async function probeOrders(
  { client, root, dictionary, filter, known }: OrderOptions,
  { isPlat, pagesByLink, topMeans, resources, hasNumericKeys, windowFieldOf, provenFor }: OrderProbe,
): Promise<Orders> {
  const keyed: string[] = [];
  const keyedWindows: string[] = [];
  const takesKeys: string[] = [];
  const proofs: Record<string, KeyProof> = {};
  const proven = known?.proofs?.of === provenFor ? known : undefined;
  const windowOf = (name: string) => windowCondition(allTimes(windowFieldOf(name), client.clock.now()));
  const listOf = (name: string): KeyList => {
    const key = dictionary.resources.get(name)?.key ?? 'ListingKey';
    return { client, collection: `${root}${name}`, key, filter };
  };
  for (const name of resources) {
    const list = listOf(name);
    const works = pagesByLink
      ? NO_ORDER
      : ((await orderProvenBefore(list, hasNumericKeys, name, proven)) ??
        (await orderByKey(list, hasNumericKeys, windowOf(name))));
    if (works.proof !== undefined) proofs[name] = works.proof;
    if (works.walks) keyed.push(name);
    if (works.windows) keyedWindows.push(name);
    const needsKeys = filter !== undefined && !works.walks && !isPlat;
    if (needsKeys && (await filtersByKey(list, hasNumericKeys))) takesKeys.push(name);
  }
  const first = resources.find((name) => name === 'Property') ?? resources[0] ?? 'Property';
  const mayLackOffsets = topMeans === 'offset';
  const lacksOffsets =
    mayLackOffsets && keyed.length < resources.length && (await ignoresOffsets(listOf(first)));
  const lacksOffsetsInWindows =
    mayLackOffsets &&
    !lacksOffsets &&
    keyedWindows.length < resources.length &&
    (await ignoresOffsets(listOf(first), windowOf(first)));
  const proved = { of: provenFor, keys: proofs };
  return { keyed, keyedWindows, takesKeys, proofs: proved, lacksOffsets, lacksOffsetsInWindows };
}

/** A collection, its key field, and the filter of the copy. */
export interface KeyList {
  readonly client: SourceClient;
  /** URL of the collection. */
  readonly collection: string;
  readonly key: string;
  readonly filter: string | undefined;
}

/**
 * The keys of a list, which are requested alone if the server supports it; undefined if it does not support the request, or fails at
 * it.
 * @param conditions in addition to the filter of the copy
 */
async function keysAt(
  { client, collection, key, filter }: KeyList,
  options: readonly string[],
  ...conditions: readonly (string | undefined)[]
): Promise<readonly (string | undefined)[] | undefined> {
  const read = (answer: SourceResponse) =>
    readListPage(answer).values.map((value) => (isObject(value) ? keyFromValue(value[key]) : undefined));
  for (const select of [[`$select=${key}`], []]) {
    const [top = '', ...others] = options;
    const url = withOptions(collection, [top, ...filterBy(filter, ...conditions), ...select, ...others]);
    try {
      return await client.get(url, read, { attempts: ATTEMPTS });
    } catch (error) {
      if (!isDirectFailure(error) || error.kind === 'stopped' || error.status === 401) throw error;
      if (!isUnsupported(error)) return undefined;
    }
  }
  return undefined;
}

/** Whether a server without next links ignores or rejects `$skip`; false if nothing shows it. */
async function ignoresOffsets(list: KeyList, window?: string): Promise<boolean> {
  const [first] = (await keysAt(list, ['$top=1'], window)) ?? [];
  if (first === undefined) return false;
  const [skipped] = (await keysAt(list, ['$top=1', '$skip=1'], window)) ?? [first];
  return skipped === first;
}

/** Whether a list can be filtered by key in addition to the filter of the copy. */
async function filtersByKey(list: KeyList, hasNumericKeys: boolean): Promise<boolean> {
  const top = [`$top=${SORTED_RECORDS}`];
  const among = await keysAt(list, top, newCondition(list.key, list.client.clock.now(), hasNumericKeys));
  return among !== undefined && among.length === (await keysAt(list, top))?.length;
}

/** The number of keys with which the order of records is tested. */
const SORTED_RECORDS = 20;

const DAY = 86_400_000;

/**
 * A window that has every record with a timestamp. It differs from time to time, as `newCondition` does.
 * @param now milliseconds since 1970
 */
const allTimes = (field: string, now: number) =>
  ({
    kind: 'window',
    field,
    lower: `${new Date(now % DAY).toISOString().slice(0, 19)}Z`,
    upper: '2100-01-01T00:00:00Z',
  }) as const;

/** What a source can do in the order of keys. */
interface KeyOrder {
  readonly walks: boolean;
  readonly windows: boolean;
  readonly proof?: KeyProof | undefined;
}

const NO_ORDER: KeyOrder = { walks: false, windows: false };

/** What a source could do in the order of keys a day ago at most, if the next key after one of them is still the same. */
async function orderProvenBefore(
  list: KeyList,
  hasNumericKeys: boolean,
  name: string,
  proven: Capabilities | undefined,
): Promise<KeyOrder | undefined> {
  const { client, key } = list;
  const now = client.clock.now();
  const proof = proven?.proofs?.keys[name];
  if (proof === undefined || proof.at > now || now - proof.at >= DAY) return undefined;
  const after = `${key} gt ${literalOf(proof.after, hasNumericKeys)}`;
  const other = newCondition(key, now, hasNumericKeys);
  const [next] = (await keysAt(list, [`$top=${SORTED_RECORDS}`, `$orderby=${key}`], other, after)) ?? [];
  if (next !== proof.next) return undefined;
  return { walks: true, windows: proven?.keyedWindows?.includes(name) === true, proof };
}

/**
 * Whether a source sorts records by their keys, and filters them by keys in the same order, so that a walk can continue after the
 * last key of a page instead of by offset, which misses rows and which many sources limit. The keys after the middle one of the
 * first page, and of the last one, have to be the rest of the page.
 * @param window the condition of a window that has every record: some servers ignore one of several conditions
 */
async function orderByKey(
  list: KeyList,
  hasNumericKeys: boolean,
  window: string | undefined,
): Promise<KeyOrder> {
  const { client, key } = list;
  const top = `$top=${SORTED_RECORDS}`;
  const continues = async (
    keys: readonly (string | undefined)[],
    { mayGoOn, within }: { readonly mayGoOn: boolean; readonly within?: string | undefined },
  ): Promise<boolean> => {
    const middle = (keys.length - 1) >> 1;
    const expected = keys.slice(middle + 1);
    const after = `${key} gt ${literalOf(keys[middle] ?? '', hasNumericKeys)}`;
    const other = within ?? newCondition(key, client.clock.now(), hasNumericKeys);
    const rest = await keysAt(list, [top, `$orderby=${key}`], other, after);
    if (rest === undefined || (!mayGoOn && rest.length !== expected.length)) return false;
    return expected.every((each, at) => each !== undefined && rest[at] === each);
  };
  const first = await keysAt(list, [top, `$orderby=${key}`]);
  if (first === undefined || first.length < 2 || new Set(first).size < first.length) return NO_ORDER;
  const last = (await keysAt(list, [top, `$orderby=${key} desc`]))?.toReversed();
  if (last === undefined || first[0] === last.at(-1)) return NO_ORDER;
  const walks = (await continues(first, { mayGoOn: true })) && (await continues(last, { mayGoOn: false }));
  const [after, next] = first.slice((first.length - 1) >> 1);
  if (!walks || after === undefined || next === undefined) return NO_ORDER;
  const windows = await continues(first, { mayGoOn: true, within: window });
  return { walks, windows, proof: { at: client.clock.now(), after, next } };
}
