/**
 * Brings a store back from a backup: the backup is copied beside the store, read whole, put into a new epoch, and takes
 * the store's place in one step. Nobody else may have the store open meanwhile. What was there before is kept.
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
import { timestampFrom } from '../../dictionary/index.ts';
import { PlatError, platError } from '../../errors/index.ts';
import { findFaults } from '../check/check-store.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { ResourceStatus, Store } from '../store.ts';
import { freeName, mustNotBeInUse, setAside } from './beside.ts';
import { PartialFile } from './partial-file.ts';

export interface Occupied {
  readonly before: Before | undefined;
  readonly remarks: string[];
  readonly release: () => void;
}

/** What the engine of a file does for a restore. */
export interface FileEngine {
  /** Keeps every other process out of the store. @throws PlatError `failed` when one is in it */
  occupy(path: string): Occupied;
  /** Copies a backup, with what stands in the log of one that was copied by hand. */
  copy(backup: string, to: string): Promise<void>;
  open(path: string, clock: Clock): Promise<Store>;
  /** Waits until no other process makes a file of this name. */
  takeTurn(path: string): Disposable;
}

export interface Restore {
  /** The store's file; there need be none. */
  readonly path: string;
  readonly backup: string;
  readonly clock?: Clock;
  readonly onProgress?: (rows: number, resource: string) => void;
  /** Gives a file a second name; absent: the file system does. */
  readonly link?: (path: string, name: string) => void;
}

/** What was brought back, and what that means for others. */
export interface Restored {
  readonly epoch: string;
  /** No timestamp before this one is given any more. */
  readonly notBefore: string;
  /** The newest timestamp of the backup. */
  readonly lastStamp: string;
  readonly resources: readonly Pick<ResourceStatus, 'resource' | 'rows'>[];
  /** Where the store that was there is kept; absent where there was none. */
  readonly kept?: string;
  /** Names and ids of keys that were revoked since the backup and are valid again, and of those made since. */
  readonly validAgain: readonly string[];
  readonly gone: readonly string[];
  /** What an operator should know beside. */
  readonly remarks: readonly string[];
}

/** What the store in whose place the backup comes knows. */
export interface Before {
  /** Milliseconds since 1970. */
  readonly newest: number;
  readonly keys: readonly KeyRecord[];
}

/** A last timestamp so far ahead of the clock is of a clock that was wrong. */
const AHEAD = 3_600_000;

/**
 * @throws PlatError `usage` where there is no backup; `failed` where the store is in use, or the backup is damaged;
 *   `storeNotOurs`, `storeTooNew` for a file that this plat cannot read. The store is then as it was
 */
export async function restore(
  engine: FileEngine,
  { path: named, backup, clock = systemClock, onProgress, link = linkSync }: Restore,
): Promise<Restored> {
  const path = behindLinks(named);
  mustNotBeInUse(path);
  const occupied = engine.occupy(path);
  try {
    using taken = new PartialFile(path, '.restoring');
    const partial = taken.path;
    await copyBackup(engine, backup, partial);
    const remarks = occupied.remarks;
    const now = clock.now();
    const newest = occupied.before?.newest ?? Number.NEGATIVE_INFINITY;
    const isAhead = newest > now + AHEAD;
    if (isAhead) {
      remarks.push(
        `the last timestamp of the store that was there, ${timestampFrom(newest)}, lay ahead of the clock and was left behind`,
      );
    }
    const notBefore = isAhead ? now : Math.max(now, newest + 1);
    const made = await renew(engine, partial, backup, notBefore, clock, onProgress);
    occupied.release();
    const kept = takePlace(engine, partial, path, now, link);
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

/** The file that a name leads to: a link stays, and what it leads to is replaced. */
function behindLinks(path: string): string {
  const place = lstatSync(path, { throwIfNoEntry: false });
  if (place?.isSymbolicLink() !== true) return path;
  return existsSync(path) ? realpathSync(path) : resolve(dirname(path), readlinkSync(path));
}

async function copyBackup(engine: FileEngine, backup: string, partial: string): Promise<void> {
  mustBeReadable(backup);
  await engine.copy(backup, partial).catch((error: unknown) => {
    throw namedAs(error, partial, backup);
  });
}

function mustBeReadable(backup: string): void {
  try {
    accessSync(backup, constants.R_OK);
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw platError(
      'failed',
      { reason: `${backup} cannot be read (${why}). Nothing was changed.` },
      { cause },
    );
  }
}

/** Errors of the copy are of the backup. */
function namedAs(error: unknown, partial: string, backup: string): unknown {
  if (!(error instanceof PlatError)) return error;
  const reason = error.message.replaceAll(partial, backup);
  return platError('failed', { reason: `${reason} Nothing was changed.` }, { cause: error });
}

type Renewed = Pick<Restored, 'epoch' | 'lastStamp' | 'resources'> & {
  readonly keys: readonly KeyRecord[];
};

/** Reads everything in the copy, and begins the new epoch. @throws PlatError `failed` for a damaged backup */
async function renew(
  engine: FileEngine,
  partial: string,
  backup: string,
  notBefore: number,
  clock: Clock,
  onProgress: Restore['onProgress'],
): Promise<Renewed> {
  const store = await engine.open(partial, clock).catch((error: unknown) => {
    throw namedAs(error, partial, backup);
  });
  try {
    const faults: string[] = [];
    const told = (resource: string, rows: number): void => onProgress?.(rows, resource);
    for await (const fault of findFaults(store, told)) {
      const where = fault.place === 'file' ? '' : `${fault.resource} ${fault.key}: `;
      faults.push(`${where}${fault.what.join(', ')}`);
    }
    const [first] = faults;
    if (first !== undefined) {
      const more = faults.length > 1 ? ` (and ${faults.length - 1} more; "plat check" lists all)` : '';
      throw platError('failed', { reason: `${backup} is damaged: ${first}${more}. Nothing was changed.` });
    }
    const { epoch } = await store.beginEpoch({ notBefore });
    const { lastStamp, resources } = await store.status();
    return { epoch, lastStamp, resources, keys: await store.keys.list() };
  } finally {
    await store.close();
  }
}

/** Codes by which a file system says that it has no second names (FAT, some network file systems). */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * Puts the copy in the place of the store, which is there under its name at every moment; on a file system without second
 * names, but for the moment between two renames.
 */
function takePlace(
  engine: FileEngine,
  partial: string,
  path: string,
  now: number,
  link: NonNullable<Restore['link']>,
): string | undefined {
  sync(partial);
  using _ = engine.takeTurn(path);
  const name = freeName(path, now);
  const kept = existsSync(path) ? name : undefined;
  if (kept !== undefined && !hasLinked(path, kept, link)) renameSync(path, kept);
  // Only a file that could not be opened, or was deleted, still has a log.
  const [log] = setAside(path, name);
  renameSync(partial, path);
  sync(dirname(path));
  return kept ?? log;
}

function hasLinked(path: string, name: string, link: NonNullable<Restore['link']>): boolean {
  try {
    link(path, name);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && NO_LINKS.has(String(error.code))) return false;
    throw error;
  }
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** What became of keys by going back. */
function compareKeys(
  before: readonly KeyRecord[],
  now: readonly KeyRecord[],
): Pick<Restored, 'validAgain' | 'gone'> {
  const back = new Map(now.map((key) => [key.id, key]));
  const told = ({ name, id }: KeyRecord): string => `${name} (${id})`;
  return {
    validAgain: before
      .filter(({ id, revokedAt }) => revokedAt !== null && back.get(id)?.revokedAt === null)
      .map(told),
    gone: before.filter(({ id }) => !back.has(id)).map(told),
  };
}
