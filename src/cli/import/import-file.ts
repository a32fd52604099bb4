import { setImmediate } from 'node:timers/promises';
import type { Dictionary, Resource } from '../../dictionary/index.ts';
import { PlatError, platError } from '../../errors/index.ts';
import type { Reading } from '../../store/record/parse-record.ts';
import type { Store } from '../../store/store.ts';
import type { Progress } from '../progress.ts';
import { type FileReport, Importer } from './importer.ts';
import { type Context, type RawRecord, readRecords } from './record-reader.ts';
import { rejectedFile } from './rejected-file.ts';
import { nameOf, openText } from './text-source.ts';

/** Milliseconds of reading after which signals are let in, and the answers of a server. */
const TURN = 2;

/** How the records of files are read. */
export interface ImportOptions {
  /** Of all records; undefined: what a file says, else Property. */
  readonly resource: string | undefined;
  readonly reading: Reading;
}

/**
 * Stores the records of a file. What cannot be stored goes to `FILE.rejected.ndjson`; the rest is stored.
 * @returns a report for each resource of which there are documents
 */
export async function importFile(
  store: Store,
  file: string,
  { resource: asked, reading }: ImportOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<FileReport[]> {
  const source = await openText(file, signal);
  const name = nameOf(file);
  using rejects = rejectedFile(`${name}.rejected.ndjson`);
  const tell = (line: number, reason: string): void =>
    progress.tell(`${name}${line === 0 ? '' : `:${line}`}: ${reason}`);
  const { dictionary } = await store.model();
  const importers = new Map<string, Importer>();
  const importerOf = (resource: Resource): Importer => {
    const known = importers.get(resource.name);
    if (known !== undefined) return known;
    const made = new Importer(store, name, resource, reading, rejects, tell);
    importers.set(resource.name, made);
    return made;
  };
  let importer: Importer | undefined;
  const onContext = (context: Context): void => {
    importer = importerOf(resourceOf(dictionary, asked, context));
  };
  const show = (records: number): void => progress.update(source.read(), `${records} records`, records);
  let turn = performance.now() + TURN;
  let read = 0;
  try {
    for await (const raw of readRecords(source.chunks, onContext)) {
      if (signal.aborted) break;
      importer ??= importerOf(resourceOf(dictionary, asked, undefined));
      await importer.take(raw);
      show(++read);
      if (performance.now() < turn) continue;
      await setImmediate();
      turn = performance.now() + TURN;
    }
  } catch (error) {
    if (error instanceof PlatError) throw error;
    importer ??= importerOf(resourceOf(dictionary, asked, undefined));
    if (!signal.aborted) await importer.take(endless(error));
  }
  if (source.beginning.length === 0 && !signal.aborted)
    tell(0, 'The file is empty; there is no record in it');
  importer ??= importerOf(resourceOf(dictionary, asked, undefined));
  for (const each of importers.values()) await each.finish();
  show(read);
  const reports = [...importers.values()].map(({ report }) => report);
  if (rejects.stale !== undefined && reports.every(({ rejected }) => rejected === 0)) {
    tell(0, `${rejects.path} of an earlier import cannot be removed: ${rejects.stale}`);
  }
  return reports;
}

const endless = (error: unknown): RawRecord => ({
  line: 0,
  text: '',
  fault: `The file cannot be read to its end: ${error instanceof Error ? error.message : String(error)}`,
});

/** @throws PlatError `usage` when the file says something else than the command, or what does not exist */
function resourceOf(
  dictionary: Dictionary,
  asked: string | undefined,
  context: Context | undefined,
): Resource {
  const told = context === undefined ? undefined : named(dictionary, context.name);
  if (asked !== undefined && told !== undefined && told.name !== asked) {
    throw platError('usage', {
      reason: `The file says that its records are of ${context?.name}, not ${asked}.`,
    });
  }
  if (told !== undefined) return told;
  // An entity set of another service may have any name; a resource of RESO may not.
  if (context?.form === 'reso') throw platError('usage', { reason: `There is no resource ${context.name}.` });
  const wanted = asked ?? 'Property';
  const found = named(dictionary, wanted);
  if (found === undefined) throw platError('usage', { reason: `There is no resource ${wanted}.` });
  return found;
}

function named(dictionary: Dictionary, name: string): Resource | undefined {
  const wanted = name.toLowerCase();
  for (const resource of dictionary.resources.values()) {
    const names = [resource.name, ...resource.otherNames];
    if (names.some((each) => each.toLowerCase() === wanted)) return resource;
  }
  return undefined;
}
