import type { Command } from 'commander';
import { failedError } from '../../errors/index.ts';
import type { ReplicaEvent } from '../../replica/events.ts';
import { isCopyEqual, type Verified } from '../../replica/verify/results.ts';
import { verifyReplica } from '../../replica/verify/verify.ts';
import { withStore } from '../open-store.ts';
import {
  addOptions,
  applyConfig,
  CONFIG_OPTION,
  JSON_OPTION,
  option,
  STORE_OPTION,
  wholeNumber,
} from '../options.ts';
import { EXIT, print, table } from '../output.ts';
import { withProgress } from '../progress.ts';
import { onShutdown } from '../shutdown.ts';
import { addSourceOptions, isSetExplicitly, type SourceSettings, sourceOptions } from '../source-options.ts';
import { isStderrTerminal, reportJson, reportLines } from '../terminal.ts';

/** The maximum number of differences in the text output; `--json` has all of them. */
const MOST_SHOWN = 50;

export function defineVerify(command: Command): void {
  addOptions(command, STORE_OPTION(), CONFIG_OPTION(), JSON_OPTION());
  addSourceOptions(command)
    .addOption(
      option(
        '--sample <n>',
        'compare the content of only this many records of each resource; all keys are compared',
      ).argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
    )
    .action(async () => {
      await applyConfig(command);
      const settings: SourceSettings & { store: string; sample?: number; json?: boolean } = command.opts();
      const { resources, customFields: _, ...source } = await sourceOptions(command);
      const { signal } = onShutdown();
      await withStore(settings.store, { create: false, checks: true }, async (store) => {
        try {
          const results = await withProgress('Verifying', undefined, ({ update }) =>
            verifyReplica({
              ...source,
              resources: isSetExplicitly(command, 'resources') ? resources : undefined,
              store,
              signal,
              sample: settings.sample,
              onEvent: reportWait,
              onProgress: (part, rows, { done, total }) => update(done, `${rows} ${part}`, done, total),
            }),
          );
          print({ equal: isCopyEqual(results), resources: results }, summaryText(results), settings.json);
          process.exitCode = isCopyEqual(results) ? EXIT.done : EXIT.differs;
        } catch (error) {
          if (!signal.aborted) throw error;
          throw failedError('The verification was interrupted and has no result.', { cause: error });
        }
      });
    });
}

/** Reports why the verification is waiting: the source fails, or limits requests. */
function reportWait(event: ReplicaEvent): void {
  if (event.kind !== 'retry' && event.kind !== 'waiting') return;
  const { reason, wait } = event;
  if (isStderrTerminal()) reportLines(`${reason}; asked again in ${Math.ceil(wait / 1000)} s`);
  else reportJson({ time: new Date().toISOString(), ...event });
}

function summaryText(results: readonly Verified[]): string[] {
  const head = ['resource', 'at the source', 'stored', 'compared', 'pending', 'differ'];
  const rows = results.map(({ resource, atSource, stored, compared, pending, differences }) =>
    [resource, atSource, stored, compared, pending, differences.length].map(String),
  );
  const incomplete = results.flatMap((each) =>
    each.incomplete === undefined ? [] : [`${each.resource}: the copy is not complete: ${each.incomplete}`],
  );
  const short = results.flatMap(({ resource, announced, atSource }) =>
    announced === undefined
      ? []
      : [`${resource}: the source announces ${announced} records and returns only ${atSource}`],
  );
  const differences = results.flatMap((each) => each.differences);
  const lines = differences.map(
    ({ resource, key, kind, fields }) => `${resource} ${key}: ${[kind, ...fields].join(', ')}`,
  );
  const gone = results.flatMap(({ resource, gone: keys = [] }) =>
    keys.map(
      (key) => `${resource} ${key}: in quarantine, but no longer at the source; the next purge removes it`,
    ),
  );
  const details = [...incomplete, ...short, ...firstLines(lines), ...firstLines(gone)];
  return [...table([head, ...rows]), ...(details.length > 0 ? ['', ...details] : [])];
}

const firstLines = (lines: readonly string[]): string[] =>
  lines.length <= MOST_SHOWN
    ? [...lines]
    : [...lines.slice(0, MOST_SHOWN), `and ${lines.length - MOST_SHOWN} more (--json lists all)`];
