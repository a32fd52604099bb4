/**
 * Restores a store from a backup: copies the backup next to the store, checks it completely, begins a new epoch in it, and
 * replaces the store in one step. No other process may have the store open in the meantime. The replaced store is kept.
 */

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { KeyRecord } from '../../access/index.ts';
import { sql } from '../../compile/fragment.ts';
import { timestampFrom } from '../../dictionary/index.ts';
import { failedError, PlatError, usageError } from '../../errors/index.ts';
import { type Clock, systemClock } from '../../shared/clock.ts';
import { codeOf } from '../../shared/error-code.ts';
import { describeFault, findFaults, isUsable } from '../check/check-store.ts';
import type { OnProgress } from '../check/checks.ts';
import { keyOf } from '../keys/key-store.ts';
import type { Session } from '../session.ts';
import { metaRows } from '../state/meta.ts';
import type { ResourceStatus, Store } from '../store.ts';
import { copyError, mustNotBeInUse, PartialFile, setAsideLogFiles, unusedName } from './partial-file.ts';

export interface LockedStore {
  readonly before: ReplacedStore | undefined;
  readonly remarks: string[];
  readonly release: () => void;
}

/** What the engine of a file does for a restore. */
export interface FileEngine {
  /** Locks every other process out of the store. @throws PlatError `failed` if one has it open */
  lockStore(path: string): Promise<LockedStore>;
  /** Copies a backup, including the log of one that was copied by hand. */
  copy(backup: string, to: string): Promise<void>;
  open(path: string, clock: Clock): Promise<Store>;
  /** Waits until no other process creates a file of this name. */
  lockName(path: string): Disposable;
}

export interface Restore {
  /** The store's file, which need not exist. */
  readonly path: string;
  readonly backup: string;
  readonly clock?: Clock;
  readonly onProgress?: OnProgress;
  /** Creates a hard link; absent: the file system's own. */
  readonly link?: (path: string, name: string) => void;
}

/** What was restored, and what that means for others. */
export interface Restored {
  readonly epoch: string;
  /** No later timestamp is before this one. */
  readonly notBefore: string;
  /** The newest timestamp of the backup. */
  readonly lastStamp: string;
  readonly resources: readonly Pick<ResourceStatus, 'resource' | 'rows'>[];
  /** Where the replaced store is kept; absent if there was none. */
  readonly kept?: string;
  /** Names and ids of keys that were revoked after the backup and are valid again, and of keys created after it. */
  readonly validAgain: readonly string[];
  readonly gone: readonly string[];
  /** Remarks for the operator. */
  readonly remarks: readonly string[];
}

/** What is known of the replaced store. */
export interface ReplacedStore {
  /** Milliseconds since 1970. */
  readonly newest: number;
  readonly keys: readonly KeyRecord[];
}

/** Reads what is known of the replaced store, ignoring times that are unreadable. @throws Damage for unreadable keys */
export async function readReplacedStore({ rows }: Session): Promise<ReplacedStore> {
  const found = await rows(metaRows('lastStamp', 'settled'));
  const moments = found.map(({ name, value }) =>
    name === 'settled' ? Number(value) : Date.parse(String(value)),
  );
  const keys = await rows(sql`SELECT * FROM plat_keys ORDER BY created_at, id`);
  return { newest: Math.max(0, ...moments.filter(Number.isFinite)), keys: keys.map(keyOf) };
}

/** A last timestamp that is this far ahead of the clock was set by a wrong clock. */
const MAX_AHEAD = 3_600_000;

/**
 * @throws PlatError `usage` if there is no backup; `failed` if the store is in use or the backup is damaged;
 * `storeNotOurs`, `storeTooNew` for a file that this plat cannot read. The store is then unchanged
 */
export async function restore(
  engine: FileEngine,
  { path: named, backup, clock = systemClock, onProgress, link = linkSync }: Restore,
): Promise<Restored> {
  const path = resolveLinks(named);
  if (existsSync(backup) && existsSync(path) && realpathSync(backup) === realpathSync(path)) {
    throw usageError(`${backup} is the store itself, not a backup of it.`);
  }
  mustNotBeInUse(path);
  const occupied = await engine.lockStore(path);
  try {
    using copy = new PartialFile(path, '.restoring');
    const partial = copy.path;
    await copyBackup(engine, backup, partial, path);
    const remarks = occupied.remarks;
    const now = clock.now();
    const newest = occupied.before?.newest ?? Number.NEGATIVE_INFINITY;
    const isAhead = newest > now + MAX_AHEAD;
    if (isAhead) {
      remarks.push(
        `the last timestamp of the previous store, ${timestampFrom(newest)}, was ahead of the clock and is not carried over`,
      );
    }
    const notBefore = isAhead ? now : Math.max(now, newest + 1);
    const made = await checkAndBeginEpoch(engine, partial, backup, notBefore, clock, onProgress);
    occupied.release();
    const kept = replaceStore(engine, partial, path, now, link);
    const { keys, ...facts } = made;
    const changes = compareKeys(occupied.before?.keys ?? [], keys);
    return {
      ...facts,
      notBefore: timestampFrom(notBefore),
      ...changes,
      remarks,
      ...(kept === undefined ? {} : { kept }),
    };
  } finally {
    occupied.release();
  }
}

/** The file behind a path: a symbolic link stays, and its target is replaced. */
function resolveLinks(path: string): string {
  const place = lstatSync(path, { throwIfNoEntry: false });
  if (place?.isSymbolicLink() !== true) return path;
  return existsSync(path) ? realpathSync(path) : resolve(dirname(path), readlinkSync(path));
}

async function copyBackup(engine: FileEngine, backup: string, partial: string, path: string): Promise<void> {
  mustBeReadable(backup);
  await engine.copy(backup, partial).catch((error: unknown) => {
    throw attributeToBackup(copyError(error, path), partial, backup);
  });
}

function mustBeReadable(backup: string): void {
  try {
    accessSync(backup, constants.R_OK);
  } catch (cause) {
    const why = codeOf(cause) ?? String(cause);
    throw failedError(`${backup} cannot be read (${why}). Nothing was changed.`, { cause });
  }
}

/** Attributes errors of the copy to the backup. */
function attributeToBackup(error: unknown, partial: string, backup: string): unknown {
  if (!(error instanceof PlatError)) return error;
  const reason = error.message.replaceAll(partial, backup);
  return failedError(`${reason} Nothing was changed.`, { cause: error });
}

type CheckedCopy = Pick<Restored, 'epoch' | 'lastStamp' | 'resources'> & {
  readonly keys: readonly KeyRecord[];
};

/** Checks the copy completely, and begins the new epoch. @throws PlatError `failed` for a damaged backup */
async function checkAndBeginEpoch(
  engine: FileEngine,
  partial: string,
  backup: string,
  notBefore: number,
  clock: Clock,
  onProgress: Restore['onProgress'],
): Promise<CheckedCopy> {
  const store = await engine.open(partial, clock).catch((error: unknown) => {
    throw attributeToBackup(error, partial, backup);
  });
  try {
    const faults: string[] = [];
    for await (const fault of findFaults(store, onProgress)) {
      if (!isUsable(fault)) faults.push(describeFault(fault));
    }
    const [first] = faults;
    if (first !== undefined) {
      const more = faults.length > 1 ? ` (and ${faults.length - 1} more; "plat check" lists all)` : '';
      throw failedError(`${backup} is damaged: ${first}${more}. Nothing was changed.`);
    }
    const { epoch } = await store.beginEpoch({ notBefore });
    const { lastStamp, resources } = await store.status();
    return { epoch, lastStamp, resources, keys: await store.keys.list() };
  } finally {
    await store.close();
  }
}

/** Codes of a file system without hard links (FAT, some network file systems). */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Replaces the store with the copy. The name always exists, except between two renames if there are no hard links. */
function replaceStore(
  engine: FileEngine,
  partial: string,
  path: string,
  now: number,
  link: NonNullable<Restore['link']>,
): string | undefined {
  syncToDisk(partial);
  using _ = engine.lockName(path);
  const name = unusedName(path, now);
  const kept = existsSync(path) ? name : undefined;
  if (kept !== undefined && !tryLink(path, kept, link)) renameSync(path, kept);
  // Only a file that was deleted, or could not be opened, still has a log.
  const [log] = setAsideLogFiles(path, name);
  renameSync(partial, path);
  syncToDisk(dirname(path));
  return kept ?? log;
}

function tryLink(path: string, name: string, link: NonNullable<Restore['link']>): boolean {
  try {
    link(path, name);
    return true;
  } catch (error) {
    if (NO_LINKS.has(codeOf(error) ?? '')) return false;
    throw error;
  }
}

function syncToDisk(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** How the restore affected keys. */
function compareKeys(
  before: readonly KeyRecord[],
  now: readonly KeyRecord[],
): Pick<Restored, 'validAgain' | 'gone'> {
  const back = new Map(now.map((key) => [key.id, key]));
  const named = ({ name, id }: KeyRecord): string => `${name} (${id})`;
  return {
    validAgain: before
      .filter(({ id, revokedAt }) => revokedAt !== null && back.get(id)?.revokedAt === null)
      .map(named),
    gone: before.filter(({ id }) => !back.has(id)).map(named),
  };
}
