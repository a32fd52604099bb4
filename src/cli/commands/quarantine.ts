import type { Command, Option } from 'commander';
import { usageError } from '../../errors/index.ts';
import { type RetryOptions, retryQuarantined } from '../../replica/quarantine.ts';
import { withStore } from '../open-store.ts';
import { addOptions, applyConfig, CONFIG_OPTION, JSON_OPTION, option, STORE_OPTION } from '../options.ts';
import { EXIT, print, table } from '../output.ts';
import { namedTokens, tokenOptions } from '../source-options.ts';
import { defineStoreAction } from '../store-command.ts';

interface RetrySettings {
  readonly store: string;
  readonly source?: string;
  readonly json?: boolean;
  readonly from?: string;
  readonly interface?: 'reso' | 'native';
}

/** How to query the source; undefined: it is not queried. @throws PlatError `usage` if only some of the options are given */
async function askOf(command: Command): Promise<RetryOptions['ask']> {
  const { from, interface: kind, source }: RetrySettings = command.opts();
  const token = await namedTokens(command);
  if (from === undefined && kind === undefined && token === undefined) return undefined;
  if (from === undefined || kind === undefined || token === undefined) {
    throw usageError(
      'Querying the source requires --from, --interface and --token (or --token-file, or --token-url).',
    );
  }
  return { from, interface: kind, token, source };
}

export function defineQuarantine(quarantine: Command): void {
  const sourceOption = (): Option => option('--source <name>', 'only entries of this source');
  const list = quarantine.command('list').description('list quarantined records and the reasons');
  defineStoreAction(list, [sourceOption(), JSON_OPTION()], async (store, { source, json }) => {
    const entries = await store.checkpoints.quarantined(source);
    const head = ['source', 'resource', 'key', 'since', 'attempts', 'reason'];
    const rows = entries.map(({ source: of, resource, key, firstAt, attempts, reason }) =>
      [of, resource, key, firstAt, attempts, reason].map(String),
    );
    print(entries, entries.length === 0 ? 'The quarantine is empty.' : table([head, ...rows]), json);
  });
  const retry = quarantine
    .command('retry')
    .description(
      'store what can be stored now: at once if the source is given and still has it, else with the next run',
    );
  addOptions(
    retry,
    STORE_OPTION(),
    CONFIG_OPTION(),
    sourceOption(),
    JSON_OPTION(),
    option('--from <url>', 'root of the service: …/Reso/OData or …/v1, to query it now'),
    option('--interface <interface>', 'interface of the root').choices(['reso', 'native']),
    ...tokenOptions('API key of the source'),
  ).action(async () => {
    await applyConfig(retry);
    const settings: RetrySettings = retry.opts();
    const { source, json } = settings;
    const ask = await askOf(retry);
    await withStore(settings.store, { create: false }, async (store) => {
      const result = await retryQuarantined(store, { source, ask });
      const lines = result.still.map((each) => `${each.resource} ${each.key}: ${each.reason}`);
      const head = [
        `${result.stored} stored`,
        `${result.gone} gone at the source`,
        `${result.wanted} to be fetched by the next run`,
        `${result.still.length} still in quarantine`,
      ];
      print(result, [head.join(', '), ...lines], json);
      process.exitCode = result.still.length > 0 ? EXIT.failed : EXIT.done;
    });
  });
}
