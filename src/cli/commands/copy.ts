import type { Command } from 'commander';
import { platError } from '../../errors/index.ts';
import { openTables } from '../../open-store.ts';
import { unsoundness } from '../../store/check/check-store.ts';
import { copyStore } from '../../store/copy-store.ts';
import type { PartitionField } from '../../store/store.ts';
import { openStore } from '../open-store.ts';
import { applyConfig, CONFIG_OPTION, JSON_OPTION, required } from '../options.ts';
import { print } from '../output.ts';
import { withProgress } from '../progress.ts';

/** Whoever copies a damaged store has a damaged copy: the same is not enough. @throws PlatError `storeDamaged` */
async function mustBeSound(address: string, partitions: PartitionField | undefined): Promise<void> {
  const store = await openStore(address, { create: false, partitions });
  try {
    const fault = await withProgress(`Checking ${store.name}`, undefined, ({ update }) =>
      unsoundness(store, (resource, rows) => update(rows, `${rows} rows, ${resource}`)),
    );
    if (fault === undefined) return;
    throw platError('storeDamaged', {
      store: store.name,
      reason: `what it was copied from is, too (${fault})`,
    });
  } finally {
    await store.close();
  }
}

export function defineCopy(copy: Command): void {
  copy
    .addOption(required('--from <store>', 'the store to copy: a path, sqlite:PATH or postgres://…'))
    .addOption(required('--to <store>', 'where to: a path, sqlite:PATH or postgres://…'))
    .addOption(CONFIG_OPTION())
    .addOption(JSON_OPTION())
    .action(async (_options, command: Command) => {
      const { partitions } = await applyConfig(command);
      const { from, to, json } = command.opts();
      const source = await openTables(from, false);
      try {
        const target = await openTables(to, true, partitions);
        try {
          const report = await withProgress(`Copying ${source.name}`, undefined, ({ update }) =>
            copyStore(source, target, (table, rows) => update(rows, `${rows} rows, ${table}`)),
          );
          const { tables, rows, written, removed } = report;
          const text = `${target.name} is the same as ${source.name}: ${rows} rows in ${tables} tables, ${written} written, ${removed} removed`;
          print(report, text, json);
        } finally {
          await target.close();
        }
      } finally {
        await source.close();
      }
      await mustBeSound(to, partitions);
    });
}
