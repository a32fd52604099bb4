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

/** @param start offset into the text, from 0; the message counts from 1. */
export function syntaxError(source: Source, start: number, found: string, expected: string): PlatError {
  return platError(
    'syntax',
    { option: source.option, position: start + 1, found, expected },
    { target: source.option },
  );
}

export function tooLarge(source: Source, what: string, limit: number, start: number): PlatError {
  return platError(
    'filterTooLarge',
    { option: source.option, what, limit, position: start + 1 },
    { target: source.option },
  );
}
