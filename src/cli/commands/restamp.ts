import type { Command } from 'commander';
import type { RestampReport } from '../../store/write/restamp-store.ts';
import { CLOCK_OPTION, JSON_OPTION } from '../options.ts';
import { print } from '../output.ts';
import { withProgress } from '../progress.ts';
import { defineStoreAction } from '../store-command.ts';

export function defineRestamp(restamp: Command): void {
  defineStoreAction(restamp, [CLOCK_OPTION(), JSON_OPTION()], async (store, { json }) => {
    const title = `Bringing timestamps of ${store.name} back`;
    const report = await withProgress(title, undefined, () => store.restamp());
    print(report, summaryText(report), json);
  });
}

function summaryText({ records, tombstones, notAfter, epoch }: RestampReport): string {
  if (epoch === undefined) return 'no timestamp is ahead of the clock';
  const parts = Object.entries(records).map(([resource, count]) => `${count} ${resource}`);
  const moved = [...parts, ...(tombstones > 0 ? [`${tombstones} deletions`] : [])];
  return `moved back to ${notAfter}: ${moved.join(', ') || 'only promises'}; epoch ${epoch} has begun, and replicas read everything again`;
}
