import { BoundedCache, numberOf } from '../shared/bounded-cache.ts';
import { compact, type Sql } from './fragment.ts';
import type { TextSource } from './reso-text.ts';

/** Expansions read a resource under aliases of their own, so there may be many for one view of it. */
const kept = new BoundedCache<readonly Sql[]>('composed statements', { bytes: 24 * 1024 * 1024 });

/**
 * The members of whole records, made once for each view of a layout: composing them takes longer than the engine
 * takes to read a record (docs/performance.md).
 * @param kind tells apart what is made for the same layout, view and alias
 * @param make follows from layout, view, alias and kind alone
 */
export function keptMembers(
  { layout, view, alias }: Pick<TextSource, 'layout' | 'view' | 'alias'>,
  kind: string,
  make: () => readonly Sql[],
): readonly Sql[] {
  const id = `${numberOf(layout)} ${numberOf(view)} ${alias} ${kind}`;
  const known = kept.get(id);
  if (known !== undefined) return known;
  const made = make().map(compact);
  return kept.put(
    id,
    made,
    made.reduce((sum, fragment) => sum + bytesOf(fragment), 0),
  );
}

/** What a list of parts and one part of it take beside their texts. */
const LIST = 100;
const PART = 24;

const bytesOf = ({ parts }: Sql): number =>
  parts.reduce((sum, part) => sum + PART + (typeof part === 'string' ? part.length : 2 * PART), LIST);
