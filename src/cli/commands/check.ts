import type { Command } from 'commander';
import { PlatError } from '../../errors/index.ts';
import { findUnreadable } from '../../replica/checkpoint/unreadable-notes.ts';
import { type Fault, findFaults, repairStore } from '../../store/check/check-store.ts';
import type { Store } from '../../store/store.ts';
import { openStore } from '../open-store.ts';
import { applyConfig, CONFIG_OPTION, JSON_OPTION, option, STORE_OPTION } from '../options.ts';
import { EXIT } from '../output.ts';
import { type Progress, withProgress } from '../progress.ts';
import { writeJson, writeLines } from '../terminal.ts';

export function defineCheck(check: Command): void {
  check
    .addOption(STORE_OPTION())
    .addOption(CONFIG_OPTION())
    .addOption(option('--repair', 'rebuild what can be rebuilt, and tell what is left'))
    .addOption(JSON_OPTION())
    .action(async (_options, command: Command) => {
      await applyConfig(command);
      const { store: address, repair, json } = command.opts();
      let store: Store;
      try {
        store = await openStore(address, { create: false });
      } catch (error) {
        if (!(error instanceof PlatError) || error.code !== 'storeDamaged') throw error;
        tell({ place: 'file', kind: 'pages', what: [error.message] }, json);
        sum(address, { faults: 1, rows: 0, repaired: false }, json);
        process.exitCode = EXIT.differs;
        return;
      }
      try {
        const title = `Checking ${store.name}`;
        if (repair === true) {
          await withProgress(`Repairing ${store.name}`, undefined, (progress) =>
            repairStore(store, seen(progress)),
          );
        }
        const found = await withProgress(title, undefined, (progress) => list(store, progress, json));
        sum(store.name, { ...found, repaired: repair === true }, json);
        process.exitCode = found.faults === 0 ? EXIT.done : EXIT.differs;
        if (found.faults > 0) await remedy(store, repair === true, json);
      } finally {
        await store.close();
      }
    });
}

const seen =
  ({ update }: Progress, note: (rows: number) => void = () => undefined) =>
  (resource: string, rows: number): void => {
    note(rows);
    update(rows, `${rows} rows, ${resource}`);
  };

async function list(
  store: Store,
  progress: Progress,
  json: boolean | undefined,
): Promise<{ faults: number; rows: number }> {
  let faults = 0;
  let read = 0;
  const told = seen(progress, (rows) => {
    read = rows;
  });
  for await (const fault of findFaults(store, told)) {
    faults++;
    tell(fault, json);
  }
  for (const what of await findUnreadable(store)) {
    faults++;
    tell({ place: 'file', kind: 'notes', what: [what] }, json);
  }
  return { faults, rows: read };
}

/** A fault is told as soon as it is found: a store may have any number of them. */
function tell(fault: Fault, json: boolean | undefined): void {
  if (json === true) writeJson(fault);
  else if (fault.place === 'file') writeLines(fault.what);
  else writeLines(`${fault.resource} ${fault.key}: ${fault.what.join(', ')}`);
}

interface Sum {
  readonly faults: number;
  readonly rows: number;
  readonly repaired: boolean;
}

function sum(store: string, { faults, rows, repaired }: Sum, json: boolean | undefined): void {
  if (json === true) {
    writeJson({ store, faults, rows, repaired });
    return;
  }
  const found = faults === 0 ? 'nothing is wrong' : `${faults} things are ${repaired ? 'still ' : ''}wrong`;
  writeLines(`${store}: ${found}, ${rows} rows read`);
}

/** What is left after a repair has to come from elsewhere. */
async function remedy(store: Store, repaired: boolean, json: boolean | undefined): Promise<void> {
  if (json === true) return;
  const { settings } = await store.model();
  const source =
    settings.owner === 'replica'
      ? '"plat replicate --refresh" brings it from its source'
      : 'import those records again, or "plat restore" brings a backup back';
  writeLines(repaired ? `What is left: ${source}.` : '--repair mends what can be mended.');
}
