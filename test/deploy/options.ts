/** Checks command lines and environments in `deploy/` against the options of the commands. */
import type { Command } from 'commander';
import { isRequired } from '../../src/cli/options.ts';
import { loadProgram } from '../../src/cli/program.ts';

/** A command line and its environment in a file of `deploy/`. */
export interface Line {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const program = await loadProgram();

/** The errors of a line: an unknown command, option or variable, an invalid choice, or a missing required option. */
export function wrongWith({ args, environment }: Line): string[] {
  let command: Command = program;
  let rest = args;
  for (;;) {
    const next = command.commands.find((each) => each.name() === rest[0]);
    if (next === undefined) break;
    [command, rest] = [next, rest.slice(1)];
  }
  if (command.commands.length > 0) return [`${args.join(' ')} is not a command`];
  const options = command.options;
  const wrong: string[] = [];
  const given = new Set<string>();
  for (const word of rest.filter((each) => each.startsWith('--'))) {
    const option = options.find(({ long }) => long === word);
    if (option === undefined) wrong.push(`${command.name()} has no ${word}`);
    else given.add(option.attributeName());
  }
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith('PLAT_')) continue;
    const option = options.find(({ envVar }) => envVar === name);
    if (option === undefined) {
      wrong.push(`${command.name()} has no ${name}`);
      continue;
    }
    given.add(option.attributeName());
    const isFlag = !option.required && !option.optional;
    if (isFlag && !['true', 'false'].includes(value)) wrong.push(`${name} is ${value}`);
    if (option.argChoices !== undefined && !option.argChoices.includes(value))
      wrong.push(`${name} is ${value}`);
  }
  const lacking = options.filter((option) => isRequired(option) && !given.has(option.attributeName()));
  return [...wrong, ...lacking.map((option) => `${command.name()} needs ${option.envVar}`)];
}
