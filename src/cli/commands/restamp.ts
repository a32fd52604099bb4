import type { Command } from 'commander';
import type { RestampReport } from '../../store/write/bring-back.ts';
import { withStore } from '../open-store.ts';
import {
  addOptions,
  applyConfig,
  CLOCK_OPTION,
  CONFIG_OPTION,
  JSON_OPTION,
  STORE_OPTION,
} from '../options.ts';
import { print } from '../output.ts';
import { withProgress } from '../progress.ts';

export function defineRestamp(restamp: Command): void {
  addOptions(restamp, STORE_OPTION(), CONFIG_OPTION(), CLOCK_OPTION(), JSON_OPTION()).action(
    async (_options, command: Command) => {
      await applyConfig(command);
      const { store: address, allowClockJump, json } = command.opts();
      await withStore(address, { create: false, allowClockJump }, async (store) => {
        const report = await withProgress(`Bringing timestamps of ${store.name} back`, undefined, () =>
          store.restamp(),
        );
        print(report, text(report), json);
      });
    },
  );
}

function text({ records, tombstones, notAfter, epoch }: RestampReport): string {
  if (epoch === undefined) return 'no timestamp is ahead of the clock';
  const parts = Object.entries(records).map(([resource, count]) => `${count} ${resource}`);
  const moved = [...parts, ...(tombstones > 0 ? [`${tombstones} deletions`] : [])];
  return `moved back to ${notAfter}: ${moved.join(', ') || 'only promises'}; epoch ${epoch} has begun, and replicas read everything again`;
}
