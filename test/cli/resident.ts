/**
 * One process for many commands, one after the other: to start one for each takes ten times as long as most of them do.
 * What matters of a process (signals, terminals, stdin, options of Node, two at once) takes one of its own.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Ended } from './run.ts';

export interface Command {
  readonly args: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const PROGRAM = fileURLToPath(new URL('resident-process.ts', import.meta.url));

let resident: ChildProcess | undefined;
process.once('exit', () => resident?.kill('SIGKILL'));

/** The last of those that wait for the process. */
let last: Promise<unknown> = Promise.resolve();

/** Runs a command when those before it have ended. */
export function runResident(command: Command): Promise<Ended> {
  const ended = last.then(() => next(command));
  last = ended.catch(() => undefined);
  return ended;
}

/** Ends the process and with it the command that it runs; the next command starts another. */
export function endResident(): void {
  resident?.kill('SIGKILL');
  resident = undefined;
}

function next(command: Command): Promise<Ended> {
  resident ??= fork(PROGRAM, [], {
    env: command.env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const child = resident;
  // Between commands it keeps nobody waiting.
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
