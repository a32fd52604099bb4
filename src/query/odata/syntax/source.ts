import { type PlatError, platError } from '../../../errors/index.ts';

/** A text that is read, and the option that a message about it names. */
export interface Source {
  readonly option: string;
  readonly text: string;
}

/** A piece of syntax with the text that its positions count in. */
export interface Sourced<T> {
  readonly source: Source;
  readonly value: T;
}

const LONGEST_SHOWN = 40;

/** A piece of the request as a message shows it. */
export const shown = (text: string): string =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;

/** The errors of a place in a text; `start` is an offset from 0. */
export function syntaxError(source: Source, start: number, found: string, expected: string): PlatError {
  return platError('syntax', { ...placeOf(source, start), found, expected }, { target: source.option });
}

export function tooLarge(source: Source, start: number, what: string, limit: number): PlatError {
  return platError('filterTooLarge', { ...placeOf(source, start), what, limit }, { target: source.option });
}

export function typeMismatch(source: Source, start: number, reason: string): PlatError {
  return platError('typeMismatch', { ...placeOf(source, start), reason }, { target: source.option });
}

/** For what OData has and this service has not. */
export function notProvided(source: Source, start: number, what: string): PlatError {
  return platError('notImplemented', { ...placeOf(source, start), what }, { target: source.option });
}

/** A place as messages name it: characters are counted from 1, not the halves that some have in memory. */
export const placeOf = ({ option, text }: Source, start: number) => ({
  option,
  position: [...text.slice(0, start)].length + 1,
});
