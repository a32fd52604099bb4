/**
 * One process for many commands, one after the other: starting one for each takes ten times as long as most commands do. Tests of
 * what a process itself does (signals, terminals, stdin, options of Node, two at once) start one of their own.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PromiseQueue } from '../../src/shared/promise-queue.ts';
import type { Ended } from './run.ts';

export interface Command {
  readonly args: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const PROGRAM = fileURLToPath(new URL('resident-process.ts', import.meta.url));

let resident: ChildProcess | undefined;
process.once('exit', () => resident?.kill('SIGKILL'));

const queue = new PromiseQueue();

/** Runs a command after those before it have ended. */
export const runResident = (command: Command): Promise<Ended> => queue.run(() => next(command));

/** Ends the process with the command that it runs; the next command starts another one. */
export function endResident(): void {
  resident?.kill('SIGKILL');
  resident = undefined;
}

function next(command: Command): Promise<Ended> {
  resident ??= fork(PROGRAM, [], {
    env: command.env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const child = resident;
  // Between commands it does not keep this process alive.
  child.ref();
  child.channel?.ref();
  return new Promise<Ended>((resolve, reject) => {
    const gone = (code: number | null): void => {
      if (resident === child) resident = undefined;
      reject(new Error(`plat ${command.args.join(' ')}: its process ended with ${code}`));
    };
    child.once('exit', gone);
    child.once('message', (ended: Ended) => {
      child.off('exit', gone);
      child.unref();
      child.channel?.unref();
      resolve(ended);
    });
    child.send(command);
  });
}
