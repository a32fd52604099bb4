import type { Command } from 'commander';
import type { StoreStatus } from '../../store/store.ts';
import { openStore } from '../open-store.ts';
import { applyConfig, CONFIG_OPTION, JSON_OPTION, STORE_OPTION } from '../options.ts';
import { print, table } from '../output.ts';

export function addStatusCommand(program: Command): void {
  program
    .command('status')
    .description('what a store holds')
    .addOption(STORE_OPTION())
    .addOption(CONFIG_OPTION())
    .addOption(JSON_OPTION())
    .action(async (_options, command: Command) => {
      applyConfig(command);
      const { store: address, json } = command.opts();
      const store = await openStore(address, { create: false });
      try {
        const status = await store.status();
        const keys = await store.keys.list();
        const valid = keys.filter(({ revokedAt }) => revokedAt === null).length;
        print({ ...status, keys: { valid, all: keys.length } }, text(status, valid), json);
      } finally {
        await store.close();
      }
    });
}

function text(status: StoreStatus, keys: number): string {
  const head = ['resource', 'records', 'deleted', 'without parent', 'last change'];
  const rows = status.resources.map((each) => [
    each.resource,
    String(each.rows),
    String(each.deleted),
    String(each.orphans),
    each.lastModification ?? '-',
  ]);
  const links = status.danglingLinks.map(
    ({ link, keys: count, listings }) => `${link}: ${count} keys in ${listings} listings name no record`,
  );
  return [
    `${status.store} (${status.engine}, ${status.owner}, layout ${status.layout}, ${(status.bytes / 1e6).toFixed(1)} MB)`,
    `last stamp ${status.lastStamp}, ${keys} valid keys`,
    '',
    table([head, ...rows]),
    ...(links.length > 0 ? ['', ...links] : []),
  ].join('\n');
}
