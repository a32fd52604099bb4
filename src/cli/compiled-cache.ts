/**
 * Bounds the code that Node compiled for plat and keeps in plat's cache folder (bin/plat.js). Node removes nothing there, and each
 * version and each checkout of plat has files of its own. Whoever needs one that was removed compiles it again.
 */
import { readdirSync, rmdirSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { platCacheFolder } from './own-folder.ts';

const DAY = 24 * 60 * 60 * 1000;
/** Milliseconds after which a file that was neither written nor, as far as the file system records it, read is removed. */
const UNUSED = 30 * DAY;
/** The maximum size in bytes of those that remain; a version of plat takes 5 MB for each set of flags. */
const MOST = 256 * 1024 * 1024;
/** The number of files that one command removes at most, since it ends only afterwards; the next one continues. */
const AT_ONCE = 5000;

/** The folders of Node, by version, processor, flags and user. */
const FOLDER = /^v\d+\.\d+\.\d+-/;
/** Its modification time says when the folder was last trimmed. */
const MARK = 'trimmed';

interface Found {
  readonly path: string;
  readonly size: number;
  readonly usedAt: number;
}

/** Removes what has not been used for long, and the oldest beyond the maximum size, once a day. @param now milliseconds since 1970 */
export function trimCompileCache(now = Date.now()): void {
  const used = getCompileCacheDir();
  // A user can choose another folder, whose other content is not plat's.
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

const namesIn = (folder: string): readonly string[] => attempt(() => readdirSync(folder)) ?? [];

const statOf = (path: string): Stats | undefined => attempt(() => statSync(path));

/** Another process may do the same, and no command depends on it. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
