import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** A folder in memory, if there is one, since tests need no disk. */
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const folder = mkdtempSync(join(ROOT, 'plat-test-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

let files = 0;

/** The path of a new file in this process's folder, which is removed when the process ends. */
export function temporaryFile(ending = '.db'): string {
  return join(folder, `${++files}${ending}`);
}

/** Removes such a file, and those that an engine creates next to it: many stores would fill the memory before the process ends. */
export function removeTemporary(path: string): void {
  const [parent, name] = [dirname(path), basename(path)];
  const files = readdirSync(parent).filter((each) => each.startsWith(name));
  for (const each of files) rmSync(join(parent, each), { force: true });
}
