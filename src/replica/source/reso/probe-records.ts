/** Determines, with a few records, how a RESO server returns single records and their sub-resources. */
import { isObject, LongNumber } from '../../../shared/json.ts';
import type { SourceClient } from '../../http/client.ts';
import {
  isDirectFailure,
  isServerError,
  isTooLarge,
  isUnsupported,
  RequestFailure,
} from '../../http/failure.ts';
import { keyFromValue, readJson } from '../answer.ts';
import type { Capabilities } from '../source.ts';
import { readListPage } from './lists.ts';
import { type ChildAddress, childAddress, literalOf, recordAddress, withOptions } from './urls.ts';

/** `childrenAt` is absent if no listing returned a list of its media. */
type RecordAccess = Pick<Capabilities, 'isProbed' | 'hasNumericKeys' | 'byKey' | 'childrenAt'>;

/** The number of records that are tried, because one may be deleted, broken, or without sub-resources. */
export const PROBED_RECORDS = 5;
/** The number of attempts at a request that another request can replace. */
export const ATTEMPTS = 2;

interface ProbeOptions {
  readonly client: SourceClient;
  /** URL of the collection. */
  readonly collection: string;
  readonly key: string;
  /** Whether records of the collection have media. */
  readonly hasChildren: boolean;
}

export async function probeRecords(options: ProbeOptions): Promise<RecordAccess> {
  const { client, collection, key, hasChildren } = options;
  const { values } = await readFew(client, collection, key);
  const found = values
    .slice(0, PROBED_RECORDS)
    .map((record: unknown) => (isObject(record) ? record[key] : undefined));
  const hasNumericKeys = found.some((each) => typeof each === 'number' || each instanceof LongNumber);
  const literals = found.flatMap((each) => {
    const text = keyFromValue(each);
    return text === undefined ? [] : [literalOf(text, hasNumericKeys)];
  });
  const works = (addressOf: (literal: string) => string): Promise<boolean> =>
    anyWorks(client, literals.map(addressOf));
  const byPath = await works((literal) => recordAddress(collection, literal));
  const byFilter =
    byPath || (await works((literal) => withOptions(collection, [`$filter=${key} eq ${literal}`])));
  const childrenAt = hasChildren ? await findChildAddress(client, key, collection, literals) : undefined;
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
  client: SourceClient,
  key: string,
  collection: string,
  literals: readonly string[],
): Promise<ChildAddress | undefined> {
  let failing: ChildAddress | undefined;
  for (const form of ['key', 'segment'] as const) {
    try {
      const addresses = literals.map((literal) => childAddress(collection, literal, 'Media', form));
      if (await anyWorks(client, addresses)) return form;
    } catch (error) {
      if (!isDirectFailure(error) || !isServerError(error)) throw error;
      failing ??= form;
    }
  }
  if (failing !== undefined) await readFew(client, collection, key);
  return failing;
}

/** Requests a few records, or only their keys. */
const readFew = (client: SourceClient, collection: string, key: string) =>
  requestOrKeysOnly(key, (select, attempts) =>
    client.get(withOptions(collection, [`$top=${PROBED_RECORDS}`, ...select]), readListPage, { attempts }),
  );

/**
 * Requests records, or only their keys if one of the records is too large to be read or the source fails at it. The walk later
 * copies all records except that one (source/pages.ts).
 * @param ask makes the request with further query options
 * @throws RequestFailure if the source also fails at the keys
 */
export async function requestOrKeysOnly<T>(
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
async function anyWorks(client: SourceClient, addresses: readonly string[]): Promise<boolean> {
  const rejected: string[] = [];
  let failing: RequestFailure | undefined;
  let refusal: RequestFailure | undefined;
  for (const address of addresses) {
    const answered = await probeAddress(client, address);
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

/**
 * How the source responds to a URL, with few attempts.
 * @throws RequestFailure `stopped`, or for an invalid token
 */
export async function probeAddress(
  client: SourceClient,
  address: string,
): Promise<'works' | 'rejected' | RequestFailure> {
  try {
    const { value } = await client.get(address, readJson, { attempts: ATTEMPTS });
    // If a filter finds nothing, the server may not have understood it.
    const isFound = !address.includes('$filter=') || (Array.isArray(value) && value.length > 0);
    return isFound ? 'works' : 'rejected';
  } catch (error) {
    // A response that is too large to be read shows that the URL exists.
    if (isTooLarge(error)) return 'works';
    if (!(error instanceof RequestFailure) || error.kind === 'stopped' || error.status === 401) throw error;
    // Some servers reject requests with status 200.
    return isUnsupported(error) || error.status === 200 ? 'rejected' : error;
  }
}
