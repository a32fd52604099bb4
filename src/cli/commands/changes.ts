import type { Command } from 'commander';
import { failedError, PlatError } from '../../errors/index.ts';
import { recordName } from '../../records/record-name.ts';
import { changePages } from '../../store/changes/follow-changes.ts';
import { findRole } from '../../store/keys/new-key.ts';
import { CheckpointFile } from '../checkpoint-file.ts';
import { withStore } from '../open-store.ts';
import { addOptions, applyConfig, CONFIG_OPTION, option, STORE_OPTION } from '../options.ts';
import { onShutdown } from '../shutdown.ts';
import { flushOutput, streamJson } from '../terminal.ts';
import { knownResource } from './data.ts';

export function defineChanges(changes: Command): void {
  addOptions(
    changes,
    STORE_OPTION(),
    CONFIG_OPTION(),
    option(
      '--since <position>',
      'begin after this position: start, end, a number, or a position (default: start)',
    ),
    option('--follow', 'continue with new commits'),
    option('--records', 'include each record, in the form of the RESO interface'),
    option('--resources <names>', 'only these resources, separated by commas (default: all)'),
    option('--role <role>', 'as this role sees the changes (default: as the operator)'),
    option('--checkpoint <file>', 'store the position in this file, and begin there if it exists'),
  ).action(async (_options, command: Command) => {
    await applyConfig(command);
    const { store: address, since, follow, records, resources, role, checkpoint } = command.opts();
    const kept = checkpoint === undefined ? undefined : new CheckpointFile(checkpoint);
    const begin = kept?.position ?? since;
    const { signal } = onShutdown(follow === true);
    await withStore(address, { create: false }, async (store) => {
      const named = parseList(resources);
      for (const name of named ?? []) knownResource(await store.model(), name);
      if (role !== undefined) findRole(await store.model(), role);
      const request = { since: begin, follow: follow === true, records, resources: named, role, signal };
      try {
        for await (const page of changePages(store, request)) {
          for (const change of page.changes) {
            const text = change.kind === 'deleted' ? undefined : page.records?.get(recordName(change));
            const line = JSON.stringify(change);
            await streamJson(text === undefined ? line : `${line.slice(0, -1)},"record":${text}}`);
          }
          // If the process is killed between the two steps, it repeats these lines and skips none.
          await flushOutput();
          kept?.save(page.position);
        }
      } catch (error) {
        throw error instanceof PlatError && error.code === 'positionGone'
          ? goneError(error, checkpoint)
          : error;
      }
    });
  });
}

const parseList = (names: string | readonly string[] | undefined): readonly string[] | undefined =>
  typeof names === 'string'
    ? names.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
    : names;

/** The error for a position from which changes have been removed, with a remedy. */
function goneError({ message }: PlatError, checkpoint: string | undefined): PlatError {
  const way =
    checkpoint === undefined
      ? 'use --since start to read every existing record again.'
      : `delete ${checkpoint} to read every existing record again.`;
  return failedError(`${message} Or empty the copy, and ${way}`);
}
