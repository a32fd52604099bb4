/** Writes and deletes any number of records in transactions of bounded size. This module runs no statement and knows no lock. */
import type { StoreModel } from '../../compile/model.ts';
import type { Field } from '../../dictionary/index.ts';
import { failedError } from '../../errors/index.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';
import type { StoredRow } from '../../records/rows.ts';
import { chunked } from '../../shared/chunked.ts';
import type { Span } from './commit-timestamps.ts';
import { deleteRecords } from './delete-records.ts';
import type { Pace, TransactionTimes } from './pace.ts';
import { newFieldsInUse, type PreparedRecord, prepareRecord } from './prepare.ts';
import { addReports, emptyTally, type Rejection, type WriteReport } from './report.ts';
import type { TransactionLimits, WriteLimits } from './time-limits.ts';
import type { WriteTransaction } from './transaction.ts';
import { writeChildren } from './write-children.ts';
import { writeRecords } from './write-records.ts';

/** The outcome of a write attempt. */
export type Attempt<T> =
  | { readonly kind: 'done'; readonly result: T; readonly times: TransactionTimes }
  /** The attempt was rolled back. `milliseconds` is how long it took until it ended or was stopped. */
  | { readonly kind: 'too-long'; readonly milliseconds: number }
  /** Another process has changed settings or profile, so the prepared records are out of date. */
  | { readonly kind: 'outdated' };

/** What batches need from a writer. */
export interface BatchWriter {
  readonly limits: WriteLimits;
  readonly pace: Pace;
  readModel(): StoreModel | Promise<StoreModel>;
  /** Brings fields into use. */
  bringIntoUse(fields: readonly Field[]): Promise<StoreModel>;
  /** Commits work that stays within its time limit (time-limits.ts), and rolls back any other work. */
  attempt<T>(
    model: StoreModel,
    work: (transaction: WriteTransaction) => Promise<T>,
    source: string | null,
    allowed: TransactionLimits,
  ): Promise<Attempt<T>>;
  /** Why the engine cannot store a record, if the error says so: for instance, a text that is too long for an index. */
  refusal(error: unknown): string | undefined;
  /** Waits so that other writers can acquire the lock. */
  pause(milliseconds: number): Promise<void>;
}

/** How often one record is tried: a single pause of the machine does not make it too heavy. */
const TRIES = 3;

/** Milliseconds between a long transaction and the next, so that other writers can proceed. */
const PAUSE_AFTER_LONG = 50;

/** The result of writing batches. */
export interface Written {
  readonly report: WriteReport;
  readonly model: StoreModel;
}

/** Options of a write. */
export interface BatchOptions {
  /** The span over which the timestamps are spread evenly, in the order of the records, as far as there is room. */
  readonly over?: Span | undefined;
  /** The source that the records are replicated from. */
  readonly source?: string;
  /** Whether records of an authority that contain a child of another record are rejected. */
  readonly rejectsTaken?: boolean | undefined;
  /** Whether stored hashes are ignored, so that every record is compared by its content. */
  readonly ignoresHashes?: boolean;
  /** Runs at the beginning of every transaction; an error undoes it. */
  readonly begin?: (transaction: WriteTransaction) => Promise<void>;
  /** Runs in the transaction of the last batch, or by itself when there are no records. */
  readonly finish?: (transaction: WriteTransaction, soFar: WriteReport) => Promise<void>;
}

/** Stores any number of records in transactions of bounded size. A record that takes too long by itself is rejected. */
export function writeInBatches(
  writer: BatchWriter,
  current: StoreModel,
  resource: string,
  records: readonly ParsedRecord[],
  { source, over, rejectsTaken, ignoresHashes = false, begin, finish }: BatchOptions = {},
): Promise<Written> {
  return runBatches(writer, current, {
    batches: splitByPace(records, writer.pace),
    source: source ?? null,
    over,
    isSized: true,
    hasEnd: finish !== undefined,
    async prepareModel(model, batch, waiting) {
      if (newFieldsInUse(model, batch).length === 0) return model;
      // Includes the fields of later batches: bringing fields into use takes longer than storing a batch.
      return writer.bringIntoUse(newFieldsInUse(model, [batch, ...waiting].flat()));
    },
    makeWork(batch, model, soFar) {
      const prepared = batch.map((record) => prepareRecord(record, model));
      return async (transaction) => {
        await begin?.(transaction);
        const given = ignoresHashes ? withUntrustedHashes(transaction) : transaction;
        const written = await writeBatch(given, resource, prepared, rejectsTaken);
        if (soFar !== undefined) await finish?.(transaction, addReports(soFar, written));
        return written;
      };
    },
    weightOf,
    rejectionOf: (record, seconds) => {
      const children = weightOf(record) - 1;
      const reason = `Storing it${children > 0 ? ` with its ${children} children` : ''} takes longer than the ${seconds} s that a transaction may last`;
      return { resource, key: record.key, reason };
    },
  });
}

/** Deletes any number of records in transactions of bounded size. A record that takes too long by itself is kept. */
export function removeInBatches(
  writer: BatchWriter,
  current: StoreModel,
  resource: string,
  keys: readonly string[],
  { begin }: Pick<BatchOptions, 'begin'> = {},
): Promise<Written> {
  return runBatches(writer, current, {
    batches: [...chunked(keys, writer.pace.records)],
    source: null,
    over: undefined,
    isSized: false,
    hasEnd: false,
    prepareModel: async (model) => model,
    makeWork: (batch) => async (transaction) => {
      await begin?.(transaction);
      return deleteRecords(transaction, resource, batch);
    },
    weightOf: () => 1,
    rejectionOf: (key, seconds) => {
      const reason = `Deleting it with its children takes longer than the ${seconds} s that a transaction may last`;
      return { resource, key, reason };
    },
  });
}

/** Work on many items, with one batch per transaction. */
interface Batches<T> {
  readonly batches: (readonly T[])[];
  readonly source: string | null;
  /** The span of all timestamps. */
  readonly over: Span | undefined;
  /** Whether a batch takes longer the heavier it is. */
  readonly isSized: boolean;
  /** Whether the last transaction also runs without items, because it has additional work. */
  readonly hasEnd: boolean;
  /** Returns the model under which a batch can be stored. */
  prepareModel(
    model: StoreModel,
    batch: readonly T[],
    waiting: readonly (readonly T[])[],
  ): Promise<StoreModel>;
  /** @param soFar the report of the earlier transactions, passed to the last one */
  makeWork(
    batch: readonly T[],
    model: StoreModel,
    soFar: WriteReport | undefined,
  ): (transaction: WriteTransaction) => Promise<WriteReport>;
  weightOf(item: T): number;
  /** The rejection of a single item that took more than this many seconds. */
  rejectionOf(item: T, seconds: number): Rejection;
}

async function runBatches<T>(writer: BatchWriter, current: StoreModel, job: Batches<T>): Promise<Written> {
  const { usual, alone } = writer.limits;
  const waiting = job.batches;
  let model = current;
  let report: WriteReport = emptyTally('');
  let tries = 0;
  let ahead = 0;
  const total = waiting.reduce((sum, { length }) => sum + length, 0);
  let done = 0;
  if (waiting.length === 0 && job.hasEnd) waiting.push([]);
  for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
    model = await job.prepareModel(model, batch, waiting);
    const work = job.makeWork(batch, model, waiting.length === 0 ? report : undefined);
    const longest = batch.length > 1 ? usual : alone + usual;
    const over = job.over && partOfSpan(job.over, done / total, (done + batch.length) / total);
    const attempt = await writer
      .attempt(model, work, job.source, { ahead, longest, over })
      .catch((error: unknown): { readonly kind: 'refused'; readonly reason: string } => {
        const reason = writer.refusal(error);
        if (reason === undefined || batch.length === 0) throw error;
        return { kind: 'refused', reason };
      });
    if (ahead > 0) await writer.pause(PAUSE_AFTER_LONG);
    switch (attempt.kind) {
      case 'done':
        report = addReports(report, attempt.result);
        done += batch.length;
        tries = 0;
        ahead = 0;
        if (job.isSized) writer.pace.succeeded(batch.length, attempt.times);
        break;
      case 'outdated':
        model = await writer.readModel();
        waiting.unshift(batch);
        break;
      case 'refused':
      case 'too-long': {
        if (batch.length > 1) {
          const weight = batch.reduce((sum, item) => sum + job.weightOf(item), 0);
          if (job.isSized && attempt.kind === 'too-long') writer.pace.tookTooLong(batch.length, weight);
          const middle = batch.length >> 1;
          waiting.unshift(batch.slice(0, middle), batch.slice(middle));
          break;
        }
        tries++;
        if (attempt.kind === 'too-long' && tries < TRIES) {
          ahead = Math.min(alone, Math.ceil(attempt.milliseconds));
          waiting.unshift(batch);
          break;
        }
        const [only] = batch;
        if (only === undefined) throw failedError('A transaction takes too long.');
        const long = job.rejectionOf(only, alone / 1000);
        const rejected = [attempt.kind === 'refused' ? { ...long, reason: attempt.reason } : long];
        report = addReports(report, { ...emptyTally(report.stamp), rejected });
        tries = 0;
        ahead = 0;
        if (waiting.length === 0 && job.hasEnd) waiting.push([]);
        break;
      }
    }
  }
  return { report, model };
}

/** @param begin, end the bounds of the part, as fractions of the span */
function partOfSpan({ from, to }: Span, begin: number, end: number): Span {
  return { from: from + Math.floor((to - from) * begin), to: from + Math.floor((to - from) * end) };
}

/** Stores the records of a batch in a transaction. */
export function writeBatch(
  transaction: WriteTransaction,
  resource: string,
  batch: readonly PreparedRecord[],
  rejectsTaken?: boolean,
): Promise<WriteReport> {
  if (batch.length === 0) return Promise.resolve(emptyTally(transaction.timestamps.moment));
  const isPart = transaction.model.resource(resource).parent !== undefined;
  return isPart
    ? writeChildren(transaction, resource, batch)
    : writeRecords(transaction, resource, batch, rejectsTaken);
}

/** The number of records in a record: itself, and its children. */
export const weightOf = ({ children }: ParsedRecord): number =>
  1 + [...children.values()].reduce((sum, members) => sum + members.length, 0);

/** A record that is heavier than a batch gets a transaction of its own. */
function splitByPace(records: readonly ParsedRecord[], pace: Pace): ParsedRecord[][] {
  const batches: ParsedRecord[][] = [];
  let batch: ParsedRecord[] = [];
  let weight = 0;
  for (const record of records) {
    const own = weightOf(record);
    if (batch.length > 0 && (batch.length >= pace.records || weight + own > pace.weight)) {
      batches.push(batch);
      batch = [];
      weight = 0;
    }
    batch.push(record);
    weight += own;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

/** Replaces a hash that is not trusted; no content has this hash. */
const UNTRUSTED_HASH = '';

/**
 * A transaction for a copy into which something else may have written: it trusts no stored hash. An inconsistent row, or one whose
 * content does not match its hash, counts as changed and is rewritten. A row that has lost its source counts as one of the source
 * that is being read. All other rows stay as they are.
 */
export function withUntrustedHashes(transaction: WriteTransaction): WriteTransaction {
  return {
    ...transaction,
    find: async (resource, keys) => {
      const found = await transaction.find(resource, keys);
      const rows = await distrustInconsistent(transaction, resource, [...found.values()]);
      return new Map(rows.map((row) => [row.key, row]));
    },
    children: async (resource, parentResource, parents) => {
      const found = await transaction.children(resource, parentResource, parents);
      const rows = await distrustInconsistent(transaction, resource, [...found.values()].flat());
      return Map.groupBy(rows, (row) => row.parent ?? '');
    },
  };
}

async function distrustInconsistent(
  transaction: WriteTransaction,
  resource: string,
  rows: readonly StoredRow[],
): Promise<readonly StoredRow[]> {
  if (rows.length === 0) return rows;
  const { source } = transaction;
  const faulty = await transaction.findFaulty(
    resource,
    rows.map(({ key }) => key),
  );
  const sources = await transaction.checkpoints.sources();
  const isLost = (row: StoredRow): boolean => row.source === null || !sources.has(row.source);
  return rows.map((row) => {
    if (!faulty.has(row.key) && !isLost(row)) return row;
    return { ...row, hash: UNTRUSTED_HASH, source: isLost(row) ? source : row.source };
  });
}
