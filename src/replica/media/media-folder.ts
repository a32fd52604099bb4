/** A folder next to a store with media files, and an index of their records. This module does not know how files are fetched. */

import { createHash, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { codeOf } from '../../shared/error-code.ts';
import { makeFolder, PRIVATE_FOLDER_MODE } from '../../store/files/private-file.ts';
import { RequestFailure } from '../http/failure.ts';
import { extensionOf, writeNewFile } from './fetch-file.ts';

/** The file of a media record. Times are milliseconds since 1970. */
export interface MediaFile {
  readonly mediaKey: string;
  readonly listingKey: string;
  /** If the version differs, the file has to be fetched again. */
  readonly version: string;
  /** SHA-256 of the content in hexadecimal, which is the name of the file. Absent until the file has been fetched. */
  readonly sha256?: string;
  readonly bytes?: number;
  readonly type?: string;
  readonly failures: number;
  readonly notBefore: number;
  readonly reason?: string;
}

const LAYOUT = `CREATE TABLE IF NOT EXISTS files (
    source TEXT NOT NULL, media_key TEXT NOT NULL, listing_key TEXT NOT NULL, version TEXT NOT NULL,
    sha256 TEXT, bytes INTEGER, type TEXT, failures INTEGER NOT NULL, not_before INTEGER NOT NULL, reason TEXT,
    PRIMARY KEY (source, media_key)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS files_by_listing ON files (source, listing_key);
  CREATE INDEX IF NOT EXISTS files_by_content ON files (sha256);`;

/**
 * Files next to a store, each named by the hash of its content, such as `ab/abcdef….jpeg`, so that equal files are stored once.
 * `index.db` lists the media records and their files.
 */
export class MediaFolder {
  readonly path: string;
  readonly #source: string;
  readonly #index: DatabaseSync;

  private constructor(path: string, source: string, index: DatabaseSync) {
    this.path = path;
    this.#source = source;
    this.#index = index;
  }

  /**
   * Opens the folder. The process must hold the lease of the source, because this removes the unfinished files that a dead process
   * with the same source has left. Unfinished files of other sources stay.
   */
  static async open(path: string, source: string): Promise<MediaFolder> {
    try {
      const partial = join(path, 'partial');
      makeFolder(partial, PRIVATE_FOLDER_MODE);
      for (const name of await readdir(partial)) {
        if (name.startsWith(partialPrefix(source))) await rm(join(partial, name), { force: true });
      }
      const index = new DatabaseSync(join(path, 'index.db'), { timeout: 10_000 });
      index.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
      index.exec(LAYOUT);
      return new MediaFolder(path, source, index);
    } catch (error) {
      throw folderFailure(path, error);
    }
  }

  /** The files of a listing, by the keys of their media records. */
  filesOfListing(listingKey: string): Map<string, MediaFile> {
    const rows = this.#index
      .prepare('SELECT * FROM files WHERE source = ? AND listing_key = ?')
      .all(this.#source, listingKey);
    return new Map(rows.map((row) => [String(row.media_key), fileOf(row)]));
  }

  /**
   * Stores the content of a file, completely or not at all.
   * @param largest the maximum size in bytes
   * @throws RequestFailure for a file that is empty or too large; errors of the content or the file system are passed through
   */
  async keep(
    content: AsyncIterable<Uint8Array>,
    ending: string,
    largest: number,
  ): Promise<{ sha256: string; bytes: number }> {
    const partial = join(this.path, 'partial', `${partialPrefix(this.#source)}${randomUUID()}`);
    const hash = createHash('sha256');
    const bytes = await writeNewFile(content, partial, largest, (piece) => hash.update(piece));
    try {
      const sha256 = hash.digest('hex');
      const path = this.pathOf(sha256, ending);
      makeFolder(join(this.path, sha256.slice(0, 2)));
      await rename(partial, path);
      return { sha256, bytes };
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }

  pathOf(sha256: string, ending: string): string {
    return join(this.path, sha256.slice(0, 2), `${sha256}.${ending}`);
  }

  /** Whether a file exists under the name in the index, with its full length. */
  async has({ sha256, bytes, type }: Pick<MediaFile, 'sha256' | 'bytes' | 'type'>): Promise<boolean> {
    if (sha256 === undefined) return false;
    return stat(this.pathOf(sha256, extensionOf(type))).then(
      ({ size }) => size === bytes,
      () => false,
    );
  }

  /** Records the file of a media record. Its previous file is deleted, unless another record has the same content. */
  recordFile(file: MediaFile): void {
    this.#inPlaceOf(file.mediaKey, () =>
      this.#index
        .prepare('INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
        .run(
          this.#source,
          file.mediaKey,
          file.listingKey,
          file.version,
          file.sha256 ?? null,
          file.bytes ?? null,
          file.type ?? null,
          file.failures,
          file.notBefore,
          file.reason ?? null,
        ),
    );
  }

  /** Removes the entry of a deleted media record. */
  deleteFile(mediaKey: string): void {
    this.#inPlaceOf(mediaKey, () =>
      this.#index.prepare('DELETE FROM files WHERE source = ? AND media_key = ?').run(this.#source, mediaKey),
    );
  }

  /** Makes all entries durable. Must be called before the store records the listings as done. */
  sync(): void {
    this.#index.exec('PRAGMA wal_checkpoint(PASSIVE)');
  }

  close(): void {
    this.#index.close();
  }

  #row(mediaKey: string): MediaFile | undefined {
    const row = this.#index
      .prepare('SELECT * FROM files WHERE source = ? AND media_key = ?')
      .get(this.#source, mediaKey);
    return row === undefined ? undefined : fileOf(row);
  }

  /**
   * Changes the entry of a media record, and deletes its previous content if no record has it any more. This is one transaction, so
   * that no process records a content while another process removes it. The file is deleted first: a process that is killed in
   * between leaves an entry without a file, never a file without an entry.
   */
  #inPlaceOf(mediaKey: string, change: () => void): void {
    this.#index.exec('BEGIN IMMEDIATE');
    try {
      const before = this.#row(mediaKey);
      change();
      if (before !== undefined) this.#drop(before);
      this.#index.exec('COMMIT');
    } catch (error) {
      // If the disk is full, SQLite has already rolled back.
      if (this.#index.isTransaction) this.#index.exec('ROLLBACK');
      throw error;
    }
  }

  #drop({ sha256, type }: MediaFile): void {
    if (sha256 === undefined) return;
    // Different types may have the same extension, and so the same file: `image/jpeg` and `image/jpeg; charset=binary`.
    const ending = extensionOf(type);
    const others = this.#index.prepare('SELECT DISTINCT type FROM files WHERE sha256 = ?').all(sha256);
    const isShared = others.some(
      (row) => extensionOf(typeof row.type === 'string' ? row.type : undefined) === ending,
    );
    if (!isShared) rmSync(this.pathOf(sha256, ending), { force: true });
  }
}

/** The prefix of the names of a source's unfinished files. The name of a source cannot contain `@`. */
const partialPrefix = (source: string): string => `${source}@`;

/** Converts a failure of the file system or the index to a transient one; other errors are returned unchanged. */
export function folderFailure(path: string, error: unknown): unknown {
  const isOfDisk = error instanceof Error && ('syscall' in error || codeOf(error) === 'ERR_SQLITE_ERROR');
  if (!isOfDisk) return error;
  return new RequestFailure('transient', `${path} cannot be written: ${error.message}`, { cause: error });
}

function fileOf(row: Record<string, unknown>): MediaFile {
  const text = (name: string): string | undefined => {
    const value = row[name];
    return typeof value === 'string' ? value : undefined;
  };
  const [sha256, type, reason] = [text('sha256'), text('type'), text('reason')];
  return {
    mediaKey: String(row.media_key),
    listingKey: String(row.listing_key),
    version: String(row.version),
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(typeof row.bytes === 'number' ? { bytes: row.bytes } : {}),
    ...(type === undefined ? {} : { type }),
    failures: Number(row.failures),
    notBefore: Number(row.not_before),
    ...(reason === undefined ? {} : { reason }),
  };
}
