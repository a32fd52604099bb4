import { systemFieldsOfMedia } from '../record/media.ts';
import type { ParsedRecord } from '../record/parsed-record.ts';
import type { PreparedRecord } from './prepare.ts';
import type { Tally } from './report.ts';
import type { WriteTransaction } from './transaction.ts';

/**
 * Children that waited for a parent become its own: they take its originating system, and are seen from now on.
 * Those that the parent itself brought along are stored already.
 */
export async function adoptOrphans(
  transaction: WriteTransaction,
  resource: string,
  parents: readonly PreparedRecord[],
  tally: Tally,
): Promise<void> {
  if (parents.length === 0) return;
  const byKey = new Map(parents.map(({ record }) => [record.key, record]));
  for (const navigation of transaction.model.resource(resource).navigations.values()) {
    if (!navigation.collection || !transaction.model.stores(navigation.target)) continue;
    const { target } = navigation;
    if (transaction.model.resource(target).parent === undefined) continue;
    const found = await transaction.children(target, resource, [...byKey.keys()]);
    const waiting = [...found].flatMap(([key, rows]) => {
      const parent = byKey.get(key);
      const system = parent === undefined ? undefined : systemOf(parent);
      return rows.filter((row) => row.system !== (system ?? null)).map((row) => ({ row, system }));
    });
    if (waiting.length === 0) continue;
    const contents = await transaction.load(
      target,
      waiting.map(({ row }) => row),
    );
    await transaction.put(
      target,
      waiting.map(({ row, system }) => {
        const derived = target === 'Media' ? Object.fromEntries(systemFieldsOfMedia(undefined, system)) : {};
        const values = { ...contents.get(row.key), ...derived };
        return { ...row, stored: row, system: system ?? null, values };
      }),
    );
    tally.children.stored += waiting.length;
  }
}

function systemOf({ values }: ParsedRecord): string | undefined {
  return typeof values.OriginatingSystemID === 'string' ? values.OriginatingSystemID : undefined;
}
