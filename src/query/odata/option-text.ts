/**
 * The text of one option of a request, errors with a position in it, and the limits on the work that it may cause. The length of
 * the text itself is limited by that of the URL. This module knows neither the grammar nor the dictionary.
 */
import { malformedError, type PlatError, platError } from '../../errors/index.ts';

/** The maximum nesting of the text (parentheses, arguments, lambdas) and of the bound tree. */
export const MAX_DEPTH = 100;
/** The maximum nesting of lambdas and counts: the sizes of the collections that they range over multiply. */
export const MAX_LAMBDAS = 10;
/** The maximum number of operators, functions and conditions in one option. Aliases and computed names count at every use. */
export const MAX_TERMS = 2000;
/**
 * The maximum number of terms in one request, and of characters in its values (plus a few for each value). Aliases, computed names
 * and `$levels` count at every use, because an expression that is written once can be used thousands of times.
 */
export const MAX_REQUEST_TERMS = 5000;
export const MAX_VALUE_CHARACTERS = 131_072;
/** The maximum number of values in one list after `in`. */
export const MAX_VALUES = 2000;
/** The maximum number of expansions in one request; those of `*` and `$levels` count individually. */
export const MAX_EXPANSIONS = 100;
/** The meaning of `$levels=max`, and the largest value of `$levels`. */
export const MAX_LEVELS = 5;

/** A text to parse, and the option that messages about it name. */
export interface OptionText {
  readonly option: string;
  readonly text: string;
}

/** A parsed value, with the text that its positions refer to. */
export interface Sourced<T> {
  readonly source: OptionText;
  readonly value: T;
}

/** Where something begins in its text, as an offset from 0. */
export interface Start {
  readonly start: number;
}

const LONGEST_SHOWN = 40;

/** A part of the request, shortened for messages. */
export const shown = (text: string): string =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;

/**
 * Decodes a part of a URL.
 *
 * @throws requestMalformed if a percent sign is not followed by two hexadecimal digits, or the bytes are not UTF-8
 */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw malformedError(`the percent-encoding of ${JSON.stringify(shown(text))} is broken`, { cause });
  }
}

/** The option and position for a message; positions count characters from 1, not UTF-16 code units. */
export const positionOf = ({ option, text }: OptionText, start: number) => ({
  option,
  position: [...text.slice(0, start)].length + 1,
});

/** The error that the grammar requires something else. */
export function syntaxError(source: OptionText, start: number, found: string, expected: string): PlatError {
  return platError('syntax', { ...positionOf(source, start), found, expected }, { target: source.option });
}

/** The error that the text exceeds a limit. */
export function tooLarge(source: OptionText, start: number, what: string, limit: number): PlatError {
  return platError(
    'filterTooLarge',
    { ...positionOf(source, start), what, limit },
    { target: source.option },
  );
}

/** The error that the text is well formed but its values have the wrong types. */
export function typeMismatch(source: OptionText, start: number, reason: string): PlatError {
  return platError('typeMismatch', { ...positionOf(source, start), reason }, { target: source.option });
}

/** The error that OData defines something which this service does not provide. */
export function notProvided(source: OptionText, start: number, what: string): PlatError {
  return platError('notImplemented', { ...positionOf(source, start), what }, { target: source.option });
}
