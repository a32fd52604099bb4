/**
 * Declares the fields of files that the dictionary does not have: looks at all of their values first, drafts
 * declarations, and gives them to the store, and to the configuration if that is wanted.
 */
import { type Declarations, type Dictionary, declare, standardDictionary } from '../../dictionary/index.ts';
import { PlatError } from '../../errors/index.ts';
import { MOST_FIELDS } from '../../replica/copy/schema-drift.ts';
import type { Store } from '../../store/store.ts';
import { mustBeWritable, writeDictionary } from '../config.ts';
import type { Progress } from '../progress.ts';
import { mapped, NO_MAP } from './field-map.ts';
import { placedRecords, type ReadOptions } from './placed-records.ts';
import { readJson } from './read-json.ts';
import { type Draft, type Study, withDrafts } from './study.ts';
import { type InputFile, openText } from './text-source.ts';

/** What came of it. */
export interface Declared {
  /** The drafts that are declared now. */
  readonly drafts: readonly (Draft & { readonly kind: 'field' })[];
  /** Fields that cannot be declared. */
  readonly refused: readonly (Draft & { readonly kind: 'none' })[];
}

/** Looks at the records of a file; what is wrong in it is told when it is imported. */
export async function studyFile(
  study: Study,
  dictionary: Dictionary,
  file: InputFile,
  options: ReadOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const source = await openText(file, signal);
  let read = 0;
  for await (const { resource, raw } of placedRecords(file, source, dictionary, options, signal)) {
    if (raw === undefined || raw.fault !== undefined) continue;
    const json = readJson(raw);
    if (json.ok) {
      const isRow = raw.isRow === true;
      const record = mapped(json.value, isRow ? NO_MAP : options.map, resource, dictionary);
      if (typeof record !== 'string') study.see(resource, record.value, isRow);
    }
    progress.update(source.read(), `${++read} records`, read);
  }
}

/** What may be declared of drafts, before any of it is. */
export interface Declarable extends Declared {
  /** Everything that would be declared then. */
  readonly declarations: Declarations;
  readonly dictionary: Dictionary;
}

export async function declarable(store: Store, drafts: readonly Draft[]): Promise<Declarable> {
  const { settings, dictionary } = await store.model();
  const known = settings.declarations;
  const refused = new Map<Draft, string>();
  const room = new Map<string, number>();
  const tried = drafts.filter((draft) => {
    if (draft.kind === 'none') return false;
    const { resource } = draft.field;
    const fields = (room.get(resource) ?? dictionary.resources.get(resource)?.fields.size ?? 0) + 1;
    room.set(resource, fields);
    if (fields > MOST_FIELDS)
      refused.set(draft, `${resource} has no room for more than ${MOST_FIELDS} fields`);
    return fields <= MOST_FIELDS;
  });
  const declarations = possible(known, tried, dictionary, refused);
  const taken = tried.filter((draft) => !refused.has(draft));
  const all: Declarations = { ...known, ...declarations(taken) };
  return {
    declarations: all,
    dictionary: declare(standardDictionary(), all),
    drafts: taken.flatMap((draft) => (draft.kind === 'field' ? [draft] : [])),
    refused: drafts.flatMap((draft): (Draft & { kind: 'none' })[] => {
      if (draft.kind === 'none') return [draft];
      const reason = refused.get(draft);
      return reason === undefined ? [] : [{ kind: 'none', ...nameOf(draft), fault: 'name', reason }];
    }),
  };
}

/**
 * Declares, in the configuration first: a command gives a store what its configuration declares, so whatever ends this
 * one in between, the next finishes it. What stood in the store alone would be missing in the configuration for good.
 * @param configuration where the declarations are written to as well, beside what stands there; undefined: nowhere
 */
export async function declareAll(
  store: Pick<Store, 'configure'>,
  { declarations, drafts }: Declarable,
  configuration: string | undefined,
): Promise<void> {
  if (drafts.length === 0) return;
  if (configuration !== undefined) {
    mustBeWritable(configuration);
    await writeDictionary(configuration, declarations);
  }
  await store.configure((current) => ({ ...current, declarations }));
}

const nameOf = ({ field: { resource, label } }: Draft & { kind: 'field' }) => ({ resource, name: label });

/** Tries all at once; where one is at fault each by itself. */
function possible(
  known: Declarations,
  drafts: readonly Draft[],
  dictionary: Dictionary,
  refused: Map<Draft, string>,
): (taken: readonly Draft[]) => Pick<Declarations, 'customFields' | 'lookups'> {
  const declarations = (taken: readonly Draft[]) => withDrafts(known, taken, dictionary);
  if (faultOf({ ...known, ...declarations(drafts) }) === undefined) return declarations;
  const taken: Draft[] = [];
  for (const draft of drafts) {
    const fault = faultOf({ ...known, ...declarations([...taken, draft]) });
    if (fault === undefined) taken.push(draft);
    else refused.set(draft, fault);
  }
  return declarations;
}

function faultOf(declarations: Declarations): string | undefined {
  try {
    declare(standardDictionary(), declarations);
    return undefined;
  } catch (error) {
    if (error instanceof PlatError) return error.message;
    throw error;
  }
}
