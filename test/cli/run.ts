/**
 * The program as a user runs it, with arguments, an environment and a folder of its own: as a process of its own, or
 * where nothing of that matters in one that runs many commands (all in their own with `PLAT_FULL=1`).
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../src/open-store.ts';
import type { Scope } from '../support/engine.ts';
import { temporaryFile } from '../support/temporary.ts';
import { type Json, objectOf } from '../support/world.ts';
import { endResident, runResident } from './resident.ts';

export const PLAT = fileURLToPath(new URL('../../bin/plat.js', import.meta.url));

/** Lines that tell of progress, of which a slow machine has more. */
const PROGRESS = /^\{"time":.*"task":.*\}\n/gm;

/** What a process ended with; progress is left out. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether plat is to find the flags of its command by itself, and begins anew with them. */
  readonly isUnprepared?: boolean;
  /** Of Node, in a process of its own; they come after those of the command. */
  readonly flags?: readonly string[];
}

/** A running process. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves with all of stdout as soon as it matches. @throws when the process ends before */
  until(pattern: RegExp): Promise<string>;
}

/** A folder for one test, in which its processes run. */
export interface Place {
  readonly folder: string;
  /** Writes a file; lists become lines of JSON. @returns its name */
  file(name: string, content: string | Uint8Array | readonly unknown[]): string;
  path(name: string): string;
  /** Starts a process of its own. */
  start(args: readonly string[], options?: RunOptions): Running;
  /** Runs a command to its end; those that are run at once run one after the other. */
  run(args: readonly string[], options?: RunOptions): Promise<Ended>;
  /** Runs what must end well, and gives its stdout. */
  done(args: readonly string[], options?: RunOptions): Promise<string>;
  /** What a store, in the folder or on a server, holds of a resource, as `plat export` would tell it. */
  exported(store: string, resource: string): Promise<Json[]>;
}

export function place(scope: Scope): Place {
  const folder = temporaryFile('');
  mkdirSync(folder);
  const running = new Set<ChildProcess>();
  let resident = 0;
  scope.after(() => {
    if (resident > 0) endResident();
    for (const child of running) child.kill('SIGKILL');
  });

  function start(
    args: readonly string[],
    { input = '', env = {}, flags = [], isUnprepared = isFull }: RunOptions = {},
  ): Running {
    const { flags: own = [], arenas } = isUnprepared ? {} : memoryOf(args[0]);
    const child = spawn(process.execPath, [...own, ...flags, PLAT, ...args], {
      cwd: folder,
      env: { ...(arenas === undefined ? {} : { MALLOC_ARENA_MAX: arenas }), ...environment(env) },
    });
    running.add(child);
    const text = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text.out += part;
    });
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      text.err += part;
    });
    child.stdin.on('error', () => undefined).end(input);
    const ended = new Promise<Ended>((resolve) => {
      child.on('close', (code) => {
        running.delete(child);
        resolve({ code, out: text.out, err: text.err.replaceAll(PROGRESS, '') });
      });
    });
    const until = (pattern: RegExp): Promise<string> =>
      new Promise((resolve, reject) => {
        const look = (): void => (pattern.test(text.out) ? resolve(text.out) : undefined);
        child.stdout.on('data', look);
        ended.then(({ code, err }) => reject(new Error(`ended with ${code}: ${err}`)));
        look();
      });
    return { child, ended, until };
  }

  const run: Place['run'] = async (args, options = {}) => {
    if (needsOwnProcess(args, options)) return await start(args, options).ended;
    resident++;
    const { code, out, err } = await runResident({ args, folder, env: environment(options.env ?? {}) });
    resident--;
    return { code, out, err: err.replaceAll(PROGRESS, '') };
  };

  const done: Place['done'] = async (args, options) => {
    const { code, out, err } = await run(args, options);
    assert.equal(code, 0, `${args.join(' ')}: ${err}`);
    return out;
  };

  return {
    folder,
    path: (name) => join(folder, name),
    file(name, content) {
      const bytes = typeof content === 'string' || content instanceof Uint8Array ? content : linesOf(content);
      writeFileSync(join(folder, name), bytes);
      return name;
    },
    start,
    run,
    done,
    async exported(store, resource) {
      const opened = await openStore(store.startsWith('postgres:') ? store : resolve(folder, store));
      try {
        const lines = await Array.fromAsync(opened.export(resource));
        return lines.map((line) => objectOf(line));
      } finally {
        await opened.close();
      }
    },
  };
}

const isFull = process.env.PLAT_FULL === '1';

/** What a command is started with so that it need not begin anew, which would take the time of one more start of Node. */
function memoryOf(command = ''): { readonly flags?: readonly string[]; readonly arenas?: string } {
  const memory = Object(JSON.parse(readFileSync(new URL('../../bin/memory.json', import.meta.url), 'utf8')));
  return memory[command] ?? {};
}

/** Whether a command is more than what it reads and writes: it reads stdin, has its own Node, or logs as a service does. */
const needsOwnProcess = (args: readonly string[], { input, env = {} }: RunOptions): boolean =>
  isFull ||
  input !== undefined ||
  args.includes('-') ||
  args[0] === 'serve' ||
  Object.entries(env).some(([name, value]) => name.startsWith('NODE_') && value !== OFF);

/** What gives a process a clock that is off; one that runs many commands sets it anew for each. */
const OFF = `--import=${new URL('../support/other-date.js', import.meta.url)}`;

/** What gives a process a clock that is off by so many milliseconds from that of this one. */
export function clockOff(milliseconds: number): Readonly<Record<string, string>> {
  const { PLAT_TEST_DATE_OFFSET = '0' } = process.env;
  return {
    NODE_OPTIONS: OFF,
    PLAT_TEST_DATE_OFFSET: String(Number(PLAT_TEST_DATE_OFFSET) + milliseconds),
  };
}

export const linesOf = (records: readonly unknown[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');

/**
 * The environment of this process without what would stand in for options; a run at another time stays there, and what
 * was compiled is shared.
 */
export function environment(own: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const atOtherDate = process.env.PLAT_TEST_DATE_OFFSET !== undefined;
  const inherited = Object.entries(process.env).filter(
    ([name]) =>
      !/^(PLAT|NODE)_/.test(name) ||
      name === 'NODE_COMPILE_CACHE' ||
      (atOtherDate && (name === 'NODE_OPTIONS' || name.startsWith('PLAT_TEST_DATE'))),
  );
  return { ...Object.fromEntries(inherited), ...own };
}
