/** What is read of every response, of either interface: its JSON, its time, and what a plat source adds. */
import { hash } from 'node:crypto';
import type { Dictionary } from '../../dictionary/index.ts';
import { parseWithRepeatedMembers } from '../../records/exact-json.ts';
import { messageOf } from '../../shared/error-code.ts';
import { isObject, type JsonObject, LongNumber } from '../../shared/json.ts';
import type { SourceClient, SourceResponse } from '../http/client.ts';
import { RequestFailure } from '../http/failure.ts';
import type { Capabilities, ForeignField, KeyPage, SourceFingerprints } from './source.ts';

/** What finding out about a source takes. */
export interface DiscoveryOptions {
  readonly client: SourceClient;
  /** Root of the interface, ends with `/`. */
  readonly root: string;
  readonly dictionary: Dictionary;
  readonly resources: readonly string[];
  /** The field that windows are on; undefined: the source's own timestamp if it has one, else ModificationTimestamp. */
  readonly windowField: string | undefined;
}

/** What a source takes, once it is known what it can do. */
export interface SourceOptions extends Pick<DiscoveryOptions, 'client' | 'root' | 'dictionary'> {
  readonly capabilities: Capabilities;
  readonly foreignFields: readonly ForeignField[];
  readonly discovered: SourceFingerprints;
  readonly shown: () => Promise<SourceFingerprints>;
}

/** Characters of an unreadable answer that its message quotes. */
const QUOTED = 120;

/**
 * The JSON object of a response. Numbers that a double does not hold keep their digits.
 * @throws RequestFailure `transient` for anything else, such as an HTML page or a truncated text: a source that is
 * being restarted returns such things, and is queried again
 */
export function readJson({ text, headers, url }: SourceResponse): JsonObject {
  const value = parseWithRepeatedMembers(text);
  if (isObject(value)) {
    const { error } = value;
    // Some servers report errors with 200.
    if (!isObject(error) || typeof error.message !== 'string') return value;
    throw faultWith200(`${url} responded with an error: ${error.message}`);
  }
  if (value !== undefined) throw faultWith200(`${url} responded with JSON that is not an object`);
  const type = headers['content-type'] ?? 'no content type';
  // What a proxy returns instead of the source says nothing about the request.
  if (/json/i.test(type)) throw faultWith200(`${url} responded with invalid JSON: ${syntaxError(text)}`);
  throw new RequestFailure(
    'transient',
    `${url} did not answer with JSON but with ${type}: ${quotedText(text)}`,
  );
}

/** A response of the source with status 200 that is no success. */
export const faultWith200 = (reason: string): RequestFailure =>
  new RequestFailure('transient', reason, { status: 200 });

/** What is wrong with a text that is not JSON, and where. */
function syntaxError(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return messageOf(error);
  }
  return quotedText(text);
}

/** The beginning of an unreadable answer. */
export const quotedText = (text: string): string => JSON.stringify(text.slice(0, QUOTED));

/**
 * The moment of a response on the source's clock, in milliseconds since 1970.
 * @throws RequestFailure when a source has no clock: windows cannot be bounded without it
 */
function readDate({ headers }: SourceResponse): number {
  const time = Date.parse(headers.date ?? '');
  if (!Number.isNaN(time)) return time;
  throw new RequestFailure('refused', 'The source sends no Date header, so no window can be bounded');
}

/** A key as a source gives it, which may be its digits as a number; undefined for what is no key. */
export function keyFromValue(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  const isWhole = value instanceof LongNumber ? /^\d+$/.test(value.text) : Number.isSafeInteger(value);
  return isWhole ? String(value) : undefined;
}

/** What a response contains in addition to its records. */
export const factsOf = (answer: SourceResponse): Pick<KeyPage, 'serverTime' | 'weight'> => ({
  serverTime: readDate(answer),
  weight: answer.text.length,
});

/** Attempts at an address that a source need not have. */
const CHEAP_ATTEMPTS = 2;

/**
 * Requests the time of the source's clock. If the cheap URL returns no JSON, a list is requested instead.
 * @throws RequestFailure if neither responds, or the source has no clock
 */
export function serverClock(client: SourceClient, cheap: string, list: string): () => Promise<number> {
  // A proxy's page about a pause has another clock: only a response of the source itself counts.
  const read = (answer: SourceResponse): number => {
    readJson(answer);
    return readDate(answer);
  };
  let address = cheap;
  return async () => {
    if (address === list) return client.get(list, read);
    try {
      return await client.get(cheap, read, { attempts: CHEAP_ATTEMPTS });
    } catch (error) {
      // Perhaps only this address fails: it is not there, is for others, or is a page for people.
      const isOfAddress =
        error instanceof RequestFailure && (error.status !== undefined || error.kind === 'transient');
      if (!isOfAddress) throw error;
    }
    const moment = await client.get(list, read);
    address = list;
    return moment;
  };
}

/** The description of a plat surface, at the address where it is served (RFC 8631). */
const DESCRIBED = /<([^<>]*)\/openapi\.json>; rel="service-desc"/;

/**
 * Asks a plat source once for its public address, which may not be the one in use; any other source is assumed to have that one.
 * @param cheap an address whose response names it
 */
export function servedAt(
  { client, root, capabilities }: Pick<SourceOptions, 'client' | 'root' | 'capabilities'>,
  cheap: string,
): () => Promise<string> {
  const { origin } = new URL(root);
  const read = ({ headers }: SourceResponse): string => DESCRIBED.exec(headers.link ?? '')?.[1] ?? origin;
  let asked: Promise<string> | undefined;
  return async () => {
    if (!capabilities.isPlat) return origin;
    asked ??= client.get(cheap, read, { attempts: CHEAP_ATTEMPTS }).catch((error: unknown) => {
      // A proxy may not pass this address on.
      if (error instanceof RequestFailure && error.status !== undefined) return origin;
      throw error;
    });
    return asked;
  };
}

/** What a source shows: its fields, its view of the records (plat only), and its epoch (plat only). */
export interface SourceFacts {
  /** The complete description of its fields. */
  readonly text: string;
  /** Its fields, each with its type; undefined if it does not describe them. */
  readonly fields: readonly string[] | undefined;
  readonly view: string;
  readonly epoch: string | undefined;
}

export const NO_FACTS: SourceFacts = { text: '', fields: undefined, view: '', epoch: undefined };

/** A view is the same as long as only records change; an epoch as long as the store does not go back in time. */
export const readPlatHeaders = ({ headers }: SourceResponse): Pick<SourceFacts, 'view' | 'epoch'> => ({
  view: headers['x-plat-view'] ?? '',
  epoch: headers['x-plat-epoch'],
});

export const isFromPlat = ({ headers }: SourceResponse): boolean => headers['x-plat-index'] !== undefined;

export const fingerprintsOf = ({ text, fields, view, epoch }: SourceFacts): SourceFingerprints => ({
  epoch,
  revision: digest(text + view + (epoch ?? '')),
  fingerprint: fields === undefined ? undefined : digest([...fields.toSorted(), view].join('\n')),
});

const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

/** A record whose collections were not requested: an empty list in it means nothing, and must not delete stored members. */
export function withoutEmptyLists(json: JsonObject): JsonObject {
  const isEmpty = (name: string): boolean => {
    const value = json[name];
    return Array.isArray(value) && value.length === 0;
  };
  if (!Object.keys(json).some(isEmpty)) return json;
  return Object.fromEntries(Object.entries(json).filter(([name]) => !isEmpty(name)));
}
