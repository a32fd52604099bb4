import { statSync } from 'node:fs';
import type { Command } from 'commander';
import type { StoreModel } from '../../compile/model.ts';
import { failedError, PlatError, usageError } from '../../errors/index.ts';
import { LENIENCIES, type Leniency } from '../../records/lenient.ts';
import type { Store } from '../../store/store.ts';
import { type ConfigFile, configPath } from '../config.ts';
import { declareExtraFields } from '../import/declare-extra.ts';
import { readFieldMap } from '../import/field-names.ts';
import { mustBeImportable, type ReadOptions } from '../import/file-records.ts';
import { type FileReport, type ImportOptions, importFile, type Unwritten } from '../import/importer.ts';
import {
  FILE_FORMATS,
  fileSize,
  type InputFile,
  mustBeReadable,
  rereadableFiles,
  singlePassFiles,
} from '../import/input-files.ts';
import { withStore } from '../open-store.ts';
import {
  addOptions,
  applyConfig,
  CLOCK_OPTION,
  CONFIG_OPTION,
  collect,
  JSON_OPTION,
  NO_CREATE_OPTION,
  option,
  STORE_OPTION,
} from '../options.ts';
import { EXIT, print } from '../output.ts';
import { withProgress } from '../progress.ts';
import { onShutdown } from '../shutdown.ts';
import { reportLines } from '../terminal.ts';
import { knownResource } from './data.ts';

const EXTRA_FIELDS = ['reject', 'ignore', 'keep'] as const;

const REMEDY =
  '. Add --infer to declare fields that the dictionary does not have, or --extra-fields ignore to leave them out';

export function defineImport(importing: Command): void {
  addOptions(
    importing,
    STORE_OPTION(),
    CONFIG_OPTION(),
    option(
      '--resource <name>',
      'resource of the records; by default the one that a file names, else Property',
    ),
    option(
      '--format <form>',
      'format of the files; by default their names decide (.csv, .tsv), else json',
    ).choices(FILE_FORMATS),
    option(
      '--map <source=Field>',
      'the field for a name in the files, or a file of such lines or with a JSON object; may be repeated',
    ).argParser(collect),
    option('--infer', 'declare fields that are not in the dictionary in the configuration, and report them'),
    option('--extra-fields <what>', 'what to do with fields that are not in the dictionary')
      .choices(EXTRA_FIELDS)
      .default('reject'),
    option(
      '--strict',
      'reject values in other forms, or larger than suggested, and records that contain a child of another one',
    ),
    NO_CREATE_OPTION(),
    CLOCK_OPTION(),
    JSON_OPTION(),
  ).action((paths: string[], _options, command: Command) => runImport(paths, command));
}

async function runImport(paths: readonly string[], command: Command): Promise<void> {
  const config = await applyConfig(command, command.opts().infer === true);
  const settings = command.opts();
  const { resource, create, allowClockJump, json, infer, extraFields, format, strict } = settings;
  const map = readFieldMap(settings.map);
  for (const path of paths) mustBeReadable(path, format);
  const { signal } = onShutdown();
  const isLearning = infer === true || extraFields === 'keep';
  const dropsUnknown = extraFields === 'ignore';
  const optionsOf = (model: StoreModel): ReadOptions => ({
    resource: resource === undefined ? undefined : knownResource(model, resource),
    map,
    takesUnknown: dropsUnknown,
  });
  const mustAllBeImportable = async (model: StoreModel): Promise<void> => {
    const { files } = singlePassFiles(paths.filter(isRegularFile), format);
    // Columns may be fields that are still to be learned.
    const reading = { ...optionsOf(model), takesUnknown: dropsUnknown || isLearning };
    for (const file of files) await mustBeImportable(file, model.dictionary, reading, signal);
  };
  // A file of which no record could be stored is reported before any file is stored.
  let hasBegun = false;
  const beforeCreation = async (model: StoreModel): Promise<void> => {
    await mustAllBeImportable(model);
    hasBegun = true;
  };
  const opening = { create, config, allowClockJump, beforeCreation };
  await withStore(settings.store, opening, async (store) => {
    await mustBeAuthority(store);
    const model = await store.model();
    if (!hasBegun) await mustAllBeImportable(model);
    // Learning fields requires a second pass over the files.
    using inputs = isLearning ? await rereadableFiles(paths, format, signal) : singlePassFiles(paths, format);
    const options = optionsOf(model);
    const path = configPath(settings.config);
    const declared = isLearning
      ? await declareExtraFields(store, inputs.files, options, infer === true ? path : undefined, signal)
      : [];
    if (extraFields === 'keep' && infer !== true && declared.length > 0 && hasCustomFields(config)) {
      reportLines(
        `${path} lists customFields, so the next command that reads it leaves these out: --infer writes them there`,
      );
    }
    const importOptions = {
      ...options,
      hasLearned: isLearning,
      reading: { isLenient: strict !== true, dropsUnknown },
      remedy: isLearning ? '' : REMEDY,
    };
    const reports = await importFiles(store, inputs.files, importOptions, signal, (done) => {
      const all = isLearning ? done.map((report) => ({ ...report, declared })) : done;
      print(all, done.map(summaryText), json);
    });
    if (signal.aborted)
      reportLines('plat: interrupted; stored records are kept, and the same import stores the rest');
    const isComplete = reports.every(({ rejected }) => rejected === 0) && !signal.aborted;
    process.exitCode = isComplete ? EXIT.done : EXIT.failed;
  });
}

const isRegularFile = (path: string): boolean => path !== '-' && statSync(path).isFile();

/** Imports files one after another, until the signal is aborted. @param finish called with the reports of the imported files */
async function importFiles(
  store: Store,
  files: readonly InputFile[],
  options: ImportOptions,
  signal: AbortSignal,
  finish: (reports: readonly FileReport[]) => void,
): Promise<readonly FileReport[]> {
  const reports: FileReport[] = [];
  const importAll = async (): Promise<void> => {
    for (const file of files) {
      if (signal.aborted) break;
      const ofFile = await withProgress(`Importing ${file.name}`, fileSize(file.path), (progress) =>
        importFile(store, file, options, progress, signal),
      );
      reports.push(...ofFile);
      ofFile.forEach(reportFile);
      const rejectedFile = ofFile.find((each) => each.rejectedFile !== undefined)?.rejectedFile;
      if (rejectedFile !== undefined) reportLines(`${file.name}: rejected records are in ${rejectedFile}`);
    }
  };
  await importAll().catch((error: unknown) => {
    if (reports.length === 0) throw error;
    finish(reports);
    // Something has been stored, so an unreadable pipe is now a failure and not a usage error.
    const isUse = error instanceof PlatError && error.code === 'usage';
    throw isUse ? failedError(error.message, { cause: error }) : error;
  });
  finish(reports);
  return reports;
}

/** Whether the configuration lists the custom fields of the store; fields that it does not list are then removed. */
const hasCustomFields = ({ dictionary }: ConfigFile): boolean => dictionary?.customFields !== undefined;

/**
 * Rejects a replica, which imported records would corrupt: no sweep would delete them, and they could block records of its source.
 */
async function mustBeAuthority(store: Store): Promise<void> {
  const { settings } = await store.model();
  if (settings.owner === 'authority') return;
  throw usageError(`${store.name} is a replica: plat replicate fetches its records from its source.`);
}

/** Reports on stderr what the user should know about an imported file. */
function reportFile(report: FileReport): void {
  const { file, reasons, rejected, unwritten, ignored, warnings, orphans, taken, takings, duplicates } =
    report;
  const reported = reasons.length + (unwritten?.reported ?? 0);
  for (const { line, reason } of reasons) reportLines(`${file}${line === 0 ? '' : `:${line}`}: ${reason}`);
  if (rejected > reported)
    reportLines(`${file}: ${counted(rejected - reported, 'more record was', 'more records were')} rejected`);
  if (unwritten !== undefined) reportLines(`${file}: ${unwrittenText(unwritten)}`);
  if (duplicates > 0) {
    const keys = counted(duplicates, 'key occurs', 'keys occur');
    reportLines(`${file}: ${keys} more than once; the last record counts`);
  }
  if (orphans > 0)
    reportLines(
      `${file}: ${counted(orphans, 'record names', 'records name')} a parent that is not stored, and ${orphans === 1 ? 'is' : 'are'} kept until it arrives`,
    );
  if (taken > 0) {
    const named = takings.map(({ child, from, by }) => `${child} (${from}, now ${by})`).join(', ');
    const more = taken > takings.length ? `, and ${taken - takings.length} more` : '';
    reportLines(
      `${file}: warning, ${counted(taken, 'record is in two parent records, and remains', 'records are in two parent records, and remain')} in the later one: ${named}${more}`,
    );
  }
  for (const [why, fields] of Object.entries(ignored))
    reportLines(`${file}: ignored, ${REASONS[why] ?? why}: ${counts(fields)}`);
  for (const [why, fields] of Object.entries(warnings))
    reportLines(`${file}: warning, ${isLeniency(why) ? LENIENCIES[why] : why}: ${counts(fields)}`);
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

const counts = (fields: Readonly<Record<string, number>>): string =>
  Object.entries(fields)
    .map(([name, count]) => `${name} (${count})`)
    .join(', ');

const isLeniency = (why: string): why is Leniency => Object.hasOwn(LENIENCIES, why);

/** The maximum number of line ranges in a message; the reason of each line has been reported separately. */
const MOST_RANGES = 20;

function unwrittenText({ path, fault, count, lines }: Unwritten): string {
  const ranges = lines.slice(0, MOST_RANGES).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  if (lines.length > MOST_RANGES) ranges.push(`${lines.length - MOST_RANGES} more ranges`);
  const where = ranges.length === 0 ? '' : `, of line ${ranges.join(', ')}`;
  return `${path} cannot be written (${fault}): ${counted(count, 'rejected record is', 'rejected records are')} missing from it${where}`;
}

const REASONS: Readonly<Record<string, string>> = {
  stamp: 'since this store assigns timestamps itself',
  count: 'since this store counts its records itself',
  joined: 'since they come from Member and Office',
  expansion: 'since they are separate records',
  unknown: 'since they are not in the dictionary',
};

function summaryText({
  file,
  resource,
  inserted,
  changed,
  unchanged,
  children,
  rejected,
}: FileReport): string {
  return `${file}: ${resource} ${inserted} new, ${changed} changed, ${unchanged} unchanged, ${children} children stored, ${rejected} rejected`;
}
