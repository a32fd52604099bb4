import { platError } from '../../errors/index.ts';
import { isObject } from '../../shared/json.ts';
import type { Environment } from '../environment.ts';
import type { Listener } from '../events.ts';
import { type Answer, SourceClient } from '../http/client.ts';
import { addressAt } from '../http/egress-policy.ts';
import { RequestFailure } from '../http/failure.ts';
import { UNLIMITED } from '../http/rate-budget.ts';
import { type BackoffOptions, USUAL_BACKOFF } from '../http/retry.ts';

/** A floor plan media record as the service gave it; its address and type may be anything. */
export interface FloorPlanRecord {
  readonly MediaKey: string;
  readonly [field: string]: unknown;
}

export interface FloorPlanSource {
  /** Root of the floor plan service, such as `https://host/Reso/`. */
  readonly root: URL;
  readonly token: string;
  readonly environment: Environment;
  readonly listener: Listener;
  readonly signal: AbortSignal;
}

const PAGE = 200;
/** Bytes of an answer's content, and milliseconds without a byte and for the whole of it. */
const LARGEST_ANSWER = 32 * 1024 * 1024;
const TIMEOUT = 30_000;
const LONGEST = 300_000;
const BACKOFF: BackoffOptions = { ...USUAL_BACKOFF, attempts: 5 };

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/**
 * The floor plan records of one listing, or of a whole originating system (specification 4.1). Follows the next links
 * of the service, or pages by `$skip` where it gives none.
 */
export async function* floorPlans(
  source: FloorPlanSource,
  system: string,
  listing: string | undefined,
): AsyncIterable<FloorPlanRecord> {
  const { root } = source;
  const client = new SourceClient({
    ...source,
    backoff: BACKOFF,
    allowance: UNLIMITED,
    largest: LARGEST_ANSWER,
    timeout: TIMEOUT,
    longest: LONGEST,
  });
  const ofSystem = `OriginatingSystemResourceRecordSystemID eq ${quoted(system)}`;
  const ofListing = listing === undefined ? [] : [`OriginatingSystemResourceRecordKey eq ${quoted(listing)}`];
  const filter = [...ofListing, ofSystem].join(' and ');
  const first = (skip: number): string =>
    `${root.href}Media?$filter=${encodeURIComponent(filter)}&$top=${PAGE}${skip > 0 ? `&$skip=${skip}` : ''}`;
  const visited = new Set<string>();
  let skip = 0;
  for (let url: string | undefined = first(0); url !== undefined; ) {
    if (visited.has(url)) throw platError('failed', { reason: `The service links twice to ${url}.` });
    visited.add(url);
    const page: MediaPage = await client.get(url, pageOf);
    yield* page.records;
    skip += page.records.length;
    if (page.next !== undefined) url = addressAt(root, page.next, url);
    else url = page.records.length === PAGE ? first(skip) : undefined;
  }
}

interface MediaPage {
  readonly records: readonly FloorPlanRecord[];
  readonly next: string | undefined;
}

const isRecord = (value: unknown): value is FloorPlanRecord =>
  isObject(value) && typeof value.MediaKey === 'string';

/** @throws RequestFailure `transient`: a service that is being restarted answers with all kinds of texts */
function pageOf({ text }: Answer): MediaPage {
  let page: unknown;
  try {
    page = JSON.parse(text);
  } catch (cause) {
    const told = `The service did not answer with JSON: ${text.slice(0, 80)}`;
    throw new RequestFailure('transient', told, { cause });
  }
  const records: unknown = isObject(page) ? page.value : undefined;
  if (!isObject(page) || !Array.isArray(records) || !records.every(isRecord)) {
    throw new RequestFailure('rejected', 'The service answered with JSON that is no list of media');
  }
  const next = page['@odata.nextLink'];
  return { records, next: typeof next === 'string' ? next : undefined };
}
