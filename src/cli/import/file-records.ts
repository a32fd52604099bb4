/** Reads the records of a file with their resources, whatever the format of the file is. This module knows nothing about stores. */
import { setImmediate } from 'node:timers/promises';
import type { Dictionary, Resource } from '../../dictionary/index.ts';
import { PlatError, usageError } from '../../errors/index.ts';
import { filledError } from '../../records/parse-record.ts';
import { messageOf } from '../../shared/error-code.ts';
import type { FieldMap } from './field-names.ts';
import type { InputFile } from './input-files.ts';
import type { RawRecord } from './record-json.ts';
import { type Context, readRecords } from './record-reader.ts';
import { columnsOf } from './table-columns.ts';
import { openText, type TextSource } from './text-source.ts';

/** Milliseconds of reading after which signals and responses of the database are processed. */
const TURN = 2;

interface Placed {
  readonly resource: Resource;
  /** The record. An item without one only says that the file has a document of the resource. */
  readonly raw?: RawRecord;
}

export interface ReadOptions {
  /** The resource of all records; undefined: the resource that the file names, or else Property. */
  readonly resource: string | undefined;
  readonly map: FieldMap;
  /** Whether a table may have columns that are not fields. */
  readonly takesUnknown: boolean;
  /** Whether all fields that can be declared have been declared. */
  readonly hasLearned?: boolean;
}

/**
 * @throws PlatError `usage` if the file begins with another resource than that of the command, or with one that does not
 * exist; records of later documents with such a resource are faults
 */
export async function* placedRecords(
  { form, name }: InputFile,
  source: TextSource,
  dictionary: Dictionary,
  { resource: asked, map, takesUnknown, hasLearned }: ReadOptions,
  signal: AbortSignal,
): AsyncIterable<Placed> {
  let resource: Resource | undefined;
  let stray: Pick<RawRecord, 'of' | 'fault'> = {};
  const onContext = (context: Context): void => {
    try {
      resource = resourceOf(dictionary, asked, context);
      stray = {};
    } catch (error) {
      if (resource === undefined || !(error instanceof PlatError)) throw error;
      stray = { of: context.name, fault: error.message };
    }
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
    let yielded: Resource | undefined;
    for await (const raw of records) {
      if (signal.aborted) break;
      resource ??= resourceOf(dictionary, asked, undefined);
      yielded = resource;
      yield { resource, raw: { ...stray, ...raw } };
      if (performance.now() < turn) continue;
      await setImmediate();
      turn = performance.now() + TURN;
    }
    if (resource !== yielded && resource !== undefined) yield { resource };
  } catch (error) {
    if (error instanceof PlatError) throw error;
    if (!signal.aborted)
      yield { resource: resource ?? resourceOf(dictionary, asked, undefined), raw: endless(error) };
  }
  if (resource === undefined) yield { resource: resourceOf(dictionary, asked, undefined) };
}

/** @throws PlatError `usage` for a file of which no record could be stored; all other faults are reported when the file is read */
export async function mustBeImportable(
  file: InputFile,
  dictionary: Dictionary,
  options: ReadOptions,
  signal: AbortSignal,
): Promise<void> {
  const source = await openText(file, signal);
  for await (const _ of placedRecords(file, source, dictionary, options, signal)) return;
}

const endless = (error: unknown): RawRecord => ({
  line: 0,
  text: '',
  fault: `The file cannot be read to its end: ${messageOf(error)}`,
});

/** @throws PlatError `usage`, `resourceFilled` */
function resourceOf(
  dictionary: Dictionary,
  asked: string | undefined,
  context: Context | undefined,
): Resource {
  const found = chooseResource(dictionary, asked, context);
  const filled = filledError(found);
  if (filled !== undefined) throw filled;
  return found;
}

function chooseResource(
  dictionary: Dictionary,
  asked: string | undefined,
  context: Context | undefined,
): Resource {
  const ofFile = context === undefined ? undefined : findResource(dictionary, context.name);
  if (asked !== undefined && ofFile !== undefined && ofFile.name !== asked) {
    throw usageError(`The file says that its records are of ${context?.name}, not ${asked}.`);
  }
  if (ofFile !== undefined) return ofFile;
  // An entity set of another service can have any name; a RESO resource cannot.
  if (context?.form === 'reso') throw usageError(`There is no resource ${context.name}.`);
  const name = asked ?? 'Property';
  const found = findResource(dictionary, name);
  if (found === undefined) throw usageError(`There is no resource ${name}.`);
  return found;
}

function findResource(dictionary: Dictionary, name: string): Resource | undefined {
  const lower = name.toLowerCase();
  for (const resource of dictionary.resources.values()) {
    const names = [resource.name, ...resource.otherNames];
    if (names.some((each) => each.toLowerCase() === lower)) return resource;
  }
  return undefined;
}
