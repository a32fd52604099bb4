import type { Command } from 'commander';
import { PlatError } from '../../errors/index.ts';
import { describeUnreadableNotes } from '../../replica/checkpoint/checkpoint.ts';
import { describeFault, type Fault, findFaults, repairStore } from '../../store/check/check-store.ts';
import type { Store } from '../../store/store.ts';
import { openConfigured } from '../open-store.ts';
import { addOptions, applyConfig, CONFIG_OPTION, JSON_OPTION, option, STORE_OPTION } from '../options.ts';
import { EXIT } from '../output.ts';
import { type Progress, rowProgress, withProgress } from '../progress.ts';
import { reportLines, writeJson, writeLines } from '../terminal.ts';

export function defineCheck(check: Command): void {
  addOptions(
    check,
    STORE_OPTION(),
    CONFIG_OPTION(),
    option('--repair', 'rebuild what can be rebuilt, and list what is left'),
    JSON_OPTION(),
  ).action(async (_options, command: Command) => {
    await applyConfig(command);
    const { store: address, repair = false, json = false } = command.opts();
    let store: Store;
    try {
      store = await openConfigured(address, { create: false });
    } catch (error) {
      if (!(error instanceof PlatError) || error.code !== 'storeDamaged') throw error;
      writeFault({ place: 'file', kind: 'pages', what: [error.message] }, json);
      writeSummary(address, { faults: 1, rows: 0, repaired: false }, json);
      process.exitCode = EXIT.differs;
      return;
    }
    try {
      if (repair) {
        const lost = await withProgress(`Repairing ${store.name}`, undefined, (progress) =>
          repairStore(store, rowProgress(progress)),
        );
        reportLines(lost.map(({ what }) => `${store.name}: ${what}; it is recreated without its content`));
      }
      const found = await withProgress(`Checking ${store.name}`, undefined, (progress) =>
        writeFaults(store, progress, json),
      );
      const { faults, rows } = found;
      writeSummary(store.name, { faults, rows, repaired: repair }, json);
      process.exitCode = faults === 0 ? EXIT.done : EXIT.differs;
      if (faults > 0 && !json) await writeRemedy(store, repair, found.isTorn);
    } finally {
      await store.close();
    }
  });
}

/** Writes each fault as soon as it is found, since a store can have any number of them. */
async function writeFaults(
  store: Store,
  progress: Progress,
  json: boolean,
): Promise<{ faults: number; rows: number; isTorn: boolean }> {
  let faults = 0;
  let isTorn = false;
  let rows = 0;
  const report = rowProgress(progress);
  const onProgress: typeof report = (resource, read, total) => {
    rows = read;
    report(resource, read, total);
  };
  for await (const fault of findFaults(store, onProgress)) {
    faults++;
    isTorn ||= fault.place === 'file' && fault.kind === 'pages';
    writeFault(fault, json);
  }
  for (const what of await describeUnreadableNotes(store)) {
    faults++;
    writeFault({ place: 'file', kind: 'notes', what: [what] }, json);
  }
  return { faults, rows, isTorn };
}

function writeFault(fault: Fault, json: boolean): void {
  if (json) writeJson(fault);
  else writeLines(describeFault(fault));
}

interface Summary {
  readonly faults: number;
  readonly rows: number;
  readonly repaired: boolean;
}

function writeSummary(store: string, { faults, rows, repaired }: Summary, json: boolean): void {
  if (json) {
    writeJson({ store, faults, rows, repaired });
    return;
  }
  const found = faults === 0 ? 'nothing is wrong' : `${faults} things are ${repaired ? 'still ' : ''}wrong`;
  writeLines(`${store}: ${found}, ${rows} rows read`);
}

/** Reports how to recover data that a repair cannot rebuild. @param isTorn whether records cannot be read or written */
async function writeRemedy(store: Store, repaired: boolean, isTorn: boolean): Promise<void> {
  const isReplica = (await store.model()).settings.owner === 'replica';
  const backup = 'restore a backup with "plat restore"';
  const source = isTorn
    ? `${backup}${isReplica ? ', or replicate into a new store' : ''}`
    : isReplica
      ? '"plat replicate --refresh" fetches it from its source'
      : `import those records again, or ${backup}`;
  writeLines(repaired ? `The rest cannot be rebuilt: ${source}.` : '--repair rebuilds what can be rebuilt.');
}
