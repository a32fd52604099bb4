/** Processes that the benchmark starts, and the resources that they use. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The resources that a process used from start to end. */
export interface Usage {
  /** Milliseconds. */
  readonly wall: number;
  /** Milliseconds of CPU time of all its threads. */
  readonly cpu: number;
  /** Peak memory in bytes. */
  readonly peak: number;
}

/** The resources that a process has used so far. */
export interface UsedSoFar {
  readonly cpu: number;
  /** Current memory in bytes. */
  readonly memory: number;
}

/** A running process. */
export interface Running {
  /** Resolves with the first match in its standard output. */
  said(form: RegExp): Promise<RegExpExecArray>;
  used(): Promise<UsedSoFar>;
  /** Resolves when it has ended. @throws Error if it failed */
  readonly ended: Promise<Usage>;
  /** Asks the process to end. */
  stop(): Promise<Usage>;
}

const PRELOAD = new URL('./report-usage.ts', import.meta.url).href;
const PLAT = fileURLToPath(new URL('../../bin/plat.js', import.meta.url));

/** The settings with which `bin/plat.js` restarts itself; it does not do so if another process has a channel to it. */
const MEMORY: Readonly<Record<string, { flags: readonly string[]; arenas: string }>> = JSON.parse(
  readFileSync(new URL('../../bin/memory.json', import.meta.url), 'utf8'),
);

/** Runs a command of plat with the settings with which it would restart itself, so that this process can measure it. */
export function startPlat(args: readonly string[]): Running {
  const { flags = [], arenas } = MEMORY[args[0] ?? ''] ?? {};
  const environment: Record<string, string> = arenas === undefined ? {} : { MALLOC_ARENA_MAX: arenas };
  return startNode(PLAT, args, { flags, environment });
}

/** Runs a helper program from this folder. */
export const startHelper = (file: string, args: readonly string[]): Running =>
  startNode(fileURLToPath(new URL(file, import.meta.url)), args);

function startNode(
  program: string,
  args: readonly string[],
  { flags = [], environment = {} }: { flags?: readonly string[]; environment?: Record<string, string> } = {},
): Running {
  const start = performance.now();
  const child = spawn(process.execPath, [...flags, '--import', PRELOAD, program, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'ipc'],
  });
  const [, output, errors, channel] = child.stdio;
  const texts = { output: '', errors: '', usage: '' };
  errors?.on('data', (chunk) => {
    texts.errors = (texts.errors + chunk).slice(-2000);
  });
  channel?.on('data', (chunk) => {
    texts.usage += chunk;
  });
  output?.on('data', (chunk) => {
    texts.output += chunk;
  });
  const ended = endOf(child).then((): Usage => {
    if (child.exitCode !== 0) {
      throw new Error(`${args.join(' ')} ended with ${child.exitCode ?? child.signalCode}: ${texts.errors}`);
    }
    const { cpu, peak }: Usage = JSON.parse(texts.usage);
    return { wall: performance.now() - start, cpu, peak };
  });
  ended.catch(() => undefined); // the caller that awaits it gets the error
  return {
    ended,
    said: (form) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = form.exec(texts.output);
          if (found !== null) resolve(found);
        };
        output?.on('data', look);
        look();
        ended.then(() => reject(new Error(`${program} ended early`)), reject);
      }),
    used: () => ask(child),
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

const endOf = (child: ChildProcess): Promise<void> => new Promise((resolve) => child.once('close', resolve));

let questions = 0;

function ask(child: ChildProcess): Promise<UsedSoFar> {
  const id = questions++;
  return new Promise((resolve) => {
    const hear = (answer: UsedSoFar & { readonly id: number }): void => {
      if (answer.id !== id) return;
      child.off('message', hear);
      resolve(answer);
    };
    child.on('message', hear);
    child.send(id);
  });
}
