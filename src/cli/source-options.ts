/** The options of commands that query a source, and their values. */
import type { Command, Option } from 'commander';
import { usageError } from '../errors/index.ts';
import { CLIENT_AUTHENTICATION, clientCredentials } from '../replica/http/client-credentials.ts';
import {
  faultOfSecret,
  isSendable,
  readSecret,
  type TokenSource,
  tokenFile,
  tokenSourceOf,
} from '../replica/http/token-source.ts';
import { DEFAULT_RESOURCES } from '../replica/run/options.ts';
import { messageOf } from '../shared/error-code.ts';
import { addOptions, mustBeFile, option, required, wholeNumber } from './options.ts';

/** Where the token comes from: it is given, or in a file, or issued by a token endpoint to a client. */
interface TokenSettings {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly tokenUrl?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly clientSecretFile?: string;
  readonly clientAuth?: (typeof CLIENT_AUTHENTICATION)[number];
  readonly scope?: string;
  readonly audience?: string;
}

/** @param what what the token is, such as the API key of the source */
export const tokenOptions = (what: string): Option[] => [
  option('--token <token>', `${what}; --token-file or --token-url takes its place`),
  option('--token-file <file>', 'file with the token, which is read again when the source rejects the token'),
  option('--token-url <url>', 'token endpoint that issues tokens to a client (OAuth 2.0 client credentials)'),
  option('--client-id <id>', 'client of the token endpoint'),
  option(
    '--client-secret <secret>',
    'its secret; only from the environment or plat.config.json, since other users see command lines',
  ),
  option('--client-secret-file <file>', 'file with its secret, which is read for each new token'),
  option(
    '--client-auth <method>',
    'how it authenticates itself: in the header, in the body, or in the body if the header is rejected',
  )
    .choices(CLIENT_AUTHENTICATION)
    .default('auto'),
  option('--scope <scope>', 'scope of the tokens'),
  option('--audience <audience>', 'audience of the tokens, if the token endpoint requires one'),
];

/** The options that only a token endpoint has a use for. */
const OF_CLIENTS = ['clientId', 'clientSecret', 'clientSecretFile', 'scope', 'audience'] as const;

/**
 * The tokens that the options of a command name; undefined if they name none.
 * @throws PlatError `usage` for options that contradict each other or are incomplete, and for an unusable token or secret
 */
export async function namedTokens(command: Command): Promise<TokenSource | undefined> {
  const settings: TokenSettings = command.opts();
  const flag = (name: keyof TokenSettings): string =>
    command.options.find((each) => each.attributeName() === name)?.long ?? name;
  // A variable without a value, as of a container, sets nothing.
  const isGiven = (name: keyof TokenSettings): boolean =>
    settings[name] !== undefined && (settings[name] !== '' || command.getOptionValueSource(name) !== 'env');
  const given = (['token', 'tokenFile', 'tokenUrl'] as const).filter(isGiven);
  if (given.length > 1) throw usageError(`Only one of ${given.map(flag).join(' and ')} can be set.`);
  const [kind] = given;
  const idle = kind === 'tokenUrl' ? undefined : OF_CLIENTS.find(isGiven);
  if (idle !== undefined) throw usageError(`${flag(idle)} requires --token-url.`);
  const { token = '', tokenFile: file = '', tokenUrl = '', clientId = '' } = settings;
  if (kind === undefined) return undefined;
  if (kind === 'token') return tokenSourceOf(sendableToken(token));
  if (kind === 'tokenFile') {
    await mustHoldSecret(file);
    return tokenFile(file);
  }
  if (command.getOptionValueSource('clientSecret') === 'cli') {
    throw usageError(
      'Other users see command lines; --client-secret is set by PLAT_CLIENT_SECRET or "clientSecret" in plat.config.json, or read by --client-secret-file.',
    );
  }
  if (clientId === '') throw usageError('--token-url requires --client-id.');
  if (isGiven('clientSecret') === isGiven('clientSecretFile')) {
    throw usageError('--token-url requires either PLAT_CLIENT_SECRET or --client-secret-file.');
  }
  const { clientSecret = '', clientSecretFile: secretFile = '', clientAuth: authentication } = settings;
  if (secretFile !== '') await mustHoldSecret(secretFile);
  const amiss = clientSecret === '' ? undefined : faultOfSecret(clientSecret);
  if (amiss !== undefined) throw usageError(`The client secret ${amiss}.`);
  const secret = clientSecret === '' ? () => readSecret(secretFile) : clientSecret;
  const scope = isGiven('scope') ? settings.scope : undefined;
  const audience = isGiven('audience') ? settings.audience : undefined;
  return clientCredentials({ tokenUrl, clientId, clientSecret: secret, scope, audience, authentication });
}

/** The tokens that the options of a command name. @throws PlatError `usage`, also if they name none */
export async function requiredTokens(command: Command): Promise<TokenSource> {
  const tokens = await namedTokens(command);
  if (tokens !== undefined) return tokens;
  throw usageError(
    '--token <token> is missing; PLAT_TOKEN in the environment and "token" in plat.config.json also set it. --token-file, or --token-url with --client-id, takes its place.',
  );
}

async function mustHoldSecret(file: string): Promise<void> {
  mustBeFile(file);
  await readSecret(file).catch((cause: unknown) => {
    throw usageError(`${messageOf(cause)}.`, { cause });
  });
}

/** @throws PlatError `usage` for a token that cannot be the value of a header, as one from a file that was written on Windows */
function sendableToken(token: string): string {
  if (isSendable(token)) return token;
  const what = isSendable(token.trim())
    ? 'begins or ends with white space, such as the line break at the end of a file'
    : /^Bearer /i.test(token)
      ? 'is written without "Bearer"'
      : 'has characters other than visible ASCII, or none';
  throw usageError(`The --token ${what}.`);
}

export interface SourceSettings {
  readonly from: string;
  readonly interface: 'reso' | 'native';
  readonly source?: string;
  readonly resources: string | readonly string[];
  readonly customFields?: boolean;
  readonly pageSize: number;
  readonly windowField?: string;
  readonly alsoWindow?: string | readonly string[];
  readonly filter?: string;
  readonly assumeUtc?: boolean;
}

export function addSourceOptions(command: Command): Command {
  return addOptions(
    command,
    required('--from <url>', 'root of the service: …/Reso/OData or …/v1'),
    required('--interface <interface>', 'interface of the root').choices(['reso', 'native']),
    ...tokenOptions('API key of the source'),
    option('--source <name>', 'name of the source in the store; its host by default'),
    option('--resources <names>', 'resources of the copy, separated by commas').default(
      DEFAULT_RESOURCES.join(','),
    ),
    option('--filter <filter>', 'OData filter that all copied records meet, if the source requires one'),
    option('--assume-utc', 'read timestamps without a time zone, which are otherwise invalid, as UTC'),
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

/** Converts the options of a command to those of the replicator. @throws PlatError `usage` */
export async function sourceOptions(command: Command) {
  const settings: SourceSettings = command.opts();
  const { from, source, filter, assumeUtc, customFields, pageSize, windowField, alsoWindow } = settings;
  return {
    from,
    interface: settings.interface,
    token: await requiredTokens(command),
    resources: parseList(settings.resources),
    filter: filter === '' ? undefined : filter,
    assumeUtc,
    customFields: customFields === true,
    pageSize,
    source,
    windowField,
    alsoWindow: alsoWindow === undefined ? undefined : parseList(alsoWindow),
  };
}
