import type { Command } from 'commander';
import { platError } from '../../errors/index.ts';
import type { ReplicaEvent } from '../../replica/events.ts';
import { isEqual, type Verified } from '../../replica/verify/results.ts';
import { verifyReplica } from '../../replica/verify/verify.ts';
import { openStore } from '../open-store.ts';
import { applyConfig, CONFIG_OPTION, JSON_OPTION, option, STORE_OPTION, wholeNumber } from '../options.ts';
import { EXIT, print, table } from '../output.ts';
import { withProgress } from '../progress.ts';
import { onShutdown } from '../shutdown.ts';
import { addSourceOptions, type SourceSettings, sourceOptions } from '../source-options.ts';
import { isWatched, reportJson, reportLines } from '../terminal.ts';

/** Differences that are told one by one to a person; `--json` has all. */
const TOLD = 50;

export function defineVerify(command: Command): void {
  command.addOption(STORE_OPTION()).addOption(CONFIG_OPTION()).addOption(JSON_OPTION());
  addSourceOptions(command)
    .addOption(
      option(
        '--sample <n>',
        'compare the content of so many records of each resource; keys are compared whole',
      ).argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
    )
    .action(async () => {
      await applyConfig(command);
      const settings: SourceSettings & { store: string; sample?: number; json?: boolean } = command.opts();
      const shutdown = onShutdown();
      const store = await openStore(settings.store, { create: false, checks: true });
      try {
        const { resources: _, customFields: __, ...source } = sourceOptions(settings);
        const named = command.getOptionValueSource('resources') !== 'default';
        const results = await withProgress('Verifying', undefined, ({ update }) =>
          verifyReplica({
            ...source,
            ...(named ? { resources: sourceOptions(settings).resources } : {}),
            store,
            signal: shutdown.signal,
            ...(settings.sample === undefined ? {} : { sample: settings.sample }),
            onEvent: tellTrouble,
            onProgress: (resource, done) => update(done, `${done} ${resource}`),
          }),
        );
        print({ equal: isEqual(results), resources: results }, text(results), settings.json);
        process.exitCode = isEqual(results) ? EXIT.done : EXIT.differs;
      } catch (error) {
        if (!shutdown.signal.aborted) throw error;
        throw platError(
          'failed',
          { reason: 'Verifying was stopped before its end: nothing is proven.' },
          { cause: error },
        );
      } finally {
        await store.close();
      }
    });
}

/** What keeps the proof waiting: a source that fails, or asks for patience. */
function tellTrouble(event: ReplicaEvent): void {
  if (event.kind !== 'retry' && event.kind !== 'waiting') return;
  const { reason, wait } = event;
  if (isWatched()) reportLines(`${reason}; asked again in ${Math.ceil(wait / 1000)} s`);
  else reportJson({ time: new Date().toISOString(), ...event });
}

function text(results: readonly Verified[]): string[] {
  const head = ['resource', 'at the source', 'stored', 'compared', 'pending', 'differ'];
  const rows = results.map((each) => [
    each.resource,
    String(each.atSource),
    String(each.stored),
    String(each.compared),
    String(each.pending),
    String(each.differences.length),
  ]);
  const incomplete = results.flatMap((each) =>
    each.incomplete === undefined ? [] : [`${each.resource}: the copy is not complete: ${each.incomplete}`],
  );
  const differences = results.flatMap((each) => each.differences);
  const lines = differences
    .slice(0, TOLD)
    .map(({ resource, key, kind, fields }) => `${resource} ${key}: ${[kind, ...fields].join(', ')}`);
  const more = differences.length > TOLD ? [`and ${differences.length - TOLD} more (--json has all)`] : [];
  const gone = results.flatMap(({ resource, gone: keys = [] }) =>
    keys.map(
      (key) => `${resource} ${key}: in quarantine, and not at the source any more; the next purge lets it go`,
    ),
  );
  const further = gone.length > TOLD ? [`and ${gone.length - TOLD} more (--json has all)`] : [];
  const told = [...incomplete, ...lines, ...more, ...gone.slice(0, TOLD), ...further];
  return [...table([head, ...rows]), ...(told.length > 0 ? ['', ...told] : [])];
}
