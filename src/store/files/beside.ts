/**
 * What lies beside a file of a store. SQLite takes whatever lies there under the file's name for its log (`-wal`, `-shm`,
 * `-journal`), also what is left of a file that was deleted: it would be written into the new one, or be shared with a
 * process that still has the deleted one open. So nothing may lie there when a file gets its name.
 */
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { timestampFrom } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { processWithoutFile } from './lock-holders.ts';
import { BESIDE } from './partial-file.ts';

/** Whether there is no file, or one that holds nothing. */
export const isBlank = (path: string): boolean =>
  (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;

/** @throws PlatError `storeDenied` when a process is known to write the log of another file of this name */
export function mustNotBeInUse(path: string): void {
  const holder = processWithoutFile(path);
  if (holder === undefined) return;
  const what = existsSync(path) ? 'another file was put in its place' : 'its file was deleted';
  const reason = `${what} while process ${holder} has it open. End that process first`;
  throw platError('storeDenied', { store: path, reason });
}

/**
 * Moves what lies beside a file under its name, so that the next file of that name does not take it for its own.
 * @param name what is kept gets this name and its ending
 * @returns what is kept: a log may hold what was stored last; the rest is worth nothing without its file
 */
export function setAside(path: string, name: string): readonly string[] {
  const kept: string[] = [];
  for (const end of BESIDE) {
    const [lies, aside] = [`${path}${end}`, `${name}${end}`];
    if (end === '-shm' || isBlank(lies)) rmSync(lies, { force: true });
    else {
      renameSync(lies, aside);
      kept.push(aside);
    }
  }
  return kept;
}

/** A name under which what had this one is kept. */
export function freeName(path: string, now: number): string {
  const name = `${path}.replaced-${timestampFrom(now).replace(/[-:]|\.\d+/g, '')}`;
  const isFree = (each: string): boolean => ['', ...BESIDE].every((end) => !existsSync(`${each}${end}`));
  for (let count = 1; ; count++) {
    const each = count === 1 ? name : `${name}-${count}`;
    if (isFree(each)) return each;
  }
}

/** @throws PlatError `usage` when a file of this name would take for its own what lies beside it */
export function mustLieAlone(path: string): void {
  const found = BESIDE.map((end) => `${path}${end}`).find((each) => existsSync(each));
  if (found === undefined) return;
  const reason = `${found} exists already, and would be taken for a part of ${path}. Move it away.`;
  throw platError('usage', { reason });
}
