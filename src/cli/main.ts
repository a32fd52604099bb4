import { setFlagsFromString } from 'node:v8';
import { fail } from './output.ts';
import { runCli } from './program.ts';
import { endOnSignals, exitOfSignal } from './shutdown.ts';
import { onOutputError } from './terminal.ts';

// Records are many small texts that die young: a larger nursery spares a third of the collector's work. A consumer has
// its memory bounded instead, however large the feed is.
setFlagsFromString(process.argv[2] === 'replicate' ? '--memory-saver-mode' : '--max-semi-space-size=64');

// Started by a launcher, it ends with it, however that ends.
if (process.channel !== undefined) {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel?.unref();
}

onOutputError((error) => process.exit(fail(error)));

endOnSignals();
const exitCode = await runCli(process.argv);
process.exitCode = exitOfSignal() ?? exitCode;
