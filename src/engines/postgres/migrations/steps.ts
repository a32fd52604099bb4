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

/**
 * Each entry of the sequence of changes says what happened, when, and who sees the record. Entries from before do not; the
 * sequence begins again behind them. Webhooks are told of it. The history of the service is kept. Readers of layout 3 go on with
 * the columns that they know.
 */
const toLayout4: Migration = {
  layout: 4,
  oldestReader: 1,
  oldestWriter: 4,
  run: async (session) => {
    await session.run(`ALTER TABLE plat_changes ADD kind text COLLATE "C" NOT NULL DEFAULT 'all',
      ADD at bigint NOT NULL DEFAULT 0, ADD was integer NOT NULL DEFAULT 0, ADD visible integer NOT NULL DEFAULT 0,
      ADD system text COLLATE "C"`);
    await session.run(`UPDATE plat_changes SET kind = 'commit' WHERE resource = '.'`);
    await session.run(`ALTER TABLE plat_changes ALTER kind DROP DEFAULT, ALTER at DROP DEFAULT, ALTER was DROP DEFAULT,
      ALTER visible DROP DEFAULT`);
    await session.run(`INSERT INTO plat_meta (name, value)
      SELECT 'changes_horizon', coalesce(max(seq), 0)::text FROM plat_changes ON CONFLICT (name) DO NOTHING`);
    await session.run(`CREATE TABLE plat_webhooks (id text COLLATE "C" NOT NULL PRIMARY KEY, url text COLLATE "C" NOT NULL,
      secret text COLLATE "C" NOT NULL, former_secret text COLLATE "C", former_until bigint, bearer text COLLATE "C",
      role text COLLATE "C" NOT NULL, systems text COLLATE "C" NOT NULL, resources text COLLATE "C" NOT NULL,
      private_hosts integer NOT NULL, created_at text COLLATE "C" NOT NULL, paused text COLLATE "C",
      position text COLLATE "C" NOT NULL, batch_end bigint, delivered bigint NOT NULL, delivered_at text COLLATE "C",
      attempts integer NOT NULL, failing_since bigint, next_attempt bigint NOT NULL, last_error text COLLATE "C",
      holder text COLLATE "C", held_until bigint)`);
    await session.run(`CREATE TABLE plat_history (at bigint NOT NULL, process text COLLATE "C" NOT NULL,
      counted_from bigint NOT NULL, counted_to bigint NOT NULL, figures text COLLATE "C" NOT NULL,
      PRIMARY KEY (at, process))`);
  },
};

/** All of them in their order; the last one leads to the layout of this plat. */
export const MIGRATIONS: readonly Migration[] = [toLayout2, toLayout3, toLayout4];

/** What a store says of itself that is made anew: the same as one that was brought here. */
export const CURRENT_LAYOUT: StoredLayout = layoutAfter(MIGRATIONS);

function layoutAfter(migrations: readonly Migration[]): StoredLayout {
  const last = migrations.at(-1);
  if (last?.layout !== LAYOUT_VERSION) throw new Error(`No migration leads to layout ${LAYOUT_VERSION}`);
  const { layout, oldestReader, oldestWriter } = last;
  return { layout, oldestReader, oldestWriter };
}
