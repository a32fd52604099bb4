/**
 * The options of commands: how they are defined, where their values come from (command line, environment, configuration), and the
 * kinds of values that they take. This module does not know what commands do.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { usageError } from '../errors/index.ts';
import type { KeyWords } from '../store/keys/new-key.ts';
import { type ConfigFile, readConfig } from './config.ts';

/** The environment variable of an option: `apiPort` → `PLAT_API_PORT`. */
const environmentName = (attribute: string): string =>
  `PLAT_${attribute.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()}`;

/** An option that can also be set by an environment variable and by a key of the configuration. */
export function option(flags: string, description: string): Option {
  const made = new Option(flags, description);
  return made.env(environmentName(made.attributeName()));
}

const requiredOptions = new WeakSet<Option>();

/** An option that a command requires, from any of these sources. */
export function required(flags: string, description: string): Option {
  const made = option(flags, description);
  requiredOptions.add(made);
  return made;
}

export const isRequired = (made: Option): boolean => made.mandatory || requiredOptions.has(made);

export const STORE_OPTION = (): Option =>
  required('--store <store>', 'the store: a path, sqlite:PATH or postgres://…');

export const JSON_OPTION = (): Option => option('--json', 'machine-readable results on stdout');

/** An option of commands that create something that sees only some systems, such as a key. */
export const SYSTEM_OPTION = (): Option =>
  option('--system <OUID>', 'only this originating system (in the variable, several: A,B); may be repeated')
    .argParser(collect)
    .default([], 'all');

/** For commands that create a missing store. */
export const NO_CREATE_OPTION = (): Option =>
  new Option('--no-create', 'fail if the store does not exist, instead of creating it').env('PLAT_NO_CREATE');

/** The names of the parts of a key on the command line. */
export const KEY_WORDS: KeyWords = { system: '--system', expires: '--expires' };

/** For commands that assign timestamps. */
export const CLOCK_OPTION = (): Option =>
  option('--allow-clock-jump', 'accept the clock, although it was set since the store was last written to');

export const CONFIG_OPTION = (): Option =>
  option('--config <file>', 'configuration to use instead of plat.config.json');

/** Adds options in the given order. */
export function addOptions(command: Command, ...options: readonly Option[]): Command {
  for (const each of options) command.addOption(each);
  return command;
}

/** Collects the values of an option that can be repeated. */
export const collect = (value: string, list: unknown): string[] => [
  ...(Array.isArray(list) ? list : []),
  value,
];

/**
 * An address to listen on. An empty address, for instance from a variable without a value, is rejected, because it would mean every
 * address of the machine.
 */
export function listenAddress(text: string): string {
  if (text.trim() !== '') return text.trim();
  throw new InvalidArgumentError('It is blank; every address of the machine is 0.0.0.0 or ::.');
}

export function wholeNumber(least: number, most: number) {
  return (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It takes a whole number from ${least} to ${most}.`);
  };
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The longest duration. With it, the years of dates still have four digits. */
const LONGEST = 36_500 * 86_400_000;

/**
 * Parses `24h`, `15m` or `7d`.
 * @param flag the option whose value it is
 * @param least the shortest permitted duration
 * @returns milliseconds
 * @throws PlatError `usage`
 */
export function parseDuration(flag: string, text: string, least = 1000): number {
  const [, amount, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const milliseconds = Number(amount) * (UNITS[unit] ?? 0);
  if (milliseconds >= least && milliseconds <= LONGEST) return milliseconds;
  const amiss = milliseconds > LONGEST ? 'more than 36500d' : 'too short';
  const wrong = amount === undefined ? 'not a duration' : amiss;
  throw usageError(`${flag} is ${text}, which is ${wrong}; write 90s, 15m, 24h or 7d.`);
}

/** @throws PlatError `usage` if there is no file to read */
export function mustBeFile(path: string): void {
  if (!existsSync(path)) throw usageError(`There is no file ${path}.`);
  mustNotBeFolder(path);
}

/** @throws PlatError `usage` for a folder where a file is read or written */
export function mustNotBeFolder(path: string): void {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder) throw usageError(`${path} is a folder, not a file.`);
}

/** @throws PlatError `usage` if the folder for a new file does not exist */
export function mustHaveFolder(path: string): void {
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  throw usageError(`There is no folder ${folder} to write ${path} to.`);
}

const YES: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on']);
const NO: ReadonlySet<string> = new Set(['false', '0', 'no', 'off', '']);

/**
 * Reads the flags of a command from the environment: a variable with a negative value leaves its flag unset.
 * @throws PlatError `usage` for any other value
 */
export function readFlags(command: Command, environment: Readonly<Record<string, string | undefined>>): void {
  for (const each of command.options) {
    const { envVar } = each;
    const text = envVar === undefined ? undefined : environment[envVar];
    // Commander sets a flag for any value of its variable.
    if (text === undefined || each.required || each.optional) continue;
    const word = text.trim().toLowerCase();
    if (NO.has(word)) delete each.envVar;
    else if (!YES.has(word))
      throw usageError(`${envVar} is ${JSON.stringify(text)}, but takes true or false.`);
  }
}

/**
 * Reads the configuration, and applies it to options that neither the command line nor the environment sets. For an option that can
 * be repeated, the variable contains values separated by commas, and the configuration a list or a single value.
 *
 * @param createsMissing whether the command creates a missing configuration file
 * @throws PlatError `usage` if a required option is still missing
 */
export async function applyConfig(command: Command, createsMissing = false): Promise<ConfigFile> {
  const file: unknown = command.getOptionValue('config');
  const config = await readConfig(typeof file === 'string' ? file : undefined, createsMissing);
  for (const each of command.options) {
    const name = each.attributeName();
    const source = command.getOptionValueSource(name);
    const isRepeated = each.parseArg === collect;
    const given = config[name];
    if (given !== undefined && (source === undefined || source === 'default')) {
      const value = isRepeated && typeof given === 'string' ? [given] : given;
      command.setOptionValueWithSource(name, value, 'config');
    } else if (isRepeated && source === 'env') {
      const texts = String(command.getOptionValue(name)).split(',');
      command.setOptionValueWithSource(
        name,
        texts.map((text) => text.trim()),
        'env',
      );
    }
    if (requiredOptions.has(each) && command.getOptionValue(name) === undefined) {
      const places = `${each.envVar} in the environment and "${name}" in plat.config.json also set it`;
      throw usageError(`${each.flags} is missing; ${places}.`);
    }
  }
  return config;
}
