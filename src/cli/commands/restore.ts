import type { Command } from 'commander';
import { usageError } from '../../errors/index.ts';
import { parseStoreAddress, type Restored, restoreStore } from '../../open-store.ts';
import { withStore } from '../open-store.ts';
import {
  addOptions,
  applyConfig,
  CONFIG_OPTION,
  JSON_OPTION,
  mustBeFile,
  mustHaveFolder,
  option,
  STORE_OPTION,
} from '../options.ts';
import { print } from '../output.ts';
import { rowProgress, withProgress } from '../progress.ts';

export function defineRestore(restore: Command): void {
  addOptions(
    restore,
    STORE_OPTION(),
    CONFIG_OPTION(),
    option('--new-epoch', 'only begin a new epoch, for a store that was restored by other means'),
    JSON_OPTION(),
  ).action(async (file: string | undefined, _options, command: Command) => {
    await applyConfig(command);
    const { store: text, newEpoch, json } = command.opts();
    const address = parseStoreAddress(text);
    if (newEpoch === true) {
      if (file !== undefined) {
        throw usageError('--new-epoch does not accept a FILE: the store stays as it is.');
      }
      await beginEpoch(text, json);
      return;
    }
    if (address.engine === 'postgres') {
      const reason =
        'Restore a store on a server with the tools of the server (point-in-time recovery, pg_restore), or with "plat copy --from FILE --to STORE" into an empty schema. Then "plat restore --store STORE --new-epoch" tells replicas of it.';
      throw usageError(reason);
    }
    if (file === undefined) throw usageError('restore requires the FILE of a backup.');
    const { path } = address;
    mustBeFile(file);
    mustHaveFolder(path);
    const report = await withProgress(`Checking ${file}`, undefined, (progress) =>
      restoreStore({ path, backup: file, onProgress: rowProgress(progress) }),
    );
    print({ store: path, file, ...report }, summaryLines(path, file, report), json);
  });
}

async function beginEpoch(text: string, json: boolean | undefined): Promise<void> {
  await withStore(text, { create: false }, async (store) => {
    // Every timestamp from before the restore is earlier than this time.
    const { epoch } = await store.beginEpoch({ notBefore: await store.now() });
    const line = `${store.name} is in the new epoch ${epoch}; its replicas read everything again`;
    print({ store: store.name, epoch }, line, json);
  });
}

function summaryLines(store: string, file: string, report: Restored): string[] {
  const rows = report.resources.filter((each) => each.rows > 0);
  const listed = (what: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [`keys that were ${what}: ${names.join(', ')}`];
  return [
    `${store} is what ${file} was: ${rows.map((each) => `${each.rows} ${each.resource}`).join(', ') || 'empty'}`,
    `its last change was at ${report.lastStamp}; the new epoch is ${report.epoch}, and its replicas read everything again`,
    ...(report.kept === undefined ? [] : [`the previous store is kept as ${report.kept}`]),
    ...listed('revoked since the backup are valid again', report.validAgain),
    ...listed('created since the backup are gone', report.gone),
    ...report.remarks,
  ];
}
