/**
 * A backup file gets its name only when it is complete and intact, and is deleted otherwise: before that, it is opened
 * and checked like a store.
 */
import { existsSync } from 'node:fs';
import { platError } from '../../errors/index.ts';
import { mustHaveNoLogFiles } from './beside.ts';
import { PartialFile } from './partial-file.ts';

/** Where a backup comes from, and how it is written and checked. */
interface BackupParts {
  /** The store's name for messages. */
  readonly source: string;
  /** Fills the empty file. */
  readonly write: (path: string) => Promise<void>;
  /** The fault of the copy; undefined if there is none. */
  readonly faultOf: (path: string) => Promise<string | undefined>;
}

/** @throws PlatError `usage` if the file exists; `storeDamaged` if the copy is damaged */
export async function makeBackup(file: string, { source, write, faultOf }: BackupParts): Promise<void> {
  mustNotExist(file);
  using partial = new PartialFile(file, '.partial');
  await write(partial.path);
  const fault = await faultOf(partial.path);
  if (fault !== undefined) {
    const reason = `its copy does not pass the check (${fault}), and was not kept`;
    throw platError('storeDamaged', { store: source, reason });
  }
  mustNotExist(file);
  partial.replaceTarget();
}

function mustNotExist(file: string): void {
  if (existsSync(file)) throw platError('usage', { reason: `${file} already exists.` });
  mustHaveNoLogFiles(file);
}
