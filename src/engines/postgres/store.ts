/** The PostgreSQL engine: a store in a schema of a database, which any number of machines share. */
import { name as quoted, render, type Sql, sql } from '../../compile/fragment.ts';
import type { Engine } from '../../store/engine.ts';
import type { LiveModel } from '../../store/live-model.ts';
import { readMeta, readModel } from '../../store/meta.ts';
import type { WriteBackup } from '../../store/raw-tables.ts';
import type { Row } from '../../store/session.ts';
import type { StoreWriter } from '../../store/writer.ts';
import type { PostgresAddress } from './connection/address.ts';
import type { Lanes } from './connection/connect.ts';
import { StorePool } from './connection/connect.ts';
import { damageIn, translateError } from './connection/errors.ts';
import {
  allow,
  bindings,
  borrow,
  inTransaction,
  type ServerSession,
  SNAPSHOT,
  sessionOf,
  withSession,
} from './connection/session.ts';
import { partitionedDialect, postgresDialect } from './dialect.ts';
import { findFileFaults, tablesOf } from './file-faults.ts';
import { readSystems } from './partitions/partitions.ts';
import { tablesAt } from './raw-tables.ts';
import { announcementsAt } from './reading/announcements.ts';
import { LiveState } from './reading/live-state.ts';
import { Looks } from './reading/looks.ts';
import { readsOn } from './reading/reads.ts';
import { postgresShared } from './shared.ts';
import type { ReadServers } from './standbys/read-servers.ts';
import { mendView, viewState } from './tables/views.ts';
import type { StampClock } from './writing/stamp-clock.ts';
import type { ServerWriteSession } from './writing/write-session.ts';

/** The time limit of statements that scan whole tables, in milliseconds. */
const LARGE = 600_000;

/** The result of opening a store. */
interface Opened {
  readonly address: PostgresAddress;
  readonly secret: string;
  readonly isPartitioned: boolean;
  readonly clock: StampClock;
  readonly writing: StorePool;
  readonly writer: StoreWriter<ServerWriteSession>;
  readonly lanes: Lanes;
  readonly readServers: ReadServers;
  readonly writeBackup: WriteBackup;
}

export function postgresEngine(opened: Opened): Engine {
  const { address, secret, clock, writing, writer, lanes, readServers, writeBackup } = opened;
  const { name } = address;
  const dialect = opened.isPartitioned ? partitionedDialect : postgresDialect;
  const small: ServerSession['rows'] = (
    text: string | Sql,
    values: Parameters<ServerSession['rows']>[1] = [],
  ) => withSession(lanes.small, ({ rows }) => (typeof text === 'string' ? rows(text, values) : rows(text)));
  const state = new LiveState(clock, small);
  const looks = new Looks(state);
  let damage: string | undefined;
  return {
    name,
    secret,
    dialect,
    writer,
    shared: postgresShared(small),
    reading: { small: sessionOf(lanes.small), searches: sessionOf(lanes.searches) },
    readStores: () => readServers.state(),

    now: () => state.now(),
    ask: () => state.ask(),
    look: (tokenHash) => looks.look(tokenHash),
    // With standbys, nothing is assumed: a standby is read from once it has caught up with the primary, which must be queried for
    // its position.
    ...(readServers.any
      ? {}
      : { assume: (live: LiveModel, tokenHash: string) => looks.assume(live, tokenHash) }),
    readModel: () => withSession(lanes.small, readModel),
    ...readsOn({ name, dialect, state, lanes, readServers }),
    async *stream(statement) {
      const pool = new StorePool(address, { most: 1, pipeline: false });
      try {
        yield* readAll(pool, statement);
      } finally {
        await pool.end();
      }
    },

    async horizon() {
      const horizon = await state.horizon();
      // A reader at this position must see every change committed before it.
      if (readServers.any) await state.ask();
      return horizon;
    },
    async stampState() {
      const { newest, restamping, jump } = await state.ask();
      return { now: clock.raw(), newest, isRestamping: restamping, jump, setBack: clock.setBack() };
    },
    async confirmClock(other) {
      await state.ask();
      clock.confirm(other);
    },
    sawStamp: (milliseconds) => state.sawStamp(milliseconds),
    announcements: (hearing, pause) => announcementsAt(address, hearing, pause),

    viewState: (model, layout) => withSession(writing, (session) => viewState(session, model, layout)),
    makeView: (session, model, layout) => mendView(session, model, layout),
    fileFaults: (model) =>
      withSession(lanes.searches, (session) =>
        inTransaction(
          session,
          async () => {
            await allow(session, LARGE);
            return await findFileFaults(session, model);
          },
          SNAPSHOT,
        ),
      ),
    mendFile: (model) =>
      tablesOf(model).map(
        (table) =>
          ({ run }) =>
            run(sql`REINDEX TABLE ${quoted(table)}`),
      ),

    async facts(session) {
      const [size] = await session.rows(SIZE);
      const { layout, partitions: by } = await readMeta(session, 'layout', 'partitions');
      const systems = by === undefined ? undefined : await readSystems(session);
      return {
        engine: 'postgres',
        layout,
        ...(by === undefined ? {} : { partitions: { by, systems: systems?.size ?? 0 } }),
        bytes: Number(size?.bytes),
      };
    },
    /** The backup is an SQLite store. */
    async backup(file, onProgress) {
      const from = await tablesAt(address);
      try {
        await writeBackup(file, from, { source: name, onProgress });
      } finally {
        await from.close();
      }
    },
    trouble: () => (damage === undefined ? undefined : `the store is damaged: ${damage}`),
    explain(error) {
      damage ??= damageIn(error);
      return translateError(error, name, 0);
    },
    async close() {
      await Promise.all([lanes.end(), readServers.end(), writing.close()]);
    },
  };
}

const SIZE: Sql = {
  parts: [
    `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class c
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')`,
  ],
};

/** The number of rows per fetch. */
const ROWS = 500;

/** All rows of a statement, from one snapshot, fetched in portions. */
async function* readAll(pool: StorePool, statement: Sql): AsyncIterable<Row> {
  const { text, values } = render(statement, postgresDialect.placeholder);
  using loan = await borrow(pool, { ending: ({ run }) => run('ROLLBACK') });
  const fetch = (): Promise<readonly Row[]> => loan.run((session) => session.rows(`FETCH ${ROWS} FROM rows`));
  await loan.run(({ run }) => run(SNAPSHOT));
  await loan.run(({ run }) => run(`DECLARE rows NO SCROLL CURSOR FOR ${text}`, bindings({ text, values })));
  for (let rows = await fetch(); rows.length > 0; rows = await fetch()) yield* rows;
}
