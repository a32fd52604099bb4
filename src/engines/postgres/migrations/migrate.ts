import { setTimeout } from 'node:timers/promises';
import { storedLayouts } from '../../../compile/model.ts';
import { logStored } from '../../../store/rows/change-log.ts';
import { LAYOUT_VERSION, type Meta, readMeta, readModel, writeMeta } from '../../../store/state/meta.ts';
import type { StorePool } from '../connection/connect.ts';
import { isLockTimeout } from '../connection/errors.ts';
import type { ServerSession } from '../connection/session.ts';
import { applyTables, repairView } from '../tables/tables.ts';
import { underLock } from '../writing/lock.ts';

/** Milliseconds for which a migration waits for the lock of a table: later readers of the table queue behind it. */
const LOCK_PATIENCE = 200;
const RETRY_INTERVAL = 500;

/** The first layout in which the sequence of changes has an entry for every record. */
const FIRST_LAYOUT_WITH_ENTRIES = 4;

/** A minute or so, if reads keep the lock. */
const TRIES = 100;

export interface MigrateOptions {
  readonly migrations?: readonly Migration[];
  /** Called between two attempts, while readers hold locks that a migration needs. */
  readonly rest?: () => Promise<unknown>;
}

/** Migrates a store to the newest layout, under the write lock. A step that fails leaves it at the previous layout. */
export async function migrateStore(pool: StorePool, options: MigrateOptions = {}): Promise<void> {
  const { migrations = MIGRATIONS, rest = () => setTimeout(RETRY_INTERVAL) } = options;
  for (let tries = 1; ; tries++) {
    const outcome = await migrateOnce(pool, migrations, tries === TRIES);
    if (outcome === 'done') return;
    if (outcome === 'moved') tries = 0;
    else await rest();
  }
}

type Outcome = 'done' | 'moved' | 'in the way';

/** Thrown to roll back a step because readers hold a lock that it needs. */
class LockUnavailable extends Error {}

async function migrateOnce(
  pool: StorePool,
  migrations: readonly Migration[],
  isLastTry: boolean,
): Promise<Outcome> {
  const move = async (session: ServerSession): Promise<Outcome> => {
    const { layout, generation } = await readMeta(session);
    const step = migrations.find((migration) => migration.layout === layout + 1);
    if (step === undefined) return 'done';
    await session.run(`SET LOCAL lock_timeout = ${LOCK_PATIENCE}`);
    try {
      await step.run(session);
      if (step.layout === LAYOUT_VERSION) await extendAll(session);
      if (step.layout === FIRST_LAYOUT_WITH_ENTRIES) await logStored(session, await readModel(session));
    } catch (error) {
      throw isLastTry || !isLockTimeout(error) ? error : new LockUnavailable();
    }
    const { oldestReader, oldestWriter } = step;
    // Reads that began before the step belong to the previous generation, and are repeated or rejected.
    await writeMeta(session, {
      layout: step.layout,
      oldestReader,
      oldestWriter,
      ...(oldestReader > layout ? { generation: generation + 1 } : {}),
    });
    return 'moved';
  };
  try {
    return await underLock(pool, move, { known: migrations.at(-1)?.layout });
  } catch (error) {
    if (error instanceof LockUnavailable) return 'in the way';
    throw error;
  }
}

/** A newer layout may require columns and indexes that an older store lacks, and views of other tables. */
async function extendAll(session: ServerSession): Promise<void> {
  const model = await readModel(session);
  await applyTables(session, model, true);
  for (const layout of storedLayouts(model)) {
    if (layout.search !== undefined) await repairView(session, model, layout);
  }
}

/** The layout information that a store records. */
type StoredLayout = Pick<Meta, 'layout' | 'oldestReader' | 'oldestWriter'>;

/**
 * A step from one layout to the next. It runs once, under the write lock, in a transaction of its own, while processes of the
 * previous version run: these continue as far as the step permits, and are otherwise rejected from their next request or write
 * on. Anything that a step changes incompatibly for older readers gets a new name: a read that has begun then finds a missing
 * table or column and fails, and never sees rows that were rewritten under its snapshot.
 */
export interface Migration extends StoredLayout {
  /** Written once and never changed: statements as they were when the layout was new, not those of today's tables. */
  readonly run: (session: ServerSession) => Promise<void>;
}

const running =
  (...statements: readonly string[]): Migration['run'] =>
  async ({ run }) => {
    for (const statement of statements) await run(statement);
  };

/** All steps in order; the last one leads to the current layout. */
export const MIGRATIONS: readonly Migration[] = [
  // The partition of each originating system. Stores of layout 1 have no partitions, so this table remains empty, and processes
  // that do not know it may continue.
  {
    ...{ layout: 2, oldestReader: 1, oldestWriter: 1 },
    run: running(
      'CREATE TABLE plat_partitions (system text COLLATE "C" PRIMARY KEY, number integer NOT NULL UNIQUE)',
    ),
  },
  // The sequence of changes, to which every writer appends, and the search table, which is created and filled like every table that
  // a layout requires (tables.ts). Readers of layout 2 do not know either and continue with the table of columns, which has lost
  // its indexes.
  {
    ...{ layout: 3, oldestReader: 1, oldestWriter: 3 },
    run: running(`CREATE TABLE plat_changes
      (seq bigint PRIMARY KEY, resource text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL)`),
  },
  // Each entry of the sequence of changes records what happened, when, and which roles see the record. Earlier entries do not, so
  // the sequence begins again after them. Webhooks and the history of the service are added. Readers of layout 3 continue with the
  // columns that they know.
  {
    ...{ layout: 4, oldestReader: 1, oldestWriter: 4 },
    run: running(
      `ALTER TABLE plat_changes ADD kind text COLLATE "C" NOT NULL DEFAULT 'all',
      ADD at bigint NOT NULL DEFAULT 0, ADD was integer NOT NULL DEFAULT 0, ADD visible integer NOT NULL DEFAULT 0,
      ADD system text COLLATE "C"`,
      `UPDATE plat_changes SET kind = 'commit' WHERE resource = '.'`,
      `ALTER TABLE plat_changes ALTER kind DROP DEFAULT, ALTER at DROP DEFAULT, ALTER was DROP DEFAULT,
      ALTER visible DROP DEFAULT`,
      `INSERT INTO plat_meta (name, value)
      SELECT 'changes_horizon', coalesce(max(seq), 0)::text FROM plat_changes ON CONFLICT (name) DO NOTHING`,
      `CREATE TABLE plat_webhooks (id text COLLATE "C" NOT NULL PRIMARY KEY, url text COLLATE "C" NOT NULL,
      secret text COLLATE "C" NOT NULL, former_secret text COLLATE "C", former_until bigint, bearer text COLLATE "C",
      role text COLLATE "C" NOT NULL, systems text COLLATE "C" NOT NULL, resources text COLLATE "C" NOT NULL,
      private_hosts integer NOT NULL, created_at text COLLATE "C" NOT NULL, paused text COLLATE "C",
      position text COLLATE "C" NOT NULL, batch_end bigint, delivered bigint NOT NULL, delivered_at text COLLATE "C",
      attempts integer NOT NULL, failing_since bigint, next_attempt bigint NOT NULL, last_error text COLLATE "C",
      holder text COLLATE "C", held_until bigint)`,
      `CREATE TABLE plat_history (at bigint NOT NULL, process text COLLATE "C" NOT NULL,
      counted_from bigint NOT NULL, counted_to bigint NOT NULL, figures text COLLATE "C" NOT NULL,
      PRIMARY KEY (at, process))`,
    ),
  },
];

/** The layout information of a new store, which equals that of a migrated one. */
export const CURRENT_LAYOUT: StoredLayout = layoutAfter(MIGRATIONS);

function layoutAfter(migrations: readonly Migration[]): StoredLayout {
  const last = migrations.at(-1);
  if (last?.layout !== LAYOUT_VERSION) throw new Error(`No migration leads to layout ${LAYOUT_VERSION}`);
  const { layout, oldestReader, oldestWriter } = last;
  return { layout, oldestReader, oldestWriter };
}
