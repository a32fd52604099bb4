import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { platError } from '../errors/index.ts';

/** @throws PlatError `usage` when there is no file to read from */
export function mustBeFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw platError('usage', { reason: `There is no file ${path}.` });
  if (found.isDirectory()) throw platError('usage', { reason: `${path} is a folder, not a file.` });
}

/** @throws PlatError `usage` when no file can be written there, since there is no such folder */
export function mustHaveFolder(path: string): void {
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  throw platError('usage', { reason: `There is no folder ${folder} to write ${path} to.` });
}
