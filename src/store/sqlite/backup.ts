/**
 * A backup is a file that nobody sees before it is whole and sound, and that is gone when it is not: it is opened and
 * checked like a store before it gets its name.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { platError } from '../../errors/index.ts';
import { type Checkable, type Fault, findFaults } from '../check/check-store.ts';
import { findRowFaults } from '../check/row-faults.ts';
import { findTableFaults } from '../check/table-faults.ts';
import type { StoreDump } from '../dump.ts';
import type { StoreModel } from '../model.ts';
import { makePrivateFile } from '../private-file.ts';
import { askerOf } from './asker.ts';
import { type Connection, connect } from './connection.ts';
import { translateError } from './errors.ts';
import { findFileFaults } from './file-faults.ts';
import { readModel } from './meta.ts';
import { restoreStore } from './restore.ts';

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
  if (existsSync(file)) throw platError('usage', { reason: `${file} exists already.` });
  const partial = `${file}.partial`;
  const remove = (): void => {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${partial}${end}`, { force: true });
  };
  remove(); // what a killed backup left
  try {
    makePrivateFile(partial);
    await write(partial);
    const fault = await firstFault(partial, told);
    if (fault !== undefined) {
      const reason = `its copy does not pass the check (${wordsOf(fault)}), and was not kept`;
      throw platError('storeDamaged', { store: source, reason });
    }
    renameSync(partial, file);
  } catch (error) {
    throw translateError(error, source, 0);
  } finally {
    remove();
  }
}

/** Writes a backup of a store of another engine. */
export const writeBackup = (file: string, dump: StoreDump, options: BackupOptions): Promise<void> =>
  makeBackup(file, options, (path) => restoreStore(path, dump));

/** Milliseconds that a lock is waited for; nobody else has the file. */
const PATIENCE = 5000;

async function firstFault(path: string, told: BackupOptions['told']): Promise<Fault | undefined> {
  const connection = connect({ path, readOnly: false, busyTimeout: PATIENCE, cacheMegabytes: 64 });
  try {
    for await (const fault of findFaults(checkable(connection), told))
      if (!isOfItsSource(fault)) return fault;
    return undefined;
  } finally {
    connection.close();
  }
}

function checkable(connection: Connection): Checkable {
  const model: StoreModel = readModel(connection.database);
  const asker = askerOf(connection, model);
  return {
    model: async () => model,
    rowFaults: (resource, rows) => findRowFaults(asker, model.layout(resource), rows),
    tableFaults: (resource) => findTableFaults(asker, model.layout(resource)),
    fileFaults: async () => findFileFaults(connection, model),
  };
}

/** A replica's record whose source is not known is whole, and the next refresh says whose it is. */
const isOfItsSource = (fault: Fault): boolean =>
  fault.place === 'row' && fault.what.every((what) => what === '_source');

const wordsOf = (fault: Fault): string =>
  fault.place === 'file' ? fault.what.join('; ') : `${fault.resource} ${fault.key}: ${fault.what.join(', ')}`;
