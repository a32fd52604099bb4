/**
 * Stores the records of a file in batches and reports the result. While one batch is stored, the next is read. This module knows
 * nothing about terminals or the options of commands.
 */
import { basename } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { StoreModel } from '../../compile/model.ts';
import type { Resource } from '../../dictionary/index.ts';
import { type ParsedRecord, readValue } from '../../records/parsed-record.ts';
import type { Store } from '../../store/store.ts';
import type { TakenChild } from '../../store/write/report.ts';
import type { Progress } from '../progress.ts';
import { placedRecords, type ReadOptions } from './file-records.ts';
import type { InputFile } from './input-files.ts';
import { KeySet } from './key-set.ts';
import {
  type AdjustmentCounts,
  addAdjustments,
  type ReadingOptions,
  type ReadRecords,
} from './read-records.ts';
import { GROUP_LIMITS, ReadingThread } from './reading-thread.ts';
import type { RawRecord } from './record-json.ts';
import { openRejectedFile, type RejectedFile } from './rejected-file.ts';
import { type Siblings, siblingsOf } from './siblings.ts';
import { openText } from './text-source.ts';

export type ImportOptions = ReadOptions & ReadingOptions;

/** The result of importing the records of one resource from a file. */
export interface FileReport extends AdjustmentCounts {
  readonly file: string;
  readonly resource: string;
  inserted: number;
  changed: number;
  unchanged: number;
  children: number;
  orphans: number;
  /** The number of children that two records contain, both in the file, or one in the file and one in the store. */
  taken: number;
  /** The first few of these children. */
  takings: readonly Taking[];
  duplicates: number;
  rejected: number;
  /** The file with the rejected records; undefined if there are none. */
  rejectedFile: string | undefined;
  /** The rejected records that could not be written to that file; undefined if all could. */
  unwritten: Unwritten | undefined;
  /** The first rejections, with their lines. */
  readonly reasons: { line: number; reason: string }[];
}

/** A child that two records contain: `from` loses it, and `by` keeps it. */
type Taking = Readonly<Record<'child' | 'from' | 'by', string>>;

/** Rejected records that are missing from the rejected file. */
export interface Unwritten {
  readonly path: string;
  readonly fault: string;
  count: number;
  /** The number of records whose reasons have already been reported. */
  reported: number;
  /** The ranges of lines of these records, in the order of rejection. */
  readonly lines: [from: number, to: number][];
}

/** Signals are processed at least once for this number of records. */
const BETWEEN_SIGNALS = 1000;
/** The number of reasons that are reported at the end. Further reasons are in the rejected file, or else are reported at once. */
const MOST_REASONS = 20;

/** Records that are stored together, and the records that were rejected while they were read. */
interface Batch {
  readonly records: Map<string, { readonly raw: RawRecord; readonly record: ParsedRecord }>;
  readonly rejected: { readonly raw: RawRecord; readonly reason: string }[];
}

/** Records that are read together, and the result of reading them. */
interface Group {
  readonly raws: readonly RawRecord[];
  readonly read: () => Promise<ReadRecords>;
}

const NOTHING: Group = { raws: [], read: async () => ({ results: [], ignored: {}, warnings: {} }) };

const emptyBatch = (): Batch => ({ records: new Map(), rejected: [] });

interface ImportRun {
  readonly signal: AbortSignal;
  readonly show: () => void;
}

class Importer {
  readonly report: FileReport;
  readonly #store: Store;
  readonly #resource: Resource;
  readonly #thread: ReadingThread;
  readonly #rejects: RejectedFile;
  readonly #report: (line: number, reason: string) => void;
  readonly #rejectsTaken: boolean;
  /** The children that two records contain, by resource and key. */
  readonly #taken = new Map<string, Pick<TakenChild, 'resource' | 'key' | 'from' | 'by'>>();
  readonly #seen = new KeySet();
  /** Present if the records are parts of other records. */
  readonly #siblings: Siblings | undefined;
  /** Records that are not read yet, and the number of their characters. */
  #raws: RawRecord[] = [];
  #characters = 0;
  /** Records that are being read, in the order of the file. */
  readonly #reading: Group[] = [];
  #batch = emptyBatch();
  /** The model by which the records of this batch are validated. */
  #model: StoreModel | undefined;
  #storing: Promise<void> = Promise.resolve();

  /** @param reportRejection reports a rejection that no file records */
  constructor(
    store: Store,
    file: string,
    resource: Resource,
    thread: ReadingThread,
    rejects: RejectedFile,
    reportRejection: (line: number, reason: string) => void,
    { reading, map }: Pick<ImportOptions, 'reading' | 'map'>,
  ) {
    this.#rejectsTaken = !reading.isLenient;
    this.#thread = thread;
    this.#report = reportRejection;
    this.#store = store;
    this.#resource = resource;
    this.#siblings = siblingsOf(resource, map);
    this.#rejects = rejects;
    this.report = {
      file,
      resource: resource.name,
      inserted: 0,
      changed: 0,
      unchanged: 0,
      children: 0,
      orphans: 0,
      taken: 0,
      takings: [],
      duplicates: 0,
      rejected: 0,
      rejectedFile: undefined,
      unwritten: undefined,
      ignored: {},
      warnings: {},
      reasons: [],
    };
  }

  get waiting(): number {
    return this.#siblings?.waiting ?? 0;
  }

  /** Adds a record, and stores a batch if it is full. A part of another record waits for its siblings first. */
  async take(raw: RawRecord, run: ImportRun): Promise<void> {
    if (this.#siblings?.add(raw) === true) return;
    await this.#takeSiblings(run);
    if (this.#siblings?.add(raw) !== true) await this.#take(raw);
  }

  async #takeSiblings({ signal, show }: ImportRun): Promise<void> {
    for (const raw of this.#siblings?.take() ?? []) {
      // Let signals be processed, because reading and storing these records may not wait for anything else.
      if (this.waiting % BETWEEN_SIGNALS === 0) await setImmediate();
      if (signal.aborted) return;
      show();
      await this.#take(raw);
    }
  }

  async #take(raw: RawRecord): Promise<void> {
    this.#raws.push(raw);
    this.#characters += raw.text.length;
    if (this.#raws.length >= GROUP_LIMITS.records || this.#characters >= GROUP_LIMITS.characters)
      await this.#read();
  }

  async finish(run: ImportRun): Promise<void> {
    await this.#takeSiblings(run);
    if (this.#raws.length > 0) await this.#read();
    await this.#gather(0);
    await this.#send();
    await this.#stored();
    const takings = [...this.#taken.values()];
    this.report.taken = takings.length;
    this.report.takings = takings
      .slice(0, MOST_REASONS)
      .map((child) => ({ child: nameOf(child), from: nameOf(child.from), by: nameOf(child.by) }));
  }

  /** Begins to read the collected records, and gathers the results of earlier groups. */
  async #read(): Promise<void> {
    const raws = this.#raws;
    this.#raws = [];
    this.#characters = 0;
    this.#model ??= await this.#store.model();
    this.#reading.push({ raws, read: this.#thread.read(this.#model, this.#resource.name, raws) });
    await this.#gather(this.#thread.groupsAhead);
  }

  /**
   * Adds records that have been read to the batch.
   * @param groupsAhead the number of groups that may still be in progress afterwards
   */
  async #gather(groupsAhead: number): Promise<void> {
    while (this.#reading.length > groupsAhead) {
      const [{ raws, read } = NOTHING] = this.#reading.splice(0, 1);
      const { results, ...changed } = await read();
      addAdjustments(this.report, changed);
      for (const [index, raw] of raws.entries()) {
        const result = results[index] ?? '';
        if (typeof result === 'string') this.#batch.rejected.push({ raw, reason: result });
        else await this.#add(raw, result);
        const { records, rejected } = this.#batch;
        if (Math.max(records.size, rejected.length) >= this.#store.recordsAtOnce()) await this.#send();
      }
    }
  }

  async #add(raw: RawRecord, record: ParsedRecord): Promise<void> {
    if (!this.#seen.add(record.key)) this.report.duplicates++; // the last record wins
    const earlier = this.#batch.records.get(record.key)?.record;
    if (earlier !== undefined && !canStandFor(record, earlier)) await this.#send();
    this.#batch.records.delete(record.key);
    this.#batch.records.set(record.key, { raw, record });
  }

  /** Starts to store the batch after the previous one has been stored, so that everything is reported in the order of the file. */
  async #send(): Promise<void> {
    const batch = this.#batch;
    this.#batch = emptyBatch();
    this.#model = undefined;
    await this.#stored();
    for (const { raw, reason } of batch.rejected) this.#reject(raw, reason);
    if (batch.records.size === 0) return;
    this.#storing = this.#write(batch);
    this.#storing.catch(() => undefined); // #stored() throws it
  }

  async #stored(): Promise<void> {
    const storing = this.#storing;
    this.#storing = Promise.resolve();
    await storing;
  }

  async #write({ records }: Batch): Promise<void> {
    const written = await this.#store.write(
      this.#resource.name,
      [...records.values()].map(({ record }) => record),
      { rejectsTaken: this.#rejectsTaken },
    );
    this.#noteTaken(records, written.taken);
    let changed = records.size - written.inserted - written.unchanged;
    for (const { resource, key, reason } of written.rejected) {
      const own = resource === this.#resource.name ? records.get(key)?.raw : undefined;
      if (own !== undefined) changed--;
      this.#reject(own ?? { line: 0, text: JSON.stringify({ key }) }, `${resource} ${key}: ${reason}`);
    }
    this.report.inserted += written.inserted;
    // The number of changed records from the store includes parents whose timestamps moved with a record of this file.
    this.report.changed += changed;
    this.report.unchanged += written.unchanged;
    this.report.children += written.children.stored;
    this.report.orphans += written.orphans;
  }

  /**
   * Records children that two records contain. If the first record occurs again later without the child, the child has only moved.
   */
  #noteTaken(records: Batch['records'], taken: readonly TakenChild[]): void {
    for (const [name, { resource, key, from }] of this.#taken) {
      const record = from.resource === this.#resource.name ? records.get(from.key)?.record : undefined;
      for (const [navigation, children] of record?.children ?? []) {
        const isThere = children.some((child) => child.key === key);
        if (this.#resource.navigations.get(navigation)?.target === resource && !isThere)
          this.#taken.delete(name);
      }
    }
    // Their payloads are not kept, because they would fill the memory.
    for (const { resource, key, from, by } of taken)
      this.#taken.set(nameOf({ resource, key }), { resource, key, from, by });
  }

  #reject({ line, text, of }: RawRecord, reason: string): void {
    const { report } = this;
    report.rejected++;
    const fault = this.#rejects.add(of ?? report.resource, basename(report.file), line, reason, text);
    if (fault === undefined) report.rejectedFile = this.#rejects.path;
    const unwritten = fault === undefined ? undefined : this.#unwritten(fault, line);
    if (report.reasons.length < MOST_REASONS) report.reasons.push({ line, reason });
    else if (unwritten !== undefined) {
      unwritten.reported++;
      this.#report(line, reason);
    }
  }

  #unwritten(fault: string, line: number): Unwritten {
    const { report } = this;
    report.unwritten ??= { path: this.#rejects.path, fault, count: 0, reported: 0, lines: [] };
    const { lines } = report.unwritten;
    const last = lines.at(-1);
    if (last !== undefined && last[1] + 1 === line) last[1] = line;
    else if (line > 0) lines.push([line, line]);
    report.unwritten.count++;
    return report.unwritten;
  }
}

/**
 * Whether an earlier record with the same key need not be stored, since nothing of it would remain. Children that only the earlier
 * record has remain, and the key belongs to its originating system: its own, or that of its parent.
 */
function canStandFor(record: ParsedRecord, earlier: ParsedRecord): boolean {
  const { parent } = record.resource;
  const owners = ['OriginatingSystemID', ...(parent === undefined ? [] : [parent.keyField])];
  return (
    [...earlier.children.keys()].every((kind) => record.children.has(kind)) &&
    owners.every((name) => readValue(record, name) === readValue(earlier, name))
  );
}

const nameOf = ({ resource, key }: Pick<TakenChild, 'resource' | 'key'>): string => `${resource} ${key}`;

/**
 * Stores the records of a file. Records that cannot be stored are written to `FILE.rejected.ndjson`.
 * @returns a report for each resource of which the file contains documents
 */
export async function importFile(
  store: Store,
  file: InputFile,
  options: ImportOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<FileReport[]> {
  const source = await openText(file, signal);
  const { name } = file;
  const { reading, map, remedy } = options;
  await using thread = new ReadingThread({ reading, map, remedy });
  using rejects = openRejectedFile(`${name}.rejected.ndjson`);
  const report = (line: number, reason: string): void =>
    progress.reportLine(`${name}${line === 0 ? '' : `:${line}`}: ${reason}`);
  const { dictionary } = await store.model();
  const importers = new Map<string, Importer>();
  const importerOf = (resource: Resource): Importer =>
    importers.getOrInsertComputed(
      resource.name,
      () => new Importer(store, name, resource, thread, rejects, report, options),
    );
  let read = 0;
  const show = (): void => {
    let taken = read;
    for (const { waiting } of importers.values()) taken -= waiting;
    const share = read === 0 ? 1 : taken / read;
    progress.update(Math.round(source.read() * share), `${taken} records`, taken);
  };
  const run = { signal, show };
  for await (const { resource, raw } of placedRecords(file, source, dictionary, options, signal)) {
    const importer = importerOf(resource);
    if (raw === undefined) continue;
    read++;
    await importer.take(raw, run);
    show();
  }
  if (source.beginning.length === 0 && !signal.aborted) report(0, 'The file is empty');
  for (const each of importers.values()) await each.finish(run);
  show();
  const reports = [...importers.values()].map((importer) => importer.report);
  if (rejects.stale !== undefined && reports.every(({ rejected }) => rejected === 0)) {
    report(0, `${rejects.path} of an earlier import cannot be removed: ${rejects.stale}`);
  }
  return reports;
}
