import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** The file of a media record. Moments are milliseconds since 1970. */
export interface MediaFile {
  readonly mediaKey: string;
  readonly listingKey: string;
  /** What the file was fetched for: another version is another file. */
  readonly version: string;
  /** SHA-256 of the content, in hexadecimal; it is the file's name. Absent while it could not be fetched. */
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
 * Files beside a store, each under the hash of its content, so that equal ones are kept once: `ab/abcdef….jpeg`.
 * `index.db` tells which media record each is of.
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

  static async open(path: string, source: string): Promise<MediaFolder> {
    await mkdir(join(path, 'partial'), { recursive: true });
    const index = new DatabaseSync(join(path, 'index.db'), { timeout: 10_000 });
    index.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    index.exec(LAYOUT);
    return new MediaFolder(path, source, index);
  }

  /** The files of a listing, by the keys of their media records. */
  ofListing(listingKey: string): Map<string, MediaFile> {
    const rows = this.#index
      .prepare('SELECT * FROM files WHERE source = ? AND listing_key = ?')
      .all(this.#source, listingKey);
    return new Map(rows.map((row) => [String(row.media_key), fileOf(row)]));
  }

  /**
   * Takes in the content of a file, whole or not at all.
   * @param largest bytes; a larger one is an error
   */
  async keep(
    content: AsyncIterable<Uint8Array>,
    ending: string,
    largest: number,
  ): Promise<{ sha256: string; bytes: number }> {
    const partial = join(this.path, 'partial', randomUUID());
    const hash = createHash('sha256');
    let bytes = 0;
    async function* counted(): AsyncIterable<Uint8Array> {
      for await (const chunk of content) {
        bytes += chunk.length;
        if (bytes > largest) throw new Error(`The file is larger than ${largest} bytes`);
        hash.update(chunk);
        yield chunk;
      }
    }
    try {
      await pipeline(Readable.from(counted()), createWriteStream(partial));
      if (bytes === 0) throw new Error('The file is empty');
      const sha256 = hash.digest('hex');
      const path = this.pathOf(sha256, ending);
      await mkdir(join(this.path, sha256.slice(0, 2)), { recursive: true });
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

  /** Whether a file is where the index says. */
  async has({ sha256, type }: Pick<MediaFile, 'sha256' | 'type'>): Promise<boolean> {
    if (sha256 === undefined) return false;
    return stat(this.pathOf(sha256, endingOf(type))).then(
      () => true,
      () => false,
    );
  }

  /** Notes what is known of a media record's file. What it had before goes, unless another record has it, too. */
  async note(file: MediaFile): Promise<void> {
    const before = this.#row(file.mediaKey);
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
      );
    if (before !== undefined && before.sha256 !== file.sha256) await this.#drop(before);
  }

  /** The media record is gone. */
  async forget(mediaKey: string): Promise<void> {
    const before = this.#row(mediaKey);
    this.#index.prepare('DELETE FROM files WHERE source = ? AND media_key = ?').run(this.#source, mediaKey);
    if (before !== undefined) await this.#drop(before);
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

  async #drop({ sha256, type }: MediaFile): Promise<void> {
    if (sha256 === undefined) return;
    const other = this.#index
      .prepare('SELECT 1 FROM files WHERE sha256 = ? AND type IS ? LIMIT 1')
      .get(sha256, type ?? null);
    if (other === undefined) await rm(this.pathOf(sha256, endingOf(type)), { force: true });
  }
}

/** What a file's name ends with, from its media type. */
export function endingOf(type: string | undefined): string {
  const [, subtype = 'bin'] = /^[\w-]+\/([\w.+-]+)/.exec(type ?? '') ?? [];
  return subtype.replace(/\+.*$/, '').replace(/[^\w-]/g, '_');
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
