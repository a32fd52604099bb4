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
  write('stdout', ended(lines));
}

const ended = (lines: string | readonly string[]): string =>
  (typeof lines === 'string' ? [lines] : lines).map((line) => `${escaped(line)}\n`).join('');

/** Writes a value to stdout, as one line of JSON. */
export function writeJson(value: object): void {
  write('stdout', `${escapedJson(JSON.stringify(value))}\n`);
}

/** Writes a line that is JSON already to stdout, and waits for a reader that is slower. */
export async function streamJson(line: string): Promise<void> {
  if (!write('stdout', `${escapedJson(line)}\n`)) await once(process.stdout, 'drain');
}

/** Reports lines of text on stderr. */
export function reportLines(lines: string | readonly string[]): void {
  write('stderr', ended(lines));
}

/** Reports a value on stderr, as one line of JSON. */
export function reportJson(value: object): void {
  write('stderr', `${escapedJson(JSON.stringify(value))}\n`);
}

/** Whether a person watches stderr. */
export const isWatched = (): boolean => process.stderr.isTTY === true;

/** Whether a line can be written over there; a dumb terminal only goes on to the next. */
export const canWriteOver = (): boolean => isWatched() && process.env.TERM !== 'dumb';

const CLEAR_LINE = '\r\u001b[K';

/** The same line at several lengths, the longest first. */
export type Lengths = readonly [string, ...string[]];

/** The line at the bottom of the terminal that is written over; whatever else is written goes above it. */
let bottom: Lengths | undefined;
let isListening = false;

/** Writes over the line at the bottom of the terminal. */
export function reportOver(line: Lengths): void {
  bottom = line;
  process.stderr.write(`${CLEAR_LINE}${fitting(line)}`);
  if (isListening) return;
  isListening = true;
  process.stderr.on('resize', () => bottom !== undefined && reportOver(bottom));
  // Whatever ends the process, the line stays, and the shell begins on its own.
  process.once('exit', endOver);
}

/** Takes the line at the bottom away. */
export function dropOver(): void {
  if (bottom === undefined) return;
  bottom = undefined;
  process.stderr.write(CLEAR_LINE);
}

/** Lets the line at the bottom stay as it is. */
export function endOver(): void {
  if (bottom === undefined) return;
  bottom = undefined;
  process.stderr.write('\n');
}

/** Leaves the line on which a terminal shows a key that was typed, such as ^C. */
export function leaveLine(): void {
  if (!isWatched()) return;
  if (bottom === undefined) process.stderr.write('\n');
  else reportOver(bottom);
}

/** Writes whole lines, above the one that is written over where both are on one screen. */
function write(stream: 'stdout' | 'stderr', text: string): boolean {
  if (bottom === undefined || !process[stream].isTTY) return process[stream].write(text);
  process.stderr.write(CLEAR_LINE);
  const isTaken = process[stream].write(text);
  reportOver(bottom);
  return isTaken;
}

const USUAL_COLUMNS = 80;

/** The longest that leaves the last column free, where some terminals already begin a line; else as much as there is room for. */
function fitting(line: Lengths): string {
  const most = (process.stderr.columns || USUAL_COLUMNS) - 1;
  const texts = line.map(escaped);
  return texts.find((text) => columnsOf(text) <= most) ?? cut(texts.at(-1) ?? '', most);
}

function cut(text: string, most: number): string {
  let columns = 0;
  let taken = '';
  for (const character of text) {
    columns += columnsOf(character);
    if (columns > most - 1) break;
    taken += character;
  }
  return `${taken}…`;
}

/** The most columns that a text may take: scripts with wide characters count two each, whatever stands between them. */
function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += /[^\u1100-\u1fff\u2c00-\u{10ffff}]/u.test(character) ? 1 : 2;
  return columns;
}

/** Text of several lines that the program's own parser of the command line writes. */
export const writeText = (text: string): void => void write('stdout', lineByLine(text));
export const reportText = (text: string): void => void write('stderr', lineByLine(text));

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

/** When nobody reads stdout any more. What cannot be reported, since a terminal was closed, ends nothing. */
export function onOutputError(listener: (error: Error) => void): void {
  process.stdout.on('error', listener);
  process.stderr.on('error', () => undefined);
}
