/**
 * Runs programs on a real pseudo-terminal, which `script` of util-linux provides: tests can type keys, and see the screen as a
 * terminal shows it. This module knows nothing of plat.
 */
import { spawn, spawnSync } from 'node:child_process';
import type { Scope } from './engine.ts';

const { status, stdout = '' } = spawnSync('script', ['--version'], { encoding: 'utf8' });
/** Why no test can have a terminal here; false if it can. */
export const noTerminal: string | false =
  status === 0 && stdout.includes('util-linux')
    ? false
    : 'there is no script of util-linux here, so nothing is shown on a terminal';

export const CTRL_C = '\u0003';
export const CTRL_D = '\u0004';

export interface TerminalOptions {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly columns?: number;
}

/** A program on a terminal. */
export interface OnTerminal {
  /** Resolves as soon as the output since the last key, or since the beginning, matches. @throws if the program ends before */
  until(pattern: RegExp): Promise<string>;
  type(keys: string): void;
  /** Changes the width, as when the window is resized. */
  resize(columns: number): void;
  /** Closes the window. */
  close(): void;
  /** The exit code (128 plus the number of a signal that ended it), the complete output, and the final screen. */
  readonly ended: Promise<{ readonly code: number | null; readonly text: string; readonly screen: string }>;
}

/** A word, quoted for a shell. */
export const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** A shell command of words, each quoted. */
export const shellLine = (words: readonly string[]): string => words.map(quoted).join(' ');

/** @param line for the shell; the last of its programs should be started with `exec` */
export function onTerminal(
  scope: Scope,
  line: string,
  { folder, env, columns = 80 }: TerminalOptions,
): OnTerminal {
  const child = spawn(
    'script',
    ['-qefc', `tty; stty cols ${columns} rows 24; printf 'begun\\n'; ${line}`, '/dev/null'],
    { cwd: folder, env: { ...env, SHELL: '/bin/sh' } },
  );
  scope.after(() => void child.kill('SIGKILL'));
  let text = '';
  let seen = 0;
  let device = '';
  let width = columns;
  child.stdin.on('error', () => undefined);
  child.stderr.resume();
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    if (device !== '' || !text.includes('begun\r\n')) return;
    [device = ''] = text.split('\r\n');
    text = text.slice(text.indexOf('begun\r\n') + 'begun\r\n'.length);
  });
  const ended: OnTerminal['ended'] = new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, text, screen: seenOn(text, width) }));
  });
  return {
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const since = text.slice(seen).replaceAll('\r\n', '\n');
          if (device === '' || !pattern.test(since)) return;
          child.stdout.off('data', look);
          resolve(since);
        };
        child.stdout.on('data', look);
        ended.then(({ code }) => reject(new Error(`ended with ${code} before ${pattern}: ${text}`)));
        look();
      }),
    type(keys) {
      seen = text.length;
      child.stdin.write(keys);
    },
    resize(narrower) {
      width = narrower;
      spawnSync('stty', ['-F', device, 'cols', String(narrower)]);
    },
    close: () => void child.kill('SIGKILL'),
  };
}

const CLEAR_LINE = '\u001b[K';
/** The same as one character, which occurs in no text. */
const CLEAR = '\ue000';

/** The screen of a terminal after a text, line by line. @throws for a control sequence that tests do not support */
export function seenOn(text: string, columns: number): string {
  const rows = [''];
  let column = 0;
  const put = (character: string): void => {
    if (column === columns) {
      rows.push('');
      column = 0;
    }
    const row = (rows.at(-1) ?? '').padEnd(column);
    rows[rows.length - 1] = row.slice(0, column) + character + row.slice(column + 1);
    column++;
  };
  for (const part of text.replaceAll(CLEAR_LINE, CLEAR)) {
    if (part === CLEAR) rows[rows.length - 1] = (rows.at(-1) ?? '').slice(0, column);
    else if (part === '\r') column = 0;
    else if (part === '\n') rows.push('');
    else if (part < ' ')
      throw new Error(`a terminal was sent ${JSON.stringify(part)} in ${JSON.stringify(text)}`);
    else put(part);
  }
  return rows.join('\n');
}
