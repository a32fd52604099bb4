/** Requests the records of a floor plan service (specification 4.1). It downloads no images. */
import { failedError } from '../../errors/index.ts';
import { isObject, type JsonObject } from '../../shared/json.ts';
import type { Environment } from '../environment.ts';
import type { Listener } from '../events.ts';
import { SourceClient, type SourceResponse } from '../http/client.ts';
import { urlAtOrigin } from '../http/egress-policy.ts';
import { RequestFailure } from '../http/failure.ts';
import { UNLIMITED } from '../http/rate-budget.ts';
import { DEFAULT_BACKOFF } from '../http/retry.ts';
import type { TokenSource } from '../http/token-source.ts';
import { explainFirstContact } from '../run/first-contact.ts';
import { SeenTexts } from '../source/loop-guard.ts';
import { nextLinkIn } from '../source/reso/lists.ts';
import { quoted, withOptions } from '../source/reso/urls.ts';
import { readJson } from '../source/response.ts';

/** A floor plan media record as the service returned it. Its URL and type are not validated. */
export interface FloorPlanRecord {
  readonly MediaKey: string;
  readonly [field: string]: unknown;
}

interface FloorPlanSource {
  /** Root of the floor plan service, such as `https://host/Reso/`. */
  readonly root: URL;
  readonly tokens: TokenSource;
  readonly environment: Environment;
  readonly listener: Listener;
  readonly signal: AbortSignal;
  /** Called with each record that has no key, and therefore cannot be distinguished from others. */
  readonly onKeyless: (record: JsonObject) => void;
}

const PAGE = 200;
/** The maximum bytes of a response, the maximum milliseconds without data, and the maximum milliseconds of a complete response. */
const LIMITS = { largest: 32 * 1024 * 1024, timeout: 30_000, longest: 300_000 } as const;
const BACKOFF = { ...DEFAULT_BACKOFF, attempts: 5 };

/**
 * The floor plan records of one listing, or of a whole originating system, each once. Follows the next links of the service. If a
 * response has none, it pages by `$skip` until a page has no new record, because pages may be smaller than requested.
 */
export async function* fetchFloorPlans(
  source: FloorPlanSource,
  system: string,
  listing: string | undefined,
): AsyncIterable<FloorPlanRecord> {
  const { root } = source;
  const client = new SourceClient({ ...source, ...LIMITS, backoff: BACKOFF, allowance: UNLIMITED });
  const ofSystem = `OriginatingSystemResourceRecordSystemID eq ${quoted(system)}`;
  const ofListing = listing === undefined ? [] : [`OriginatingSystemResourceRecordKey eq ${quoted(listing)}`];
  const filter = [...ofListing, ofSystem].join(' and ');
  const at = (skip: number): string =>
    withOptions(`${root.href}Media`, [
      `$filter=${filter}`,
      `$top=${PAGE}`,
      ...(skip > 0 ? [`$skip=${skip}`] : []),
    ]);
  const visited = new Set<string>();
  const seen = new SeenTexts();
  let skip = 0;
  let hasLinks = false;
  for (let url: string | undefined = at(0); url !== undefined; ) {
    if (visited.has(url)) throw failedError(`The service links to the same page twice: ${url}.`);
    visited.add(url);
    const page: MediaPage = await client.get(url, pageOf).catch(async (error: unknown) => {
      throw visited.size > 1
        ? error
        : await explainFirstContact(error, { from: root.href, interface: 'floorplans' }, client);
    });
    const fresh = page.records.filter((record) =>
      seen.add(hasMediaKey(record) ? record.MediaKey : JSON.stringify(record)),
    );
    for (const record of fresh) {
      if (hasMediaKey(record)) yield record;
      else source.onKeyless(record);
    }
    skip += page.records.length;
    hasLinks ||= page.next !== undefined;
    if (page.next !== undefined) url = urlAtOrigin(root, page.next, url);
    else url = hasLinks || fresh.length === 0 ? undefined : at(skip);
  }
}

interface MediaPage {
  readonly records: readonly JsonObject[];
  readonly next: string | undefined;
}

const hasMediaKey = (record: JsonObject): record is FloorPlanRecord =>
  typeof record.MediaKey === 'string' && record.MediaKey !== '';

function pageOf(answer: SourceResponse): MediaPage {
  const page = readJson(answer);
  const { value: records } = page;
  if (Array.isArray(records) && records.every(isObject)) return { records, next: nextLinkIn(page) };
  throw new RequestFailure('rejected', 'The service responded with JSON that is not a list of media');
}
