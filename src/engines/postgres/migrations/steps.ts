/** The steps from each layout of the tables to the next. */
import type { ServerSession } from '../connection/session.ts';
import { LAYOUT_VERSION, type StoredLayout } from './layout-version.ts';

/**
 * A step from one layout to the next. It runs once, under the write lock, in a transaction of its own, beside running
 * processes of the version before: those go on as far as it says that they may, and are refused from their next
 * request or write on where it says that they may not.
 *
 * What a step that is not for older readers changes gets a new name: a reading that has begun then meets a table or a
 * column that is gone, and fails, and never meets rows that were rewritten under its snapshot.
 */
export interface Migration extends StoredLayout {
  /** Written once and never changed: statements as they were when the layout was new, not the tables of today. */
  readonly run: (session: ServerSession) => Promise<void>;
}

/**
 * Which partition holds the records of an originating system. Stores of layout 1 have no partitions, and this table
 * stays empty in them; so processes that know nothing of it may go on.
 */
const toLayout2: Migration = {
  layout: 2,
  oldestReader: 1,
  oldestWriter: 1,
  run: async (session) => {
    await session.run(
      'CREATE TABLE plat_partitions (system text COLLATE "C" PRIMARY KEY, number integer NOT NULL UNIQUE)',
    );
  },
};

/**
 * The sequence of changes, which every writer appends to, and the search table, which is made and filled as every table that a
 * layout wants (extend.ts). Readers of layout 2 know neither and go on with the table of columns, which has lost its indexes.
 */
const toLayout3: Migration = {
  layout: 3,
  oldestReader: 1,
  oldestWriter: 3,
  run: async (session) => {
    await session.run(`CREATE TABLE plat_changes
      (seq bigint PRIMARY KEY, resource text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL)`);
  },
};

/** All of them in their order; the last one leads to the layout of this plat. */
export const MIGRATIONS: readonly Migration[] = [toLayout2, toLayout3];

/** What a store says of itself that is made anew: the same as one that was brought here. */
export const CURRENT_LAYOUT: StoredLayout = layoutAfter(MIGRATIONS);

function layoutAfter(migrations: readonly Migration[]): StoredLayout {
  const last = migrations.at(-1);
  if (last?.layout !== LAYOUT_VERSION) throw new Error(`No migration leads to layout ${LAYOUT_VERSION}`);
  const { layout, oldestReader, oldestWriter } = last;
  return { layout, oldestReader, oldestWriter };
}
