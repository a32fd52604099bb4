/** Reads and writes `plat.config.json`. */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { ErrorObject } from 'ajv';
import type { RoleDefinition, WithheldDefinition } from '../access/index.ts';
import type { Declarations } from '../dictionary/index.ts';
import { usageError } from '../errors/index.ts';
import type { BudgetLimits } from '../service/access/budget.ts';
import type { ConnectionLimits } from '../service/access/connections.ts';
import type { LookupForm, RateLimit } from '../service/options.ts';
import type { PaceLimits } from '../service/reply/read-pace.ts';
import type { SurfaceName } from '../service/surface.ts';
import { messageOf } from '../shared/error-code.ts';
import type { ScrubLimits } from '../store/check/scrub.ts';
import { PartialFile, writeError } from '../store/files/partial-file.ts';
import type { PartitionField } from '../store/store.ts';

/**
 * The content of `plat.config.json`. A key with the name of a command-line option sets that option; the other keys have no option.
 * Its JSON Schema is plat.config.schema.json.
 */
export interface ConfigFile {
  readonly [option: string]: unknown;
  readonly hosts?: Readonly<Partial<Record<SurfaceName, string>>>;
  readonly limits?: Readonly<Partial<Record<SurfaceName, RateLimit>>>;
  readonly keptPages?: {
    readonly megabytes?: number;
    readonly fileMegabytes?: number;
    readonly folder?: string;
  };
  readonly filterIndex?: { readonly minutes?: number; readonly megabytes?: number };
  readonly changes?: {
    readonly keepDays?: number;
    readonly keepEntries?: number;
    readonly streamsPerKey?: number;
  };
  readonly budget?: Partial<BudgetLimits>;
  readonly connections?: Partial<ConnectionLimits>;
  readonly pace?: Partial<PaceLimits>;
  readonly scrub?: Partial<ScrubLimits>;
  readonly querySeconds?: number;
  readonly lookups?: LookupForm;
  readonly partitions?: PartitionField;
  readonly readStores?: readonly string[];
  readonly readLagSeconds?: number;
  readonly dictionary?: Declarations;
  readonly roles?: readonly RoleDefinition[];
  readonly withheld?: readonly WithheldDefinition[];
  readonly timeZone?: string;
  readonly console?: { readonly outlines?: string };
  readonly onwardTimestamps?: 'source' | 'own';
}

const SCHEMA = new URL('../../plat.config.schema.json', import.meta.url);
const DEFAULT_FILE = 'plat.config.json';

/**
 * Reads and validates the configuration.
 * @param file undefined: `plat.config.json` in the working directory, if it exists
 * @param createsMissing whether the command creates a missing file
 * @throws PlatError `usage` with the positions and the errors
 */
export async function readConfig(file: string | undefined, createsMissing = false): Promise<ConfigFile> {
  const path = file ?? DEFAULT_FILE;
  if ((file === undefined || createsMissing) && !existsSync(path)) return {};
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw usageError(`The configuration ${path} cannot be read: ${messageOf(cause)}.`, { cause });
  }
  return validateConfig(path, await parse(path, text));
}

/**
 * Adds declarations to a configuration, and creates a missing file.
 * @throws PlatError `usage` if the file is not a configuration
 */
export async function writeDictionary(file: string, declarations: Declarations): Promise<void> {
  const path = existsSync(file) ? realpathSync(file) : file; // a symbolic link is kept
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '{}';
  const before = await parse(file, text);
  const config = await validateConfig(file, before);
  const indentation = /^\uFEFF?\{\s*\n([ \t]+)/.exec(text)?.[1] ?? '  ';
  const after = { ...config, dictionary: { ...config.dictionary, ...declarations } };
  await validateConfig(file, after);
  const json = `${JSON.stringify(after, undefined, indentation)}\n`;
  using partial = new PartialFile(path, '.partial'); // an incomplete configuration would break every command
  try {
    writeFileSync(partial.path, json);
  } catch (error) {
    throw writeError(error, file);
  }
  if (!existsSync(path)) chmodSync(partial.path, 0o666 & ~process.umask());
  partial.replaceTarget();
}

/** @throws PlatError `usage` if a configuration cannot be written, or is read-only */
export function mustBeWritable(file: string): void {
  const isThere = existsSync(file);
  const path = isThere ? realpathSync(file) : file;
  try {
    if (isThere) accessSync(path, constants.W_OK);
    accessSync(dirname(path), constants.W_OK); // the file is replaced
  } catch (cause) {
    const why = messageOf(cause);
    throw usageError(`The configuration ${file} cannot be written: ${why}.`, { cause });
  }
}

/** The path of the configuration that a command reads. */
export const configPath = (file: string | undefined): string => file ?? DEFAULT_FILE;

async function parse(path: string, text: string): Promise<unknown> {
  // Loaded on demand, because `--help` loads this module and does not need the sources of an import.
  const { parseUniqueJson } = await import('./import/record-json.ts');
  try {
    // Editors on Windows write a byte order mark.
    return parseUniqueJson(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw usageError(`${path} is not valid JSON: ${messageOf(cause)}`, { cause });
  }
}

async function validateConfig(path: string, content: unknown): Promise<ConfigFile> {
  const { Ajv } = await import('ajv');
  // The schema is known to be valid and is used once, so validating the schema itself and optimizing its code would only take time.
  const once = { validateSchema: false, meta: false, code: { optimize: false } };
  const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false, verbose: true, ...once });
  const validate = ajv.compile<ConfigFile>(JSON.parse(readFileSync(SCHEMA, 'utf8')));
  if (validate(content)) return content;
  const { nearestName } = await import('../dictionary/index.ts');
  const faults = (validate.errors ?? []).map((each) => faultText(each, nearestName));
  throw usageError(`${path}: ${[...new Set(faults)].join('; ')}.`);
}

/** @param nearestName of the dictionary, which a valid configuration does not need */
function faultText(
  { keyword, instancePath, message, params, parentSchema }: ErrorObject,
  nearestName: (name: string, known: Iterable<string>) => string | undefined,
): string {
  const where = instancePath === '' ? 'the top level' : instancePath;
  if (keyword === 'enum') return `${where} must be one of ${params.allowedValues.join(', ')}`;
  if (keyword !== 'additionalProperties') return `${where} ${message}`;
  const name = String(params.additionalProperty);
  const nearest = nearestName(name, Object.keys(parentSchema?.properties ?? {}));
  return `${where} has no key ${name}${nearest === undefined ? '' : ` (did you mean ${nearest}?)`}`;
}
