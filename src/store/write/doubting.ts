/**
 * A write transaction for a copy into which something else may have written: it trusts no stored hash. An inconsistent row, or one
 * whose content does not match its hash, counts as changed and is rewritten. A row that has lost its source counts as one of the
 * source that is being read. All other rows stay as they are.
 */
import type { StoredRow } from '../../records/rows.ts';
import type { WriteTransaction } from './transaction.ts';

/** Replaces a hash that is not trusted; no content has this hash. */
const UNTRUSTED_HASH = '';

export function withUntrustedHashes(transaction: WriteTransaction): WriteTransaction {
  return {
    ...transaction,
    find: async (resource, keys) => {
      const found = await transaction.find(resource, keys);
      const rows = await distrustFaulty(transaction, resource, [...found.values()]);
      return new Map(rows.map((row) => [row.key, row]));
    },
    children: async (resource, parentResource, parents) => {
      const found = await transaction.children(resource, parentResource, parents);
      const rows = await distrustFaulty(transaction, resource, [...found.values()].flat());
      return Map.groupBy(rows, (row) => row.parent ?? '');
    },
  };
}

async function distrustFaulty(
  transaction: WriteTransaction,
  resource: string,
  rows: readonly StoredRow[],
): Promise<readonly StoredRow[]> {
  if (rows.length === 0) return rows;
  const { source } = transaction;
  const faulty = await transaction.findFaulty(
    resource,
    rows.map(({ key }) => key),
  );
  const sources = await transaction.checkpoints.sources();
  const isLost = (row: StoredRow): boolean => row.source === null || !sources.has(row.source);
  return rows.map((row) => {
    if (!faulty.has(row.key) && !isLost(row)) return row;
    return { ...row, hash: UNTRUSTED_HASH, source: isLost(row) ? source : row.source };
  });
}
