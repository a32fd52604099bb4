import { setTimeout } from 'node:timers/promises';
import { storedLayouts } from '../../../compile/model.ts';
import { logStored } from '../../../store/rows/change-log.ts';
import { LAYOUT_VERSION } from '../../../store/state/layout-version.ts';
import { readMeta, readModel, writeMeta } from '../../../store/state/meta.ts';
import type { StorePool } from '../connection/connect.ts';
import { isLockTimeout } from '../connection/errors.ts';
import type { ServerSession } from '../connection/session.ts';
import { applyTables, repairView } from '../tables/tables.ts';
import { underLock } from '../writing/lock.ts';
import { MIGRATIONS, type Migration } from './steps.ts';

/**
 * How long a statement of a migration waits for the lock of a table that is being read, in milliseconds. Later readers of the table
 * queue behind it, so it gives up early and pauses.
 */
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

/**
 * Migrates a store to the newest layout, under the write lock. Each step runs once, in whichever process is first. A step that
 * fails leaves the store at the previous layout.
 */
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
