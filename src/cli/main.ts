/** The entry point of the command, which bin/plat.js starts. */
import { setFlagsFromString } from 'node:v8';
import { fail } from './output.ts';
import { runCli } from './program.ts';
import { endOnSignals, exitOfSignal } from './shutdown.ts';
import { onOutputError } from './terminal.ts';

// Records are many short-lived texts: a larger young generation saves an import a third of the work of the garbage
// collector. What a service reads goes out as bytes, so it gains nothing and would only hold the memory. The replicator
// limits its memory, however large the feed is.
const YOUNG: Readonly<Record<string, string>> = {
  replicate: '--memory-saver-mode',
  serve: '--max-semi-space-size=16',
  demo: '--max-semi-space-size=16',
};
setFlagsFromString(YOUNG[process.argv[2] ?? ''] ?? '--max-semi-space-size=64');

// A process that a launcher started ends with the launcher, however that ends.
if (process.channel !== undefined) {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel?.unref();
}

onOutputError((error) => process.exit(fail(error)));

endOnSignals();
const exitCode = await runCli(process.argv);
process.exitCode = exitOfSignal() ?? exitCode;
