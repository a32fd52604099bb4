import { platError } from '../../errors/index.ts';

interface MediaRange {
  readonly type: string;
  readonly quality: number;
  readonly parameters: readonly string[];
}

function parseRanges(header: string): MediaRange[] {
  return header.split(',').flatMap((part) => {
    const [type = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    const weight = parameters.find((each) => each.startsWith('q='))?.slice(2);
    const quality = weight === undefined ? 1 : Number(weight);
    return type === '' || Number.isNaN(quality) ? [] : [{ type, quality, parameters }];
  });
}

function qualityOf(ranges: readonly MediaRange[], offered: string): number {
  const [group] = offered.split('/');
  for (const type of [offered, `${group}/*`, '*/*']) {
    const range = ranges.find((each) => each.type === type);
    if (range !== undefined) return range.quality;
  }
  return 0;
}

/**
 * The offered media type that a client likes best; the first of those it likes equally. Undefined when the
 * header rules all of them out (RFC 9110, 12.5.1).
 */
export function chooseType<T extends string>(
  header: string | undefined,
  offered: readonly T[],
): T | undefined {
  if (header === undefined || header.trim() === '') return offered[0];
  const ranges = parseRanges(header);
  let best: { type: T; quality: number } | undefined;
  for (const type of offered) {
    const quality = qualityOf(ranges, type);
    if (quality > (best?.quality ?? 0)) best = { type, quality };
  }
  return best?.type;
}

/** A parameter of the range by which a client likes a media type best, by one of its names and in small letters. */
export function parameterOf(
  header: string | undefined,
  type: string,
  names: readonly string[],
): string | undefined {
  const own = parseRanges(header ?? '').filter((range) => range.type === type && range.quality > 0);
  const [best] = own.toSorted((left, right) => right.quality - left.quality);
  const found = best?.parameters.find((each) => names.some((name) => each.startsWith(`${name}=`)));
  return found?.slice(found.indexOf('=') + 1).replaceAll('"', '');
}

/** Content encodings that plat can make, the one it makes fastest first. */
export const ENCODINGS = ['zstd', 'br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The encoding for a client; undefined: none. */
export function chooseEncoding(header: string | undefined): Encoding | undefined {
  if (header === undefined) return undefined;
  const ranges = parseRanges(header);
  let best: { encoding: Encoding; quality: number } | undefined;
  for (const encoding of ENCODINGS) {
    const range = ranges.find(({ type }) => type === encoding) ?? ranges.find(({ type }) => type === '*');
    if (range !== undefined && range.quality > (best?.quality ?? 0))
      best = { encoding, quality: range.quality };
  }
  return best?.encoding;
}

export type ODataVersion = '4.0' | '4.01';

/** The header of a response whose request asked for no other version, or could not be read. */
export const ODATA_VERSION = { 'odata-version': '4.01' } as const;

/**
 * The version that a response is given in (OData 4.01 protocol, 8.1.5 and 8.2.6).
 * @throws PlatError `versionUnsupported` for a request in a version that is unknown or newer
 */
export function negotiateVersion(version: string | undefined, maxVersion: string | undefined): ODataVersion {
  if (version !== undefined && version !== '4.0' && version !== '4.01') {
    throw platError('versionUnsupported', { version });
  }
  if (maxVersion !== undefined) {
    const number = /^\d+(\.\d+)?$/.test(maxVersion) ? Number(maxVersion) : Number.NaN;
    if (Number.isNaN(number) || number < 4) throw platError('versionUnsupported', { version: maxVersion });
    if (number < 4.01) return '4.0';
  }
  return version ?? '4.01';
}

/** The preferences of a request that plat honours (OData 4.01 protocol, 8.2.8). */
export interface Preferences {
  readonly maxPageSize?: number;
  readonly omitNulls: boolean;
  /** Whether annotations such as `Core.Permissions` are wanted in place of hidden fields. */
  readonly annotations: boolean;
}

/** Preferences are separated by commas, outside quotes (RFC 7240, 2). */
const ELEMENT = /(?:[^",]|"(?:[^"\\]|\\.)*")+/g;
/** A preference with its value; what follows a semicolon are parameters, of which none is known here. */
const PREFERENCE = /^\s*(?:odata\.)?([\w.-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*)))?\s*(?:;|$)/i;

export function parsePreferences(header: string | undefined): Preferences {
  let maxPageSize: number | undefined;
  let omitNulls = false;
  let annotations = false;
  const seen = new Set<string>();
  for (const [element] of (header ?? '').matchAll(ELEMENT)) {
    const [, given = '', quoted, plain = ''] = PREFERENCE.exec(element) ?? [];
    const name = given.toLowerCase();
    const value = quoted ?? plain;
    if (seen.has(name)) continue; // the first one counts
    seen.add(name);
    switch (name) {
      case 'maxpagesize':
        if (/^[1-9]\d{0,8}$/.test(value)) maxPageSize = Number(value);
        break;
      case 'omit-values':
        omitNulls = value.toLowerCase() === 'nulls';
        break;
      case 'include-annotations':
        annotations = wantsPermissions(value);
        break;
    }
  }
  return { ...(maxPageSize === undefined ? {} : { maxPageSize }), omitNulls, annotations };
}

/** Patterns of annotations, the most specific last; a minus sign excludes (8.2.8.4). */
function wantsPermissions(patterns: string): boolean {
  let wanted = false;
  for (const pattern of patterns.split(',').map((each) => each.trim())) {
    const name = pattern.replace(/^-/, '').replace(/^Org\.OData\.Core\.V1\./, 'Core.');
    if (['*', 'Core.*', 'Core.Permissions'].includes(name)) wanted = !pattern.startsWith('-');
  }
  return wanted;
}
