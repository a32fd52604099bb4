/** Processes of plat in the soak: commands that end, and processes that are killed and restarted. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PLAT = fileURLToPath(new URL('../../bin/plat.js', import.meta.url));

/** The result of a command. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const running = new Set<ChildProcess>();

function start(folder: string, args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [PLAT, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** Only the last characters of a process's output are kept, so that the memory of the soak does not grow. */
const KEPT = 20_000;

function kept(child: ChildProcess): Ended & { ended: Promise<Ended> } {
  const text = { code: null as number | null, out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text.out = (text.out + part).slice(-KEPT);
  });
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text.err = (text.err + part).slice(-KEPT);
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => {
      text.code = code;
      resolve({ ...text });
    });
  });
  return Object.assign(text, { ended });
}

/** Runs a command to its end. */
export const run = (folder: string, args: readonly string[]): Promise<Ended> =>
  kept(start(folder, args)).ended;

/** Runs a command that must succeed. @throws with its stderr */
export async function done(folder: string, args: readonly string[]): Promise<string> {
  const { code, out, err } = await run(folder, args);
  if (code !== 0) throw new Error(`plat ${args.join(' ')} ended with ${code}: ${err}`);
  return out;
}

/** A process that runs until it is stopped or killed. */
export interface Lasting {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves as soon as stdout matches. @throws if the process ends before */
  until(pattern: RegExp): Promise<string>;
}

export function lasting(folder: string, args: readonly string[]): Lasting {
  const child = start(folder, args);
  const text = kept(child);
  const until = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => (pattern.test(text.out) ? resolve(text.out) : undefined);
      child.stdout?.on('data', look);
      text.ended.then(({ code, err }) => reject(new Error(`plat ${args[0]} ended with ${code}: ${err}`)));
      look();
    });
  return { child, ended: text.ended, until };
}

/** Kills the processes of this run that are still running. */
export function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** The resident memory of a process in bytes (RSS). */
export function memoryOf(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

/** The addresses of a service's surfaces, from its lines on stdout. */
export function addressesIn(text: string): Readonly<Record<string, string>> {
  const lines = text.matchAll(/^(\w+) +(http:\/\/[^/]+)\//gm);
  return Object.fromEntries([...lines].map(([, name = '', address = '']) => [name, address]));
}
