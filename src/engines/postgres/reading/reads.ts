import { type Planner, plannerOf } from '../../../compile/context.ts';
import type { Dialect } from '../../../compile/dialect.ts';
import { settleAll } from '../../../shared/promise-queue.ts';
import type { Engine } from '../../../store/engine.ts';
import { unlessGone } from '../../../store/read/abandoned.ts';
import { makeQueuedDeflate } from '../../../store/read/blocks-task.ts';
import { bodyOfText, pageMemory } from '../../../store/read/growing-body.ts';
import { isSent, type Lane, type ReadCaller } from '../../../store/read/lanes.ts';
import type { StatementRequest, StatementResult, Steps } from '../../../store/read/read-steps.ts';
import {
  isOneStatement,
  makeReadContextFactory,
  runAsync,
  taskSteps,
} from '../../../store/read/read-task.ts';
import type { Row } from '../../../store/session.ts';
import { type LiveModel, UnconfirmedLook } from '../../../store/state/live-model.ts';
import { parseReport, type ServerReport } from '../../../store/state/server-report.ts';
import { LookChanged, type ReadOptions } from '../../../store/store.ts';
import type { PostgresAddress } from '../connection/address.ts';
import type { Lanes } from '../connection/connect.ts';
import { isMissing, translateError } from '../connection/errors.ts';
import {
  bindings,
  borrow,
  type Loan,
  prepareName,
  type SentStatement,
  type ServerSession,
  SNAPSHOT,
  send,
} from '../connection/session.ts';
import type { ReadServers } from '../standbys/read-servers.ts';
import { type LiveState, parseLookText, SELECT_LOOK, withLookRow } from './live-state.ts';
import { readTexts } from './texts.ts';

/** What reads of records need. */
interface ReadSource {
  readonly address: PostgresAddress;
  readonly dialect: Dialect;
  readonly state: LiveState;
  readonly lanes: Lanes;
  readonly readServers: ReadServers;
}

/** Runs the reads of records, on the primary or on a standby. */
export function readsOn(source: ReadSource): Pick<Engine, 'run' | 'read'> {
  const makeContext = makeReadContextFactory(makeQueuedDeflate());
  return {
    run(live, lane, plan, options) {
      const context = makeContext({ isSent: isSent(options.caller), memory: pageMemory.body });
      return planAndRead(source, live, lane, options, (loan, reading, planner) => {
        const task = plan(planner);
        const steps = taskSteps(task, context);
        return isOneStatement(task)
          ? readOneStatement(loan, reading, steps)
          : readInTransaction(loan, reading, (session) =>
              runAsync(steps, (ask) => runStatement(session, ask)),
            );
      });
    },
    read: (live, lane, options, work) =>
      planAndRead(source, live, lane, options, (loan, reading, planner) =>
        readInTransaction(loan, reading, (session) => work(session, planner)),
      ),
  };
}

/**
 * Plans and reads. The snapshot shows whether the plan was based on current settings and fields. If another process has changed
 * them, the read is planned again, or the request that assumed them is processed again.
 */
async function planAndRead<T>(
  { address, dialect, state, lanes, readServers }: ReadSource,
  live: LiveModel,
  lane: Lane,
  options: ReadOptions,
  attempt: Attempt<T>,
): Promise<T> {
  const { milliseconds, caller, damaged, look } = options;
  const assumed = look instanceof UnconfirmedLook && look.isOpen ? look : undefined;
  const asked = { tokenHash: assumed?.tokenHash ?? null, keyRow: assumed?.row ?? null };
  const reading: ReadParameters = { milliseconds, lane, caller, ...asked };
  for (;;) {
    const model = live.known;
    if (assumed !== undefined && assumed.model !== model) throw new LookChanged();
    const planner = plannerOf(dialect, model, damaged);
    const on = (from: Lanes) => readSnapshot(from, reading, (loan) => attempt(loan, reading, planner));
    const needed = { changes: state.changes, generation: model.generation };
    try {
      const followed = await readServers.read(lane, needed, on);
      const read = followed ?? (await on(lanes));
      if (followed === undefined) {
        const isExpected = state.observe(read.seen, read.asked);
        assumed?.confirm(read.seen, isExpected);
      }
      if (read.seen.state.generation === model.generation) return read.result;
    } catch (error) {
      // If tables disappeared during a read, the state shows whether this version of plat may still read the store.
      const isOutdated = isMissing(error) && (await state.ask()).generation !== model.generation;
      if (!isOutdated) throw translateError(error, address, milliseconds / 1000);
    }
    if (assumed !== undefined) throw new LookChanged();
    await live.refresh();
  }
}

/** Plans a read and runs it on a connection. */
type Attempt<T> = (loan: Loan, reading: ReadParameters, planner: Planner) => Promise<SnapshotResult<T>>;

/** Reads with one statement, which has a single snapshot and also returns the state in it. */
async function readOneStatement<T>(
  loan: Loan,
  reading: ReadParameters,
  steps: Steps<T>,
): Promise<SnapshotResult<T>> {
  const asked = performance.now();
  let look: Row | undefined;
  const saw = (row: Row | undefined): void => {
    look = row;
  };
  const result = await loan.run((session) =>
    runAsync(steps, (ask) => runStatement(session, ask, { ...reading, saw })),
  );
  return { seen: parseReport(look), asked, result };
}

/** The state query that is added to a statement (live-state.ts). */
type LookQuery = Pick<ReadParameters, 'tokenHash' | 'keyRow'> & { readonly saw: (row?: Row) => void };

async function runStatement(
  session: ServerSession,
  { gives, statement, slots, isKept, limit, heard, links }: StatementRequest,
  along?: LookQuery,
): Promise<StatementResult> {
  const { client } = session;
  const own = bindings(statement, slots);
  const text = along === undefined ? statement.text : withLookRow(statement.text, gives, own.length);
  const values = along === undefined ? own : [...own, along.tokenHash, along.keyRow];
  const asked: SentStatement = { text, values, name: isKept ? prepareName(client, text) : undefined };
  const before = along && ((look: string) => along.saw(parseLookText(look)));
  switch (gives) {
    case 'rows': {
      const { rows } = await send(client, { ...asked, heard });
      along?.saw(rows[0]);
      return { rows };
    }
    case 'joined': {
      const [row = {}] = (await send(client, asked)).rows;
      along?.saw(row);
      return { rows: [row], body: typeof row.x === 'string' ? bodyOfText(row.x) : undefined };
    }
    case 'body':
    case 'page':
    case 'records': {
      const found: Row[] = [];
      const each = (k: string | null, size: number | undefined) => void found.push({ k, size });
      const options = { limit, before, links, ...(gives === 'records' ? { each } : {}) };
      const { rows: n, last, more, ...texts } = await readTexts(session, asked, gives !== 'body', options);
      return { ...texts, rows: gives === 'records' ? found : [{ n, last, more }] };
    }
  }
}

interface SnapshotResult<T> {
  /** The state of the store in the snapshot. */
  readonly seen: ServerReport;
  /** When the first statement was sent, on a monotonic clock. */
  readonly asked: number;
  readonly result: T;
}

interface ReadParameters {
  readonly milliseconds: number;
  readonly lane: Lane;
  readonly caller: ReadCaller | undefined;
  /** The hash of a token, and the last known row of its key; null: none. */
  readonly tokenHash: string | null;
  readonly keyRow: string | null;
}

/** Reads one snapshot of the store on a connection of a lane, in the caller's turn and within its time limit. */
export async function readSnapshot<T>(
  lanes: Lanes,
  { milliseconds, lane, caller }: ReadParameters,
  read: (loan: Loan) => Promise<SnapshotResult<T>>,
): Promise<SnapshotResult<T>> {
  using loan = await borrow(lanes[lane], { milliseconds, name: caller?.name });
  using _turn = caller === undefined ? undefined : await lanes.work[lane]?.acquire(caller.name);
  const began = performance.now();
  try {
    caller?.begin(lane);
    return await unlessGone(caller, loan.cancel, () => read(loan));
  } finally {
    caller?.spent(lane, performance.now() - began);
  }
}

/** Reads with several statements; those that begin and end the transaction are pipelined, and cost no round trips. */
export async function readInTransaction<T>(
  loan: Loan,
  { tokenHash }: ReadParameters,
  work: (session: ServerSession) => Promise<T>,
): Promise<SnapshotResult<T>> {
  loan.runAtEnd(({ run }) => run('COMMIT'));
  const asked = performance.now();
  const begun = loan.run(({ run }) => run(SNAPSHOT));
  const state = loan.run(({ rows }) => rows(SELECT_LOOK, [tokenHash]));
  const read = loan.run(work);
  await settleAll([begun, state, read]);
  const [row] = await state;
  return { seen: parseReport(row), asked, result: await read };
}
