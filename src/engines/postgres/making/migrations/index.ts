import { LAYOUT_VERSION, type StoredLayout } from '../layout-version.ts';
import type { Migration } from './migration.ts';
import { toLayout2 } from './to-2.ts';

export type { Migration } from './migration.ts';

/** All of them in their order; the last one leads to the layout of this plat. */
export const MIGRATIONS: readonly Migration[] = [toLayout2];

/** What a store says of itself that is made anew: the same as one that was brought here. */
export const CURRENT_LAYOUT: StoredLayout = layoutAfter(MIGRATIONS);

function layoutAfter(migrations: readonly Migration[]): StoredLayout {
  const last = migrations.at(-1);
  if (last?.layout !== LAYOUT_VERSION) throw new Error(`No migration leads to layout ${LAYOUT_VERSION}`);
  const { layout, oldestReader, oldestWriter } = last;
  return { layout, oldestReader, oldestWriter };
}
