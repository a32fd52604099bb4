import { createWriteStream, realpathSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { nearestName } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { PartialFile } from '../../store/files/partial-file.ts';
import type { Store } from '../../store/store.ts';
import type { ConfigFile } from '../config.ts';
import { openStore } from '../open-store.ts';
import {
  applyConfig,
  CLOCK_OPTION,
  CONFIG_OPTION,
  JSON_OPTION,
  option,
  required,
  STORE_OPTION,
} from '../options.ts';
import { print } from '../output.ts';
import { mustHaveFolder } from '../paths.ts';
import { withProgress } from '../progress.ts';
import { reportLines, streamJson, writeLines, writeText } from '../terminal.ts';

/** The name of a resource, checked. @throws PlatError `usage` with the nearest name */
export async function knownResource(store: Store, name: string): Promise<string> {
  const { dictionary } = await store.model();
  if (dictionary.resources.has(name)) return name;
  const nearest = nearestName(name, dictionary.resources.keys());
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  throw platError('usage', { reason: `There is no resource ${name}.${hint}` });
}

async function* linesOf(records: AsyncIterable<string>): AsyncIterable<string> {
  for await (const record of records) yield `${record}\n`;
}

/** Writes lines to a file, which has its name when it is whole; what is no file, such as a pipe, gets them as they come. */
async function writeFile(out: string, lines: AsyncIterable<string>): Promise<void> {
  const before = statSync(out, { throwIfNoEntry: false });
  if (before?.isFile() === false) {
    await pipeline(lines, createWriteStream(out));
    return;
  }
  // A link stays one.
  using partial = new PartialFile(before === undefined ? out : realpathSync(out), '.partial');
  // The file is there: one that was removed meanwhile, since nothing could be read, is not made again.
  await pipeline(lines, createWriteStream(partial.path, { flags: 'r+', flush: true }));
  partial.takePlace();
}

export function defineDelete(remove: Command): void {
  remove
    .addOption(STORE_OPTION())
    .addOption(CONFIG_OPTION())
    .addOption(required('--resource <name>', 'what they are'))
    .addOption(option('--force', 'also in a replica, whose records belong to its source'))
    .addOption(CLOCK_OPTION())
    .addOption(JSON_OPTION())
    .action(async (keys: string[], _options, command: Command) => {
      await applyConfig(command);
      const { store: address, resource, force, allowClockJump, json } = command.opts();
      const store = await openStore(address, { create: false, allowClockJump });
      try {
        const { settings } = await store.model();
        if (settings.owner === 'replica' && force !== true) {
          throw platError('usage', {
            reason:
              'This store is a replica; its records are deleted at their source. --force deletes them here.',
          });
        }
        const report = await store.remove(await knownResource(store, resource), keys);
        for (const { key, reason } of report.rejected) reportLines(`${resource} ${key}: ${reason}`);
        const missing = new Set(keys).size - report.deleted - report.rejected.length;
        const text = `deleted ${report.deleted} ${resource}, ${report.children.deleted} children${missing > 0 ? `; ${missing} were not there` : ''}`;
        const failed = report.rejected.length;
        print({ deleted: report.deleted, children: report.children.deleted, missing, failed }, text, json);
        if (missing + failed > 0) process.exitCode = 1;
      } finally {
        await store.close();
      }
    });
}

export function defineExport(exporting: Command): void {
  exporting
    .addOption(STORE_OPTION())
    .addOption(CONFIG_OPTION())
    .addOption(option('--resource <name>', 'what to write; needed, unless --declarations'))
    .addOption(option('--out <file>', 'where to; stdout if not given'))
    .addOption(
      option(
        '--declarations',
        'write no records, but what is declared of them, as a configuration for the import',
      ),
    )
    .action(async (_options, command: Command) => {
      await applyConfig(command);
      const { store: address, resource, out, declarations } = command.opts();
      if (resource === undefined && declarations !== true) {
        throw platError('usage', {
          reason:
            '--resource <name> is missing, or --declarations; PLAT_RESOURCE in the environment and "resource" in plat.config.json do as well.',
        });
      }
      if (out !== undefined) mustHaveFolder(out);
      const store = await openStore(address, { create: false });
      try {
        if (declarations === true) {
          const of = resource === undefined ? undefined : await knownResource(store, resource);
          const text = `${JSON.stringify(await declarationsOf(store, of), undefined, 2)}\n`;
          if (out === undefined) writeText(text);
          else await writeFile(out, oneText(text));
          return;
        }
        const name = await knownResource(store, resource);
        if (out === undefined) for await (const line of store.export(name)) await streamJson(line);
        else await writeFile(out, linesOf(store.export(name)));
      } finally {
        await store.close();
      }
    });
}

async function* oneText(text: string): AsyncIterable<string> {
  yield text;
}

/** What an operator declared of a store, or of one of its resources, as a configuration has it. */
async function declarationsOf(store: Store, of: string | undefined): Promise<ConfigFile> {
  const { settings, dictionary } = await store.model();
  const { declarations } = settings;
  if (of === undefined) return { dictionary: declarations };
  const used = new Set(
    [...(dictionary.resources.get(of)?.fields.values() ?? [])].map(({ lookup }) => lookup),
  );
  return {
    dictionary: {
      ...section(
        'resources',
        declarations.resources?.filter(({ name }) => name === of),
      ),
      ...section(
        'customFields',
        declarations.customFields?.filter(({ resource }) => resource === of),
      ),
      ...section(
        'lookups',
        declarations.lookups?.filter(({ lookup }) => used.has(lookup)),
      ),
      ...section(
        'fieldsInUse',
        declarations.fieldsInUse?.filter((path) => path.startsWith(`${of}.`)),
      ),
    },
  };
}

/** A part of the configuration, unless there is nothing in it. */
const section = <Name extends string, T>(
  name: Name,
  list: readonly T[] | undefined,
): Partial<Record<Name, readonly T[]>> => {
  const part: Partial<Record<Name, readonly T[]>> = {};
  if (list !== undefined && list.length > 0) part[name] = list;
  return part;
};

export function defineBackup(backup: Command): void {
  backup
    .addOption(STORE_OPTION())
    .addOption(CONFIG_OPTION())
    .action(async (file: string, _options, command: Command) => {
      await applyConfig(command);
      mustHaveFolder(file);
      const store = await openStore(command.opts().store, { create: false });
      try {
        await withProgress(`Checking ${file}`, undefined, ({ update }) =>
          store.backup(file, (resource, rows) => update(rows, `${rows} rows, ${resource}`)),
        );
        writeLines(`${file} is a copy of ${store.name}`);
      } finally {
        await store.close();
      }
    });
}
