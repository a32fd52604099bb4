/**
 * The cache file of blocks next to a store. It serves collections that do not fit into memory, the time after a restart, and all
 * processes of a machine. It may be deleted, replaced or damaged at any time, and is then recreated. If it cannot be written, one
 * warning is logged and only memory is used, until the file can be written again. It uses a rollback journal instead of a
 * write-ahead log, because a process that still has a deleted file open would share the log of the new file. This module does not
 * know what blocks consist of.
 */
import { existsSync, renameSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { KeptRange } from '../../compile/read.ts';
import { sqliteCodeOf } from '../../shared/error-code.ts';
import { type Changes, containsCommit, FROM_NOW, type Place } from '../../store/changes/change-follower.ts';
import { makeFolder, makePrivateFile, PRIVATE_FOLDER_MODE } from '../../store/files/private-file.ts';
import { thisMachine } from '../../store/time/store-clock.ts';
import { Availability, type AvailabilityOptions } from './availability.ts';
import {
  type BlockListName,
  type FileState,
  FileTables,
  isCacheFile,
  MOST_LINKS,
  type StoredBlock,
} from './file-tables.ts';

export interface CacheFileLocation {
  readonly path: string;
  /** What determines the form of records, in addition to the store's own settings. */
  readonly identity: string;
}

interface KeptFileOptions extends CacheFileLocation, AvailabilityOptions {
  readonly bytes: number;
}

/** A block that waits to be written. */
interface Waiting {
  readonly list: BlockListName;
  readonly block: StoredBlock;
  /** Whether the block is valid at the position of the cache in memory. */
  readonly holds: () => boolean;
}

type KnownChanges = Changes & { readonly kind: 'records' };

/** Changes that have not been written to the file yet. */
type UnwrittenChanges =
  | { readonly kind: 'everything' }
  | { readonly kind: 'since'; readonly since: number; readonly changes: KnownChanges };

/** The version of the format of the file, and of the texts of pages. */
const FORMAT = 2;
/** The number of blocks that are written in one turn of the event loop. */
const AT_ONCE = 16;
/** The maximum number of waiting blocks. Beyond it, the oldest ones are cached only in memory. */
const MOST_WAITING = 2048;
/** How often a faulty file is recreated. */
const MOST_FAULTS = 5;
/** By how much a file may exceed a limit that has been lowered. */
const SPARE = 1.25;
const SPARE_BYTES = 1024 * 1024;

/** Result codes of SQLite if the file is locked, and if the file system refuses access. */
const BUSY = new Set([5, 6]);
const ACCESS_DENIED_CODES = new Set([3, 8, 10, 13, 14, 23]);
/** SQLite's codes for a file that has been renamed, and for a file that is too short. */
const MOVED = 1032;
const TOO_SHORT = 522;

export class BlockCacheFile {
  readonly #path: string;
  readonly #bytes: number;
  readonly #warn: KeptFileOptions['warn'];
  readonly #isSafe: boolean;
  readonly #identity: string;
  #open: { readonly tables: FileTables; readonly file: string } | undefined;
  readonly #availability: Availability;
  #faults = 0;
  #waiting: Waiting[] = [];
  #pending: UnwrittenChanges | undefined;
  /**
   * The stamp for which this process has replaced a file. It replaces a file only once per stamp, so that two processes do not keep
   * replacing each other's file.
   */
  #replacedFor = '';
  /** The position of the file when it could not be updated. */
  #stuckAt = -1;

  constructor({ path, identity, bytes, warn, now }: KeptFileOptions) {
    this.#path = path;
    this.#bytes = bytes;
    this.#warn = warn;
    this.#availability = new Availability({ warn, now });
    // Data that was written without fsync is intact as long as the machine runs.
    const { boot } = thisMachine();
    this.#isSafe = boot === undefined;
    this.#identity = JSON.stringify([FORMAT, identity, boot]);
  }

  /**
   * The blocks of a page that begins after a key, the position at which they are valid, and the changes that the caller has to
   * apply to them.
   * @param memory the position at which everything in memory is valid
   * @param isKept whether the block of a range is in memory
   */
  find(
    { stamp, ...memory }: FileState,
    list: BlockListName,
    { from, limit }: { readonly from: string; readonly limit: number },
    isKept: (range: Pick<KeptRange, 'after' | 'last'>) => boolean,
  ):
    | (Place & { readonly blocks: readonly StoredBlock[]; readonly changes: KnownChanges | undefined })
    | undefined {
    return this.#reading(stamp, (tables, state) => {
      const changes = this.#missing(state, memory);
      if (changes === 'unknown') return undefined;
      const blocks = tables.find(state, list, from, limit, isKept);
      const { position, commit } = state;
      return { position, commit, blocks, changes };
    });
  }

  /** The position at which the blocks of the file are valid; undefined if there is no file with this stamp. */
  place(stamp: string): Place | undefined {
    return this.#reading(stamp, (_, { position, commit }) => ({ position, commit }));
  }

  /** Reads the file in one snapshot; undefined if there is no file with this stamp, or all of it is about to be discarded. */
  #reading<T>(stamp: string, read: (tables: FileTables, state: FileState) => T): T | undefined {
    if (this.#pending?.kind === 'everything') return undefined;
    return this.#attempt(() => {
      const tables = this.#opened();
      return tables?.inTransaction('read', () => {
        const state = tables.state();
        return state?.stamp === this.#stampOf(stamp) ? read(tables, state) : undefined;
      });
    });
  }

  /**
   * The changes between the positions of the file and of memory. `unknown` if they are not known, or if the file belongs to another
   * store.
   */
  #missing(file: Place, memory: Place): KnownChanges | 'unknown' | undefined {
    if (file.position > memory.position || memory.position === FROM_NOW) return undefined;
    if (file.position === memory.position) return file.commit === memory.commit ? undefined : 'unknown';
    const pending = this.#pending;
    const isKnown =
      pending?.kind === 'since' && pending.since <= file.position && containsCommit(file, pending.changes);
    return isKnown ? pending.changes : 'unknown';
  }

  /** Records changes, which `writeSome` writes to the file. @param since where the changes begin */
  noteChanges(since: number, changes: Exclude<Changes, { kind: 'behind' }>): void {
    const pending = this.#pending;
    if (this.#availability.isOff || pending?.kind === 'everything') return;
    if (changes.kind === 'everything') this.#pending = { kind: 'everything' };
    else if (since !== FROM_NOW && changes.position > since) {
      const merged = pending === undefined ? changes : mergedChanges(pending.changes, changes);
      const count = [...merged.keys.values()].reduce((sum, { size }) => sum + size, merged.commits.size);
      this.#pending =
        count > MOST_LINKS
          ? { kind: 'everything' }
          : { kind: 'since', since: Math.min(since, pending?.since ?? since), changes: merged };
    }
  }

  /** Queues a block to be written. @param holds whether the block is still valid at the position of the cache in memory */
  queueBlock(list: BlockListName, block: StoredBlock, holds: () => boolean): void {
    if (this.#availability.isOff) return;
    this.#waiting.push({ list, block, holds });
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift();
  }

  /** Discards the queued blocks, because the stamp has changed. */
  discardQueue(): void {
    this.#waiting = [];
    this.#pending = undefined;
    this.#stuckAt = -1;
  }

  /**
   * Writes some of the waiting blocks and changes. If the file is busy, they wait for the next call.
   * @param state the stamp and the position of everything in memory
   * @returns whether there is more to write at once
   */
  writeSome({ stamp, ...place }: FileState): boolean {
    if (place.position === FROM_NOW) return false;
    this.#waiting = this.#waiting.filter(({ holds }) => holds());
    if (this.#waiting.length === 0 && this.#pending === undefined) return false;
    const state = { stamp: this.#stampOf(stamp), ...place };
    return this.#attempt(() => this.#write(state)) === true;
  }

  #write(state: FileState): boolean {
    let tables = this.#opened();
    const isOurs = tables?.inTransaction('read', () => tables?.state())?.stamp === state.stamp;
    if (tables !== undefined && !isOurs && this.#replacedFor === state.stamp) return false;
    if (tables === undefined || !isOurs || this.#pending?.kind === 'everything') {
      if (this.#waiting.length === 0) {
        // No block in the file may be used any more.
        if (this.#pending?.kind === 'everything' && isOurs) this.#remove();
        this.#pending = undefined;
        return false;
      }
      if (tables !== undefined && !isOurs) this.#replacedFor = state.stamp;
      this.#remove();
      this.#pending = undefined;
      tables = this.#made(state);
    }
    const written = this.#waiting.slice(0, AT_ONCE);
    const outcome = this.#writeTo(tables, state, written);
    switch (outcome) {
      case 'written':
        this.#availability.recordSuccess();
        this.#pending = undefined;
        this.#stuckAt = -1;
        this.#waiting = this.#waiting.slice(written.length);
        return this.#waiting.length > 0;
      case 'ahead':
        return false;
      case 'lost':
        this.#remove();
        return this.#waiting.length > 0;
    }
  }

  #writeTo(tables: FileTables, state: FileState, written: readonly Waiting[]): 'written' | 'ahead' | 'lost' {
    return tables.inTransaction('write', () => {
      const before = tables.state();
      // Another process has just recreated the file, or has written newer changes.
      if (before?.stamp !== state.stamp || before.position > state.position) return 'ahead';
      const changes = this.#missing(before, state);
      if (changes === 'unknown') {
        const isStuck = this.#stuckAt === before.position;
        this.#stuckAt = before.position;
        return isStuck ? 'lost' : 'ahead';
      }
      if (changes !== undefined && !tables.applyChanges(changes)) return 'lost';
      for (const { list, block } of written) tables.add(state, list, block);
      tables.save(state);
      tables.shrinkTo(this.#bytes);
      return 'written';
    });
  }

  /** The size of the file on disk in bytes. */
  get bytesInUse(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
  }

  close(): void {
    this.#availability.disable();
    this.#leave();
  }

  #leave(): void {
    this.#close();
    this.discardQueue();
  }

  readonly #stampOf = (stamp: string): string => `${this.#identity} ${stamp}`;

  /** The tables of the file at the path; undefined if there is none. */
  #opened(): FileTables | undefined {
    const file = idOf(this.#path);
    if (this.#open !== undefined && this.#open.file === file) return this.#open.tables;
    this.#close();
    if (file === undefined) return undefined;
    const { size, uid } = statSync(this.#path);
    if (uid !== (process.getuid?.() ?? uid)) throw new UnusableFileError('it belongs to another user');
    if (size === 0) return undefined;
    if (!isCacheFile(this.#path)) throw new UnusableFileError('it is not a file of kept pages: move it away');
    if (size > this.#bytes * SPARE + SPARE_BYTES) {
      this.#remove();
      return undefined;
    }
    const tables = new FileTables(this.#path, this.#isSafe);
    this.#open = { tables, file };
    return tables;
  }

  #made(state: FileState): FileTables {
    makeFolder(dirname(this.#path), PRIVATE_FOLDER_MODE);
    makePrivateFile(this.#path);
    const tables = new FileTables(this.#path, this.#isSafe);
    this.#open = { tables, file: idOf(this.#path) ?? '' };
    tables.inTransaction('write', () => {
      if (tables.state() === undefined) tables.save(state);
    });
    return tables;
  }

  /** Removes the file. Another thread frees its disk space. */
  #remove(): void {
    this.#close();
    if (!existsSync(this.#path)) return;
    const aside = `${this.#path}-old`;
    renameSync(this.#path, aside);
    rm(aside, { force: true }).catch(() => undefined);
  }

  #close(): void {
    const open = this.#open;
    this.#open = undefined;
    try {
      open?.tables.close();
    } catch {
      // A failure of the cache must not cause an error.
    }
  }

  /** Runs work on the file; clients must not notice if it fails. */
  #attempt<T>(work: () => T): T | undefined {
    if (this.#availability.isOff) return undefined;
    try {
      return work();
    } catch (error) {
      if (isTransient(error)) return undefined;
      try {
        if (isRefusal(error)) throw error;
        this.#remove();
        if (++this.#faults === 1) this.#warn(`${this.#path} was damaged and is being recreated`, error);
        if (this.#faults >= MOST_FAULTS) throw error;
      } catch (refusal) {
        this.#availability.recordFailure(
          `${this.#path} cannot be used: pages are kept in memory only`,
          refusal,
        );
        this.#faults = 0;
        this.#leave();
      }
      return undefined;
    }
  }
}

/** Thrown if the file cannot be used by this process. */
class UnusableFileError extends Error {}

function idOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev} ${found.ino}`;
}

/** Whether another process is using the file, or has just replaced it. */
const isTransient = (error: unknown): boolean =>
  sqliteCodeOf(error) === MOVED || BUSY.has(sqliteCodeOf(error) & 0xff);

/** Whether the file system refuses access, which SQLite reports with its own codes. */
const isRefusal = (error: unknown): boolean =>
  error instanceof UnusableFileError ||
  (sqliteCodeOf(error) !== TOO_SHORT && ACCESS_DENIED_CODES.has(sqliteCodeOf(error) & 0xff)) ||
  (error instanceof Error && 'syscall' in error);

function mergedChanges(first: KnownChanges, second: KnownChanges): KnownChanges {
  const keys = new Map<string, ReadonlySet<string>>(first.keys);
  for (const [resource, changed] of second.keys) {
    keys.set(resource, (keys.get(resource) ?? new Set()).union(changed));
  }
  return {
    kind: 'records',
    position: Math.max(first.position, second.position),
    keys,
    resources: first.resources.union(second.resources),
    commits: new Map([...first.commits, ...second.commits]),
  };
}
