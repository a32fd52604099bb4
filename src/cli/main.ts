/** The entry point of the command, which bin/plat.js starts. */
import { codeOf } from '../shared/error-code.ts';
import { writeError } from '../store/files/partial-file.ts';
import { trimCompiled } from './compiled-cache.ts';
import { fail } from './output.ts';
import { runCli } from './program.ts';
import { endOnSignals, exitOfSignal } from './shutdown.ts';
import { onOutputError } from './terminal.ts';

// A process that a launcher started ends with the launcher, however that ends.
if (process.channel !== undefined) {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel?.unref();
}

onOutputError((error) => process.exit(fail(codeOf(error) === 'EPIPE' ? error : writeError(error, 'stdout'))));

endOnSignals();
const exitCode = await runCli(process.argv);
process.exitCode = exitOfSignal() ?? exitCode;
trimCompiled();
