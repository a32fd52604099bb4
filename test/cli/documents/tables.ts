/** The tables of documents that are generated from the code. */
import { readFileSync } from 'node:fs';
import type { Command, Option } from 'commander';
import { BUILT_IN_ACCESS } from '../../../src/access/roles.ts';
import { isRequired } from '../../../src/cli/options.ts';
import { everyCommand, loadProgram } from '../../../src/cli/program.ts';
import { catalogue } from '../../../src/errors/catalogue.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const row = (...cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;

/** Every error; the facts in its message are in braces. */
export function errorTable(): string {
  const facts: unknown = new Proxy({}, { get: (_, name) => `{${String(name)}}` });
  const rows = Object.entries(catalogue).map(([code, { status, native, message }]) => {
    const text = String(Reflect.apply(message, undefined, [facts]));
    return row(`\`${code}\``, String(status), String(native), text);
  });
  return ['| RESO code | HTTP | native code | message |', '|---|---|---|---|', ...rows].join('\n');
}

/** The rows that each role sees, for resources where roles differ. */
export function roleTable(): string {
  const resources = ['Property', 'Media', 'Member', 'Office'];
  const filterOf = (rules: 'all' | Readonly<Record<string, string>>, resource: string): string => {
    const filter = rules === 'all' ? '' : (rules[resource] ?? 'none');
    return filter === '' ? 'every row' : `\`${filter}\``;
  };
  const rows = BUILT_IN_ACCESS.roles.flatMap(({ name, classes, resources: rules }) => [
    row(`\`${name}\``, 'classes', classes === 'all' ? 'all' : ['open', ...classes].join(', ')),
    ...resources.map((resource) => row('', resource, filterOf(rules, resource))),
    row('', 'other resources', rules === 'all' ? 'all' : othersOf(rules, resources)),
  ]);
  return ['| role | of | sees |', '|---|---|---|', ...rows].join('\n');
}

const othersOf = (rules: Readonly<Record<string, string>>, named: readonly string[]): string =>
  Object.keys(rules)
    .filter((name) => !named.includes(name))
    .join(', ');

/** Every command with its options. */
export async function commandTables(): Promise<string> {
  const leaves = [...everyCommand(await loadProgram())].filter(({ commands }) => commands.length === 0);
  return leaves.map(commandTable).join('\n\n');
}

function commandTable(command: Command): string {
  const names: string[] = [];
  for (let each: Command | null = command; each !== null; each = each.parent) names.unshift(each.name());
  const takes = command.registeredArguments.map((each) => {
    const name = `${each.name()}${each.variadic ? '…' : ''}`;
    return each.required ? `<${name}>` : `[${name}]`;
  });
  return [
    `### ${[...names, ...takes].join(' ')}`,
    '',
    `${command.description().replace(/^./, (first) => first.toUpperCase())}.`,
    '',
    '| option | variable | meaning |',
    '|---|---|---|',
    ...command.options.map((option) => row(`\`${option.flags}\``, variable(option), meaning(option))),
  ].join('\n');
}

const variable = ({ envVar }: Option): string => (envVar === undefined ? '' : `\`${envVar}\``);

function meaning(option: Option): string {
  const { description, argChoices, defaultValue } = option;
  const usual = Array.isArray(defaultValue) ? defaultValue.join(', ') : defaultValue;
  return [
    description,
    ...(argChoices === undefined ? [] : [`one of ${argChoices.join(', ')}`]),
    ...(usual === undefined || usual === '' ? [] : [`default ${String(usual)}`]),
    ...(isRequired(option) ? ['required'] : []),
  ].join('; ');
}

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly $ref?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly pattern?: string;
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

/** Every key of plat.config.json, and of the objects in it. */
export function configurationTable(): string {
  const schema: Schema = JSON.parse(
    readFileSync(new URL('../../../plat.config.schema.json', import.meta.url), 'utf8'),
  );
  const rows: string[] = [];
  const add = (path: string, given: Schema): void => {
    const { $ref } = given;
    const known = $ref === undefined ? given : (schema.definitions?.[$ref.split('/').at(-1) ?? ''] ?? {});
    rows.push(row(`\`${path}\``, typeOf(known), given.description ?? known.description ?? ''));
    const holder = known.items === undefined ? known : resolved(known.items);
    const inner = known.items === undefined ? path : `${path}[]`;
    for (const [name, each] of Object.entries(holder.properties ?? {})) add(`${inner}.${name}`, each);
  };
  const resolved = (given: Schema): Schema =>
    given.$ref === undefined ? given : (schema.definitions?.[given.$ref.split('/').at(-1) ?? ''] ?? {});
  for (const [name, each] of Object.entries(schema.properties ?? {})) if (name !== '$schema') add(name, each);
  return ['| key | value | meaning |', '|---|---|---|', ...rows].join('\n');
}

function typeOf({ type, oneOf, items, pattern, ...rest }: Schema): string {
  if (rest.enum !== undefined) return rest.enum.map((value) => `\`${value}\``).join(', ');
  if (rest.const !== undefined) return `\`${rest.const}\``;
  if (oneOf !== undefined)
    return oneOf.map((each) => (each.$ref === undefined ? typeOf(each) : 'object')).join(' or ');
  if (items !== undefined) return `list of ${items.$ref === undefined ? typeOf(items) : 'object'}s`;
  return `${type ?? ''}${pattern === undefined ? '' : ` \`${pattern}\``}`;
}
