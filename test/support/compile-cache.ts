/**
 * Fills the compile cache of a run before its tests start. Otherwise every process that starts before the first one with the same
 * flags has ended compiles everything by itself, and a process that is killed keeps nothing.
 */
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import MEMORY from '../../bin/memory.json' with { type: 'json' };

const run = promisify(execFile);

const PLAT = fileURLToPath(new URL('../../bin/plat.js', import.meta.url));
const COMMON = fileURLToPath(new URL('service.ts', import.meta.url));

/** @param testFlags the flags of Node with which test files run; what is compiled is kept for each set of flags */
export async function fillCompileCache(testFlags: readonly string[]): Promise<void> {
  const { NODE_COMPILE_CACHE: folder } = process.env;
  // Node has made the folder for this process, which writes to it at its end.
  if (folder === undefined || globSync('*/*', { cwd: folder }).length > 0) return;
  await Promise.all([
    run(process.execPath, [...testFlags, COMMON]),
    run(process.execPath, [PLAT, 'import', '--help']),
    run(process.execPath, [...MEMORY.serve.flags, PLAT, 'serve', '--help']),
    run(process.execPath, [...MEMORY.replicate.flags, PLAT, 'replicate', '--help']),
  ]);
}
