/** Determines with a few records how a RESO server gives single ones, and their sub-resources. */
import { isObject, type JsonObject } from '../../../shared/json.ts';
import type { SourceClient } from '../../http/client.ts';
import { isTooLarge, isUnsupported, RequestFailure } from '../../http/failure.ts';
import { readJson } from '../answer.ts';
import type { Capabilities } from '../source.ts';
import { type ChildAddress, childAddress, literalOf, recordAddress, withOptions } from './urls.ts';

/** Without `childrenAt` where no listing gave a list of its media. */
type RecordAccess = Pick<Capabilities, 'isProbed' | 'hasNumericKeys' | 'byKey' | 'childrenAt'>;

/** The number of records that are tried: a single one may be deleted, broken, or without sub-resources. */
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

export async function probeRecords(options: ProbeOptions): Promise<RecordAccess> {
  const { client, collection, key, hasChildren } = options;
  const { value } = await readFew(client, collection, key);
  const found = (Array.isArray(value) ? value : [])
    .slice(0, PROBED)
    .map((record: unknown) => (isObject(record) ? record[key] : undefined));
  const hasNumericKeys = found.some((each) => typeof each === 'number');
  const literals = found.flatMap((each) =>
    typeof each === 'string' || typeof each === 'number' ? [literalOf(String(each), hasNumericKeys)] : [],
  );
  const works = (addressOf: (literal: string) => string): Promise<boolean> =>
    anyWorks(client, literals.map(addressOf));
  const byPath = await works((literal) => recordAddress(collection, literal));
  const byFilter =
    byPath || (await works((literal) => withOptions(collection, [`$filter=${key} eq ${literal}`])));
  const forms: readonly ChildAddress[] = hasChildren ? ['key', 'segment'] : [];
  let childrenAt: ChildAddress | undefined;
  for (const form of forms) {
    if (await works((literal) => childAddress(collection, literal, 'Media', form))) {
      childrenAt = form;
      break;
    }
  }
  return {
    isProbed: literals.length > 0,
    hasNumericKeys,
    byKey: byPath || literals.length === 0 ? 'path' : byFilter ? 'filter' : 'none',
    ...(childrenAt === undefined ? {} : { childrenAt }),
  };
}

/** Some records, or only the keys of some where a record is too large to be read. */
async function readFew(client: SourceClient, collection: string, key: string): Promise<JsonObject> {
  const few = `${collection}?$top=${PROBED}`;
  try {
    return await client.get(few, readJson);
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    return client.get(`${few}&$select=${key}`, readJson);
  }
}

/** Whether one of the addresses works. @throws RequestFailure when none does, and one failed for another reason */
async function anyWorks(client: SourceClient, addresses: readonly string[]): Promise<boolean> {
  let failure: RequestFailure | undefined;
  for (const address of addresses) {
    try {
      const { value } = await client.get(address, readJson, { attempts: ATTEMPTS });
      // A filter that finds nothing may not have been understood.
      if (!address.includes('?') || (Array.isArray(value) && value.length > 0)) return true;
    } catch (error) {
      // A response that is too large to be read exists.
      if (isTooLarge(error)) return true;
      if (!(error instanceof RequestFailure) || error.kind === 'stopped' || error.status === 401) throw error;
      if (!isUnsupported(error)) failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  return false;
}
