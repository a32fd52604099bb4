import type { Resource } from '../../dictionary/index.ts';
import type { Reading } from '../../records/parse-record.ts';
import type { Store } from '../../store/store.ts';
import type { Progress } from '../progress.ts';
import { type FileReport, Importer } from './importer.ts';
import { placedRecords, type ReadOptions } from './placed-records.ts';
import { rejectedFile } from './rejected-file.ts';
import { type InputFile, openText } from './text-source.ts';

/** How the records of files are read. */
export interface ImportOptions extends ReadOptions {
  readonly reading: Reading;
  /** What is said beside the reason of a record with a field that the dictionary does not have. */
  readonly remedy: string;
}

/**
 * Stores the records of a file. What cannot be stored goes to `FILE.rejected.ndjson`; the rest is stored.
 * @returns a report for each resource of which there are documents
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
  const tell = (line: number, reason: string): void =>
    progress.tell(`${name}${line === 0 ? '' : `:${line}`}: ${reason}`);
  const { dictionary } = await store.model();
  const importers = new Map<string, Importer>();
  const importerOf = (resource: Resource): Importer => {
    const known = importers.get(resource.name);
    if (known !== undefined) return known;
    const made = new Importer(store, name, resource, options, rejects, tell);
    importers.set(resource.name, made);
    return made;
  };
  const show = (records: number): void => progress.update(source.read(), `${records} records`, records);
  let read = 0;
  for await (const { resource, raw } of placedRecords(file, source, dictionary, options, signal)) {
    const importer = importerOf(resource);
    if (raw === undefined) continue;
    await importer.take(raw);
    show(++read);
  }
  if (source.beginning.length === 0 && !signal.aborted)
    tell(0, 'The file is empty; there is no record in it');
  for (const each of importers.values()) await each.finish();
  show(read);
  const reports = [...importers.values()].map(({ report }) => report);
  if (rejects.stale !== undefined && reports.every(({ rejected }) => rejected === 0)) {
    tell(0, `${rejects.path} of an earlier import cannot be removed: ${rejects.stale}`);
  }
  return reports;
}
