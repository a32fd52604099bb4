/**
 * Stores the records of a file in batches and reports the result. While one batch is stored, the next is read. This module
 * knows nothing of terminals and of the options of commands.
 */
import { basename } from 'node:path';
import type { StoreModel } from '../../compile/model.ts';
import type { Resource } from '../../dictionary/index.ts';
import type { Leniency } from '../../records/lenient.ts';
import { parseRecord, type Reading } from '../../records/parse-record.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';
import type { Store } from '../../store/store.ts';
import type { Progress } from '../progress.ts';
import { type FieldMap, fieldTitles, mapped, NO_MAP } from './field-names.ts';
import type { InputFile } from './input-files.ts';
import { KeySet } from './key-set.ts';
import { placedRecords, type ReadOptions } from './placed-records.ts';
import { type Inexact, inexactReason, type RawRecord, recordJson } from './record-json.ts';
import { type RejectedFile, rejectedFile } from './rejected-file.ts';
import { openText } from './text-source.ts';

interface ImportOptions extends ReadOptions {
  readonly reading: Reading;
  /** Text that is appended to the reason if a record has a field that the dictionary does not define. */
  readonly remedy: string;
}

/** The result of importing the records of one resource from a file. */
export interface FileReport {
  readonly file: string;
  readonly resource: string;
  inserted: number;
  changed: number;
  unchanged: number;
  children: number;
  orphans: number;
  duplicates: number;
  rejected: number;
  /** The file with the rejected records; undefined if there are none. */
  rejectedFile: string | undefined;
  /** The rejected records that could not be written there; undefined if all could. */
  unwritten: Unwritten | undefined;
  /** Numbers of ignored values, by reason and field. */
  readonly ignored: Record<string, Record<string, number>>;
  /** Numbers of converted values, by kind, then by resource and field. */
  readonly warnings: Record<string, Record<string, number>>;
  /** The first rejections, with their lines. */
  readonly reasons: { line: number; reason: string }[];
}

/** Rejected records that are missing from the rejected file. */
export interface Unwritten {
  /** The path of the rejected file. */
  readonly path: string;
  readonly fault: string;
  count: number;
  /** How many of their reasons have been reported already. */
  reported: number;
  /** Ranges of their lines, in the order of rejection. */
  readonly lines: [from: number, to: number][];
}

const TEXT_AS_NUMBER: Leniency = 'textAsNumber';
const BATCH = 1000;
/** Reasons that are reported at the end; all others are in the rejected file, or are reported at once. */
const MOST_REASONS = 20;

/** Records that are stored together, and the records that were rejected while they were read. */
interface Batch {
  readonly records: Map<string, { readonly raw: RawRecord; readonly record: ParsedRecord }>;
  readonly rejected: { readonly raw: RawRecord; readonly reason: string }[];
}

const emptyBatch = (): Batch => ({ records: new Map(), rejected: [] });

/** Names that are counted separately; a file can contain any number of them. */
const COUNTED = 1000;
/** The name under which all other names are counted. */
const OTHERS = '*';

function count(counts: Record<string, Record<string, number>>, why: string, name: string): void {
  const names = counts[why] ?? {};
  counts[why] = names;
  const known = Object.hasOwn(names, name) || Object.keys(names).length < COUNTED ? name : OTHERS;
  // A file can contain inherited names, and `__proto__`, which an assignment does not create.
  if (!Object.hasOwn(names, known)) {
    Object.defineProperty(names, known, { value: 0, configurable: true, enumerable: true, writable: true });
  }
  names[known] = (names[known] ?? 0) + 1;
}

/** Whether a number beyond the precision of a double was converted to a number nevertheless, such as 1e-400 to 0. */
const readsAsNumber = ({ lenient }: ParsedRecord, inexact: readonly Inexact[]): boolean =>
  lenient.some(({ name, why }) => why === 'numberAsText' && inexact.some(({ key }) => key === name));

/** The import of the records of one resource from a file. */
class Importer {
  readonly report: FileReport;
  readonly #store: Store;
  readonly #resource: Resource;
  readonly #reading: Reading;
  readonly #textReading: Reading;
  readonly #map: FieldMap;
  readonly #remedy: string;
  readonly #rejects: RejectedFile;
  readonly #report: (line: number, reason: string) => void;
  readonly #seen = new KeySet();
  #batch = emptyBatch();
  /** The model by which the records of this batch are validated. */
  #model: StoreModel | undefined;
  #storing: Promise<void> = Promise.resolve();

  /** @param reportRejection reports a rejection that no file records */
  constructor(
    store: Store,
    file: string,
    resource: Resource,
    options: ImportOptions,
    rejects: RejectedFile,
    reportRejection: (line: number, reason: string) => void,
  ) {
    this.#reading = options.reading;
    this.#textReading = { ...options.reading, isText: true };
    this.#map = options.map;
    this.#remedy = options.remedy;
    this.#report = reportRejection;
    this.#store = store;
    this.#resource = resource;
    this.#rejects = rejects;
    this.report = {
      file,
      resource: resource.name,
      inserted: 0,
      changed: 0,
      unchanged: 0,
      children: 0,
      orphans: 0,
      duplicates: 0,
      rejected: 0,
      rejectedFile: undefined,
      unwritten: undefined,
      ignored: {},
      warnings: {},
      reasons: [],
    };
  }

  /** Adds a record, and stores a batch if it is full. */
  async take(raw: RawRecord): Promise<void> {
    const record = await this.#parse(raw);
    if (record !== undefined) await this.#gather(raw, record);
    if (Math.max(this.#batch.records.size, this.#batch.rejected.length) >= BATCH) await this.#send();
  }

  /** Stores the last batch. */
  async finish(): Promise<void> {
    await this.#send();
    await this.#stored();
  }

  async #gather(raw: RawRecord, record: ParsedRecord): Promise<void> {
    if (!this.#seen.add(record.key)) this.report.duplicates++; // the last record wins
    const earlier = this.#batch.records.get(record.key)?.record.children.keys() ?? [];
    // Children that only the earlier record has must be stored with it.
    if ([...earlier].some((kind) => !record.children.has(kind))) await this.#send();
    this.#batch.records.delete(record.key);
    this.#batch.records.set(record.key, { raw, record });
  }

  async #parse(raw: RawRecord): Promise<ParsedRecord | undefined> {
    const refuse = (reason: string): undefined => {
      this.#batch.rejected.push({ raw, reason });
    };
    if (raw.fault !== undefined) return refuse(raw.fault);
    this.#model ??= await this.#store.model();
    const read = recordJson(raw);
    if (!read.ok) return refuse(read.reason);
    const { dictionary, settings } = this.#model;
    const { inexact } = read;
    const isRow = raw.isRow === true;
    const resource = this.#model.resource(this.#resource.name);
    const named = mapped(read.value, isRow ? NO_MAP : this.#map, resource, dictionary);
    if (typeof named === 'string') return refuse(named);
    const reading = isRow ? this.#textReading : this.#reading;
    const context = { dictionary, settings, reading, isShallow: raw.counted?.isDeep === false };
    const result = parseRecord(resource, named.value, context);
    const isExact = inexact.length === 0;
    if (!isExact && (!this.#reading.isLenient || !result.ok || readsAsNumber(result.record, inexact)))
      return refuse(inexact.map(inexactReason).join('; '));
    if (!result.ok) {
      const { reasons, lacksField } = result.invalid;
      return refuse(`${reasons.join('; ')}${lacksField ? this.#remedy : ''}`);
    }
    const { dropped, lenient } = result.record;
    for (const { name, why } of dropped) count(this.report.ignored, why, name);
    for (const each of lenient) count(this.report.warnings, each.why, `${each.resource}.${each.name}`);
    if (!isExact) this.#countTexts(result.record, inexact);
    return result.record;
  }

  /** Counts numbers that were stored in text fields because a double cannot represent them. */
  #countTexts({ resource, values, children }: ParsedRecord, inexact: readonly Inexact[]): void {
    for (const { key, source } of inexact) {
      const name = fieldTitles(resource).get(key) ?? this.#map.get(key) ?? key;
      if (values[name] === source) count(this.report.warnings, TEXT_AS_NUMBER, `${resource.name}.${name}`);
    }
    for (const list of children.values()) for (const each of list) this.#countTexts(each, inexact);
  }

  /** Starts to store the batch once the previous one is stored, so that everything is reported in the order of the file. */
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
    );
    let changed = records.size - written.inserted - written.unchanged;
    for (const { resource, key, reason } of written.rejected) {
      const own = resource === this.#resource.name ? records.get(key)?.raw : undefined;
      if (own !== undefined) changed--;
      this.#reject(own ?? { line: 0, text: JSON.stringify({ key }) }, `${resource} ${key}: ${reason}`);
    }
    this.report.inserted += written.inserted;
    // What the store counts as changed includes parents, whose timestamps moved with a record of this file.
    this.report.changed += changed;
    this.report.unchanged += written.unchanged;
    this.report.children += written.children.stored;
    this.report.orphans += written.orphans;
  }

  #reject({ line, text }: RawRecord, reason: string): void {
    const { report } = this;
    report.rejected++;
    const fault = this.#rejects.add(report.resource, basename(report.file), line, reason, text);
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
  using rejects = rejectedFile(`${name}.rejected.ndjson`);
  const report = (line: number, reason: string): void =>
    progress.reportLine(`${name}${line === 0 ? '' : `:${line}`}: ${reason}`);
  const { dictionary } = await store.model();
  const importers = new Map<string, Importer>();
  const importerOf = (resource: Resource): Importer =>
    importers.getOrInsertComputed(
      resource.name,
      () => new Importer(store, name, resource, options, rejects, report),
    );
  const show = (records: number): void => progress.update(source.read(), `${records} records`, records);
  let read = 0;
  for await (const { resource, raw } of placedRecords(file, source, dictionary, options, signal)) {
    const importer = importerOf(resource);
    if (raw === undefined) continue;
    await importer.take(raw);
    show(++read);
  }
  if (source.beginning.length === 0 && !signal.aborted) report(0, 'The file is empty');
  for (const each of importers.values()) await each.finish();
  show(read);
  const reports = [...importers.values()].map((importer) => importer.report);
  if (rejects.stale !== undefined && reports.every(({ rejected }) => rejected === 0)) {
    report(0, `${rejects.path} of an earlier import cannot be removed: ${rejects.stale}`);
  }
  return reports;
}
