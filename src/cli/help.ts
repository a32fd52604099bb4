/**
 * The parts of `--help` other than the options: working examples, required options, and groups of options. This module
 * knows the names of commands and options, but not what they do.
 */
import { type Command, Help, Option } from 'commander';
import { isRequired } from './options.ts';

type Example = readonly [line: string, does: string];

/** The examples of each command, by its full name. */
export const EXAMPLES: Readonly<Record<string, readonly [Example, Example, ...Example[]]>> = {
  demo: [
    ['plat demo', 'a market of 2,000 listings in ./plat-demo.db'],
    ['plat demo --store live.db --live --changes-per-minute 60', 'a market that keeps changing'],
  ],
  serve: [
    ['plat serve --store market.db', 'on this machine only'],
    [
      'plat serve --store market.db --host 0.0.0.0 --public-url api=https://api.example.com,replication=https://feed.example.com --trust-proxy',
      'behind a proxy',
    ],
  ],
  import: [
    ['plat import --store market.db listings.ndjson', 'listings'],
    ['gunzip -c agents.json.gz | plat import --store market.db --resource Member -', 'agents, from a pipe'],
  ],
  delete: [
    ['plat delete --store market.db --resource Property 20240531-1', 'a listing with its photos and rooms'],
    ['plat delete --store market.db --resource Member A1 A2 --json', 'two agents'],
  ],
  export: [
    ['plat export --store market.db --resource Property > listings.ndjson', 'to stdout'],
    [
      'plat export --store market.db --resource Member --out agents.ndjson',
      'to a file, which appears when it is complete',
    ],
  ],
  changes: [
    ['plat changes --store market.db', 'every existing record, in the order of the last changes'],
    [
      'plat changes --store market.db --follow --records --checkpoint market.position | consume',
      'complete records, from where the last run ended',
    ],
  ],
  backup: [
    ['plat backup --store market.db market-backup.db', 'a checked copy'],
    ['PLAT_STORE=market.db plat backup "$(date +%F).db"', 'the store from the environment'],
  ],
  check: [
    ['plat check --store market.db', 'list all faults'],
    ['plat check --store postgres://plat@db.example.com/plat --repair', 'repair what can be repaired'],
  ],
  restore: [
    ['plat restore --store market.db market-backup.db', 'restore a backup'],
    ['plat restore --store postgres://plat@db.example.com/plat --new-epoch', 'after the server restored it'],
  ],
  copy: [
    ['plat copy --from market.db --to postgres://plat@db.example.com/plat', 'from a file to a server'],
    ['plat copy --from postgres://plat@db.example.com/plat --to market.db', 'and back'],
  ],
  'key create': [
    ['plat key create --store market.db --name "A broker"', 'to replicate, with the role idx'],
    [
      'plat key create --store market.db --name Plans --kind floorplans --role private --system M00000412',
      'floor plans of one system',
    ],
  ],
  'key list': [
    ['plat key list --store market.db', 'a table'],
    ['plat key list --store market.db --json', 'for programs'],
  ],
  'key revoke': [
    ['plat key revoke --store market.db k_811b7dfbb007', 'by the id that "plat key list" shows'],
    ['PLAT_STORE=market.db plat key revoke k_811b7dfbb007', 'the store from the environment'],
  ],
  'key rotate': [
    ['plat key rotate --store market.db k_811b7dfbb007', 'both work for a day'],
    ['plat key rotate --store market.db k_811b7dfbb007 --overlap 2h', 'both work for two hours'],
  ],
  'webhook create': [
    [
      'plat webhook create --store market.db --url https://example.com/changes --resources Property,Media',
      'send a receiver the changes of listings and photos, as idx sees them',
    ],
    [
      'plat webhook create --store market.db --url http://10.0.0.7/changes --role private --private-hosts',
      'send a machine in a private network all changes',
    ],
  ],
  'webhook list': [
    ['plat webhook list --store market.db', 'a table'],
    ['plat webhook list --store market.db --json', 'for programs'],
  ],
  'webhook test': [
    ['plat webhook test --store market.db wh_26a0c6d1f8b04f52', 'check that the receiver responds'],
    ['PLAT_STORE=market.db plat webhook test wh_26a0c6d1f8b04f52', 'the store from the environment'],
  ],
  'webhook replay': [
    [
      'plat webhook replay --store market.db wh_26a0c6d1f8b04f52 --since 120400',
      'deliver the changes after a number again',
    ],
    ['plat webhook replay --store market.db wh_26a0c6d1f8b04f52 --since end', 'skip undelivered changes'],
  ],
  'webhook pause': [
    ['plat webhook pause --store market.db wh_26a0c6d1f8b04f52', 'while the receiver is down'],
    ['PLAT_STORE=market.db plat webhook pause wh_26a0c6d1f8b04f52', 'the store from the environment'],
  ],
  'webhook resume': [
    ['plat webhook resume --store market.db wh_26a0c6d1f8b04f52', 'continue immediately'],
    ['PLAT_STORE=market.db plat webhook resume wh_26a0c6d1f8b04f52', 'the store from the environment'],
  ],
  'webhook rotate': [
    ['plat webhook rotate --store market.db wh_26a0c6d1f8b04f52', 'both secrets sign for a day'],
    ['PLAT_STORE=market.db plat webhook rotate wh_26a0c6d1f8b04f52', 'the store from the environment'],
  ],
  'webhook delete': [
    ['plat webhook delete --store market.db wh_26a0c6d1f8b04f52', 'permanently'],
    ['PLAT_STORE=market.db plat webhook delete wh_26a0c6d1f8b04f52', 'the store from the environment'],
  ],
  restamp: [
    ['plat restamp --store market.db', 'move them back'],
    ['plat restamp --store market.db --json', 'the report for programs'],
  ],
  status: [
    ['plat status --store market.db', 'tables'],
    ['plat status --store replica.db --json', 'for programs'],
  ],
  replicate: [
    [
      'plat replicate --from https://feed.example.com/Reso/OData --interface reso --token "$TOKEN" --store replica.db --watch',
      'copy a feed and keep it current',
    ],
    [
      'plat replicate --from http://127.0.0.1:8081/v1 --interface native --token "$TOKEN" --store replica.db --once',
      'do what is due, from a service on this machine',
    ],
    [
      'plat replicate --from https://api.example.com/odata --interface reso --token-url https://api.example.com/oidc/connect/token --client-id plat --client-secret-file client.secret --scope api --store replica.db',
      'from a feed that issues tokens to a client',
    ],
  ],
  verify: [
    [
      'plat verify --from https://feed.example.com/Reso/OData --interface reso --token "$TOKEN" --store replica.db',
      'everything',
    ],
    [
      'plat verify --from https://feed.example.com/Reso/OData --interface reso --token "$TOKEN" --store replica.db --sample 500',
      'all keys, and the content of 500 records of each resource',
    ],
  ],
  'quarantine list': [
    ['plat quarantine list --store replica.db', 'of every source'],
    ['plat quarantine list --store replica.db --source feed.example.com --json', 'of one, for programs'],
  ],
  'quarantine retry': [
    ['plat quarantine retry --store replica.db', 'with the records as received'],
    [
      'plat quarantine retry --store replica.db --from https://feed.example.com/Reso/OData --interface reso --token "$TOKEN"',
      'with what the source returns now',
    ],
  ],
  floorplans: [
    [
      'plat floorplans --from http://127.0.0.1:8082/Reso --token "$TOKEN" --system M00000412 > plans.ndjson',
      'the records of a system',
    ],
    [
      'plat floorplans --from http://127.0.0.1:8082/Reso --token "$TOKEN" --system M00000412 --listing 20240531-1 --out plans',
      'of one listing, and the images',
    ],
  ],
  completion: [
    ['source <(plat completion bash)', 'in ~/.bashrc'],
    ['plat completion fish > ~/.config/fish/completions/plat.fish', 'once'],
  ],
};

const REQUIRED = 'Required (each also from the environment or plat.config.json):';
const OTHERS = 'Options:';

/** Groups of options, by attribute name. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Token of the source (one of --token, --token-file and --token-url):': [
    ...['token', 'tokenFile', 'tokenUrl', 'clientId', 'clientSecret', 'clientSecretFile', 'clientAuth'],
    ...['scope', 'audience'],
  ],
  'Source:': [
    ...['source', 'resources', 'filter', 'assumeUtc', 'customFields', 'pageSize'],
    ...['windowField', 'alsoWindow'],
  ],
  'What to do, and when:': [
    ...['once', 'watch', 'step', 'refresh', 'updateEvery', 'purgeEvery', 'accountsEvery', 'followBy'],
    ...['proofEvery', 'purgeShare', 'force', 'drift'],
  ],
  'Media:': ['media', 'mediaFolder', 'mediaPrivateHosts'],
  'What the source allows:': [
    ...['requestsPerSecond', 'requestsPerHour', 'requestsPerDay', 'bytesPerHour', 'bytesPerDay'],
  ],
  'Market:': ['listings', 'live', 'changesPerMinute'],
  'Addresses:': [
    ...['host', 'apiPort', 'replicationPort', 'floorplansPort', 'adminPort', 'adminHost'],
    ...['publicUrl', 'trustProxy', 'tlsCert', 'tlsKey'],
  ],
  'Store:': ['store', 'create', 'allowClockJump'],
  'General:': ['config', 'json', 'logLevel', 'help'],
};

/** Groups that only the commands that query a source have. Other commands list these options among the others. */
const OF_SOURCES: ReadonlySet<string> = new Set(['Source:', 'What to do, and when:']);

const groupOf = (option: Option, { options }: Command): string => {
  if (isRequired(option)) return REQUIRED;
  const [found = OTHERS] =
    Object.entries(GROUPS).find(([, names]) => names.includes(option.attributeName())) ?? [];
  const hasSource = options.some(({ long }) => long === '--interface');
  return OF_SOURCES.has(found) && !hasSource ? OTHERS : found;
};

/** The full name of a command, without `plat`. */
export function fullNameOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null
    ? command.name()
    : `${fullNameOf(parent)} ${command.name()}`;
}

/** Configures the help of a command whose options are defined. */
export function defineHelp(command: Command): void {
  if (command.commands.length > 0) {
    for (const each of command.commands) defineHelp(each);
    return;
  }
  const usual = new Help();
  const order = [REQUIRED, OTHERS, ...Object.keys(GROUPS)];
  const needed = command.options.filter(isRequired);
  for (const option of command.options) option.helpGroup(groupOf(option, command));
  const rank = (option: Option): number => order.indexOf(groupOf(option, command));
  command
    .usage(
      [
        ...needed.map(({ flags }) => flags),
        '[options]',
        ...command.registeredArguments.map(argumentTerm),
      ].join(' '),
    )
    .addHelpOption(new Option('-h, --help', 'show this help').helpGroup('General:'))
    .configureHelp({
      ...command.configureHelp(),
      visibleOptions: (shown) =>
        usual.visibleOptions(shown).toSorted((one, other) => rank(one) - rank(other)),
      // Groups appear in the order of their options.
      groupItems: (_, visible, groupOfItem) => usual.groupItems(visible, visible, groupOfItem),
    })
    .addHelpText('after', () => exampleText(EXAMPLES[fullNameOf(command)] ?? []));
}

const argumentTerm = (argument: Command['registeredArguments'][number]): string => {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
};

const exampleText = (examples: readonly Example[]): string =>
  examples.length === 0
    ? ''
    : ['', 'Examples:', ...examples.flatMap(([line, does]) => [`  # ${does}`, `  ${line}`])].join('\n');
