import { type ChildChange, stampsAfter } from '../record/stamps.ts';
import type { Tally } from './report.ts';
import type { WriteTransaction } from './transaction.ts';

/** A record that something moved in. */
export interface TouchedParent {
  readonly resource: string;
  readonly key: string;
  readonly changes: ReadonlySet<ChildChange>;
}

/**
 * Moves the stamps of parents whose children changed (I3). A replica keeps the stamps that its source sent.
 * Parents that are not stored have none to move.
 */
export async function restampParents(
  transaction: WriteTransaction,
  touched: readonly TouchedParent[],
  tally: Tally,
): Promise<void> {
  if (transaction.model.settings.owner === 'replica') return;
  for (const [resource, parents] of Map.groupBy(touched, (each) => each.resource)) {
    if (!transaction.model.dictionary.resources.has(resource)) continue;
    const { fields } = transaction.model.resource(resource);
    const found = await transaction.find(
      resource,
      parents.map(({ key }) => key),
    );
    const rows = parents.flatMap(({ key, changes }) => {
      const stored = found.get(key);
      if (stored === undefined) return [];
      const stamps = stampsAfter(fields, transaction.stamp, stored.values, undefined, changes);
      return [{ stored, values: { ...stored.values, ...stamps } }];
    });
    await transaction.restamp(resource, rows);
    tally.restamped += rows.length;
  }
}
