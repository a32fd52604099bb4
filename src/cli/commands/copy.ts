import type { Command } from 'commander';
import { openTables } from '../../open-store.ts';
import { copyStore } from '../../store/copy-store.ts';
import { applyConfig, CONFIG_OPTION, JSON_OPTION, required } from '../options.ts';
import { print } from '../output.ts';
import { withProgress } from '../progress.ts';

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
    });
}
