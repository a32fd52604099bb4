/**
 * A backup is a file that nobody sees before it is whole and sound, and that is gone when it is not: it is opened and
 * checked like a store before it gets its name.
 */
import { existsSync } from 'node:fs';
import type { StoreModel } from '../../compile/model.ts';
import { platError } from '../../errors/index.ts';
import { type Checkable, unsoundness } from '../../store/check/check-store.ts';
import { checksOn } from '../../store/check/checks.ts';
import { copyStore } from '../../store/copy-store.ts';
import { PartialFile } from '../../store/partial-file.ts';
import type { WriteBackup } from '../../store/raw-tables.ts';
import { askerOf } from './asker.ts';
import { type Connection, connect } from './connection.ts';
import { translateError } from './errors.ts';
import { findFileFaults } from './file-faults.ts';
import { giveFileId } from './file-id.ts';
import { readModel } from './meta.ts';
import { mustLieAlone } from './new-file.ts';
import { sqliteTables } from './raw-tables.ts';
import { findViewFaults } from './views.ts';

/** Where a backup comes from, and who is told of its progress. */
export interface BackupOptions {
  /** Of the store, for messages. */
  readonly source: string;
  /** After each step of the check, with the rows that were read. */
  readonly told?: ((resource: string, rows: number) => void) | undefined;
}

/**
 * @param write fills the file, which is there and empty
 * @throws PlatError `usage` when there is such a file; `storeDamaged` when the copy is not sound
 */
export async function makeBackup(
  file: string,
  { source, told }: BackupOptions,
  write: (path: string) => Promise<void>,
): Promise<void> {
  mustBeFree(file);
  try {
    using partial = new PartialFile(file, '.partial');
    await write(partial.path);
    giveFileId(partial.path);
    const fault = await faultOf(partial.path, told);
    if (fault !== undefined) {
      const reason = `its copy does not pass the check (${fault}), and was not kept`;
      throw platError('storeDamaged', { store: source, reason });
    }
    mustBeFree(file);
    partial.takePlace();
  } catch (error) {
    throw translateError(error, source, 0);
  }
}

function mustBeFree(file: string): void {
  if (existsSync(file)) throw platError('usage', { reason: `${file} exists already.` });
  mustLieAlone(file);
}

export const writeBackup: WriteBackup = (file, from, options) =>
  makeBackup(file, options, async (path) => {
    const to = sqliteTables(path, true);
    try {
      await copyStore(from, to, () => undefined, true);
    } finally {
      await to.close();
    }
  });

/** Milliseconds that a lock is waited for; nobody else has the file. */
const PATIENCE = 5000;

async function faultOf(path: string, told: BackupOptions['told']): Promise<string | undefined> {
  const connection = connect({ path, readOnly: false, busyTimeout: PATIENCE, cacheMegabytes: 64 });
  try {
    return await unsoundness(checkable(connection), told);
  } finally {
    connection.close();
  }
}

function checkable(connection: Connection): Checkable {
  const model: StoreModel = readModel(connection.database);
  const checks = checksOn(askerOf(connection, model));
  return {
    ...checks,
    async tableFaults(resource) {
      const faults = await checks.tableFaults(resource);
      if (!model.stores(resource)) return faults;
      return [...faults, ...findViewFaults(connection.database, model, model.layout(resource))];
    },
    model: async () => model,
    fileFaults: async () => findFileFaults(connection, model),
  };
}
