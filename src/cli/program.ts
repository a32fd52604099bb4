import { Command, CommanderError } from 'commander';
import { addCheckCommand } from './commands/check.ts';
import { addCopyCommand } from './commands/copy.ts';
import { addDataCommands } from './commands/data.ts';
import { addDemoCommand } from './commands/demo.ts';
import { addFloorplansCommand } from './commands/floorplans.ts';
import { addImportCommand } from './commands/import.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addQuarantineCommands } from './commands/quarantine.ts';
import { addReplicateCommand } from './commands/replicate.ts';
import { addRestampCommand } from './commands/restamp.ts';
import { addRestoreCommand } from './commands/restore.ts';
import { addServeCommand } from './commands/serve.ts';
import { addStatusCommand } from './commands/status.ts';
import { addVerifyCommand } from './commands/verify.ts';
import { EXIT, fail } from './output.ts';
import { reportText, writeText } from './terminal.ts';
import { version } from './version.ts';

/** The program with all its commands. */
export function makeProgram(): Command {
  const program = new Command('plat')
    .description('A real-estate listing data service, and the consumer that replicates such a feed.')
    .version(version())
    .showHelpAfterError('(add --help for what it takes)')
    .configureOutput({ writeOut: writeText, writeErr: reportText })
    .exitOverride();
  addDemoCommand(program);
  addServeCommand(program);
  addImportCommand(program);
  addDataCommands(program);
  addCheckCommand(program);
  addRestoreCommand(program);
  addCopyCommand(program);
  addKeyCommands(program);
  addRestampCommand(program);
  addStatusCommand(program);
  addReplicateCommand(program);
  addVerifyCommand(program);
  addQuarantineCommands(program);
  addFloorplansCommand(program);
  for (const command of everyCommand(program)) command.exitOverride().allowExcessArguments(false);
  return program;
}

/** Runs a command line. @returns the exit code */
export async function runCli(argv: readonly string[]): Promise<number> {
  try {
    await makeProgram().parseAsync([...argv]);
    return Number(process.exitCode ?? EXIT.done);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUse;
    return fail(error);
  }
}

export function* everyCommand(command: Command): Generator<Command> {
  yield command;
  for (const each of command.commands) yield* everyCommand(each);
}
