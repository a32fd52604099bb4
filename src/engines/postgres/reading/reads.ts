import type { QueryConfig } from 'pg';
import type { Planner } from '../../../compile/context.ts';
import type { Dialect } from '../../../compile/dialect.ts';
import { deflatingLater } from '../../../store/deflating.ts';
import type { Engine } from '../../../store/engine.ts';
import { isSent, type Lane } from '../../../store/lanes.ts';
import { LinkedFragments } from '../../../store/linked-fragments.ts';
import type { LiveModel } from '../../../store/live-model.ts';
import type { Ask, Given } from '../../../store/read-steps.ts';
import {
  idsIn,
  type Making,
  type ReadResult,
  type ReadTask,
  runLater,
  stepsOf,
} from '../../../store/read-task.ts';
import type { Row } from '../../../store/session.ts';
import { LookChanged, type ReadOptions } from '../../../store/store.ts';
import { mustBeText, WholeBodies } from '../../../store/whole/whole-bodies.ts';
import { isMissing, translateError } from '../connection/errors.ts';
import type { Lanes } from '../connection/lanes.ts';
import { keepPrepared } from '../connection/prepared.ts';
import { bindings, type Loan, type ServerSession } from '../connection/session.ts';
import type { ReadServers } from '../standbys/read-servers.ts';
import type { LiveState } from './live-state.ts';
import { withLook } from './look-row.ts';
import { OpenLook } from './looks.ts';
import { type Reading, readInTransaction, readRow, readSnapshot, type Snapshot } from './reader.ts';
import { memories, mustNotBeTooLarge, readTexts } from './texts.ts';

/** What records are read with. */
interface ReadSource {
  /** Of the store, for messages. */
  readonly name: string;
  readonly dialect: Dialect;
  readonly state: LiveState;
  readonly lanes: Lanes;
  readonly readServers: ReadServers;
}

/** Runs the reads of records, on the server that is written to or one that follows it. */
export class Servers {
  readonly #source: ReadSource;
  readonly #bodies = new WholeBodies();
  readonly #fragments = new LinkedFragments();
  readonly #deflate = deflatingLater();

  constructor(source: ReadSource) {
    this.#source = source;
  }

  readonly run: Engine['run'] = async (live, lane, plan, options) => {
    const sent = isSent(options.caller);
    const check = sent ? this.#bodies.mustBeWhole : mustBeText;
    const making: Making = {
      ...{ isSent: sent, check, fragments: this.#fragments },
      ...{ memory: memories.body, deflate: this.#deflate },
    };
    return this.#read(live, lane, options, (loan, reading, planner) => {
      const task = plan(planner);
      return isRow(task)
        ? rowOf(loan, reading, task, making)
        : readInTransaction(loan, reading, (session) =>
            runLater(stepsOf(task, making), (ask) => answer(session, ask)),
          );
    });
  };

  read<T>(
    live: LiveModel,
    lane: Lane,
    options: ReadOptions,
    work: (session: ServerSession, planner: Planner) => Promise<T>,
  ): Promise<T> {
    return this.#read(live, lane, options, (loan, reading, planner) =>
      readInTransaction(loan, reading, (session) => work(session, planner)),
    );
  }

  /**
   * Plans and reads. The snapshot tells whether the plan was of the settings and fields that it met; if another process
   * has changed them meanwhile, the reading is done once more, or the request that assumed them is answered anew.
   */
  async #read<T>(live: LiveModel, lane: Lane, options: ReadOptions, attempt: Attempt<T>): Promise<T> {
    const { name, dialect, state, lanes, readServers } = this.#source;
    const { milliseconds, caller, damaged } = options;
    const assumed = options.look instanceof OpenLook && options.look.isOpen ? options.look : undefined;
    const reading: Reading = {
      milliseconds,
      lane,
      caller,
      tokenHash: assumed?.tokenHash ?? null,
      keyRow: assumed?.row ?? null,
    };
    for (;;) {
      const model = live.known;
      if (assumed !== undefined && assumed.model !== model) throw new LookChanged();
      const planner = { dialect, model, damaged };
      const on = (from: Lanes) => readSnapshot(from, reading, (loan) => attempt(loan, reading, planner));
      const needed = { changes: state.changes, generation: model.generation };
      try {
        const followed = await readServers.read(lane, needed, on);
        const read = followed ?? (await on(lanes));
        if (followed === undefined) {
          const isExpected = state.told(read.seen, read.asked);
          assumed?.confirm(read.seen, isExpected);
        }
        if (read.seen.state.generation === model.generation) return read.result;
      } catch (error) {
        // Where tables have gone under a reading, the state tells whether this plat may read them any more.
        const isOutdated = isMissing(error) && (await state.ask()).generation !== model.generation;
        if (!isOutdated) throw translateError(error, name, milliseconds / 1000);
      }
      if (assumed !== undefined) throw new LookChanged();
      await live.refresh();
    }
  }
}

/** Plans a reading, and does it on a connection to some server. */
type Attempt<T> = (loan: Loan, reading: Reading, planner: Planner) => Promise<Snapshot<T>>;

/** A task of one statement that gives one row. */
type RowTask = Extract<ReadTask, { readonly kind: keyof typeof COLUMNS }>;

const isRow = (task: ReadTask): task is RowTask =>
  task.kind === 'number' || task.kind === 'ids' || (task.kind === 'body' && task.isRecord);

/** The column that has the result of a task. */
const COLUMNS = { number: 'n', ids: 'ids', body: 'x' } as const;

async function rowOf(
  loan: Loan,
  reading: Reading,
  task: RowTask,
  making: Making,
): Promise<Snapshot<ReadResult>> {
  const { statement } = task;
  // The filter of a list is a client's.
  const isKept = task.kind !== 'ids' && task.isKept;
  const text = withLook(statement.text, COLUMNS[task.kind], statement.values.length);
  const values = [...bindings(statement), reading.tokenHash, reading.keyRow];
  const { result, ...snapshot } = await readRow(loan, { text, values, isKept });
  return { ...snapshot, result: resultOf(task, result, making) };
}

function resultOf({ kind }: RowTask, row: Row, { isSent, check }: Making): ReadResult {
  switch (kind) {
    case 'number':
      return { kind, value: Number(row.n ?? 0) };
    case 'ids':
      return { kind, ids: idsIn(row, isSent) };
    case 'body': {
      if (typeof row.x !== 'string') return { kind, body: undefined };
      const body = Buffer.from(row.x);
      mustNotBeTooLarge(body.length);
      return { kind, body: check(body) };
    }
  }
}

async function answer(
  session: ServerSession,
  { gives, statement, slots, isKept, limit }: Ask,
): Promise<Given> {
  const { client } = session;
  const { text } = statement;
  const values = bindings(statement, slots);
  const asked: QueryConfig = isKept ? { name: keepPrepared(client, text), text, values } : { text, values };
  switch (gives) {
    case 'rows':
      return await client.query<Row>(asked);
    case 'body':
      return { ...(await readTexts(session, asked)), rows: [] };
    case 'page': {
      const { rows: n, last, more, ...texts } = await readTexts(session, asked, limit);
      return { ...texts, rows: [{ n, last, more }] };
    }
    case 'records': {
      const rows: Row[] = [];
      const { body, release } = await readTexts(session, asked, limit, (k, size) => rows.push({ k, size }));
      return { rows, body, ...(release === undefined ? {} : { release }) };
    }
  }
}
