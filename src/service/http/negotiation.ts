/**
 * Reads from the headers of a request which response the client wants: media type and encoding (RFC 9110, 12.5), version of OData,
 * and preferences. It must not know what is requested.
 *
 * Media ranges are parsed here and not by a library, because OData clients add parameters to them
 * (`application/json;odata.metadata=full`) that do not exclude the type, and because the order of the offers decides between types
 * of the same quality.
 */
import { platError } from '../../errors/index.ts';

type Headers = Readonly<Record<string, string | undefined>>;

interface MediaRange {
  readonly name: string;
  readonly quality: number;
  readonly parameters: readonly string[];
}

/** Cached parsed headers. Most clients send the same few headers; their length and number are limited. */
const parsedHeaders = new Map<string, readonly MediaRange[]>();
const LONGEST_KEPT = 200;
const MOST_KEPT = 500;

function rangesOf(header: string): readonly MediaRange[] {
  const known = parsedHeaders.get(header);
  if (known !== undefined) return known;
  const ranges = readRanges(header);
  if (header.length <= LONGEST_KEPT) {
    if (parsedHeaders.size >= MOST_KEPT) parsedHeaders.clear();
    parsedHeaders.set(header, ranges);
  }
  return ranges;
}

const readRanges = (header: string): readonly MediaRange[] =>
  header.split(',').flatMap((part) => {
    const [name = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    const weight = parameters.find((each) => each.startsWith('q='))?.slice(2);
    const quality = weight === undefined ? 1 : Number(weight);
    return name === '' || Number.isNaN(quality) ? [] : [{ name, quality, parameters }];
  });

/**
 * The offer with the highest quality; the first one if several have the same quality.
 *
 * @param namesOf the names by which a range may refer to an offer, the most specific first
 */
function bestOf<T extends string>(
  header: string,
  offered: readonly T[],
  namesOf: (offer: T) => readonly string[],
): T | undefined {
  const ranges = rangesOf(header);
  let best: { readonly offer: T; readonly quality: number } | undefined;
  for (const offer of offered) {
    const [quality = 0] = namesOf(offer).flatMap(
      (name) => ranges.find((each) => each.name === name)?.quality ?? [],
    );
    if (quality > (best?.quality ?? 0)) best = { offer, quality };
  }
  return best?.offer;
}

/** The media type for a client; undefined if its header excludes all offers. */
export const chooseType = <T extends string>(
  header: string | undefined,
  offered: readonly T[],
): T | undefined =>
  header === undefined || header.trim() === ''
    ? offered[0]
    : bestOf(header, offered, (type) => [type, `${type.split('/')[0]}/*`, '*/*']);

/** A parameter of the best media range for JSON, by one of its names, in lower case. */
export function parameterOf(header: string | undefined, names: readonly string[]): string | undefined {
  if (header === undefined) return undefined;
  const own = rangesOf(header).filter(({ name, quality }) => name === 'application/json' && quality > 0);
  const [best] = own.toSorted((left, right) => right.quality - left.quality);
  const found = best?.parameters.find((each) => names.some((name) => each.startsWith(`${name}=`)));
  return found?.slice(found.indexOf('=') + 1).replaceAll('"', '');
}

/** The content encodings that plat offers, in the order of their speed. */
const ENCODINGS = ['zstd', 'br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The order for a body that is cached as gzip, which then takes the least work. */
const GZIP_FIRST = ['gzip', 'zstd', 'br'] as const;

/** Whether gzip is the client's most preferred encoding, or one of them. */
export const prefersGzip = (header: string | undefined): boolean =>
  header !== undefined && bestOf(header, GZIP_FIRST, (encoding) => [encoding, '*']) === 'gzip';

/** The content encoding for a client; undefined: none. */
export const chooseEncoding = (header: string | undefined): Encoding | undefined =>
  header === undefined ? undefined : bestOf(header, ENCODINGS, (encoding) => [encoding, '*']);

type ODataVersion = '4.0' | '4.01';

/** The header of a response to a request that could not be parsed. */
export const ODATA_VERSION = { 'odata-version': '4.01' } as const;

/** The OData version of a response, even of an error (OData 4.01 protocol, 8.1.5 and 8.2.6). */
export const responseVersion = ({
  'odata-version': version,
  'odata-maxversion': maxVersion,
}: Headers): ODataVersion => (version === '4.0' || /^4(\.0+)?$/.test(maxVersion ?? '') ? '4.0' : '4.01');

/**
 * Like `responseVersion`, but rejects a request that cannot be answered.
 * @throws PlatError `versionUnsupported` for an unknown or newer version
 */
export function negotiateVersion(headers: Headers): ODataVersion {
  const { 'odata-version': version, 'odata-maxversion': maxVersion } = headers;
  if (version !== undefined && version !== '4.0' && version !== '4.01') {
    throw platError('versionUnsupported', { header: 'OData-Version', version });
  }
  if (maxVersion !== undefined && !(/^\d+(\.\d+)?$/.test(maxVersion) && Number(maxVersion) >= 4)) {
    throw platError('versionUnsupported', { header: 'OData-MaxVersion', version: maxVersion });
  }
  return responseVersion(headers);
}

/** The preferences of a request that plat honors (OData 4.01 protocol, 8.2.8). */
export interface Preferences {
  readonly maxPageSize?: number;
  readonly omitNulls: boolean;
  /** Whether hidden fields are replaced by annotations such as `Core.Permissions`. */
  readonly annotations: boolean;
  /** Whether the client requests a delta link. */
  readonly trackChanges: boolean;
}

/** Preferences are separated by commas, outside quotes (RFC 7240, 2). */
const ELEMENT = /(?:[^",]|"(?:[^"\\]|\\.)*")+/g;
/** A preference with its value. The part after a semicolon has parameters, none of which plat knows. */
const PREFERENCE = /^\s*(?:odata\.)?([\w.-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*)))?\s*(?:;|$)/i;

const NO_PREFERENCES: Preferences = { omitNulls: false, annotations: false, trackChanges: false };

export function parsePreferences(header = ''): Preferences {
  if (header === '') return NO_PREFERENCES;
  const given = new Map<string, string>();
  for (const [element] of header.matchAll(ELEMENT)) {
    const [, name = '', quoted, plain = ''] = PREFERENCE.exec(element) ?? [];
    // If a preference is repeated, the first one counts.
    if (!given.has(name.toLowerCase())) given.set(name.toLowerCase(), quoted ?? plain);
  }
  const size = given.get('maxpagesize') ?? '';
  return {
    ...(/^[1-9]\d{0,8}$/.test(size) ? { maxPageSize: Number(size) } : {}),
    omitNulls: given.get('omit-values')?.toLowerCase() === 'nulls',
    annotations: includesPermissions(given.get('include-annotations') ?? ''),
    trackChanges: given.has('track-changes'),
  };
}

/** Whether annotation patterns include `Core.Permissions`. More specific patterns come later; a minus sign excludes (8.2.8.4). */
function includesPermissions(patterns: string): boolean {
  let included = false;
  for (const pattern of patterns.split(',').map((each) => each.trim())) {
    const name = pattern.replace(/^-/, '').replace(/^Org\.OData\.Core\.V1\./, 'Core.');
    if (['*', 'Core.*', 'Core.Permissions'].includes(name)) included = !pattern.startsWith('-');
  }
  return included;
}
