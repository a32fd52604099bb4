import { existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Memory where there is some to write files to, since a test needs no disk. */
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const folder = mkdtempSync(join(ROOT, 'plat-test-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

let files = 0;

/** A path in this process's folder that nothing lies at; the folder goes when the process ends. */
export function temporaryFile(ending = '.db'): string {
  return join(folder, `${++files}${ending}`);
}

/** Removes such a file, and those beside it that an engine makes: many stores fill the memory before the process ends. */
export function removeTemporary(path: string): void {
  for (const each of globSync(`${path}*`)) rmSync(each, { force: true });
}
