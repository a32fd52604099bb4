import type { Command } from 'commander';
import { platError } from '../../errors/index.ts';
import { type Restored, restoreStore, storeAddress } from '../../open-store.ts';
import { openStore } from '../open-store.ts';
import { applyConfig, CONFIG_OPTION, JSON_OPTION, option, STORE_OPTION } from '../options.ts';
import { mustBeFile, mustHaveFolder } from '../paths.ts';
import { withProgress } from '../progress.ts';
import { writeJson, writeLines } from '../terminal.ts';

export function defineRestore(restore: Command): void {
  restore
    .addOption(STORE_OPTION())
    .addOption(CONFIG_OPTION())
    .addOption(
      option('--new-epoch', 'begin the new epoch alone, for a store that was brought back by other means'),
    )
    .addOption(JSON_OPTION())
    .action(async (file: string | undefined, _options, command: Command) => {
      await applyConfig(command);
      const { store: text, newEpoch, json } = command.opts();
      const address = storeAddress(text);
      if (newEpoch === true) {
        if (file !== undefined) {
          throw platError('usage', { reason: '--new-epoch takes no FILE: the store stays as it is.' });
        }
        await beginEpoch(text, json);
        return;
      }
      if (address.engine === 'postgres') {
        const reason =
          'A store on a server is brought back by what the server has (point-in-time recovery, pg_restore), or by "plat copy --from FILE --to STORE" into an empty schema. Then "plat restore --store STORE --new-epoch" tells replicas of it.';
        throw platError('usage', { reason });
      }
      if (file === undefined) throw platError('usage', { reason: 'restore takes the FILE of a backup.' });
      mustBeFile(file);
      mustHaveFolder(address.path);
      const report = await withProgress(`Checking ${file}`, undefined, ({ update }) =>
        restoreStore({
          path: address.path,
          backup: file,
          onProgress: (rows, resource) => update(rows, `${rows} rows, ${resource}`),
        }),
      );
      if (json === true) writeJson({ store: address.path, file, ...report });
      else writeLines(lines(address.path, file, report));
    });
}

async function beginEpoch(text: string, json: boolean | undefined): Promise<void> {
  const store = await openStore(text, { create: false });
  try {
    // What was given before the store went back lies before this moment.
    const { epoch } = await store.beginEpoch({ notBefore: await store.now() });
    if (json === true) writeJson({ store: store.name, epoch });
    else writeLines(`${store.name} is in the new epoch ${epoch}; its replicas read everything again`);
  } finally {
    await store.close();
  }
}

function lines(store: string, file: string, report: Restored): string[] {
  const rows = report.resources.filter((each) => each.rows > 0);
  const listed = (names: readonly string[]): string => names.join(', ');
  return [
    `${store} is what ${file} was: ${rows.map((each) => `${each.rows} ${each.resource}`).join(', ') || 'empty'}`,
    `its last change is of ${report.lastStamp}; the new epoch is ${report.epoch}, and its replicas read everything again`,
    ...(report.kept === undefined ? [] : [`the store that was there is kept as ${report.kept}`]),
    ...(report.validAgain.length === 0
      ? []
      : [`keys that were revoked since the backup are valid again: ${listed(report.validAgain)}`]),
    ...(report.gone.length === 0
      ? []
      : [`keys that were made since the backup are gone: ${listed(report.gone)}`]),
    ...report.remarks,
  ];
}
