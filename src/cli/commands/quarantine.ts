import type { Command } from 'commander';
import { platError } from '../../errors/index.ts';
import { type RetryOptions, retryQuarantined } from '../../replica/quarantine.ts';
import { openStore } from '../open-store.ts';
import { applyConfig, CONFIG_OPTION, JSON_OPTION, option, STORE_OPTION } from '../options.ts';
import { EXIT, print, table } from '../output.ts';

interface RetrySettings {
  readonly store: string;
  readonly source?: string;
  readonly json?: boolean;
  readonly from?: string;
  readonly interface?: 'reso' | 'native';
  readonly token?: string;
}

/** How the source is asked. @throws PlatError `usage` where only a part of it was told */
function askOf({ from, interface: kind, token, source }: RetrySettings): RetryOptions['ask'] {
  if (from === undefined && kind === undefined && token === undefined) return undefined;
  if (from === undefined || kind === undefined || token === undefined) {
    throw platError('usage', {
      reason: 'The source is asked with --from, --interface and --token, all three.',
    });
  }
  return { from, interface: kind, token, ...(source === undefined ? {} : { source }) };
}

export function defineQuarantine(quarantine: Command): void {
  const common = (command: Command): Command =>
    command
      .addOption(STORE_OPTION())
      .addOption(CONFIG_OPTION())
      .addOption(option('--source <name>', 'of this source only'))
      .addOption(JSON_OPTION());
  common(quarantine.command('list').description('what is there and why')).action(
    async (_options, command: Command) => {
      await applyConfig(command);
      const { store: address, source, json } = command.opts();
      const store = await openStore(address, { create: false });
      try {
        const entries = await store.checkpoints.quarantined(source);
        const head = ['source', 'resource', 'key', 'since', 'attempts', 'reason'];
        const rows = entries.map((each) => [
          each.source,
          each.resource,
          each.key,
          each.firstAt,
          String(each.attempts),
          each.reason,
        ]);
        print(entries, entries.length === 0 ? 'The quarantine is empty.' : table([head, ...rows]), json);
      } finally {
        await store.close();
      }
    },
  );
  common(
    quarantine
      .command('retry')
      .description(
        'store what can be stored by now: at once where the source is named and still gives it, else with the next run',
      ),
  )
    .addOption(option('--from <url>', 'root of the service: …/Reso/OData or …/v1, to ask it now'))
    .addOption(option('--interface <interface>', 'which one the root is of').choices(['reso', 'native']))
    .addOption(option('--token <token>', 'API key of the source'))
    .action(async (_options, command: Command) => {
      await applyConfig(command);
      const settings: RetrySettings = command.opts();
      const { source, json } = settings;
      const ask = askOf(settings);
      const store = await openStore(settings.store, { create: false });
      try {
        const result = await retryQuarantined(store, {
          ...(source === undefined ? {} : { source }),
          ...(ask === undefined ? {} : { ask }),
        });
        const lines = result.still.map((each) => `${each.resource} ${each.key}: ${each.reason}`);
        const head = [
          `${result.stored} stored`,
          `${result.gone} gone at the source`,
          `${result.wanted} to be asked for at the next run`,
          `${result.still.length} still in quarantine`,
        ];
        print(result, [head.join(', '), ...lines], json);
        process.exitCode = result.still.length > 0 ? EXIT.failed : EXIT.done;
      } finally {
        await store.close();
      }
    });
}
