import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fetch, type Response } from 'undici';
import { platError } from '../../errors/index.ts';
import type { Clock } from '../../store/clock.ts';
import { addressAt } from '../http/address.ts';

/** A floor plan media record as the service gave it. */
export interface FloorPlanRecord {
  readonly MediaKey: string;
  readonly MediaURL?: string | null;
  readonly MediaType?: string | null;
  readonly [field: string]: unknown;
}

export interface FloorPlanSource {
  /** Root of the floor plan service, such as `https://host/Reso`. */
  readonly root: string;
  readonly token: string;
  readonly clock: Clock;
}

const PAGE = 200;
const ATTEMPTS = 5;
const TIMEOUT = 30_000;

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
  const ofSystem = `OriginatingSystemResourceRecordSystemID eq ${quoted(system)}`;
  const ofListing = listing === undefined ? [] : [`OriginatingSystemResourceRecordKey eq ${quoted(listing)}`];
  const filter = [...ofListing, ofSystem].join(' and ');
  const root = source.root.replace(/\/+$/, '');
  const first = (skip: number): string =>
    `${root}/Media?$filter=${encodeURIComponent(filter)}&$top=${PAGE}${skip > 0 ? `&$skip=${skip}` : ''}`;
  const visited = new Set<string>();
  let skip = 0;
  for (let url: string | undefined = first(0); url !== undefined; ) {
    if (visited.has(url)) throw platError('failed', { reason: `The service links twice to ${url}.` });
    visited.add(url);
    const page = await readPage(source, url);
    yield* page.value;
    skip += page.value.length;
    const next = page['@odata.nextLink'];
    if (next !== undefined) url = addressAt(new URL(root), next, url);
    else url = page.value.length === PAGE ? first(skip) : undefined;
  }
}

interface MediaPage {
  readonly value: readonly FloorPlanRecord[];
  readonly '@odata.nextLink'?: string;
}

async function readPage(source: FloorPlanSource, url: string): Promise<MediaPage> {
  const response = await request(source, url, {
    authorization: `Bearer ${source.token}`,
    accept: 'application/json',
  });
  const text = await response.text();
  let page: unknown;
  try {
    page = JSON.parse(text);
  } catch (cause) {
    throw platError(
      'failed',
      { reason: `The service did not answer with JSON: ${text.slice(0, 80)}` },
      { cause },
    );
  }
  if (!isPage(page))
    throw platError('failed', { reason: 'The service answered with JSON that is no list of media.' });
  return page;
}

function isPage(page: unknown): page is MediaPage {
  if (typeof page !== 'object' || page === null || !('value' in page) || !Array.isArray(page.value))
    return false;
  return page.value.every((record) => typeof record?.MediaKey === 'string');
}

/** Asks until there is an answer: waits as the service says, and longer each time. */
async function request(
  { clock }: FloorPlanSource,
  url: string,
  headers: Record<string, string>,
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    let reason: string;
    let wait = 500 * 2 ** attempt;
    try {
      const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT) });
      if (response.ok) return response;
      reason = `${response.status} ${(await response.text()).slice(0, 200)}`;
      if (response.status !== 429 && response.status < 500)
        throw platError('failed', { reason: `The service refused: ${reason}` });
      wait = Math.max(wait, Number(response.headers.get('retry-after') ?? 0) * 1000);
    } catch (error) {
      if (error instanceof Error && error.name === 'PlatError') throw error;
      reason =
        error instanceof Error
          ? `${error.message}${error.cause instanceof Error ? `: ${error.cause.message}` : ''}`
          : String(error);
    }
    if (attempt >= ATTEMPTS)
      throw platError('failed', { reason: `No answer after ${attempt} attempts: ${reason}` });
    await clock.sleep(wait);
  }
}

const EXTENSION = /\.([a-z0-9]{1,5})(?:$|\?)/i;

/**
 * Downloads the image of a record into a folder, whole or not at all.
 * @returns the path; undefined when the record has no address
 */
export async function downloadImage(
  source: FloorPlanSource,
  record: FloorPlanRecord,
  folder: string,
): Promise<string | undefined> {
  const { MediaURL: url, MediaKey: key, MediaType: type } = record;
  if (typeof url !== 'string' || url === '') return undefined;
  await mkdir(folder, { recursive: true });
  const ending = type ?? EXTENSION.exec(new URL(url).pathname)?.[1] ?? 'bin';
  const name = `${key.replace(/[^\w.-]/g, '_')}.${ending.replace(/[^\w]/g, '')}`;
  const path = join(folder, name);
  const response = await request(source, url, {});
  if (response.body === null) return undefined;
  const partial = `${path}.partial`;
  try {
    await pipeline(Readable.fromWeb(response.body), createWriteStream(partial));
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  return path;
}
