/** The options of commands that query a source, and their values. */
import type { Command } from 'commander';
import { DEFAULT_RESOURCES } from '../replica/run/options.ts';
import { addOptions, option, required, sendableToken, wholeNumber } from './options.ts';

export interface SourceSettings {
  readonly from: string;
  readonly interface: 'reso' | 'native';
  readonly token: string;
  readonly source?: string;
  readonly resources: string | readonly string[];
  readonly customFields?: boolean;
  readonly pageSize: number;
  readonly windowField?: string;
  readonly alsoWindow?: string | readonly string[];
}

export function addSourceOptions(command: Command): Command {
  return addOptions(
    command,
    required('--from <url>', 'root of the service: …/Reso/OData or …/v1'),
    required('--interface <interface>', 'interface of the root').choices(['reso', 'native']),
    required('--token <token>', 'API key of the source'),
    option('--source <name>', 'name of the source in the store; its host by default'),
    option('--resources <names>', 'resources of the copy, separated by commas').default(
      DEFAULT_RESOURCES.join(','),
    ),
    option('--custom-fields', 'request custom fields from the native interface'),
    option('--page-size <rows>', 'maximum page size').argParser(wholeNumber(1, 100_000)).default(1000),
    option(
      '--window-field <field>',
      'timestamp that update windows use; by default ModificationTimestamp, or that of a replica',
    ),
    option(
      '--also-window <fields>',
      'further timestamps, separated by commas, if not every change moves the first',
    ),
  );
}

/** Whether an option was set explicitly, rather than by its default. */
export const isSetExplicitly = (command: Command, name: string): boolean =>
  command.getOptionValueSource(name) !== 'default';

const parseList = (given: string | readonly string[]): string[] =>
  (typeof given === 'string' ? given.split(',') : [...given])
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** Converts the options to those of the replicator. */
export function sourceOptions(settings: SourceSettings) {
  const { from, token, source, customFields, pageSize, windowField, alsoWindow } = settings;
  return {
    from,
    interface: settings.interface,
    token: sendableToken(token),
    resources: parseList(settings.resources),
    customFields: customFields === true,
    pageSize,
    source,
    windowField,
    alsoWindow: alsoWindow === undefined ? undefined : parseList(alsoWindow),
  };
}
