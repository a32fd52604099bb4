import type { QueryConfig } from 'pg';
import type { Planner } from '../../../compile/context.ts';
import type { Dialect } from '../../../compile/dialect.ts';
import type { Engine } from '../../../store/engine.ts';
import { isSent, type Lane } from '../../../store/lanes.ts';
import type { LiveModel } from '../../../store/live-model.ts';
import { type Ask, type Given, runLater, stepsOf } from '../../../store/read-task.ts';
import type { Row } from '../../../store/session.ts';
import type { ReadOptions } from '../../../store/store.ts';
import { watchedStream } from '../../../store/watched.ts';
import { mustBeText, WholeBodies } from '../../../store/whole/whole-bodies.ts';
import { isMissing, translateError } from '../connection/errors.ts';
import type { Lanes } from '../connection/lanes.ts';
import { keepPrepared } from '../connection/prepared.ts';
import { bindings, type ServerSession } from '../connection/session.ts';
import type { ReadServers } from '../standbys/read-servers.ts';
import { type AnswerWish, readAnswer, readWhole } from './answer.ts';
import type { LiveState } from './live-state.ts';
import { readSnapshot, type Snapshot } from './reader.ts';

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

  constructor(source: ReadSource) {
    this.#source = source;
  }

  readonly run: Engine['run'] = async (live, lane, plan, options) => {
    const sent = isSent(options.caller);
    const wish: AnswerWish = {
      check: sent ? this.#bodies.mustBeWhole : mustBeText,
      // Nothing leaves of an answer that may have to be refused.
      whole: options.damaged !== undefined,
    };
    const result = await this.read(live, lane, options, (session, planner) =>
      runLater(stepsOf(plan(planner), sent), (ask) => answer(session, ask, wish)),
    );
    if (result.kind !== 'page' || result.page.rest === undefined) return result;
    const { page } = result;
    const { rest } = result.page;
    const told = (error: unknown) => translateError(error, this.#source.name, options.milliseconds / 1000);
    const watching = { length: rest.length, [Symbol.asyncIterator]: () => watchedStream(rest, told) };
    return { kind: 'page', page: { ...page, rest: watching } };
  };

  /**
   * Plans and reads. The snapshot tells whether the plan was of the settings and fields that it met; if another process
   * has changed them meanwhile, the reading is done once more.
   */
  async read<T>(
    live: LiveModel,
    lane: Lane,
    { milliseconds, caller, damaged }: ReadOptions,
    work: (session: ServerSession, planner: Planner) => Promise<T>,
  ): Promise<T> {
    const { name, dialect, state, lanes, readServers } = this.#source;
    try {
      for (;;) {
        const model = live.known;
        const { changes } = state;
        const planner = { dialect, model, damaged };
        const attempt = (from: Lanes): Promise<Snapshot<T>> =>
          readSnapshot(from, { milliseconds, lane, caller }, (session) => work(session, planner));
        const needed = { changes, generation: model.generation };
        const read = (await readServers.read(lane, needed, attempt)) ?? (await attempt(lanes));
        if (read.generation === model.generation) return read.result;
        read.leave?.();
        await live.refresh();
      }
    } catch (error) {
      // Where tables have gone under a reading, the state tells whether this plat may read them any more.
      if (isMissing(error)) await state.ask();
      throw translateError(error, name, milliseconds / 1000);
    }
  }
}

async function answer(
  session: ServerSession,
  { gives, statement, slots, isKept }: Ask,
  wish: AnswerWish,
): Promise<Given> {
  const { client } = session;
  const { text } = statement;
  const values = bindings(statement, slots);
  const asked: QueryConfig = isKept ? { name: keepPrepared(client, text), text, values } : { text, values };
  switch (gives) {
    case 'rows':
      return await client.query<Row>(asked);
    case 'whole':
      return { rows: [], body: await readWhole(session, asked, wish) };
    case 'part': {
      const { first, ...rest } = await readAnswer(session, asked, wish);
      return { rows: first === undefined ? [] : [first], ...rest };
    }
  }
}
