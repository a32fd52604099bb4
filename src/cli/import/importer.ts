import { basename } from 'node:path';
import type { StoreModel } from '../../compile/model.ts';
import type { Resource } from '../../dictionary/index.ts';
import type { Leniency } from '../../records/lenient.ts';
import { parseRecord, type Reading } from '../../records/parse-record.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';
import type { Store } from '../../store/store.ts';
import { type Inexact, inexactReason } from './exact-numbers.ts';
import { type FieldMap, mapped, NO_MAP } from './field-map.ts';
import { fieldTitles } from './field-titles.ts';
import { KeySet } from './key-set.ts';
import { readJson } from './read-json.ts';
import type { RawRecord } from './record-reader.ts';
import type { RejectedFile } from './rejected-file.ts';

/** What came of one file. */
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
  /** Where the rejected records are; undefined when there are none. */
  rejectedFile: string | undefined;
  /** What of them could not be written there; undefined when all could. */
  unwritten: Unwritten | undefined;
  /** Values that were left out on purpose, by reason and field. */
  readonly ignored: Record<string, Record<string, number>>;
  /** Values that were taken in another form than the dictionary's, by kind, then by resource and field. */
  readonly warnings: Record<string, Record<string, number>>;
  /** The first reasons for which records were rejected, with their lines. */
  readonly reasons: { line: number; reason: string }[];
}

/** Records that were rejected and are in no file but the one that they came from. */
export interface Unwritten {
  /** Of the rejected file. */
  readonly path: string;
  readonly fault: string;
  count: number;
  /** How many of their reasons were told at once. */
  told: number;
  /** The lines that they stand in, from and to, in the order in which they were rejected. */
  readonly lines: [from: number, to: number][];
}

const TEXT_AS_NUMBER: Leniency = 'textAsNumber';
const BATCH = 1000;
/** Reasons that are told at the end; all others are in the rejected file, or told at once. */
const TOLD = 20;

/** Records that are stored together, and what was rejected while they were gathered. */
interface Batch {
  readonly records: Map<string, { readonly raw: RawRecord; readonly record: ParsedRecord }>;
  readonly rejected: { readonly raw: RawRecord; readonly reason: string }[];
}

const emptyBatch = (): Batch => ({ records: new Map(), rejected: [] });

/** Names that are counted one by one; a file may have made-up ones without end. */
const COUNTED = 1000;
/** The name under which all others are counted. */
const OTHERS = '*';

function count(counts: Record<string, Record<string, number>>, why: string, name: string): void {
  const names = counts[why] ?? {};
  counts[why] = names;
  const known = Object.hasOwn(names, name) || Object.keys(names).length < COUNTED ? name : OTHERS;
  // A file may have any name, also one that every object inherits, and `__proto__`, which an assignment does not make.
  if (!Object.hasOwn(names, known)) {
    Object.defineProperty(names, known, { value: 0, configurable: true, enumerable: true, writable: true });
  }
  names[known] = (names[known] ?? 0) + 1;
}

/** Whether a text that no double holds was read as a number after all, such as 1e-400 as 0. */
const readsAsNumber = ({ lenient }: ParsedRecord, inexact: readonly Inexact[]): boolean =>
  lenient.some(({ name, why }) => why === 'numberAsText' && inexact.some(({ key }) => key === name));

/** Gathers records into batches and keeps the account of the file. While one batch is stored, the next is gathered. */
export class Importer {
  readonly report: FileReport;
  readonly #store: Store;
  readonly #resource: Resource;
  readonly #reading: Reading;
  readonly #textReading: Reading;
  readonly #map: FieldMap;
  readonly #remedy: string;
  readonly #rejects: RejectedFile;
  readonly #tell: (line: number, reason: string) => void;
  readonly #seen = new KeySet();
  #batch = emptyBatch();
  /** What the records of this batch are read by. */
  #model: StoreModel | undefined;
  #storing: Promise<void> = Promise.resolve();

  /** @param tell of a rejected record whose reason would be nowhere else */
  constructor(
    store: Store,
    file: string,
    resource: Resource,
    options: { readonly reading: Reading; readonly map: FieldMap; readonly remedy: string },
    rejects: RejectedFile,
    tell: (line: number, reason: string) => void,
  ) {
    this.#reading = options.reading;
    this.#textReading = { ...options.reading, isText: true };
    this.#map = options.map;
    this.#remedy = options.remedy;
    this.#tell = tell;
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

  /** Takes a record in, and stores those before it where there are enough. */
  async take(raw: RawRecord): Promise<void> {
    const record = await this.#parse(raw);
    if (record !== undefined) await this.#gather(raw, record);
    if (Math.max(this.#batch.records.size, this.#batch.rejected.length) >= BATCH) await this.#send();
  }

  /** Stores what was gathered. */
  async finish(): Promise<void> {
    await this.#send();
    await this.#stored();
  }

  async #gather(raw: RawRecord, record: ParsedRecord): Promise<void> {
    if (!this.#seen.add(record.key)) this.report.duplicates++; // the last one wins
    const earlier = this.#batch.records.get(record.key)?.record.children.keys() ?? [];
    // Children that the later record does not speak of are those of the earlier one.
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
    const read = readJson(raw);
    if (!read.ok) return refuse(read.reason);
    const { dictionary, settings } = this.#model;
    const { inexact } = read;
    const isRow = raw.isRow === true;
    const resource = this.#model.resource(this.#resource.name);
    const named = mapped(read.value, isRow ? NO_MAP : this.#map, resource, dictionary);
    if (typeof named === 'string') return refuse(named);
    const context = { dictionary, settings, reading: isRow ? this.#textReading : this.#reading };
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

  /** Numbers that a text holds, since no number does. */
  #countTexts({ resource, values, children }: ParsedRecord, inexact: readonly Inexact[]): void {
    for (const { key, source } of inexact) {
      const name = fieldTitles(resource).get(key) ?? this.#map.get(key) ?? key;
      if (values[name] === source) count(this.report.warnings, TEXT_AS_NUMBER, `${resource.name}.${name}`);
    }
    for (const list of children.values()) for (const each of list) this.#countTexts(each, inexact);
  }

  /** Begins to store the batch as soon as the one before is stored, so that all is told in the order of the file. */
  async #send(): Promise<void> {
    const batch = this.#batch;
    this.#batch = emptyBatch();
    this.#model = undefined;
    await this.#stored();
    for (const { raw, reason } of batch.rejected) this.#reject(raw, reason);
    if (batch.records.size === 0) return;
    this.#storing = this.#write(batch);
    this.#storing.catch(() => undefined); // whoever waits for it is told
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
    this.report.inserted += written.inserted;
    this.report.changed += written.changed + written.restamped;
    this.report.unchanged += written.unchanged;
    this.report.children += written.children.stored;
    this.report.orphans += written.orphans;
    for (const { resource, key, reason } of written.rejected) {
      const own = resource === this.#resource.name ? records.get(key)?.raw : undefined;
      this.#reject(own ?? { line: 0, text: JSON.stringify({ key }) }, `${resource} ${key}: ${reason}`);
    }
  }

  #reject({ line, text }: RawRecord, reason: string): void {
    const { report } = this;
    report.rejected++;
    const fault = this.#rejects.add(report.resource, basename(report.file), line, reason, text);
    if (fault === undefined) report.rejectedFile = this.#rejects.path;
    const unwritten = fault === undefined ? undefined : this.#unwritten(fault, line);
    if (report.reasons.length < TOLD) report.reasons.push({ line, reason });
    else if (unwritten !== undefined) {
      unwritten.told++;
      this.#tell(line, reason);
    }
  }

  #unwritten(fault: string, line: number): Unwritten {
    const { report } = this;
    report.unwritten ??= { path: this.#rejects.path, fault, count: 0, told: 0, lines: [] };
    const { lines } = report.unwritten;
    const last = lines.at(-1);
    if (last !== undefined && last[1] + 1 === line) last[1] = line;
    else if (line > 0) lines.push([line, line]);
    report.unwritten.count++;
    return report.unwritten;
  }
}
