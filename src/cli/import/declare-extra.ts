/**
 * Declares the fields of files that the dictionary does not define: reads all of their values, drafts declarations, and adds
 * them to the store and, with --infer, to the configuration.
 */
import { type Declarations, type Dictionary, declare, standardDictionary } from '../../dictionary/index.ts';
import { PlatError, usageError } from '../../errors/index.ts';
import { MOST_FIELDS } from '../../replica/copy/schema-drift.ts';
import type { Store } from '../../store/store.ts';
import { mustBeWritable, writeDictionary } from '../config.ts';
import { table } from '../output.ts';
import { type Progress, withProgress } from '../progress.ts';
import { reportLines } from '../terminal.ts';
import { mapFieldNames, NO_MAP } from './field-names.ts';
import { mustBeImportable, placedRecords, type ReadOptions } from './file-records.ts';
import { type Draft, MOST_NAMES, Study, withDrafts } from './infer-fields.ts';
import { fileSize, type InputFile } from './input-files.ts';
import { parseRecordJson } from './record-json.ts';
import { openText } from './text-source.ts';

/**
 * Declares the fields of files that the dictionary does not define, and reports them.
 * @param configuration the configuration file to which the declarations are added; undefined: none
 * @returns the names of the fields
 */
export async function declareExtraFields(
  store: Store,
  files: readonly InputFile[],
  options: ReadOptions,
  configuration: string | undefined,
  signal: AbortSignal,
): Promise<string[]> {
  const { dictionary } = await store.model();
  const study = new Study(dictionary);
  for (const file of files) {
    await withProgress(`Examining ${file.name}`, fileSize(file.path), (progress) =>
      studyFile(study, dictionary, file, { ...options, takesUnknown: true }, progress, signal),
    );
  }
  if (signal.aborted) return [];
  const plan = await planDeclarations(store, study.drafts());
  const { drafts, refused } = plan;
  if (!options.takesUnknown) {
    mustHaveNames(refused);
    for (const file of files)
      await mustBeImportable(file, plan.dictionary, { ...options, hasLearned: true }, signal);
  }
  if (signal.aborted) return [];
  await declareAll(store, plan, configuration);
  const where = configuration ?? store.name;
  if (drafts.length > 0) {
    reportLines([
      `${where}: ${drafts.length} ${drafts.length === 1 ? 'field that the dictionary does not have is' : 'fields that the dictionary does not have are'} now declared:`,
      ...table(drafts.map(rowOf)).map((row) => `  ${row}`),
    ]);
  }
  const alike = Map.groupBy(refused, ({ resource: of, reason }) => `${of}: ${reason}`);
  for (const each of alike.values()) {
    const shown = each.length > MOST_REFUSED ? each.slice(0, 1) : each;
    const more = each.length > shown.length ? ` and ${each.length - 1} more are` : ' is';
    for (const { resource: of, name, reason } of shown)
      reportLines(`${of}.${name}${more} not declared: ${reason}`);
  }
  if (study.isFull)
    reportLines(`${MOST_NAMES} names were examined that are not fields; further ones are not declared`);
  return drafts.map(({ field }) => `${field.resource}.${field.name}`);
}

/** Rejects the import if a name cannot be declared, because every record has that name. */
function mustHaveNames(refused: Declarable['refused']): void {
  const unnamed = refused.filter(({ fault }) => fault === 'name');
  if (unnamed.length === 0) return;
  const shown = unnamed.slice(0, MOST_REFUSED);
  for (const { resource, name, reason } of shown) reportLines(`${resource}.${name}: ${reason}`);
  const more = unnamed.length > shown.length ? `, and ${unnamed.length - shown.length} more` : '';
  const names = shown.map(({ resource, name }) => `${resource}.${name}`).join(', ');
  throw usageError(
    `${names}${more} cannot be declared, so nothing is declared or stored: use --map to name the field for each, or --extra-fields ignore to omit them.`,
  );
}

/** The maximum number of fields that are reported separately for the same reason. */
const MOST_REFUSED = 20;
/** The maximum number of values of a lookup in the report. */
const SHOWN = 6;

function rowOf({ field, values }: Declarable['drafts'][number]): string[] {
  const shown = values?.slice(0, SHOWN).join(', ');
  const more = (values?.length ?? 0) > SHOWN ? ` and ${(values?.length ?? 0) - SHOWN} more` : '';
  return [
    `${field.resource}.${field.name}`,
    field.label === field.name ? field.type : `${field.type}, ${JSON.stringify(field.label)} in the files`,
    shown === undefined ? '' : `lookup: ${shown}${more}`,
  ];
}

/** Examines the records of a file. The import itself reports invalid records. */
async function studyFile(
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
    const json = parseRecordJson(raw);
    if (json.ok) {
      const isRow = raw.isRow === true;
      const record = mapFieldNames(json.value, isRow ? NO_MAP : options.map, resource, dictionary);
      if (typeof record !== 'string') study.examine(resource, record.value, isRow);
    }
    progress.update(source.read(), `${++read} records`, read);
  }
}

/** The drafts that can be declared, and those that cannot. */
interface Declarable {
  readonly drafts: readonly (Draft & { readonly kind: 'field' })[];
  readonly refused: readonly (Draft & { readonly kind: 'none' })[];
  /** All declarations of the store, including the drafts. */
  readonly declarations: Declarations;
  readonly dictionary: Dictionary;
}

export async function planDeclarations(store: Store, drafts: readonly Draft[]): Promise<Declarable> {
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
  const declarations = rejectInvalidDrafts(known, tried, dictionary, refused);
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
 * Declares in the configuration first: every command applies its configuration to the store, so if this one is interrupted,
 * the next one completes it. In the opposite order, the declarations would never reach the configuration.
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

/** Tries all drafts together and, if one of them is invalid, each separately. */
function rejectInvalidDrafts(
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
