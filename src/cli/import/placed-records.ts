/** The records of a file with the resource of each, whatever the form of the file. It knows nothing of stores. */
import { setImmediate } from 'node:timers/promises';
import type { Dictionary, Resource } from '../../dictionary/index.ts';
import { PlatError, platError } from '../../errors/index.ts';
import type { FieldMap } from './field-map.ts';
import { type Context, type RawRecord, readRecords } from './record-reader.ts';
import { columnsOf } from './table-columns.ts';
import type { InputFile, TextSource } from './text-source.ts';

/** Milliseconds of reading after which signals are let in, and the answers of a server. */
const TURN = 2;

export interface Placed {
  readonly resource: Resource;
  /** Absent: there are documents of the resource, perhaps without a record. */
  readonly raw?: RawRecord;
}

/** How files are read. */
export interface ReadOptions {
  /** The resource of all records; undefined: what the file says, else Property. */
  readonly resource: string | undefined;
  readonly map: FieldMap;
  /** Whether columns may have names that are no field's. */
  readonly takesUnknown: boolean;
  /** Whether fields were declared for all names for which that can be done. */
  readonly hasLearned?: boolean;
}

/**
 * @throws PlatError `usage` when the file says something else than was asked, or what does not exist
 */
export async function* placedRecords(
  { form, name }: InputFile,
  source: TextSource,
  dictionary: Dictionary,
  { resource: asked, map, takesUnknown, hasLearned }: ReadOptions,
  signal: AbortSignal,
): AsyncIterable<Placed> {
  let resource: Resource | undefined;
  const onContext = (context: Context): void => {
    resource = resourceOf(dictionary, asked, context);
  };
  const rows = async (as: 'csv' | 'tsv'): Promise<AsyncIterable<RawRecord>> => {
    const { readRows } = await import('./row-reader.ts');
    const of = resourceOf(dictionary, asked, undefined);
    const columns = (header: readonly string[]) => columnsOf(name, header, of, map, takesUnknown, hasLearned);
    return readRows(source.chunks, { file: name, beginning: source.beginning, form: as, columns });
  };
  const records = form === 'json' ? readRecords(source.chunks, onContext) : await rows(form);
  let turn = performance.now() + TURN;
  try {
    let told: Resource | undefined;
    for await (const raw of records) {
      if (signal.aborted) break;
      resource ??= resourceOf(dictionary, asked, undefined);
      told = resource;
      yield { resource, raw };
      if (performance.now() < turn) continue;
      await setImmediate();
      turn = performance.now() + TURN;
    }
    if (resource !== told && resource !== undefined) yield { resource };
  } catch (error) {
    if (error instanceof PlatError) throw error;
    if (!signal.aborted)
      yield { resource: resource ?? resourceOf(dictionary, asked, undefined), raw: endless(error) };
  }
  if (resource === undefined) yield { resource: resourceOf(dictionary, asked, undefined) };
}

const endless = (error: unknown): RawRecord => ({
  line: 0,
  text: '',
  fault: `The file cannot be read to its end: ${error instanceof Error ? error.message : String(error)}`,
});

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
