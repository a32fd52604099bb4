import { hash } from 'node:crypto';
import { basename } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Resource } from '../../dictionary/index.ts';
import { PlatError, platError } from '../../errors/index.ts';
import { parseRecord } from '../../store/record/parse-record.ts';
import type { ParsedRecord } from '../../store/record/parsed-record.ts';
import type { Store } from '../../store/store.ts';
import type { Progress } from '../progress.ts';
import { parseExactly } from './exact-numbers.ts';
import { type Envelope, type RawRecord, readRecords } from './record-reader.ts';
import { type RejectedFile, rejectedFile } from './rejected-file.ts';
import { openText } from './text-source.ts';

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
  /** Values that were left out on purpose, by reason and field. */
  readonly ignored: Record<string, Record<string, number>>;
  /** The first reasons for which records were rejected, with their lines. */
  readonly reasons: { line: number; reason: string }[];
}

const BATCH = 1000;
/** Reasons that are told on the spot; all are in the rejected file. */
const TOLD = 20;

interface Waiting {
  readonly raw: RawRecord;
  readonly record: ParsedRecord;
}

/**
 * Stores the records of a file. What cannot be stored goes to `FILE.rejected.ndjson`; the rest is stored.
 * @param resource of the records; undefined: what the file says, else Property
 */
export async function importFile(
  store: Store,
  file: string,
  resource: string | undefined,
  progress: Progress,
  signal: AbortSignal,
): Promise<FileReport> {
  const source = openText(file);
  const envelope: Envelope = {};
  const name = file === '-' ? 'stdin' : file;
  const rejects = rejectedFile(`${name}.rejected.ndjson`);
  const seen = new Set<string>();
  let importer: Importer | undefined;
  try {
    for await (const raw of readRecords(source.chunks, envelope)) {
      if (signal.aborted) break;
      importer ??= new Importer(store, name, await resourceOf(store, resource, envelope), rejects, seen);
      await importer.take(raw);
      progress.update(source.read(), `${importer.done} records`);
    }
  } catch (error) {
    if (error instanceof PlatError) throw error;
    envelope.fault = { line: 0, reason: `The file cannot be read to its end: ${messageOf(error)}` };
  }
  importer ??= new Importer(store, name, await resourceOf(store, resource, envelope), rejects, seen);
  await importer.flush();
  if (envelope.fault !== undefined)
    importer.reject({ line: envelope.fault.line, text: '' }, envelope.fault.reason);
  return importer.report;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function resourceOf(
  store: Store,
  asked: string | undefined,
  { resource: told }: Envelope,
): Promise<Resource> {
  const { dictionary } = await store.model();
  const wanted = (asked ?? told ?? 'Property').toLowerCase();
  if (told !== undefined && told !== wanted) {
    throw platError('usage', { reason: `The file says that its records are of ${told}, not ${asked}.` });
  }
  for (const resource of dictionary.resources.values()) {
    if (resource.name.toLowerCase() === wanted) return resource;
  }
  throw platError('usage', { reason: `There is no resource ${told}.` });
}

/** Gathers records into batches and keeps the account of the file. */
class Importer {
  readonly report: FileReport;
  readonly #store: Store;
  readonly #resource: Resource;
  readonly #rejects: RejectedFile;
  readonly #seen: Set<string>;
  #batch = new Map<string, Waiting>();

  constructor(store: Store, file: string, resource: Resource, rejects: RejectedFile, seen: Set<string>) {
    this.#store = store;
    this.#resource = resource;
    this.#rejects = rejects;
    this.#seen = seen;
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
      ignored: {},
      reasons: [],
    };
  }

  get done(): number {
    const { inserted, changed, unchanged, rejected } = this.report;
    return inserted + changed + unchanged + rejected;
  }

  async take(raw: RawRecord): Promise<void> {
    const record = await this.#parse(raw);
    if (record === undefined) return;
    const mark = hash('sha1', record.key, 'base64').slice(0, 12);
    if (this.#seen.has(mark)) this.report.duplicates++; // the last one wins
    this.#seen.add(mark);
    const earlier = this.#batch.get(record.key)?.record.children.keys() ?? [];
    // Children that the later record does not speak of are those of the earlier one.
    if ([...earlier].some((kind) => !record.children.has(kind))) await this.flush();
    this.#batch.delete(record.key);
    this.#batch.set(record.key, { raw, record });
    if (this.#batch.size >= BATCH) await this.flush();
  }

  async #parse(raw: RawRecord): Promise<ParsedRecord | undefined> {
    if (raw.fault !== undefined) {
      this.reject(raw, raw.fault);
      return undefined;
    }
    const model = await this.#store.model();
    let parsed: ReturnType<typeof parseExactly>;
    try {
      parsed = parseExactly(raw.text);
    } catch (error) {
      this.reject(raw, `The line is no JSON: ${messageOf(error)}`);
      return undefined;
    }
    if (parsed.inexact.length > 0) {
      this.reject(raw, parsed.inexact.join('; '));
      return undefined;
    }
    const result = parseRecord(model.resource(this.#resource.name), parsed.value, model);
    if (!result.ok) {
      this.reject(raw, result.invalid.reasons.join('; '));
      return undefined;
    }
    for (const { name, why } of result.record.dropped) {
      const counts = this.report.ignored[why] ?? {};
      this.report.ignored[why] = counts;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return result.record;
  }

  async flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = new Map();
    if (batch.size === 0) return;
    await setImmediate(); // lets signals in
    const written = await this.#store.write(
      this.#resource.name,
      [...batch.values()].map(({ record }) => record),
    );
    this.report.inserted += written.inserted;
    this.report.changed += written.changed + written.restamped;
    this.report.unchanged += written.unchanged;
    this.report.children += written.children.stored;
    this.report.orphans += written.orphans;
    for (const { resource, key, reason } of written.rejected) {
      const own = resource === this.#resource.name ? batch.get(key)?.raw : undefined;
      this.reject(own ?? { line: 0, text: JSON.stringify({ key }) }, `${resource} ${key}: ${reason}`);
    }
  }

  reject(raw: RawRecord, reason: string): void {
    this.report.rejected++;
    this.report.rejectedFile = this.#rejects.path;
    if (this.report.reasons.length < TOLD) this.report.reasons.push({ line: raw.line, reason });
    this.#rejects.add(basename(this.report.file), raw.line, reason, raw.text);
  }
}
