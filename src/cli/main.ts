/** The entry point of the command, which bin/plat.js starts. */
import { codeOf } from '../shared/error-code.ts';
import { writeError } from '../store/files/partial-file.ts';
import { trimCompileCache } from './compile-cache.ts';
import { reportFailure } from './output.ts';
import { runCli } from './program.ts';
import { endOnSignals, exitCodeOfSignal } from './shutdown.ts';
import { onOutputError } from './terminal.ts';

// A process that the launcher started ends when the launcher ends, for whatever reason.
if (process.channel !== undefined) {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel?.unref();
}

onOutputError((error) =>
  process.exit(reportFailure(codeOf(error) === 'EPIPE' ? error : writeError(error, 'stdout'))),
);

endOnSignals();
const exitCode = await runCli(process.argv);
process.exitCode = exitCodeOfSignal() ?? exitCode;
trimCompileCache();
