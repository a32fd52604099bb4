/** Holds command lines and environments that stand in `deploy/` to the commands as they are. */
import type { Command } from 'commander';
import { isRequired } from '../../src/cli/options.ts';
import { loadProgram } from '../../src/cli/program.ts';

/** A command as a file of `deploy/` has it run. */
export interface Line {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const program = await loadProgram();

/** What is wrong with a line: an unknown command, option or variable, a value that is none of the choices, or something that the command needs and is not given. */
export function wrongWith({ args, environment }: Line): string[] {
  let command: Command = program;
  let rest = args;
  for (;;) {
    const next = command.commands.find((each) => each.name() === rest[0]);
    if (next === undefined) break;
    [command, rest] = [next, rest.slice(1)];
  }
  if (command.commands.length > 0) return [`${args.join(' ')} is no command`];
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
