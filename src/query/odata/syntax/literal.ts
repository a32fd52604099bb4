import { parseShape, type Shape } from './geography.ts';
import { type Source, shown, syntaxError } from './source.ts';

/** A literal as it stands: `text` without quotes and prefix, doubled quotes undone. */
export type LiteralText =
  | {
      readonly form:
        | 'null'
        | 'boolean'
        | 'integer'
        | 'decimal'
        /** INF, -INF and NaN. */
        | 'special'
        | 'string'
        | 'guid'
        | 'date'
        | 'timestamp'
        | 'time'
        | 'duration'
        | 'binary';
      readonly text: string;
    }
  | { readonly form: 'enumeration'; readonly type: string; readonly text: string }
  | { readonly form: 'geography' | 'geometry'; readonly shape: Shape };

export interface ReadLiteral {
  readonly literal: LiteralText;
  readonly end: number;
}

const DATE = '-?(?:0\\d{3}|[1-9]\\d{3,})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])';
const HOUR = '(?:[01]\\d|2[0-3])';
const TIME = `${HOUR}:[0-5]\\d(?::(?:[0-5]\\d|60)(?:\\.\\d{1,12})?)?`;
const IS_DATE = new RegExp(`^${DATE}$`);
const IS_TIME = new RegExp(`^${TIME}$`);
const IS_TIMESTAMP = new RegExp(`^${DATE}T${TIME}(?:Z|[+-]${HOUR}:[0-5]\\d)$`, 'i');
const IS_DURATION = /^-?P(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?$/i;
const IS_BINARY = /^(?:[\w-]{4})*(?:[\w-]{2}[AEIMQUYcgkosw048]=?|[\w-][AQgw](?:==)?)?$/;

/** What dates, times and numbers begin with. */
const NUMERIC = '0123456789+-';
const GUID_AHEAD = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/iy;
/** Anything that means to be a date, so that a wrong one is named as such. */
const DATE_AHEAD = /-?\d+-\d+-\d+(?:T[\d:.]*(?:Z|[+-][\d:]+)?)?/iy;
const TIME_AHEAD = /\d\d:\d\d(?::\d\d(?:\.\d+)?)?/y;
const NUMBER_AHEAD = /[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?/iy;
const SPECIAL_AHEAD = /(?:-?INF|NaN)(?!\w)/y;
const BRANCH_END_AHEAD = /\s*[,)]/y;

/** The text that a sticky pattern matches at an offset. */
export function matchAt(pattern: RegExp, text: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0];
}

/** True for the text between the quotes of a duration; OData 4.01 lets the prefix be left out. */
export const isDuration = (text: string): boolean => IS_DURATION.test(text);

/**
 * Reads `'…'` at an offset: its text and its end.
 * @throws syntax when it is not closed.
 */
export function readQuoted(source: Source, offset: number): { text: string; end: number } {
  const { text } = source;
  let quote = text.indexOf("'", offset + 1);
  while (quote !== -1 && text[quote + 1] === "'") quote = text.indexOf("'", quote + 2);
  if (quote === -1) throw syntaxError(source, offset, 'a string that is not closed', "a closing '");
  return { text: text.slice(offset + 1, quote).replaceAll("''", "'"), end: quote + 1 };
}

/**
 * Reads a number, date, time or guid at an offset; undefined when none begins there.
 * @param splitTimes inside the condition of a `case` branch, where `10:20,` is a number, a colon and a number
 */
export function readBareLiteral(
  source: Source,
  offset: number,
  splitTimes: boolean,
): ReadLiteral | undefined {
  const { text } = source;
  const made = (form: 'guid' | 'date' | 'time' | 'timestamp' | 'special', found: string): ReadLiteral => ({
    literal: { form, text: found },
    end: offset + found.length,
  });
  const guid = matchAt(GUID_AHEAD, text, offset);
  if (guid !== undefined) return made('guid', guid);
  const special = matchAt(SPECIAL_AHEAD, text, offset);
  if (special !== undefined) return made('special', special);
  if (!NUMERIC.includes(text[offset] ?? '')) return undefined;
  const date = matchAt(DATE_AHEAD, text, offset);
  if (date !== undefined) {
    if (IS_DATE.test(date)) return made('date', date);
    if (IS_TIMESTAMP.test(date)) return made('timestamp', date);
    const expected = /[Tt]/.test(date)
      ? 'a date and time with its zone, such as 2024-05-31T08:30:00Z (write + as %2B)'
      : 'a date, such as 2024-05-31';
    throw syntaxError(source, offset, shown(date), expected);
  }
  const time = matchAt(TIME_AHEAD, text, offset);
  if (time !== undefined && !(splitTimes && matchAt(BRANCH_END_AHEAD, text, offset + time.length))) {
    if (IS_TIME.test(time)) return made('time', time);
    throw syntaxError(source, offset, shown(time), 'a time of day, such as 08:30:00');
  }
  const number = matchAt(NUMBER_AHEAD, text, offset);
  if (number === undefined) return undefined;
  const form = /^[+-]?\d+$/.test(number) ? 'integer' : 'decimal';
  return { literal: { form, text: number }, end: offset + number.length };
}

/**
 * Reads the quoted part of a prefixed literal, such as `duration'P1D'` or `Namespace.Type'Active'`.
 * @param quote offset of the opening quote
 */
export function readPrefixedLiteral(source: Source, prefix: string, quote: number): ReadLiteral {
  const { text, end } = readQuoted(source, quote);
  const wrong = (expected: string) => syntaxError(source, quote, `'${shown(text)}'`, expected);
  const form = prefix.toLowerCase();
  switch (form) {
    case 'duration':
      if (!isDuration(text)) throw wrong('a duration, such as P1DT12H');
      return { literal: { form, text }, end };
    case 'binary':
      if (!IS_BINARY.test(text)) throw wrong('base64url text');
      return { literal: { form, text }, end };
    case 'geography':
    case 'geometry': {
      const shape = parseShape(text);
      if (shape === undefined) throw wrong('a shape, such as SRID=4326;POINT(-122.4 37.7)');
      return { literal: { form, shape }, end };
    }
    default:
      if (text === '') throw wrong(`a value of ${shown(prefix)}`);
      return { literal: { form: 'enumeration', type: prefix, text }, end };
  }
}
