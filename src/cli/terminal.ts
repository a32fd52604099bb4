/**
 * The only path of every command to stdout and stderr. Names and texts from files, feeds and stores are untrusted, so this module
 * escapes everything that a terminal or a log reader would interpret. It does not know what the texts mean.
 */
import { once } from 'node:events';
import { fstatSync, readSync, statSync } from 'node:fs';
import { devNull } from 'node:os';

/** Control characters (C0, DEL, C1), line separators, and bidirectional controls. */
const INTERPRETED = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
/** The characters of `INTERPRETED` that JSON.stringify does not escape. */
const INTERPRETED_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const code = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Escapes a text for a line. */
export const escapeControls = (text: string): string =>
  text.replace(INTERPRETED, (character) => SHORT[character] ?? code(character));

/** Replaces the characters in JSON that a terminal would interpret by JSON escapes. */
export const escapeJson = (json: string): string => json.replace(INTERPRETED_IN_JSON, code);

/** Writes lines of text to stdout. Line breaks inside a line are escaped. */
export function writeLines(lines: string | readonly string[]): void {
  write('stdout', ended(lines));
}

const ended = (lines: string | readonly string[]): string =>
  (typeof lines === 'string' ? [lines] : lines).map((line) => `${escapeControls(line)}\n`).join('');

/** Writes a value to stdout, as one line of JSON. */
export function writeJson(value: object): void {
  write('stdout', jsonLine(value));
}

const jsonLine = (value: object): string => `${escapeJson(JSON.stringify(value))}\n`;

/** Whether the caller of `writeAndWait` handles an error of stdout, which otherwise ends the process. */
let isHandled = false;

/**
 * Whether stdout was closed when the process began. Node then opens the null device for reading and writing, whereas a shell that
 * redirects stdout to the null device opens it only for writing.
 */
export function wasStdoutClosed(): boolean {
  try {
    return fstatSync(1).rdev === statSync(devNull).rdev && readSync(1, Buffer.alloc(1)) === 0;
  } catch {
    return false;
  }
}

/**
 * Writes a line of text, or a value as JSON, and waits until the system has accepted it.
 * @throws the error of stdout, which does not end the process in this case
 */
export function writeAndWait(result: string | readonly string[] | { readonly json: object }): Promise<void> {
  isHandled = true;
  const text = typeof result === 'object' && 'json' in result ? jsonLine(result.json) : ended(result);
  return new Promise((resolve, reject) => {
    write('stdout', text, (error) => {
      if (error) return reject(error);
      isHandled = false;
      resolve();
    });
  });
}

/** Writes a JSON line to stdout, and waits for a slow reader. */
export async function streamJson(line: string): Promise<void> {
  if (!write('stdout', `${escapeJson(line)}\n`)) await once(process.stdout, 'drain');
}

/** Resolves when the system has accepted everything that was written to stdout. */
export function flushOutput(): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write('', (error) => (error ? reject(error) : resolve()));
  });
}

/** Reports lines of text on stderr. */
export function reportLines(lines: string | readonly string[]): void {
  write('stderr', ended(lines));
}

/** Reports a value on stderr, as one line of JSON. */
export function reportJson(value: object): void {
  write('stderr', jsonLine(value));
}

/** Whether stderr is a terminal. */
export const isStderrTerminal = (): boolean => process.stderr.isTTY === true;

/** Whether stderr is a terminal that can overwrite a line. The capabilities of a terminal without a name (TERM) are unknown. */
export const canOverwrite = (): boolean =>
  isStderrTerminal() && !['', 'dumb', 'unknown'].includes(process.env.TERM ?? '');

const CLEAR_LINE = '\r\u001b[K';

/** The same line at several lengths, the longest first. */
export type LineVersions = readonly [string, ...string[]];

/** The line at the bottom of the terminal that is overwritten; all other output goes above it. */
let bottomLine: LineVersions | undefined;
let isListening = false;

/** Overwrites the line at the bottom of the terminal. */
export function overwriteLine(line: LineVersions): void {
  bottomLine = line;
  process.stderr.write(`${CLEAR_LINE}${fitLine(line)}`);
  if (isListening) return;
  isListening = true;
  process.stderr.on('resize', () => bottomLine !== undefined && overwriteLine(bottomLine));
  // However the process ends, the line stays, and the prompt of the shell begins on a new line.
  process.once('exit', keepBottomLine);
}

/** Removes the line at the bottom. */
export function removeBottomLine(): void {
  if (bottomLine === undefined) return;
  bottomLine = undefined;
  process.stderr.write(CLEAR_LINE);
}

/** Leaves the line at the bottom on the screen. */
export function keepBottomLine(): void {
  if (bottomLine === undefined) return;
  bottomLine = undefined;
  process.stderr.write('\n');
}

/** Starts a new line after a terminal has echoed a key, such as ^C. */
export function startNewLine(): void {
  if (!isStderrTerminal()) return;
  if (bottomLine === undefined) process.stderr.write('\n');
  else overwriteLine(bottomLine);
}

/** Writes whole lines, above the line at the bottom if both are on the same terminal. */
function write(stream: 'stdout' | 'stderr', text: string, done?: (error?: Error | null) => void): boolean {
  if (bottomLine === undefined || !process[stream].isTTY) return process[stream].write(text, done);
  process.stderr.write(CLEAR_LINE);
  const isTaken = process[stream].write(text, done);
  overwriteLine(bottomLine);
  return isTaken;
}

const USUAL_COLUMNS = 80;

/**
 * The longest version that leaves the last column free, because some terminals wrap there; otherwise, the shortest version,
 * truncated.
 */
function fitLine(line: LineVersions): string {
  const most = (process.stderr.columns || USUAL_COLUMNS) - 1;
  const texts = line.map(escapeControls);
  return texts.find((text) => columnsOf(text) <= most) ?? truncate(texts.at(-1) ?? '', most);
}

function truncate(text: string, most: number): string {
  let columns = 0;
  let taken = '';
  for (const character of text) {
    columns += columnsOf(character);
    if (columns > most - 1) break;
    taken += character;
  }
  return `${taken}…`;
}

/** An upper limit of the columns of a text: every character from the ranges with wide characters counts as two. */
function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += /[^\u1100-\u1fff\u2c00-\u{10ffff}]/u.test(character) ? 1 : 2;
  return columns;
}

/** Writes several lines of text, as the command-line parser produces them. */
export const writeText = (text: string): void => void write('stdout', escapeLines(text));
export const reportText = (text: string): void => void write('stderr', escapeLines(text));

const escapeLines = (text: string): string => text.split('\n').map(escapeControls).join('\n');

/**
 * The destination of log lines: stderr, synchronously.
 * @param open opens a file descriptor for a logger
 */
export function logStream(open: (descriptor: number) => { write(line: string): unknown }): {
  write(line: string): void;
} {
  const destination = open(2);
  return { write: (line) => void destination.write(escapeJson(line)) };
}

/**
 * Calls the listener for an error of stdout, unless `writeAndWait` handles it. Errors of stderr are ignored, because nothing could
 * be reported there.
 */
export function onOutputError(listener: (error: Error) => void): void {
  process.stdout.on('error', (error) => {
    if (!isHandled) listener(error);
  });
  process.stderr.on('error', () => undefined);
}
