/**
 * The content of a cache file of blocks, and its verification: each block has a checksum of its content and of everything that it
 * depends on, and so has the state, which records the position in the sequence of changes at which all blocks are valid. Anything
 * unexpected throws `InvalidFileError`. This module knows neither when the file is read or written, nor what happens to an invalid
 * file.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { KeptRange } from '../../compile/read.ts';
import { compareKeys } from '../../shared/compare-keys.ts';
import { type Deflated, deflatedFrom } from '../../shared/gzip-member.ts';
import type { Changes, Place } from '../../store/changes/change-follower.ts';
import { linkHash } from '../../store/read/linked-body.ts';

/** Thrown if the file does not have the form in which plat writes it. */
class InvalidFileError extends Error {}

export interface StoredBlock extends KeptRange {
  readonly links: Uint32Array;
  /** Absent if the block has no records. */
  readonly deflated: Deflated | undefined;
}

/** A view, resource and shape whose blocks are cached. */
export interface BlockListName {
  readonly id: string;
  readonly resource: string;
  /** The resources whose values its records show. */
  readonly linked: readonly string[];
}

/** What all blocks have in common. */
export interface FileState extends Place {
  /**
   * Identifies everything that determined the content of the blocks, apart from the records. At this position, all blocks are
   * valid, except for changed values of linked records.
   */
  readonly stamp: string;
}

/** The number of records that is assumed for a gap between blocks. */
const GAP = 16;
/** The maximum number of changed links that are remembered, as hashes. Beyond it, the file is recreated. */
export const MOST_LINKS = 20_000;
/** Milliseconds to wait for the write of another process. The wait is short because it blocks the thread that answers requests. */
const BUSY_TIMEOUT = 3;

/** "plat" in the header of the file, which distinguishes it from other files. */
const APPLICATION_ID = 0x706c6174;
const APPLICATION_ID_AT = 68;

const SCHEMA = `
  PRAGMA application_id = ${APPLICATION_ID};
  CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY, stamp TEXT, position INTEGER, commit_name TEXT, facts_sum INTEGER, sum INTEGER) STRICT;
  CREATE TABLE IF NOT EXISTS facts (id INTEGER PRIMARY KEY, text TEXT) STRICT;
  CREATE TABLE IF NOT EXISTS heads (id INTEGER PRIMARY KEY, list INTEGER, begins TEXT, ends TEXT, last_key TEXT, records INTEGER,
    position INTEGER, links BLOB, length INTEGER, crc INTEGER, bytes_sum INTEGER, sum INTEGER) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS heads_ends ON heads (list, ends);
  CREATE TABLE IF NOT EXISTS bodies (id INTEGER PRIMARY KEY, bytes BLOB) STRICT;`;

/** The lists by number, and the changed links, each with the position of its last change. */
interface Facts {
  readonly lists: BlockListName[];
  readonly links: Map<number, number>;
}

type Row = Record<string, unknown>;

/** Whether a file is a cache file, even if it is damaged. */
export function isCacheFile(path: string): boolean {
  const id = Buffer.alloc(4);
  const file = openSync(path, 'r');
  try {
    return readSync(file, id, 0, 4, APPLICATION_ID_AT) === 4 && id.readUInt32BE() === APPLICATION_ID;
  } finally {
    closeSync(file);
  }
}

export class FileTables {
  readonly #database: DatabaseSync;
  readonly #find;
  readonly #fetch;
  readonly #overlapping;
  readonly #insert;
  readonly #insertBody;
  readonly #state;
  /** The content of the file other than the blocks, with its checksum. */
  #facts: { readonly sum: number; readonly facts: Facts } | undefined;

  /** @param path the path of an empty file or a cache file @param isDurable whether the file must survive a crash of the machine */
  constructor(path: string, isDurable: boolean) {
    using taken = new DisposableStack();
    const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT });
    taken.defer(() => database.close());
    database.exec(
      `PRAGMA page_size = 8192; PRAGMA synchronous = ${isDurable ? 'FULL' : 'OFF'}; PRAGMA cache_size = -2048;`,
    );
    if (statSync(path).size === 0) database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT;`);
    // The checksums cover everything except the mapping of index entries to blocks.
    const faults = database.prepare("PRAGMA integrity_check('heads')").all();
    if (faults.length !== 1 || faults[0]?.integrity_check !== 'ok')
      throw new InvalidFileError('an index is damaged');
    this.#database = database;
    this.#state = database.prepare(
      'SELECT stamp, position, commit_name, facts_sum, sum FROM state WHERE id = 1',
    );
    this.#find = database.prepare(
      'SELECT id, begins, ends, last_key, records FROM heads WHERE list = ? AND ends > ? ORDER BY ends',
    );
    this.#fetch = database.prepare(
      `SELECT heads.*, bytes FROM json_each(?) AS wanted JOIN heads ON heads.id = wanted.value
        LEFT JOIN bodies ON bodies.id = heads.id ORDER BY wanted.key`,
    );
    this.#overlapping = database.prepare(
      'SELECT id, begins, position, links FROM heads WHERE list = ? AND ends > ? ORDER BY ends',
    );
    this.#insert = database.prepare(
      `INSERT INTO heads (list, begins, ends, last_key, records, position, links, length, crc, bytes_sum, sum)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#insertBody = database.prepare('INSERT OR REPLACE INTO bodies (id, bytes) VALUES (?, ?)');
    taken.move(); // the caller closes the database
  }

  /** Runs work in a transaction, which is rolled back if the work throws. */
  inTransaction<T>(kind: 'read' | 'write', work: () => T): T {
    this.#database.exec(kind === 'read' ? 'BEGIN' : 'BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      this.#facts = undefined; // it may have been read in the transaction that is rolled back
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  /** Undefined before the first `save`. */
  state(): FileState | undefined {
    const row: Row | undefined = this.#state.get();
    if (row === undefined) return undefined;
    const { stamp, position, commit_name: commit, facts_sum: factsSum, sum } = row;
    assertIntact(sum === checksumOf([stamp, position, commit, factsSum]), 'its state is damaged');
    if (this.#facts?.sum !== factsSum) {
      const text = String(this.#database.prepare('SELECT text FROM facts WHERE id = 1').get()?.text ?? '');
      assertIntact(factsSum === crc32(text), 'its facts are damaged');
      const { lists, links }: { lists: BlockListName[]; links: [number, number][] } = JSON.parse(text);
      this.#facts = { sum: Number(factsSum), facts: { lists, links: new Map(links) } };
    }
    return { stamp: String(stamp), position: Number(position), commit: String(commit) };
  }

  save({ stamp, position, commit }: FileState): void {
    const { lists, links } = this.#known;
    const text = JSON.stringify({ lists, links: [...links] });
    const factsSum = crc32(text);
    if (factsSum !== this.#facts?.sum) {
      this.#database.prepare('INSERT OR REPLACE INTO facts (id, text) VALUES (1, ?)').run(text);
    }
    this.#facts = { sum: factsSum, facts: { lists, links } };
    this.#database
      .prepare(
        'INSERT OR REPLACE INTO state (id, stamp, position, commit_name, facts_sum, sum) VALUES (1, ?, ?, ?, ?, ?)',
      )
      .run(stamp, position, commit, factsSum, checksumOf([stamp, position, commit, factsSum]));
  }

  get #known(): Facts {
    return this.#facts?.facts ?? { lists: [], links: new Map() };
  }

  /**
   * The blocks of a page that begins after a key. The state must have been read in the same transaction.
   *
   * @param isKept whether the caller already has the block of a range
   */
  find(
    state: FileState,
    list: BlockListName,
    from: string,
    limit: number,
    isKept: (range: Pick<KeptRange, 'after' | 'last'>) => boolean,
  ): readonly StoredBlock[] {
    const number = this.#known.lists.findIndex(({ id }) => id === list.id);
    if (number < 0) return [];
    const wanted = new Map<number, string>();
    let reached = from;
    let records = 0;
    for (const row of this.#find.iterate(number, from)) {
      const [after, last] = [String(row.begins), String(row.ends)];
      const isAround = compareKeys(after, from) < 0;
      assertIntact(
        compareKeys(last, reached) > 0 && (isAround || compareKeys(after, reached) >= 0),
        'its order is damaged',
      );
      // If the page begins within a block, the block can only be used if none of its records come after the beginning of the page.
      const isOfUse = !isAround || compareKeys(String(row.last_key), from) <= 0;
      if (isOfUse && !isKept({ after, last })) wanted.set(Number(row.id), last);
      records += (after === reached ? 0 : GAP) + (isAround ? 0 : Number(row.records));
      reached = last;
      if (records >= limit) break;
    }
    if (wanted.size === 0) return [];
    const rows = this.#fetch.all(JSON.stringify([...wanted.keys()]));
    assertIntact(rows.length === wanted.size, 'its index is damaged');
    return rows.flatMap((row) => {
      assertIntact(wanted.get(Number(row.id)) === row.ends, 'its index is damaged');
      const block = verifiedBlock(row, state, list);
      return this.#isLinkChanged(row, block.links) ? [] : [block];
    });
  }

  /** Adds a block that is valid at the position of the state, unless others have keys in its range. */
  add(
    { stamp, position }: FileState,
    list: BlockListName,
    { after, last, lastKey, rows, links, deflated }: StoredBlock,
  ): void {
    const { lists } = this.#known;
    let number = lists.findIndex(({ id }) => id === list.id);
    if (number < 0) number = lists.push(list) - 1;
    if (!this.#makeRoom(number, after, last)) return;
    const linkBytes = new Uint8Array(links.buffer, links.byteOffset, links.byteLength);
    const bytesSum = deflated === undefined ? 0 : crc32(deflated.bytes);
    const facts = [after, last, lastKey, rows, position] as const;
    const content = [deflated?.length ?? 0, deflated?.crc ?? 0, bytesSum] as const;
    const sum = crc32(linkBytes, checksumOf([stamp, list.id, ...facts, ...content]));
    const { lastInsertRowid: id } = this.#insert.run(number, ...facts, linkBytes, ...content, sum);
    if (deflated !== undefined) this.#insertBody.run(id, deflated.bytes);
  }

  /** Removes blocks with keys in a range that are no longer valid. @returns whether the range is then free */
  #makeRoom(list: number, after: string, last: string): boolean {
    const ended: Row[] = [];
    for (const row of this.#overlapping.iterate(list, after)) {
      if (compareKeys(String(row.begins), last) >= 0) break;
      if (!this.#isLinkChanged(row, linksOf(row))) return false;
      ended.push(row);
    }
    if (ended.length === 0) return true;
    const ids = JSON.stringify(ended.map(({ id }) => id));
    this.#database.prepare('DELETE FROM heads WHERE id IN (SELECT value FROM json_each(?))').run(ids);
    this.#removeBodies(ended);
    return true;
  }

  #isLinkChanged({ position }: Row, links: Uint32Array): boolean {
    return links.some((link) => (this.#known.links.get(link) ?? 0) > Number(position));
  }

  /** Removes the blocks that have changed. @returns false if they cannot be determined; nothing in the file may then be used */
  applyChanges({ keys, resources, position }: Changes & { kind: 'records' }): boolean {
    if (resources.size > 0) return false;
    const { lists, links } = this.#known;
    const removal = this.#database.prepare(
      `DELETE FROM heads WHERE id IN (SELECT (SELECT CASE WHEN begins < changed.value THEN id END FROM heads
        WHERE list = ?1 AND ends >= changed.value ORDER BY ends LIMIT 1) FROM json_each(?2) AS changed) RETURNING id`,
    );
    for (const [resource, changed] of keys) {
      for (const [number, list] of lists.entries()) {
        if (list.resource !== resource) continue;
        this.#removeBodies(removal.all(number, JSON.stringify([...changed])));
      }
      if (lists.some(({ linked }) => linked.includes(resource))) {
        for (const key of changed) links.set(linkHash(resource, key), position);
      }
    }
    return links.size <= MOST_LINKS;
  }

  /** Removes the oldest blocks until the file needs no more than this number of bytes. */
  shrinkTo(bytes: number): void {
    const oldest = this.#database.prepare(
      'DELETE FROM heads WHERE id = (SELECT min(id) FROM heads) RETURNING id',
    );
    while (this.#bytesInUse() > bytes) {
      const removed = oldest.all();
      if (removed.length === 0) return;
      this.#removeBodies(removed);
    }
  }

  #removeBodies(removed: readonly Row[]): void {
    if (removed.length === 0) return;
    const ids = JSON.stringify(removed.map(({ id }) => id));
    this.#database.prepare('DELETE FROM bodies WHERE id IN (SELECT value FROM json_each(?))').run(ids);
  }

  #bytesInUse(): number {
    const pragma = (name: string): number => Number(this.#database.prepare(`PRAGMA ${name}`).get()?.[name]);
    return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
  }

  close(): void {
    this.#database.close();
  }
}

function verifiedBlock(row: Row, { stamp }: FileState, list: BlockListName): StoredBlock {
  const { begins, ends, last_key: lastKey, records, position, length, crc, bytes_sum: bytesSum } = row;
  const links = row.links instanceof Uint8Array ? row.links : new Uint8Array(0);
  const head = checksumOf([stamp, list.id, begins, ends, lastKey, records, position, length, crc, bytesSum]);
  assertIntact(row.sum === crc32(links, head), 'a block is damaged');
  const bytes = row.bytes instanceof Uint8Array ? row.bytes : undefined;
  assertIntact((records === 0) === (bytes === undefined), 'a block is incomplete');
  if (bytes !== undefined) assertIntact(crc32(bytes) === bytesSum, 'a block is damaged');
  return {
    ...{ after: String(begins), last: String(ends), lastKey: String(lastKey), rows: Number(records) },
    links: linksOf(row),
    deflated: bytes === undefined ? undefined : deflatedFrom(bytes, Number(crc), Number(length)),
  };
}

const linksOf = ({ links }: Row): Uint32Array =>
  links instanceof Uint8Array ? new Uint32Array(Uint8Array.from(links).buffer) : new Uint32Array(0);

const checksumOf = (facts: readonly unknown[]): number => crc32(JSON.stringify(facts));

function assertIntact(isRight: boolean, fault: string): void {
  if (!isRight) throw new InvalidFileError(fault);
}
