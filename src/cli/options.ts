import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ConfigFile, readConfig } from './config.ts';

/** `apiPort` → `PLAT_API_PORT`. */
export const environmentName = (attribute: string): string =>
  `PLAT_${attribute.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()}`;

/** An option that an environment variable and a key of the configuration can stand in for. */
export function option(flags: string, description: string): Option {
  const made = new Option(flags, description);
  return made.env(environmentName(made.attributeName()));
}

export const STORE_OPTION = (): Option =>
  option('--store <store>', 'where records live: a path, sqlite:PATH or postgres://…').makeOptionMandatory();

export const JSON_OPTION = (): Option => option('--json', 'machine-readable results on stdout');

export const CONFIG_OPTION = (): Option =>
  option('--config <file>', 'configuration to use in place of plat.config.json');

export function wholeNumber(least: number, most: number) {
  return (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It takes a whole number from ${least} to ${most}.`);
  };
}

/** Reads the configuration and lets it stand in for options that neither the line nor the environment gave. */
export function applyConfig(command: Command): ConfigFile {
  const file: unknown = command.getOptionValue('config');
  const config = readConfig(typeof file === 'string' ? file : undefined);
  for (const { attributeName } of command.options.map((each) => ({ attributeName: each.attributeName() }))) {
    const source = command.getOptionValueSource(attributeName);
    const given = config[attributeName];
    if (given !== undefined && (source === undefined || source === 'default')) {
      command.setOptionValueWithSource(attributeName, given, 'config');
    }
  }
  return config;
}
