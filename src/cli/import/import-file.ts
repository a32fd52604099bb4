import { setImmediate } from 'node:timers/promises';
import type { Resource } from '../../dictionary/index.ts';
import { PlatError, platError } from '../../errors/index.ts';
import type { Store } from '../../store/store.ts';
import type { Progress } from '../progress.ts';
import { type FileReport, Importer } from './importer.ts';
import { type Envelope, readRecords } from './record-reader.ts';
import { rejectedFile } from './rejected-file.ts';
import { openText } from './text-source.ts';

/** Milliseconds of reading after which signals are let in, and the answers of a server. */
const TURN = 2;

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
  using rejects = rejectedFile(`${name}.rejected.ndjson`);
  const tell = (line: number, reason: string): void =>
    progress.tell(`${name}${line === 0 ? '' : `:${line}`}: ${reason}`);
  const begin = async (): Promise<Importer> =>
    new Importer(store, name, await resourceOf(store, resource, envelope), rejects, tell);
  let importer: Importer | undefined;
  let turn = performance.now() + TURN;
  try {
    for await (const raw of readRecords(source.chunks, envelope)) {
      if (signal.aborted) break;
      importer ??= await begin();
      await importer.take(raw);
      progress.update(source.read(), `${importer.done} records`);
      if (performance.now() < turn) continue;
      await setImmediate();
      turn = performance.now() + TURN;
    }
  } catch (error) {
    if (error instanceof PlatError) throw error;
    envelope.fault = { line: 0, reason: `The file cannot be read to its end: ${messageOf(error)}` };
  }
  importer ??= await begin();
  await importer.finish();
  if (envelope.fault !== undefined)
    importer.reject({ line: envelope.fault.line, text: '' }, envelope.fault.reason);
  if (rejects.stale !== undefined && importer.report.rejected === 0) {
    tell(0, `${rejects.path} of an earlier import cannot be removed: ${rejects.stale}`);
  }
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
