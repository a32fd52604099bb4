import type { Command } from 'commander';
import { retryQuarantined } from '../../replica/quarantine.ts';
import { openStore } from '../open-store.ts';
import { applyConfig, CONFIG_OPTION, JSON_OPTION, option, STORE_OPTION } from '../options.ts';
import { EXIT, print, table } from '../output.ts';

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
        const entries = await store.ledger.quarantined(source);
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
  common(quarantine.command('retry').description('try to store them once more')).action(
    async (_options, command: Command) => {
      await applyConfig(command);
      const { store: address, source, json } = command.opts();
      const store = await openStore(address, { create: false });
      try {
        const result = await retryQuarantined(store, source === undefined ? {} : { source });
        const lines = result.still.map((each) => `${each.resource} ${each.key}: ${each.reason}`);
        const head = `${result.stored} stored, ${result.wanted} to be asked for at the next run, ${result.still.length} still in quarantine`;
        print(result, [head, ...lines], json);
        process.exitCode = result.still.length > 0 ? EXIT.failed : EXIT.done;
      } finally {
        await store.close();
      }
    },
  );
}
