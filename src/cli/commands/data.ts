import { createWriteStream, realpathSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { StoreModel } from '../../compile/model.ts';
import { nearestName } from '../../dictionary/index.ts';
import { usageError } from '../../errors/index.ts';
import { filledError } from '../../records/parse-record.ts';
import { PartialFile, writeError } from '../../store/files/partial-file.ts';
import { isDatabaseFile } from '../../store/files/store-file.ts';
import type { Store } from '../../store/store.ts';
import type { ConfigFile } from '../config.ts';
import { withStore } from '../open-store.ts';
import {
  addOptions,
  applyConfig,
  CLOCK_OPTION,
  CONFIG_OPTION,
  JSON_OPTION,
  mustHaveFolder,
  mustNotBeFolder,
  option,
  required,
  STORE_OPTION,
} from '../options.ts';
import { EXIT, print } from '../output.ts';
import { type Progress, rowProgress, withProgress } from '../progress.ts';
import { defineStoreAction } from '../store-command.ts';
import { reportLines, streamJson, writeText } from '../terminal.ts';

/**
 * Validates the name of a resource that has records.
 * @param isWritten whether records will be written or deleted
 * @throws PlatError `usage` with the nearest name, `resourceFilled`
 */
export function knownResource({ dictionary, stores }: StoreModel, name: string, isWritten = false): string {
  const found = dictionary.resources.get(name);
  const filled = found && filledError(found);
  if (filled !== undefined && (!stores(name) || (isWritten && found?.fromContents))) throw filled;
  if (found !== undefined) return name;
  const nearest = nearestName(name, dictionary.resources.keys());
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  throw usageError(`There is no resource ${name}.${hint}`);
}

async function* linesOf(records: AsyncIterable<string>): AsyncIterable<string> {
  for await (const record of records) yield `${record}\n`;
}

/** @throws PlatError `usage` if the file is a store, perhaps the exported one, which an export must not replace */
function mustBeReplaceable(out: string): void {
  mustHaveFolder(out);
  mustNotBeFolder(out);
  if (!isDatabaseFile(out)) return;
  throw usageError(`${out} belongs to an SQLite database, which an export does not replace.`);
}

/** Writes text to a regular file, which gets its name only when it is complete, or directly to anything else, such as a pipe. */
async function writeExport(out: string, lines: AsyncIterable<string> | readonly string[]): Promise<void> {
  try {
    await writeAtomically(out, lines);
  } catch (error) {
    throw writeError(error, out);
  }
}

async function writeAtomically(out: string, lines: AsyncIterable<string> | readonly string[]): Promise<void> {
  const before = statSync(out, { throwIfNoEntry: false });
  if (before?.isFile() === false) {
    await pipeline(lines, createWriteStream(out));
    return;
  }
  // A symbolic link is kept.
  using partial = new PartialFile(before === undefined ? out : realpathSync(out), '.partial');
  // The flag r+ does not create the file again if it has been removed because reading failed.
  await pipeline(lines, createWriteStream(partial.path, { flags: 'r+', flush: true }));
  partial.replaceTarget();
}

export function defineDelete(remove: Command): void {
  const options = [
    required('--resource <name>', 'resource of the records'),
    option('--force', 'also in a replica, whose records belong to its source'),
    CLOCK_OPTION(),
    JSON_OPTION(),
  ];
  defineStoreAction(remove, options, async (store, { resource, force, json }, keys: string[]) => {
    const model = await store.model();
    if (model.settings.owner === 'replica' && force !== true) {
      const reason =
        'This store is a replica; its records are deleted at their source. --force deletes them here.';
      throw usageError(reason);
    }
    const { deleted, children, rejected } = await store.remove(knownResource(model, resource, true), keys);
    for (const { key, reason } of rejected) reportLines(`${resource} ${key}: ${reason}`);
    const failed = rejected.length;
    const missing = new Set(keys).size - deleted - failed;
    const text = `deleted ${deleted} ${resource}, ${children.deleted} children${missing > 0 ? `; ${missing} were not there` : ''}`;
    print({ deleted, children: children.deleted, missing, failed }, text, json);
    if (missing + failed > 0) process.exitCode = EXIT.failed;
  });
}

export function defineExport(exporting: Command): void {
  addOptions(
    exporting,
    STORE_OPTION(),
    CONFIG_OPTION(),
    option('--resource <name>', 'resource to write; required unless --declarations is given'),
    option('--out <file>', 'output file; stdout by default'),
    option('--declarations', 'write the declarations of the store as a configuration, instead of records'),
  ).action(async (_options, command: Command) => {
    await applyConfig(command);
    const { store: address, resource, out, declarations } = command.opts();
    if (resource === undefined && declarations !== true) {
      throw usageError(
        '--resource <name> is missing, or --declarations; PLAT_RESOURCE in the environment and "resource" in plat.config.json also set it.',
      );
    }
    if (out !== undefined) mustBeReplaceable(out);
    await withStore(address, { create: false }, async (store) => {
      const name = resource === undefined ? undefined : knownResource(await store.model(), resource);
      if (declarations === true || name === undefined) {
        const text = `${JSON.stringify(await declarationsOf(store, name), undefined, 2)}\n`;
        if (out === undefined) writeText(text);
        else await writeExport(out, [text]);
      } else if (out === undefined) for await (const line of store.export(name)) await streamJson(line);
      else await writeExport(out, linesOf(store.export(name)));
    });
  });
}

async function declarationsOf(store: Store, of: string | undefined): Promise<ConfigFile> {
  const { settings, dictionary } = await store.model();
  const { declarations } = settings;
  if (of === undefined) return { dictionary: declarations };
  const used = new Set(
    [...(dictionary.resources.get(of)?.fields.values() ?? [])].map(({ lookup }) => lookup),
  );
  const sections = {
    resources: declarations.resources?.filter(({ name }) => name === of),
    customFields: declarations.customFields?.filter(({ resource }) => resource === of),
    lookups: declarations.lookups?.filter(({ lookup }) => used.has(lookup)),
    fieldsInUse: declarations.fieldsInUse?.filter((path) => path.startsWith(`${of}.`)),
    searchFields: declarations.searchFields?.filter((path) => path.startsWith(`${of}.`)),
  };
  const filled = Object.entries(sections).filter(([, list]) => list !== undefined && list.length > 0);
  return { dictionary: Object.fromEntries(filled) };
}

export function defineBackup(backup: Command): void {
  addOptions(backup, STORE_OPTION(), CONFIG_OPTION(), JSON_OPTION()).action(async (file: string) => {
    await applyConfig(backup);
    const { store: address, json } = backup.opts();
    mustHaveFolder(file);
    await withStore(address, { create: false }, async (store) => {
      const copy = (progress: Progress) => store.backup(file, rowProgress(progress));
      await withProgress(`Checking ${file}`, undefined, copy);
      print({ store: store.name, file }, `${file} is a copy of ${store.name}`, json);
    });
  });
}
