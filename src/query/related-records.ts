/** Limits the records that expansions multiply. It estimates how many related records come with each row, before any is read. */
import { leadsToCustomFields } from '../dictionary/index.ts';
import { platError } from '../errors/index.ts';
import type { Expansion } from './request.ts';

/** The estimated number of records in a collection: about the number of rooms or photos of a listing. */
const IN_COLLECTION = 10;

/** The largest estimated number of related records on one page. `$expand=*` with 1,000 listings is 93,000. */
export const MAX_RELATED = 150_000;

/** The estimated number of related records that come with one row. */
export const estimateRelatedRecords = (expansions: readonly Expansion[]): number =>
  expansions.reduce((sum, expansion) => sum + recordsOf(expansion), 0);

function recordsOf({ navigation, give, query }: Expansion): number {
  if (give === 'count') return 1;
  const isList = navigation.collection && !leadsToCustomFields(navigation);
  const records = isList ? Math.min(query.top ?? IN_COLLECTION, IN_COLLECTION) : 1;
  return records * (1 + estimateRelatedRecords(query.expansions));
}

/**
 * Rejects a page whose nested expansions would return more related records than any client would read.
 * @throws PlatError `expansionTooLarge`
 */
export function checkRelated(expansions: readonly Expansion[], rows: number): void {
  const each = estimateRelatedRecords(expansions);
  if (each * rows <= MAX_RELATED) return;
  const facts = { related: each * rows, rows, limit: MAX_RELATED, most: Math.floor(MAX_RELATED / each) };
  throw platError('expansionTooLarge', facts, { target: '$expand' });
}
