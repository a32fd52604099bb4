import type { Command } from 'commander';
import { platError } from '../../errors/index.ts';
import { openTables } from '../../open-store.ts';
import { describeFirstFault } from '../../store/check/check-store.ts';
import { copyStore } from '../../store/copy/copy-store.ts';
import type { PartitionField } from '../../store/store.ts';
import { withStore } from '../open-store.ts';
import { addOptions, applyConfig, CONFIG_OPTION, JSON_OPTION, required } from '../options.ts';
import { print } from '../output.ts';
import { rowProgress, withProgress } from '../progress.ts';

export function defineCopy(copy: Command): void {
  addOptions(
    copy,
    required('--from <store>', 'the store to copy: a path, sqlite:PATH or postgres://…'),
    required('--to <store>', 'the target store: a path, sqlite:PATH or postgres://…'),
    CONFIG_OPTION(),
    JSON_OPTION(),
  ).action(async (_options, command: Command) => {
    const { partitions } = await applyConfig(command);
    const { from, to, json } = command.opts();
    const source = await openTables(from, false);
    try {
      const target = await openTables(to, true, partitions);
      try {
        const report = await withProgress(`Copying ${source.name}`, undefined, (progress) =>
          copyStore(source, target, rowProgress(progress)),
        );
        const { tables, rows, written, removed, paused } = report;
        const text = `${target.name} is the same as ${source.name}: ${rows} rows in ${tables} tables, ${written} written, ${removed} removed${paused === 0 ? '' : `; webhooks that are paused in the copy: ${paused}`}`;
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

/** Checks the copy, because an exact copy of a damaged store is damaged, too. @throws PlatError `storeDamaged` */
async function mustBeSound(address: string, partitions: PartitionField | undefined): Promise<void> {
  await withStore(address, { create: false, partitions }, async (store) => {
    const fault = await withProgress(`Checking ${store.name}`, undefined, (progress) =>
      describeFirstFault(store, rowProgress(progress)),
    );
    if (fault === undefined) return;
    throw platError('storeDamaged', {
      store: store.name,
      reason: `its source is damaged as well (${fault})`,
    });
  });
}
