/** Reads what the responses of both interfaces have in common: JSON, time, and the headers that a plat source adds. */
import { hash } from 'node:crypto';
import type { Dictionary, Resource } from '../../dictionary/index.ts';
import { parseWithRepeatedMembers } from '../../records/exact-json.ts';
import { jsonOf } from '../../records/nesting.ts';
import { messageOf } from '../../shared/error-code.ts';
import { isObject, type JsonObject, LongNumber } from '../../shared/json.ts';
import type { SourceClient, SourceResponse } from '../http/client.ts';
import { isDirectFailure, RequestFailure } from '../http/failure.ts';
import type {
  BrokenItem,
  Capabilities,
  ForeignField,
  KeyPage,
  Source,
  SourceFingerprints,
} from './source.ts';

/** What is needed to determine the capabilities of a source. */
export interface DiscoveryOptions {
  readonly client: SourceClient;
  /** Root of the interface, ends with `/`. */
  readonly root: string;
  readonly dictionary: Dictionary;
  readonly resources: readonly string[];
  /** The OData filter that every copied record meets; undefined: all records that the source shows. */
  readonly filter: string | undefined;
  /** Whether timestamps without a time zone are read as UTC. */
  readonly assumeUtc: boolean;
  /** The window field; undefined: the source's own timestamp if it has one, otherwise ModificationTimestamp. */
  readonly windowField: string | undefined;
  /** The resources that the source may lack. It is an error if it lacks another one. */
  readonly mayLack: readonly string[];
}

/** A source whose capabilities are known, and which is queried through a client: that of the discovery, or a later one. */
export type Discovered = (client: SourceClient) => Source;

/** What a source needs, once its capabilities are known. */
export interface SourceOptions extends Pick<DiscoveryOptions, 'client' | 'root' | 'dictionary'> {
  readonly capabilities: Capabilities;
  readonly foreignFields: readonly ForeignField[];
  readonly discovered: SourceFingerprints;
  readonly shown: () => Promise<SourceFingerprints>;
}

/** The number of characters of an unreadable response that an error message quotes. */
const QUOTED = 120;

/**
 * The JSON object of a response. Numbers that do not fit into a double keep their digits.
 * @throws RequestFailure `transient` for anything else, such as an HTML page or a truncated text: a source that is being restarted
 * returns these, so the request is repeated
 */
export function readJson({ text, headers, url }: SourceResponse): JsonObject {
  const value = parseWithRepeatedMembers(text);
  if (isObject(value)) {
    const { error } = value;
    // Some servers report errors with status 200.
    if (!isObject(error) || typeof error.message !== 'string') return value;
    throw faultWith200(`${url} responded with an error: ${error.message}`);
  }
  if (value !== undefined) throw faultWith200(`${url} responded with JSON that is not an object`);
  const type = headers['content-type'] ?? 'no content type';
  // A response of a proxy instead of the source shows nothing about the request.
  if (/json/i.test(type)) throw faultWith200(`${url} responded with invalid JSON: ${syntaxError(text)}`);
  throw new RequestFailure(
    'transient',
    `${url} did not respond with JSON but with ${type}: ${quotedText(text)}`,
  );
}

/** A failure that the source reported with status 200. */
export const faultWith200 = (reason: string): RequestFailure =>
  new RequestFailure('transient', reason, { status: 200 });

/** What is wrong with a text that is not valid JSON, and where. */
function syntaxError(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return messageOf(error);
  }
  return quotedText(text);
}

/** The beginning of an unreadable response, quoted. */
export const quotedText = (text: string): string => JSON.stringify(text.slice(0, QUOTED));

/** The time of a response on the source's clock (its Date header), in milliseconds since 1970; undefined if it has none. */
function dateOf({ headers }: SourceResponse): number | undefined {
  const time = Date.parse(headers.date ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/** A key in a response, where a numeric key may be a JSON number; undefined for a value that is not a key. */
export function keyFromValue(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  const isWhole = value instanceof LongNumber ? /^\d+$/.test(value.text) : Number.isSafeInteger(value);
  return isWhole ? String(value) : undefined;
}

/** The rows of a page of keys that have no key. */
export function rowsWithoutKey(
  { name: resource, key }: Resource,
  rows: readonly unknown[],
): Pick<KeyPage, 'keyless' | 'nameless'> {
  const nameless: BrokenItem[] = [];
  let keyless = 0;
  for (const row of rows) {
    const { [key]: given } = isObject(row) ? row : {};
    // Any other value may be what the source made of a key, such as of a number with many digits.
    if (given === null || given === '') {
      const reason = `${key} is ${jsonOf(given)}, which is not a key`;
      nameless.push({ resource, payload: jsonOf({ [key]: given }), reason });
    } else if (keyFromValue(given) === undefined) keyless++;
  }
  return { keyless, nameless };
}

/** What a response contains in addition to its records. */
export const factsOf = (answer: SourceResponse): Pick<KeyPage, 'serverTime' | 'weight'> => ({
  serverTime: dateOf(answer) ?? 0,
  weight: answer.text.length,
});

/** The number of attempts at a URL that a source need not have. */
const CHEAP_ATTEMPTS = 2;

/** The number of lists that are requested for the time before a source counts as one without a clock. */
const CLOCK_REQUESTS = 3;

/**
 * Requests the time of the source's clock. If the cheap URL returns no JSON or no Date header, a list is requested instead. A single
 * response may lack the header, for instance if a cache sends it.
 * @throws RequestFailure if neither responds, or the source has no clock, without which windows cannot be bounded
 */
export function serverClock(client: SourceClient, cheap: string, list: string): () => Promise<number> {
  // The Date of a proxy's maintenance page is that of the proxy, so the response must have the form that the source returns.
  const read = (answer: SourceResponse): number | undefined => {
    readJson(answer);
    return dateOf(answer);
  };
  let address = cheap;
  const askCheaply = async (): Promise<number | undefined> => {
    if (address === list) return undefined;
    try {
      return await client.get(cheap, read, { attempts: CHEAP_ATTEMPTS });
    } catch (error) {
      // Perhaps only this URL fails, because it does not exist, needs other rights, or returns HTML.
      const isOfAddress =
        isDirectFailure(error) && (error.status !== undefined || error.kind === 'transient');
      if (!isOfAddress) throw error;
      return undefined;
    }
  };
  return async () => {
    const moment = await askCheaply();
    if (moment !== undefined) return moment;
    for (let asked = 0; asked < CLOCK_REQUESTS; asked++) {
      const ofList = await client.get(list, read);
      if (ofList === undefined) continue;
      address = list;
      return ofList;
    }
    throw new RequestFailure('refused', 'The source sends no Date header, so no window can be bounded');
  };
}

/** The Link header of a plat source that names the OpenAPI document of the interface, under its public URL (RFC 8631). */
const DESCRIBED = /<([^<>]*)\/openapi\.json>; rel="service-desc"/;

/**
 * Requests the public base URL of a plat source, once; it may differ from the URL in use. For any other source, returns the origin
 * of the URL in use.
 * @param cheap a URL whose response names the public base URL
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
      // A proxy may not forward this URL.
      if (error instanceof RequestFailure && error.status !== undefined) return origin;
      throw error;
    });
    return asked;
  };
}

/** What a source shows to this key: its fields, and, for a plat source, its view of the records and its epoch. */
export interface SourceFacts {
  /** The complete description of its fields. */
  readonly text: string;
  /** Its fields, each with its type; undefined if the source does not describe them. */
  readonly fields: readonly string[] | undefined;
  readonly view: string;
  readonly epoch: string | undefined;
}

export const NO_FACTS: SourceFacts = { text: '', fields: undefined, view: '', epoch: undefined };

/**
 * Reads the headers that only a plat source sends. The view changes if other fields or records become visible to the key, but not
 * if records change. The epoch changes if the store is restored to an earlier state.
 */
export const readPlatHeaders = ({ headers }: SourceResponse): Pick<SourceFacts, 'view' | 'epoch'> => ({
  view: headers['x-plat-view'] ?? '',
  epoch: headers['x-plat-epoch'],
});

export const isFromPlat = ({ headers }: SourceResponse): boolean => headers['x-plat-index'] !== undefined;

/** What a source shows under the options of a copy, which change what is copied although no timestamp moves. */
export const factsUnder = <Facts extends SourceFacts>(
  { filter, assumeUtc }: Pick<DiscoveryOptions, 'filter' | 'assumeUtc'>,
  facts: Facts,
): Facts => {
  const changing = [...(filter === undefined ? [] : [filter]), ...(assumeUtc ? ['UTC'] : [])];
  return { ...facts, view: [facts.view, ...changing].join('\n') };
};

export const fingerprintsOf = ({ text, fields, view, epoch }: SourceFacts): SourceFingerprints => ({
  epoch,
  revision: digest(text + view + (epoch ?? '')),
  fingerprint: fields === undefined ? undefined : digest([...fields.toSorted(), view].join('\n')),
});

const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

/**
 * A record whose collections were not requested: an empty list in it means nothing, and must not delete stored members.
 * @param given names of collections that the source returns in any case, empty or not
 */
export function withoutEmptyLists(json: JsonObject, given: readonly string[] = []): JsonObject {
  const isEmpty = (name: string): boolean => {
    const value = json[name];
    return Array.isArray(value) && value.length === 0 && !given.includes(name);
  };
  if (!Object.keys(json).some(isEmpty)) return json;
  return Object.fromEntries(Object.entries(json).filter(([name]) => !isEmpty(name)));
}
