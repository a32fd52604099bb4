/**
 * The text of one option of a request, the errors that point into it, and the limits on the work that it may ask for. The
 * length of the text itself is limited by the URL. This module knows neither the grammar nor the dictionary.
 */
import { type PlatError, platError } from '../../errors/index.ts';

/** Levels of nesting: of the text (parentheses, arguments, lambdas), and of the bound tree. */
export const MAX_DEPTH = 100;
/** Lambdas and counts inside each other: what each ranges over multiplies. */
export const MAX_LAMBDAS = 10;
/** Operators, functions and conditions of one option; aliases and computed names count where they are used. */
export const MAX_TERMS = 2000;
/**
 * Terms of one request, and characters of its values (a few more for each). Aliases, computed names and `$levels` count as
 * often as they are used: what is written once may be used thousands of times.
 */
export const MAX_REQUEST_TERMS = 5000;
export const MAX_VALUE_CHARACTERS = 131_072;
/** Values in one list after `in`. */
export const MAX_VALUES = 2000;
/** Expansions of one request; those of `*` and `$levels` count one by one. */
export const MAX_EXPANSIONS = 100;
/** What `$levels=max` means, and the most that `$levels` takes. */
export const MAX_LEVELS = 5;

/** A text that is read, and the option that a message about it names. */
export interface OptionText {
  readonly option: string;
  readonly text: string;
}

/** Something that was read, with the text that its positions count in. */
export interface Sourced<T> {
  readonly source: OptionText;
  readonly value: T;
}

/** Where something begins in its text: an offset from 0. */
export interface Start {
  readonly start: number;
}

const LONGEST_SHOWN = 40;

/** A piece of the request as a message shows it. */
export const shown = (text: string): string =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;

/**
 * Decodes a part of a URL.
 * @throws requestMalformed when a percent sign is not followed by two hexadecimal digits, or the bytes are not UTF-8
 */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    const reason = `the percent-encoding of ${JSON.stringify(shown(text))} is broken`;
    throw platError('requestMalformed', { reason }, { cause });
  }
}

/** The option and position that a message names; positions count characters from 1, not UTF-16 units. */
export const positionOf = ({ option, text }: OptionText, start: number) => ({
  option,
  position: [...text.slice(0, start)].length + 1,
});

/** The grammar expects something else here. */
export function syntaxError(source: OptionText, start: number, found: string, expected: string): PlatError {
  return platError('syntax', { ...positionOf(source, start), found, expected }, { target: source.option });
}

/** The text requests more than a limit allows. */
export function tooLarge(source: OptionText, start: number, what: string, limit: number): PlatError {
  return platError(
    'filterTooLarge',
    { ...positionOf(source, start), what, limit },
    { target: source.option },
  );
}

/** The text is well formed, but its values have the wrong types. */
export function typeMismatch(source: OptionText, start: number, reason: string): PlatError {
  return platError('typeMismatch', { ...positionOf(source, start), reason }, { target: source.option });
}

/** OData has it, and this service does not. */
export function notProvided(source: OptionText, start: number, what: string): PlatError {
  return platError('notImplemented', { ...positionOf(source, start), what }, { target: source.option });
}
