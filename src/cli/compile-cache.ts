/**
 * Limits the size of the compile cache, in which Node keeps compiled code of plat (bin/plat.js). Node removes nothing from it, and
 * each version and each checkout of plat has files of its own. If a removed file is needed again, Node compiles the code again.
 */
import { rmdirSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { namesIn, platCacheFolder } from './cache-folder.ts';

const DAY = 24 * 60 * 60 * 1000;
/**
 * Milliseconds after which a file is removed if it was neither written nor read; access times are used as far as the file system
 * records them.
 */
const UNUSED = 30 * DAY;
/** The maximum size of the remaining files in bytes. A version of plat takes 5 MB for each set of flags. */
const MOST = 256 * 1024 * 1024;
/** The maximum number of files that one command removes, because removing them delays its end. The next command continues. */
const AT_ONCE = 5000;

/** The names of the folders that Node creates, by version, processor, flags and user. */
const FOLDER = /^v\d+\.\d+\.\d+-/;
/** The name of a file whose modification time is the time at which the folder was last trimmed. */
const MARK = 'trimmed';

interface Found {
  readonly path: string;
  readonly size: number;
  readonly usedAt: number;
}

/** Once a day, removes files that have not been used for long, and the oldest files beyond the maximum size. */
export function trimCompileCache(): void {
  const now = Date.now();
  const used = getCompileCacheDir();
  // Never trim a folder that the user has chosen, because it may have other content.
  if (used === undefined || dirname(used) !== platCacheFolder(process.env.XDG_CACHE_HOME ?? '')) return;
  const folder = dirname(used);
  const mark = join(folder, MARK);
  if ((statOf(mark)?.mtimeMs ?? 0) > now - DAY) return;
  const found = namesIn(folder)
    .filter((name) => FOLDER.test(name))
    .flatMap((name) => filesIn(join(folder, name)));
  let size = 0;
  const surplus = found
    .toSorted((one, other) => other.usedAt - one.usedAt)
    .filter((file) => {
      size += file.size;
      return size > MOST || file.usedAt < now - UNUSED;
    });
  for (const { path } of surplus.slice(-AT_ONCE)) attempt(() => rmSync(path));
  for (const path of new Set(surplus.map((each) => dirname(each.path)))) attempt(() => rmdirSync(path));
  if (surplus.length <= AT_ONCE) attempt(() => writeFileSync(mark, '', { mode: 0o600 }));
}

const filesIn = (folder: string): Found[] =>
  namesIn(folder).flatMap((name) => {
    const path = join(folder, name);
    const stats = statOf(path);
    if (stats === undefined) return [];
    return [{ path, size: stats.size, usedAt: Math.max(stats.mtimeMs, stats.atimeMs) }];
  });

const statOf = (path: string): Stats | undefined => attempt(() => statSync(path));

/** Ignores failures: another process may be trimming as well, and no command depends on the result. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
