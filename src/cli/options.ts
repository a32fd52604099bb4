import { type Command, InvalidArgumentError, Option } from 'commander';
import { platError } from '../errors/index.ts';
import { type ConfigFile, readConfig } from './config.ts';

/** `apiPort` → `PLAT_API_PORT`. */
export const environmentName = (attribute: string): string =>
  `PLAT_${attribute.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()}`;

/** An option that an environment variable and a key of the configuration can stand in for. */
export function option(flags: string, description: string): Option {
  const made = new Option(flags, description);
  return made.env(environmentName(made.attributeName()));
}

const needed = new WeakSet<Option>();

/** An option that a command cannot do without, wherever it comes from. */
export function required(flags: string, description: string): Option {
  const made = option(flags, description);
  needed.add(made);
  return made;
}

export const isRequired = (made: Option): boolean => made.mandatory || needed.has(made);

export const STORE_OPTION = (): Option =>
  required('--store <store>', 'where records live: a path, sqlite:PATH or postgres://…');

export const JSON_OPTION = (): Option => option('--json', 'machine-readable results on stdout');

/** For commands that make a store where there is none. */
export const NO_CREATE_OPTION = (): Option =>
  new Option('--no-create', 'fail where there is no store, rather than make one').env('PLAT_NO_CREATE');

/** For commands that take timestamps. */
export const CLOCK_OPTION = (): Option =>
  option('--allow-clock-jump', 'the clock is right, though it was set since the store was last written to');

export const CONFIG_OPTION = (): Option =>
  option('--config <file>', 'configuration to use in place of plat.config.json');

export function wholeNumber(least: number, most: number) {
  return (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It takes a whole number from ${least} to ${most}.`);
  };
}

/**
 * Reads the configuration and lets it stand in for options that neither the line nor the environment gave.
 * @throws PlatError `usage` when an option is still missing that the command needs
 */
export async function applyConfig(command: Command, isMade = false): Promise<ConfigFile> {
  const file: unknown = command.getOptionValue('config');
  const config = await readConfig(typeof file === 'string' ? file : undefined, isMade);
  for (const each of command.options) {
    const name = each.attributeName();
    const source = command.getOptionValueSource(name);
    const given = config[name];
    if (given !== undefined && (source === undefined || source === 'default')) {
      command.setOptionValueWithSource(name, given, 'config');
    }
    if (needed.has(each) && command.getOptionValue(name) === undefined) {
      const places = `${each.envVar} in the environment and "${name}" in plat.config.json do as well`;
      throw platError('usage', { reason: `${each.flags} is missing; ${places}.` });
    }
  }
  return config;
}
