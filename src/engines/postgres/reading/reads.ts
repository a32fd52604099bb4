import type { QueryConfig } from 'pg';
import type { Planner } from '../../../compile/context.ts';
import type { Dialect } from '../../../compile/dialect.ts';
import type { Engine } from '../../../store/engine.ts';
import { isSent, type Lane } from '../../../store/lanes.ts';
import type { LiveModel } from '../../../store/live-model.ts';
import { type Ask, type Given, runLater, stepsOf } from '../../../store/read-task.ts';
import type { Row } from '../../../store/session.ts';
import type { ReadOptions } from '../../../store/store.ts';
import { type BodyCheck, mustBeText, WholeBodies } from '../../../store/whole/whole-bodies.ts';
import { isMissing, translateError } from '../connection/errors.ts';
import type { Lanes } from '../connection/lanes.ts';
import { keepPrepared } from '../connection/prepared.ts';
import { bindings, type ServerSession } from '../connection/session.ts';
import type { ReadServers } from '../standbys/read-servers.ts';
import type { LiveState } from './live-state.ts';
import { readSnapshot, type Snapshot } from './reader.ts';
import { readTexts, type Texts } from './texts.ts';

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
    const check = sent ? this.#bodies.mustBeWhole : mustBeText;
    return this.read(live, lane, options, (session, planner) =>
      runLater(stepsOf(plan(planner), sent), (ask) => answer(session, ask, check)),
    );
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
  { gives, statement, slots, isKept, limit }: Ask,
  check: BodyCheck,
): Promise<Given> {
  const { client } = session;
  const { text } = statement;
  const values = bindings(statement, slots);
  const asked: QueryConfig = isKept ? { name: keepPrepared(client, text), text, values } : { text, values };
  switch (gives) {
    case 'rows':
      return await client.query<Row>(asked);
    case 'body':
      return { rows: [], ...checked(await readTexts(session, asked), check) };
    case 'page': {
      const { rows: n, last, more, ...texts } = await readTexts(session, asked, limit);
      return { rows: [{ n, last, more }], ...checked(texts, check) };
    }
  }
}

/** A body that must not be used gives its memory back. */
function checked(
  { body, release }: Pick<Texts, 'body' | 'release'>,
  check: BodyCheck,
): Pick<Given, 'body' | 'release'> {
  if (body === undefined) return {};
  try {
    return { body: check(body), ...(release === undefined ? {} : { release }) };
  } catch (error) {
    release?.();
    throw error;
  }
}
