/** Creates a backup file, and verifies it before it gets its name. */
import { checkableOn, describeFirstFault } from '../../store/check/check-store.ts';
import { copyStore, type WriteBackup } from '../../store/copy/copy-store.ts';
import { copyError, makeBackup } from '../../store/files/partial-file.ts';
import { readModel, writeMeta } from '../../store/state/meta.ts';
import { newEpoch } from '../../store/time/epoch.ts';
import { connect, READ_PATIENCE } from './connection.ts';
import { translateError } from './errors.ts';
import { structureOf } from './file-faults.ts';
import { sqliteTables } from './raw-tables.ts';
import { sessionOn } from './session.ts';

type Options = Parameters<WriteBackup>[2];

/** @param write fills the file, which already exists and is empty */
export async function backupFile(
  file: string,
  { source, onProgress }: Options,
  write: (path: string) => Promise<void>,
): Promise<void> {
  try {
    await makeBackup(file, { source, write, faultOf: (path) => faultOf(path, onProgress) });
  } catch (error) {
    throw copyError(translateError(error, source, 0), file);
  }
}

export const writeBackup: WriteBackup = (file, from, options) =>
  backupFile(file, options, async (path) => {
    const to = sqliteTables(path, true);
    try {
      await copyStore(from, to, () => undefined, true);
    } finally {
      await to.close();
    }
  });

async function faultOf(path: string, onProgress: Options['onProgress']): Promise<string | undefined> {
  using connection = connect({ path, readOnly: false, busyTimeout: READ_PATIENCE, cacheMegabytes: 64 });
  const session = sessionOn(connection);
  await writeMeta(session, { file: newEpoch() });
  const model = await readModel(session);
  return await describeFirstFault(checkableOn(session, model, structureOf(connection)), onProgress);
}
