/**
 * The other side of `resident.ts`: a process that runs one command line after the other, each in its folder and with its
 * environment, and responds with its output. It knows nothing of what the commands do.
 */
import { runCli } from '../../src/cli/program.ts';
import { setOff } from '../support/other-date.js';
import type { Command } from './resident.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const written = { out: '', err: '' };

/** Replaces writing to a stream. */
function into(stream: keyof typeof written) {
  return (
    part: string | Uint8Array,
    encoding?: BufferEncoding | ((error?: Error | null) => void),
    done?: (error?: Error | null) => void,
  ): boolean => {
    written[stream] += typeof part === 'string' ? part : Buffer.from(part).toString();
    const callback = typeof encoding === 'function' ? encoding : done;
    if (callback !== undefined) process.nextTick(callback);
    return true;
  };
}
process.stdout.write = into('out');
process.stderr.write = into('err');

async function run({ args, folder, env }: Command): Promise<void> {
  written.out = '';
  written.err = '';
  process.chdir(folder);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  setOff(Number(env.PLAT_TEST_DATE_OFFSET ?? 0));
  process.exitCode = undefined;
  const code = await runCli([process.execPath, 'plat', ...args]);
  for (const signal of SIGNALS) process.removeAllListeners(signal);
  process.exitCode = undefined;
  process.send?.({ code, ...written });
}

process.on('message', (command: Command) => void run(command));
