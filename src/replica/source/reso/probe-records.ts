/** Determines with a few records how a RESO server gives single ones, and their sub-resources. */
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

/** Without `childrenAt` where no listing gave a list of its media. */
type RecordAccess = Pick<Capabilities, 'isProbed' | 'hasNumericKeys' | 'byKey' | 'childrenAt'>;

/** The number of records that are tried: a single one may be deleted, broken, or without sub-resources. */
export const PROBED_RECORDS = 5;
/** Attempts at a request for which there is another one. */
export const ATTEMPTS = 2;

interface ProbeOptions {
  readonly client: SourceClient;
  /** Address of the collection. */
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
 * The form of the addresses at which listings have their media. One at which the source fails, while it returns records, is there:
 * the download requests each of them, and reports it.
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

/** Some records, or only their keys. */
const readFew = (client: SourceClient, collection: string, key: string) =>
  requestOrKeysOnly(key, (select, attempts) =>
    client.get(withOptions(collection, [`$top=${PROBED_RECORDS}`, ...select]), readListPage, { attempts }),
  );

/**
 * The response to a request for records, or for their keys alone if one of them is too large to be read, or the source fails at it.
 * The walk deals with such a record: all records but this one are copied (source/pages.ts).
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
    // A server without $select: it may have recovered.
    if (isUnsupported(error)) return ask([]);
    throw error;
  }
}

/**
 * Whether one of the addresses works.
 * @throws RequestFailure when none does, unless the source fails at some records only and rejects the request for others
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
  // Since the last failure nothing has shown that the source still responds.
  const [other] = rejected;
  if (other === undefined || (await probeAddress(client, other)) instanceof RequestFailure) throw failing;
  return false;
}

/**
 * What a source does at an address, with few attempts.
 * @throws RequestFailure `stopped`, or for a token that is not valid
 */
export async function probeAddress(
  client: SourceClient,
  address: string,
): Promise<'works' | 'rejected' | RequestFailure> {
  try {
    const { value } = await client.get(address, readJson, { attempts: ATTEMPTS });
    // A filter that finds nothing may not have been understood.
    const isFound = !address.includes('$filter=') || (Array.isArray(value) && value.length > 0);
    return isFound ? 'works' : 'rejected';
  } catch (error) {
    // A response that is too large to be read exists.
    if (isTooLarge(error)) return 'works';
    if (!(error instanceof RequestFailure) || error.kind === 'stopped' || error.status === 401) throw error;
    // Some servers reject with 200.
    return isUnsupported(error) || error.status === 200 ? 'rejected' : error;
  }
}
