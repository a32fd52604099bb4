/**
 * The one way of every command to stdout and stderr. Names and texts come from files, feeds and stores, whose authors
 * may be strangers: whatever of them a terminal or a reader of a log would obey is escaped here. It knows nothing of
 * what the commands say.
 */
import { once } from 'node:events';

/** Control characters (C0, DEL, C1), line separators, and what changes the direction of the text around it. */
const OBEYED = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
/** Of those, what JSON.stringify leaves as it is. */
const OBEYED_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const code = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A text as it may stand in a line. */
export const escaped = (text: string): string =>
  text.replace(OBEYED, (character) => SHORT[character] ?? code(character));

/** The same JSON text, with every character in its strings that a terminal would obey as an escape of JSON. */
export const escapedJson = (json: string): string => json.replace(OBEYED_IN_JSON, code);

/** Writes lines of text to stdout; a character that would end a line does not. */
export function writeLines(lines: string | readonly string[]): void {
  process.stdout.write(ended(lines));
}

const ended = (lines: string | readonly string[]): string =>
  (typeof lines === 'string' ? [lines] : lines).map((line) => `${escaped(line)}\n`).join('');

/** Writes a value to stdout, as one line of JSON. */
export function writeJson(value: unknown): void {
  process.stdout.write(`${escapedJson(JSON.stringify(value))}\n`);
}

/** Writes a line that is JSON already to stdout, and waits for a reader that is slower. */
export async function streamJson(line: string): Promise<void> {
  if (!process.stdout.write(`${escapedJson(line)}\n`)) await once(process.stdout, 'drain');
}

/** Reports lines of text on stderr. */
export function reportLines(lines: string | readonly string[]): void {
  process.stderr.write(ended(lines));
}

/** Reports a value on stderr, as one line of JSON. */
export function reportJson(value: unknown): void {
  process.stderr.write(`${escapedJson(JSON.stringify(value))}\n`);
}

/** Whether a person watches stderr. */
export const isWatched = (): boolean => process.stderr.isTTY === true;

const CLEAR_LINE = '\r\u001b[K';

/** Writes over the line of progress on a terminal. @param stays whether the next one goes below it */
export function reportOver(line: string, stays: boolean): void {
  process.stderr.write(`${CLEAR_LINE}${escaped(line)}${stays ? '\n' : ''}`);
}

/** Text of several lines that the program's own parser of the command line writes. */
export const writeText = (text: string): void => void process.stdout.write(lineByLine(text));
export const reportText = (text: string): void => void process.stderr.write(lineByLine(text));

const lineByLine = (text: string): string => text.split('\n').map(escaped).join('\n');

/**
 * Where the lines of a log go: stderr, at once.
 * @param open opens a descriptor for a logger
 */
export function logStream(open: (descriptor: number) => { write(line: string): unknown }): {
  write(line: string): void;
} {
  const destination = open(2);
  return { write: (line) => void destination.write(escapedJson(line)) };
}

/** When nobody reads stdout any more. */
export function onOutputError(listener: (error: Error) => void): void {
  process.stdout.on('error', listener);
}
