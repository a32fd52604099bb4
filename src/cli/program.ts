/** The command line: every command by name, loaded only when it is called. This module does not know what commands do. */
import { Command, CommanderError, Help } from 'commander';
import { defineHelp } from './help.ts';
import { readFlags } from './options.ts';
import { EXIT, reportFailure } from './output.ts';
import { reportText, writeText } from './terminal.ts';
import { version } from './version.ts';

/** A command as `plat --help` lists it. */
interface Listed {
  readonly name: string;
  readonly does: string;
  /** Its arguments with their descriptions. */
  readonly takes?: readonly (readonly [argument: string, what: string])[];
  /** Whether it has subcommands instead of options. */
  readonly isGroup?: true;
  /** Loads the function that defines options, subcommands and action; `every` returns all commands, for completion. */
  readonly load: () => Promise<(command: Command, every: () => Promise<readonly Command[]>) => void>;
}

const COMMANDS: readonly Listed[] = [
  {
    name: 'demo',
    does: 'create a demo market if the store is empty, serve it, and print how to query it',
    load: async () => (await import('./commands/demo.ts')).defineDemo,
  },
  {
    name: 'serve',
    does: 'publish a store',
    load: async () => (await import('./commands/serve.ts')).defineServe,
  },
  {
    name: 'import',
    does: 'store records from NDJSON, JSON arrays, OData pages, RESO Common Format, CSV or TSV, also gzipped',
    takes: [['<file...>', 'files; - is stdin']],
    load: async () => (await import('./commands/import.ts')).defineImport,
  },
  {
    name: 'delete',
    does: 'delete records with their sub-resources',
    takes: [['<key...>', 'keys of the records']],
    load: async () => (await import('./commands/data.ts')).defineDelete,
  },
  {
    name: 'export',
    does: 'write records as NDJSON, in the format that "plat import" reads',
    load: async () => (await import('./commands/data.ts')).defineExport,
  },
  {
    name: 'backup',
    does: 'make a consistent copy of a live store',
    takes: [['<file>', 'the new file; must not exist']],
    load: async () => (await import('./commands/data.ts')).defineBackup,
  },
  {
    name: 'check',
    does: 'check texts, columns, counters and indexes of a store for consistency; exit 3 if anything is wrong',
    load: async () => (await import('./commands/check.ts')).defineCheck,
  },
  {
    name: 'restore',
    does: 'restore an SQLite store from a backup, and begin a new epoch, so that replicas notice',
    takes: [['[file]', 'a file of "plat backup"']],
    load: async () => (await import('./commands/restore.ts')).defineRestore,
  },
  {
    name: 'copy',
    does: 'copy a whole store, also from one engine to the other; an interrupted copy resumes where it stopped',
    load: async () => (await import('./commands/copy.ts')).defineCopy,
  },
  {
    name: 'key',
    does: 'manage keys and their tokens',
    isGroup: true,
    load: async () => (await import('./commands/keys.ts')).defineKeys,
  },
  {
    name: 'changes',
    does: 'write the sequence of changes as NDJSON, and optionally follow new commits',
    load: async () => (await import('./commands/changes.ts')).defineChanges,
  },
  {
    name: 'webhook',
    does: 'manage webhooks, which receive changes',
    isGroup: true,
    load: async () => (await import('./commands/webhooks.ts')).defineWebhooks,
  },
  {
    name: 'restamp',
    does: 'move timestamps that are ahead of the clock back, in order, while the store is served',
    load: async () => (await import('./commands/restamp.ts')).defineRestamp,
  },
  {
    name: 'status',
    does: 'report what a store contains',
    load: async () => (await import('./commands/status.ts')).defineStatus,
  },
  {
    name: 'replicate',
    does: 'copy a feed into a store and keep it current: initial download, updates, purges',
    load: async () => (await import('./commands/replicate.ts')).defineReplicate,
  },
  {
    name: 'verify',
    does: 'verify that a copy equals its source: records, children, counts, quarantine; exit 3 if anything differs',
    load: async () => (await import('./commands/verify.ts')).defineVerify,
  },
  {
    name: 'quarantine',
    does: 'manage records of a feed that could not be stored',
    isGroup: true,
    load: async () => (await import('./commands/quarantine.ts')).defineQuarantine,
  },
  {
    name: 'floorplans',
    does: 'write the floor plan records of one listing or of a whole system as NDJSON; --out also downloads the images',
    load: async () => (await import('./commands/floorplans.ts')).defineFloorplans,
  },
  {
    name: 'completion',
    does: 'print a completion script for a shell',
    takes: [['<shell>', 'shell to print the script for']],
    load: async () => (await import('./commands/completion.ts')).defineCompletion,
  },
];

/** The entry of a command in the list of commands, with `[options]` even though its options are not loaded. */
function termOf(command: Command): string {
  const term = new Help().subcommandTerm(command);
  const listed = COMMANDS.find(({ name }) => name === command.name());
  const hasOptions = command.parent?.parent === null && listed !== undefined && !listed.isGroup;
  return hasOptions && command.options.length === 0 ? term.replace(/^\S+/, '$& [options]') : term;
}

/** The program with its commands, not loaded yet. */
function makeProgram(): Command {
  const program = new Command('plat')
    .description('A real-estate listing data service, and the consumer that replicates such a feed.')
    .version(version())
    .showHelpAfterError('(use --help for the options)')
    .configureOutput({
      writeOut: writeText,
      writeErr: reportText,
      // Errors of the command line get the same prefix as all other errors.
      outputError: (text, write) => write(text.replace(/^error: /, 'plat: ')),
    })
    .configureHelp({ subcommandTerm: termOf })
    .exitOverride()
    .allowExcessArguments(false);
  for (const { name, does, takes = [] } of COMMANDS) {
    const command = program.command(name).description(does);
    for (const [argument, what] of takes) command.argument(argument, what);
  }
  return program;
}

/** Loads the options, subcommands and action of a command. */
async function load(command: Command): Promise<void> {
  const listed = COMMANDS.find(({ name }) => name === command.name());
  const define = await listed?.load();
  define?.(command, async () => [...everyCommand(await loadProgram())]);
  defineHelp(command);
}

/** The program with all commands loaded. */
export async function loadProgram(): Promise<Command> {
  const program = makeProgram();
  for (const command of program.commands) await load(command);
  return program;
}

/** Runs a command line. @returns the exit code */
export async function runCli(argv: readonly string[]): Promise<number> {
  try {
    const program = makeProgram();
    // No option of the program itself takes a value, so the first word is the command, except in `plat help COMMAND`.
    const [first, second] = argv.slice(2).filter((word) => !word.startsWith('-'));
    const name = first === 'help' ? second : first;
    const called = program.commands.find((command) => command.name() === name);
    if (called !== undefined) {
      await load(called);
      for (const command of everyCommand(called)) readFlags(command, process.env);
    }
    await program.parseAsync([...argv]);
    return Number(process.exitCode ?? EXIT.done);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUse;
    return reportFailure(error);
  }
}

export function* everyCommand(command: Command): Generator<Command> {
  yield command;
  for (const each of command.commands) yield* everyCommand(each);
}
