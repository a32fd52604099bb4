import { statSync } from 'node:fs';
import type { Command } from 'commander';
import type { Dictionary } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { LENIENCIES, type Leniency } from '../../records/lenient.ts';
import type { Reading } from '../../records/parse-record.ts';
import type { Store } from '../../store/store.ts';
import { type ConfigFile, configPath } from '../config.ts';
import { type Declared, declarable, declareAll, studyFile } from '../import/declare-extra.ts';
import { readFieldMap } from '../import/field-map.ts';
import { FILE_FORMS, formOf } from '../import/file-form.ts';
import { importFile } from '../import/import-file.ts';
import type { FileReport, Unwritten } from '../import/importer.ts';
import { placedRecords, type ReadOptions } from '../import/placed-records.ts';
import { once, rereadable } from '../import/spooled.ts';
import { MOST_FIELDS, Study } from '../import/study.ts';
import { type InputFile, mustBeReadable, openText } from '../import/text-source.ts';
import { openStore } from '../open-store.ts';
import {
  applyConfig,
  CLOCK_OPTION,
  CONFIG_OPTION,
  JSON_OPTION,
  NO_CREATE_OPTION,
  option,
  STORE_OPTION,
} from '../options.ts';
import { EXIT, print, table } from '../output.ts';
import { withProgress } from '../progress.ts';
import { onShutdown } from '../shutdown.ts';
import { reportLines } from '../terminal.ts';
import { knownResource } from './data.ts';

export function defineImport(importing: Command): void {
  importing
    .addOption(STORE_OPTION())
    .addOption(CONFIG_OPTION())
    .addOption(option('--resource <name>', 'what the records are; else what a file says, else Property'))
    .addOption(
      option(
        '--format <form>',
        'what the files hold; else as their names say (.csv, .tsv), else json',
      ).choices(FILE_FORMS),
    )
    .addOption(
      option(
        '--map <source=Field>',
        'the field that a name in the files means, or a file of such lines or a JSON object; may be repeated',
      ).argParser(collect),
    )
    .addOption(
      option(
        '--infer',
        'declare fields that the dictionary does not have in the configuration, and show them',
      ),
    )
    .addOption(
      option('--extra-fields <what>', 'what is done with fields that the dictionary does not have')
        .choices(EXTRA_FIELDS)
        .default('reject'),
    )
    .addOption(option('--strict', 'reject what says the same in another form, or is larger than suggested'))
    .addOption(NO_CREATE_OPTION())
    .addOption(CLOCK_OPTION())
    .addOption(JSON_OPTION())
    .action(async (files: string[], _options, command: Command) => {
      const config = await applyConfig(command, command.opts().infer === true);
      const {
        store: address,
        resource,
        create,
        allowClockJump,
        json,
        infer,
        extraFields,
        format,
      } = command.opts();
      const map = readFieldMap(command.opts().map);
      for (const file of files) mustBeReadable(file, formOf(file, format));
      const { signal } = onShutdown();
      const store = await openStore(address, { create, config, allowClockJump });
      try {
        await mustBeAuthority(store);
        const name = resource === undefined ? undefined : await knownResource(store, resource);
        const learns = infer === true || extraFields === 'keep';
        // What is looked at first is read twice.
        using inputs = learns ? await rereadable(files, format, signal) : once(files, format);
        const path = configPath(command.opts().config);
        const declared = learns
          ? await declareExtra(
              store,
              inputs.files,
              { resource: name, map, takesUnknown: extraFields === 'ignore' },
              infer === true ? path : undefined,
              signal,
            )
          : [];
        const reading = readingOf(command);
        const remedy = learns ? '' : REMEDY;
        if (extraFields === 'keep' && infer !== true && declared.length > 0 && hasOwnFields(config)) {
          reportLines(
            `${path} lists customFields, so the next command that reads it leaves these out: --infer writes them there`,
          );
        }
        const options = {
          resource: name,
          map,
          takesUnknown: reading.dropsUnknown,
          hasLearned: learns,
          reading,
          remedy,
        };
        const reports: (FileReport & { declared?: readonly string[] })[] = [];
        for (const file of inputs.files) {
          if (signal.aborted) break;
          const ofFile = await withProgress(`Importing ${file.name}`, sizeOf(file.path), (progress) =>
            importFile(store, file, options, progress, signal),
          );
          reports.push(...ofFile.map((report) => (learns ? { ...report, declared } : report)));
          ofFile.forEach(tell);
          const rejectedFile = ofFile.find((each) => each.rejectedFile !== undefined)?.rejectedFile;
          if (rejectedFile !== undefined)
            reportLines(`${file.name}: rejected records are in ${rejectedFile}`);
        }
        print(reports, reports.map(text), json);
        if (signal.aborted)
          reportLines('plat: cut short; what was stored is kept, and the same import stores the rest');
        const complete = reports.every(({ rejected }) => rejected === 0) && !signal.aborted;
        process.exitCode = complete ? EXIT.done : EXIT.failed;
      } finally {
        await store.close();
      }
    });
}

/** Whether a configuration says all custom fields of a store: those that it does not list are none. */
const hasOwnFields = ({ dictionary }: ConfigFile): boolean => dictionary?.customFields !== undefined;

const EXTRA_FIELDS = ['reject', 'ignore', 'keep'] as const;

const REMEDY =
  '. Add --infer to declare fields that the dictionary does not have, or --extra-fields ignore to leave them out';

/**
 * Declares what the files have and the dictionary does not, and shows it.
 * @param configuration that gets the declarations, too
 * @returns the names of the fields
 */
async function declareExtra(
  store: Store,
  files: readonly InputFile[],
  options: ReadOptions,
  configuration: string | undefined,
  signal: AbortSignal,
): Promise<string[]> {
  const { dictionary } = await store.model();
  const study = new Study(dictionary);
  for (const file of files) {
    await withProgress(`Looking at ${file.name}`, sizeOf(file.path), (progress) =>
      studyFile(study, dictionary, file, { ...options, takesUnknown: true }, progress, signal),
    );
  }
  if (signal.aborted) return [];
  const plan = await declarable(store, study.drafts());
  const { drafts, refused } = plan;
  if (!options.takesUnknown) {
    mustHaveNames(refused);
    for (const file of files) await mustHaveColumns(file, plan.dictionary, options, signal);
  }
  if (signal.aborted) return [];
  await declareAll(store, plan, configuration);
  const where = configuration ?? store.name;
  if (drafts.length > 0) {
    reportLines([
      `${where}: ${drafts.length} ${drafts.length === 1 ? 'field is' : 'fields are'} declared now that the dictionary does not have:`,
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
    reportLines(
      `${MOST_FIELDS} names were looked at that are no fields; what others there are is not declared`,
    );
  return drafts.map(({ field }) => `${field.resource}.${field.name}`);
}

/** Names that cannot be declared stand in every record: nothing is declared, nor stored, before they are settled. */
function mustHaveNames(refused: Declared['refused']): void {
  const unnamed = refused.filter(({ fault }) => fault === 'name');
  if (unnamed.length === 0) return;
  const shown = unnamed.slice(0, MOST_REFUSED);
  for (const { resource, name, reason } of shown) reportLines(`${resource}.${name}: ${reason}`);
  const more = unnamed.length > shown.length ? `, and ${unnamed.length - shown.length} more` : '';
  const names = shown.map(({ resource, name }) => `${resource}.${name}`).join(', ');
  throw platError('usage', {
    reason: `${names}${more} cannot be declared, so nothing is declared or stored: --map names the field that each is, --extra-fields ignore leaves them out.`,
  });
}

/** @throws PlatError `usage` for a table whose columns are not all fields once everything is declared */
async function mustHaveColumns(
  file: InputFile,
  dictionary: Dictionary,
  options: ReadOptions,
  signal: AbortSignal,
): Promise<void> {
  if (file.form === 'json') return;
  const source = await openText(file, signal);
  const records = placedRecords(file, source, dictionary, { ...options, hasLearned: true }, signal);
  for await (const _ of records) return; // the header was taken
}

/** Fields that are named one by one where they are refused for the same reason. */
const MOST_REFUSED = 20;
/** Values of a lookup that are shown. */
const SHOWN = 6;

function rowOf({ field, values }: Declared['drafts'][number]): string[] {
  const shown = values?.slice(0, SHOWN).join(', ');
  const more = (values?.length ?? 0) > SHOWN ? ` and ${(values?.length ?? 0) - SHOWN} more` : '';
  return [
    `${field.resource}.${field.name}`,
    field.label === field.name ? field.type : `${field.type}, ${JSON.stringify(field.label)} in the files`,
    shown === undefined ? '' : `lookup: ${shown}${more}`,
  ];
}

const collect = (value: string, list: unknown): string[] => [...(Array.isArray(list) ? list : []), value];

/** How records are to be read, as the options of the command say. */
function readingOf(command: Command): Reading {
  const { extraFields, strict } = command.opts();
  return { isLenient: strict !== true, dropsUnknown: extraFields === 'ignore' };
}

/** What is imported into a replica would be purged by no sweep, and be in the way of what its source sends. */
async function mustBeAuthority(store: Store): Promise<void> {
  const { settings } = await store.model();
  if (settings.owner === 'authority') return;
  const reason = `${store.name} is a replica: its records come from its source, by plat replicate.`;
  throw platError('usage', { reason });
}

function sizeOf(file: string): number | undefined {
  return file === '-' ? undefined : statSync(file, { throwIfNoEntry: false })?.size;
}

/** What a person should look at, on stderr. */
function tell(report: FileReport): void {
  const { file, reasons, rejected, unwritten, ignored, warnings, orphans, duplicates } = report;
  const told = reasons.length + (unwritten?.told ?? 0);
  for (const { line, reason } of reasons) reportLines(`${file}${line === 0 ? '' : `:${line}`}: ${reason}`);
  if (rejected > told) reportLines(`${file}: ${rejected - told} more records were rejected`);
  if (unwritten !== undefined) reportLines(`${file}: ${inNoFile(unwritten)}`);
  if (duplicates > 0) reportLines(`${file}: ${duplicates} keys stand more than once; the last one counts`);
  if (orphans > 0)
    reportLines(`${file}: ${orphans} records name a parent that is not stored; they are kept until it comes`);
  for (const [why, fields] of Object.entries(ignored)) {
    const names = Object.entries(fields).map(([name, count]) => `${name} (${count})`);
    reportLines(`${file}: ignored, ${REASONS[why] ?? why}: ${names.join(', ')}`);
  }
  for (const [why, fields] of Object.entries(warnings)) {
    const names = Object.entries(fields).map(([name, count]) => `${name} (${count})`);
    const what = isLeniency(why) ? LENIENCIES[why] : why;
    reportLines(`${file}: warning, ${what}: ${names.join(', ')}`);
  }
}

const isLeniency = (why: string): why is Leniency => Object.hasOwn(LENIENCIES, why);

/** Ranges of lines that are named at once; each line was told with its reason. */
const RANGES = 20;

function inNoFile({ path, fault, count, lines }: Unwritten): string {
  const ranges = lines.slice(0, RANGES).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  if (lines.length > RANGES) ranges.push(`${lines.length - RANGES} more ranges`);
  const where = ranges.length === 0 ? '' : `, of line ${ranges.join(', ')}`;
  return `${path} cannot be written (${fault}): it lacks ${count} rejected records${where}`;
}

const REASONS: Readonly<Record<string, string>> = {
  stamp: 'since this store stamps records itself',
  count: 'since this store counts its records itself',
  joined: 'since they come from Member and Office',
  expansion: 'since they are records of their own',
  unknown: 'since the dictionary does not know them',
};

function text({ file, resource, inserted, changed, unchanged, children, rejected }: FileReport): string {
  return `${file}: ${resource} ${inserted} new, ${changed} changed, ${unchanged} as they were, ${children} children stored, ${rejected} rejected`;
}
