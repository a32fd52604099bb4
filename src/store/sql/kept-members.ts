import type { View } from '../../access/index.ts';
import type { ResourceLayout } from '../layout/index.ts';
import { compact, type Sql } from './fragment.ts';
import type { TextSource } from './reso-text.ts';

/** Kinds of members that are kept for one view of a resource; expansions read it under aliases of their own. */
const KEPT = 100;

const kept = new WeakMap<ResourceLayout, WeakMap<View, Map<string, readonly Sql[]>>>();

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
  const views = kept.get(layout) ?? new WeakMap<View, Map<string, readonly Sql[]>>();
  kept.set(layout, views);
  const members = views.get(view) ?? new Map<string, readonly Sql[]>();
  views.set(view, members);
  const id = `${alias} ${kind}`;
  const known = members.get(id);
  if (known !== undefined) return known;
  if (members.size >= KEPT) members.clear();
  const made = make().map(compact);
  members.set(id, made);
  return made;
}
