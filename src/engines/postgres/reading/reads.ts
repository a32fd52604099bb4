import type { Dialect } from '../../../compile/dialect.ts';
import { planMerged } from '../../../compile/merged-plan.ts';
import {
  type Planner,
  planCount,
  planIds,
  planList,
  planPage,
  planRecord,
} from '../../../compile/page-plan.ts';
import type { PagePlan } from '../../../compile/plan.ts';
import type {
  ListPageRequest,
  MergedRequest,
  Page,
  PageRequest,
  RecordQuery,
  RecordRequest,
} from '../../../compile/read.ts';
import { isPlainQuery, isPlainShape } from '../../../store/lanes.ts';
import { isSent, type Lane } from '../../../store/read-caller.ts';
import type { ReadOptions } from '../../../store/store.ts';
import { watchedStream } from '../../../store/watched.ts';
import { mustBeText, WholeBodies } from '../../../store/whole/whole-bodies.ts';
import { isMissing, translateError } from '../connection/errors.ts';
import type { Lanes } from '../connection/lanes.ts';
import type { ServerSession } from '../connection/session.ts';
import type { AnswerWish } from './answer.ts';
import type { LiveState } from './live-state.ts';
import { positionAfter } from './position.ts';
import type { ReadServers } from './read-servers.ts';
import { readSnapshot, type Snapshot } from './reader.ts';
import { readBody, readIds, readNumber, readPage } from './tasks.ts';

/** How long a place in a list may be looked for, in milliseconds. */
const SMALL = 5000;

/** What records are read with. */
export interface ReadSource {
  /** Of the store, for messages. */
  readonly name: string;
  readonly dialect: Dialect;
  readonly state: LiveState;
  readonly lanes: Lanes;
  readonly readServers: ReadServers;
}

/** The reading of records, from the server that is written to or one that follows it. */
export class Reads {
  readonly #source: ReadSource;
  readonly #bodies = new WholeBodies();

  constructor(source: ReadSource) {
    this.#source = source;
  }

  page(request: PageRequest, options: ReadOptions): Promise<Page> {
    const { filter, search, order, under } = request.query;
    const unbounded = (filter ?? search) !== undefined || order.length > 0;
    const isLight = under === undefined ? !unbounded : isPlainQuery(request.query);
    const isPlain = isLight && isPlainShape(request.shape);
    const lane = !isPlain ? 'searches' : under === undefined ? 'pages' : 'records';
    const plan = (planner: Planner) => planPage(planner, request);
    return this.#page(lane, options, plan);
  }

  listPage(request: ListPageRequest, options: ReadOptions): Promise<Page> {
    const lane = isPlainShape(request.shape) ? 'pages' : 'searches';
    const plan = (planner: Planner) => planList(planner, request);
    return this.#page(lane, options, plan);
  }

  async mergedPage(request: MergedRequest, options: ReadOptions): Promise<Uint8Array> {
    const body = await this.#made(
      options,
      this.read('searches', options, (session, planner) =>
        readBody(session, planMerged(planner, request), 'once', this.#wish(options)),
      ),
      (made) => made?.length ?? 0,
    );
    return body ?? new Uint8Array(0);
  }

  record(request: RecordRequest, options: ReadOptions): Promise<Uint8Array | undefined> {
    const plain = isPlainShape(request.shape);
    return this.#made(
      options,
      this.read(plain ? 'records' : 'searches', options, (session, planner) =>
        readBody(session, planRecord(planner, request), plain ? 'kept' : 'once', this.#wish(options)),
      ),
      (body) => body?.length ?? 0,
    );
  }

  count(query: RecordQuery, options: ReadOptions): Promise<number> {
    const light = isPlainQuery(query);
    const lane = !light ? 'searches' : query.under === undefined ? 'pages' : 'records';
    return this.read(lane, options, (session, planner) =>
      readNumber(session, planCount(planner, query), light ? 'kept' : 'once'),
    );
  }

  ids(query: RecordQuery, options: ReadOptions): Promise<Uint32Array> {
    return this.read('searches', options, (session, planner) => readIds(session, planIds(planner, query)));
  }

  positionAfter(resource: string, ids: Uint32Array, key: string): Promise<number> {
    return this.read('records', { milliseconds: SMALL }, ({ rows }, { model }) =>
      positionAfter(rows, model.layout(resource), ids, key),
    );
  }

  async #page(lane: Lane, options: ReadOptions, plan: (planner: Planner) => PagePlan): Promise<Page> {
    const wish = this.#wish(options);
    const reading = this.read(lane, options, (session, planner) => readPage(session, plan(planner), wish));
    const page = await this.#made(options, reading, ({ body }) => body.length);
    const { rest } = page;
    if (rest === undefined) return page;
    const told = (error: unknown) => translateError(error, this.#source.name, options.milliseconds / 1000);
    const { length } = rest;
    return { ...page, rest: { length, [Symbol.asyncIterator]: () => watchedStream(rest, told) } };
  }

  #wish({ caller, damaged }: ReadOptions): AnswerWish {
    const check = isSent(caller) ? this.#bodies.mustBeWhole : mustBeText;
    // Nothing leaves of an answer that may have to be refused.
    return { check, whole: damaged !== undefined };
  }

  /** Tells the caller of the memory of an answer. What still comes with it is told as it is taken. */
  async #made<T>({ caller }: ReadOptions, reading: Promise<T>, bytesOf: (made: T) => number): Promise<T> {
    const made = await reading;
    caller?.made(bytesOf(made));
    return made;
  }

  /**
   * Plans and reads. The snapshot tells whether the plan was of the settings and fields that it met; if another process
   * has changed them meanwhile, the reading is done once more.
   */
  async read<T>(
    lane: Lane,
    { milliseconds, caller, damaged }: ReadOptions,
    work: (session: ServerSession, planner: Planner) => Promise<T>,
  ): Promise<T> {
    const { name, dialect, state, lanes, readServers } = this.#source;
    try {
      for (;;) {
        const { model, changes } = state;
        const planner = { dialect, model, damaged };
        const attempt = (from: Lanes): Promise<Snapshot<T>> =>
          readSnapshot(from, { milliseconds, lane, caller }, (session) => work(session, planner));
        const needed = { changes, generation: model.generation };
        const read = (await readServers.read(lane, needed, attempt)) ?? (await attempt(lanes));
        if (read.generation === model.generation) return read.result;
        read.leave?.();
        await state.refresh();
      }
    } catch (error) {
      // Where tables have gone under a reading, the state tells whether this plat may read them any more.
      if (isMissing(error)) await state.ask();
      throw translateError(error, name, milliseconds / 1000);
    }
  }
}
