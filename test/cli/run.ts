/**
 * The program as a user runs it, with arguments, an environment and a folder: in a process of its own, or in one that runs many
 * commands if nothing of that matters (each in its own with `PLAT_FULL=1`).
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../src/open-store.ts';
import { PromiseQueue } from '../../src/shared/promise-queue.ts';
import type { Scope } from '../support/engine.ts';
import { temporaryFile } from '../support/temporary.ts';
import { type Json, objectOf } from '../support/world.ts';
import { endResident, runResident } from './resident.ts';

export const PLAT = fileURLToPath(new URL('../../bin/plat.js', import.meta.url));

/** Lines of progress, of which a slow machine writes more. */
const PROGRESS = /^\{"time":.*"task":.*\}\n/gm;

/** The exit code and output of a process, without progress. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether plat finds the Node flags of its command itself, and restarts with them. */
  readonly isUnprepared?: boolean;
  /** Whether it is a service that ends with an error as it starts, and needs no process of its own. */
  readonly endsAtStart?: boolean;
  /** Options of Node for a process of its own; they follow those of the command. */
  readonly flags?: readonly string[];
}

/** A running process. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves with all of stdout as soon as it matches. @throws when the process ends before that */
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
  /** Runs a command to its end; commands that are run at the same time run one after the other. */
  run(args: readonly string[], options?: RunOptions): Promise<Ended>;
  /** Runs a command that must succeed, and returns its stdout. */
  done(args: readonly string[], options?: RunOptions): Promise<string>;
  /** The records of a resource in a store, in the folder or on a server, as `plat export` writes them. */
  exported(store: string, resource: string): Promise<Json[]>;
}

export function place(scope: Scope): Place {
  const folder = temporaryFile('');
  mkdirSync(folder);
  const running = new Set<ChildProcess>();
  const queue = new PromiseQueue();
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
    if (isFull) return await queue.run(() => start(args, options).ended);
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

/** The Node flags with which a command does not restart, which would take another start of Node. */
function memoryOf(command = ''): { readonly flags?: readonly string[]; readonly arenas?: string } {
  const memory = Object(JSON.parse(readFileSync(new URL('../../bin/memory.json', import.meta.url), 'utf8')));
  return memory[command] ?? {};
}

/** Whether a command needs a process of its own: it reads stdin, has options of Node, or logs like a service. */
const needsOwnProcess = (
  args: readonly string[],
  { input, env = {}, endsAtStart = false }: RunOptions,
): boolean =>
  input !== undefined ||
  args.includes('-') ||
  (args[0] === 'serve' && !endsAtStart) ||
  Object.entries(env).some(([name, value]) => name.startsWith('NODE_') && value !== OFF);

/** Gives a process a clock that is off; a process that runs many commands sets it for each. */
const OFF = `--import=${new URL('../support/other-date.js', import.meta.url)}`;

/** The environment of a process whose clock is off by that many milliseconds. */
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
 * The environment of this process without variables that would set options. A run with another clock keeps it, and the compile cache
 * is shared.
 */
export function environment(own: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const atOtherDate = process.env.PLAT_TEST_DATE_OFFSET !== undefined;
  const inherited = Object.entries(process.env).filter(
    ([name]) =>
      !/^(PLAT|NODE)_/.test(name) ||
      name === 'NODE_COMPILE_CACHE' ||
      (atOtherDate && (name === 'NODE_OPTIONS' || name.startsWith('PLAT_TEST_DATE'))),
  );
  // Only the compile cache of a run of all tests has a folder of its own.
  const caches = process.env.NODE_COMPILE_CACHE === undefined ? {} : { XDG_CACHE_HOME: CACHES };
  return { ...Object.fromEntries(inherited), ...caches, ...own };
}

/** The files of kept pages of stores on a server are put here, not into the home folder of whoever runs the tests. */
const CACHES = temporaryFile('-caches');
