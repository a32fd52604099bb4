/**
 * A backup file has its name only once it is complete and sound, and is deleted otherwise: it is opened and checked
 * like a store before it gets its name.
 */
import { existsSync } from 'node:fs';
import { platError } from '../../errors/index.ts';
import { mustLieAlone } from './beside.ts';
import { PartialFile } from './partial-file.ts';

/** Where a backup comes from, and how it is written and checked. */
interface BackupParts {
  /** The store's name for messages. */
  readonly source: string;
  /** Fills the empty file. */
  readonly write: (path: string) => Promise<void>;
  /** What is wrong with the copy; undefined when nothing is. */
  readonly faultOf: (path: string) => Promise<string | undefined>;
}

/** @throws PlatError `usage` when the file exists; `storeDamaged` when the copy is not sound */
export async function makeBackup(file: string, { source, write, faultOf }: BackupParts): Promise<void> {
  mustBeFree(file);
  using partial = new PartialFile(file, '.partial');
  await write(partial.path);
  const fault = await faultOf(partial.path);
  if (fault !== undefined) {
    const reason = `its copy does not pass the check (${fault}), and was not kept`;
    throw platError('storeDamaged', { store: source, reason });
  }
  mustBeFree(file);
  partial.takePlace();
}

function mustBeFree(file: string): void {
  if (existsSync(file)) throw platError('usage', { reason: `${file} exists already.` });
  mustLieAlone(file);
}
