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
