import type { SourceClient } from '../../http/client.ts';
import { isTooLarge, RequestFailure } from '../../http/failure.ts';
import { isObject } from '../../json.ts';
import { readJson } from '../answer.ts';
import { type ChildAddress, childAddress, encodeOption, literalOf, recordAddress } from './options.ts';

/** How a server gives single records, and what belongs to one. */
export interface RecordWays {
  /** Whether a record stood by to find it out with. */
  readonly isProbed: boolean;
  readonly hasNumericKeys: boolean;
  readonly byKey: 'path' | 'filter' | 'none';
  /** Where the media of a listing are; undefined where no listing gave any list of them. */
  readonly childrenAt: ChildAddress | undefined;
}

/** Records that are tried: one alone may be gone, or broken, or have nothing. */
const PROBED = 5;
const ATTEMPTS = 2;

interface ProbeOptions {
  readonly client: SourceClient;
  /** Address of the collection. */
  readonly collection: string;
  readonly key: string;
  /** Whether records of the collection have media. */
  readonly hasChildren: boolean;
}

/** Finds out with a few records how single ones are asked for, and their sub-data. */
export async function probeRecords({
  client,
  collection,
  key,
  hasChildren,
}: ProbeOptions): Promise<RecordWays> {
  const { value } = await readFew(client, collection, key);
  const found = (Array.isArray(value) ? value : [])
    .slice(0, PROBED)
    .map((record: unknown) => (isObject(record) ? record[key] : undefined));
  const hasNumericKeys = found.some((each) => typeof each === 'number');
  const keys = found.flatMap((each) =>
    typeof each === 'string' || typeof each === 'number' ? [literalOf(String(each), hasNumericKeys)] : [],
  );
  const works = (address: string): Promise<boolean | RequestFailure> => tried(client, address);
  const filtered = (literal: string): string =>
    `${collection}?${encodeOption(`$filter=${key} eq ${literal}`)}`;
  const byPath = await firstOf(keys, (literal) => works(recordAddress(collection, literal)));
  const byFilter = byPath || (await firstOf(keys, (literal) => works(filtered(literal))));
  const ways: readonly ChildAddress[] = hasChildren ? ['key', 'segment'] : [];
  let childrenAt: ChildAddress | undefined;
  for (const way of ways) {
    if (await firstOf(keys, (literal) => works(childAddress(collection, literal, 'Media', way)))) {
      childrenAt = way;
      break;
    }
  }
  return {
    isProbed: keys.length > 0,
    hasNumericKeys,
    byKey: byPath || keys.length === 0 ? 'path' : byFilter ? 'filter' : 'none',
    childrenAt,
  };
}

/** Some records, or no more than the keys of some where a record is too large to be read. */
async function readFew(
  client: SourceClient,
  collection: string,
  key: string,
): Promise<Readonly<Record<string, unknown>>> {
  const few = `${collection}?$top=${PROBED}`;
  try {
    return await client.get(few, readJson);
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    return client.get(`${few}&$select=${key}`, readJson);
  }
}

/** Whether one of the keys gives something. @throws RequestFailure when none does, and one failed for another reason */
async function firstOf(
  keys: readonly string[],
  works: (literal: string) => Promise<boolean | RequestFailure>,
): Promise<boolean> {
  let failure: RequestFailure | undefined;
  for (const key of keys) {
    const result = await works(key);
    if (result === true) return true;
    if (result !== false) failure = result;
  }
  if (failure !== undefined) throw failure;
  return false;
}

/**
 * Whether the server knows an address; the failure, where it may yet. An empty list by a filter is none, and an answer
 * that is too large to be read is not empty.
 */
async function tried(client: SourceClient, address: string): Promise<boolean | RequestFailure> {
  try {
    const answer = await client.get(address, readJson, { attempts: ATTEMPTS });
    return !address.includes('?') || (Array.isArray(answer.value) && answer.value.length > 0);
  } catch (error) {
    if (isTooLarge(error)) return true;
    if (!(error instanceof RequestFailure) || error.kind === 'stopped' || error.status === 401) throw error;
    return error.kind === 'rejected' || error.status === 501 ? false : error;
  }
}
