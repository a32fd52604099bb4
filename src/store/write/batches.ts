import { isStored, type StoreModel } from '../../compile/model.ts';
import { CHILD_COUNTS, type Field, type FieldValues, type Resource } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { COUNTED, COUNTING, countOf, mediaKind } from '../../records/media.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';
import { stampsOfValues } from '../../records/stamps.ts';
import type { Span } from './allot-timestamps.ts';
import { deleteRecords } from './delete-records.ts';
import { doubting } from './doubting.ts';
import type { Allowed, Timed, WriteLimits } from './in-time.ts';
import { paceOf, slowDown, speedUp } from './pace.ts';
import { type PreparedRecord, prepareRecord } from './prepare.ts';
import { emptyTally, type Rejection, type WriteReport } from './report.ts';
import type { WriteTransaction } from './transaction.ts';
import { writeChildren } from './write-children.ts';
import { writeRecords } from './write-records.ts';

/** What came of a try to write. */
export type Attempt<T> =
  | Timed<T>
  /** Another process changed settings or profile meanwhile; what was prepared is out of date. */
  | { readonly kind: 'outdated' };

/** The part of an engine that writes. */
export interface BatchWriter {
  /** Records and children that one transaction takes in well below the time that it may last. */
  readonly largestWeight?: number | undefined;
  readonly limits: WriteLimits;
  readModel(): StoreModel | Promise<StoreModel>;
  /** Brings fields into use. */
  learn(fields: readonly Field[]): Promise<StoreModel>;
  /** Commits what `in-time.ts` lets through, and rolls back all else. */
  attempt<T>(
    model: StoreModel,
    work: (transaction: WriteTransaction) => Promise<T>,
    source: string | null,
    allowed: Allowed,
  ): Promise<Attempt<T>>;
  /** Why the engine cannot hold a record, if that is what the error says: a text beyond what its indexes take. */
  refusal(error: unknown): string | undefined;
  /** Lets other writers have the lock. */
  pause(milliseconds: number): Promise<void>;
}

/** Records of one transaction at the most; a transaction holds the lock for a fraction of a second. */
const LARGEST_BATCH = 1000;
/**
 * Records and children of one transaction at the most, where an engine does not say otherwise. In a store that is being
 * read the timestamps of as many take 1.6 s (allot-timestamps.ts), less than the time that a transaction may take.
 */
const LARGEST_WEIGHT = 16_000;

/** Times that one record is tried: a machine that stood still for a moment makes no record too heavy. */
const TRIES = 3;

/** Milliseconds between a long transaction and the next, in which others come to write. */
const REST = 50;

/** What a write of batches came to. */
export interface Written {
  readonly report: WriteReport;
  readonly model: StoreModel;
}

/** What may go with the records. */
export interface BatchOptions {
  /** Where their timestamps are to lie, evenly in the order of the records, as far as there is room. */
  readonly over?: Span | undefined;
  /** The source that they are replicated from. */
  readonly source?: string;
  /** Whether no stored hash is believed. */
  readonly anew?: boolean;
  /** Runs at the beginning of every transaction; an error undoes it. */
  readonly begin?: (transaction: WriteTransaction) => Promise<void>;
  /** Runs in the transaction of the last batch, and by itself when there is no record. */
  readonly finish?: (transaction: WriteTransaction, soFar: WriteReport) => Promise<void>;
}

/** Stores any number of records in transactions of bounded size; one that takes too long by itself is rejected. */
export function writeInBatches(
  writer: BatchWriter,
  current: StoreModel,
  resource: string,
  records: readonly ParsedRecord[],
  { source, over, anew = false, begin, finish }: BatchOptions = {},
): Promise<Written> {
  return inBatches(writer, current, {
    batches: split(records, paceOf(writer, writer.largestWeight ?? LARGEST_WEIGHT)),
    source: source ?? null,
    over,
    isSized: true,
    hasEnd: finish !== undefined,
    async ready(model, batch, waiting) {
      if (unknownFields(model, batch).length === 0) return model;
      // With those of the batches that follow: to bring fields into use takes longer than to store a batch.
      return writer.learn(unknownFields(model, [batch, ...waiting].flat()));
    },
    work(batch, model, soFar) {
      const prepared = batch.map((record) => prepareRecord(record, model));
      return async (transaction) => {
        await begin?.(transaction);
        const written = await write(anew ? doubting(transaction) : transaction, resource, prepared);
        if (soFar !== undefined) await finish?.(transaction, addReports(soFar, written));
        return written;
      };
    },
    weightOf,
    refused: (record, seconds) => {
      const children = weightOf(record) - 1;
      const reason = `To store it${children > 0 ? ` with its ${children} children` : ''} takes longer than the ${seconds} s that a transaction may`;
      return { resource, key: record.key, reason };
    },
  });
}

/** Deletes any number of records in transactions of bounded size; one that takes too long by itself is left. */
export function removeInBatches(
  writer: BatchWriter,
  current: StoreModel,
  resource: string,
  keys: readonly string[],
  { begin }: Pick<BatchOptions, 'begin'> = {},
): Promise<Written> {
  const batches: string[][] = [];
  for (let at = 0; at < keys.length; at += LARGEST_BATCH) batches.push(keys.slice(at, at + LARGEST_BATCH));
  return inBatches(writer, current, {
    batches,
    source: null,
    over: undefined,
    isSized: false,
    hasEnd: false,
    ready: async (model) => model,
    work: (batch) => async (transaction) => {
      await begin?.(transaction);
      return deleteRecords(transaction, resource, batch);
    },
    weightOf: () => 1,
    refused: (key, seconds) => {
      const reason = `To delete it with its children takes longer than the ${seconds} s that a transaction may`;
      return { resource, key, reason };
    },
  });
}

/** What is done to many things, some of them in each transaction. */
interface Batches<T> {
  readonly batches: T[][];
  readonly source: string | null;
  /** The span of all timestamps. */
  readonly over: Span | undefined;
  /** Whether the weight of a batch tells how long it takes. */
  readonly isSized: boolean;
  /** Whether there is work for the last transaction, which takes place without any thing if it must. */
  readonly hasEnd: boolean;
  /** The model under which a batch can be stored. */
  ready(model: StoreModel, batch: readonly T[], waiting: readonly T[][]): Promise<StoreModel>;
  /** @param soFar the report of the transactions before, given to the last one */
  work(
    batch: readonly T[],
    model: StoreModel,
    soFar: WriteReport | undefined,
  ): (transaction: WriteTransaction) => Promise<WriteReport>;
  weightOf(item: T): number;
  /** Why one that stands alone could not be done in so many seconds. */
  refused(item: T, seconds: number): Rejection;
}

async function inBatches<T>(writer: BatchWriter, current: StoreModel, job: Batches<T>): Promise<Written> {
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
    model = await job.ready(model, batch, waiting);
    const work = job.work(batch, model, waiting.length === 0 ? report : undefined);
    const longest = batch.length > 1 ? usual : alone + usual;
    const over = job.over && partOf(job.over, done / total, (done + batch.length) / total);
    const attempt = await writer
      .attempt(model, work, job.source, { ahead, longest, over })
      .catch((error: unknown): { readonly kind: 'refused'; readonly reason: string } => {
        const reason = writer.refusal(error);
        if (reason === undefined || batch.length === 0) throw error;
        return { kind: 'refused', reason };
      });
    if (ahead > 0) await writer.pause(REST);
    switch (attempt.kind) {
      case 'done':
        report = addReports(report, attempt.result);
        done += batch.length;
        tries = 0;
        ahead = 0;
        if (job.isSized) speedUp(writer);
        break;
      case 'outdated':
        model = await writer.readModel();
        waiting.unshift(batch);
        break;
      case 'refused':
      case 'too-long': {
        if (batch.length > 1) {
          const weight = batch.reduce((sum, item) => sum + job.weightOf(item), 0);
          if (job.isSized && attempt.kind === 'too-long') slowDown(writer, weight);
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
        if (only === undefined) throw platError('failed', { reason: 'A transaction takes too long.' });
        const long = job.refused(only, alone / 1000);
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

/** @param begin, end shares of the span */
function partOf({ from, to }: Span, begin: number, end: number): Span {
  return { from: from + Math.floor((to - from) * begin), to: from + Math.floor((to - from) * end) };
}

function write(
  transaction: WriteTransaction,
  resource: string,
  batch: readonly PreparedRecord[],
): Promise<WriteReport> {
  if (batch.length === 0) return Promise.resolve(emptyTally(transaction.timestamps.moment));
  const isPart = transaction.model.resource(resource).parent !== undefined;
  return isPart ? writeChildren(transaction, resource, batch) : writeRecords(transaction, resource, batch);
}

const weightOf = ({ children }: ParsedRecord): number =>
  1 + [...children.values()].reduce((sum, members) => sum + members.length, 0);

/** A record that is heavier than a batch should be stands alone. */
function split(records: readonly ParsedRecord[], largestWeight: number): ParsedRecord[][] {
  const batches: ParsedRecord[][] = [];
  let batch: ParsedRecord[] = [];
  let weight = 0;
  for (const record of records) {
    const own = weightOf(record);
    if (batch.length > 0 && (batch.length >= LARGEST_BATCH || weight + own > largestWeight)) {
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

/** Fields that carry a value here for the first time. */
function unknownFields(model: StoreModel, batch: readonly ParsedRecord[]): Field[] {
  const found = new Set<Field>();
  const isAuthority = model.settings.owner === 'authority';
  const lookAt = (resource: Resource, known: ReadonlyMap<string, number> | undefined, name: string): void => {
    if (known?.has(name) === true) return;
    const field = resource.fields.get(name);
    if (field !== undefined && isStored(field, model.settings)) found.add(field);
  };
  const look = ({ resource, values, children, dropped }: ParsedRecord): void => {
    const known = model.profile.since.get(resource.name);
    lookAt(resource, known, 'ModificationTimestamp');
    if (isAuthority)
      for (const name of stampsOfValues(resource.fields, values)) lookAt(resource, known, name);
    for (const name of Object.keys(values)) lookAt(resource, known, name);
    if (isAuthority && areCountsNew) lookAtCounts(resource.name, values, dropped);
    for (const records of children.values()) records.forEach(look);
  };
  const counting = model.dictionary.resources.get(COUNTING);
  const counts = model.profile.since.get(COUNTING);
  const areCountsNew = !CHILD_COUNTS.every((name) => counts?.has(name));
  /** A count comes into use with the first medium that it counts, or where a record tells one. */
  function lookAtCounts(resource: string, values: FieldValues, dropped: ParsedRecord['dropped']): void {
    const told = dropped.filter(({ why }) => why === 'count').map(({ name }) => name);
    const counted = resource === COUNTED ? countOf(mediaKind(values)) : undefined;
    for (const name of counted === undefined ? told : [counted]) {
      const field = counts?.has(name) === true ? undefined : counting?.fields.get(name);
      if (field !== undefined) found.add(field);
    }
  }
  batch.forEach(look);
  return [...found];
}

/** Two reports as one. */
export function addReports(left: WriteReport, right: WriteReport): WriteReport {
  return {
    inserted: left.inserted + right.inserted,
    changed: left.changed + right.changed,
    unchanged: left.unchanged + right.unchanged,
    restamped: left.restamped + right.restamped,
    deleted: left.deleted + right.deleted,
    children: {
      stored: left.children.stored + right.children.stored,
      unchanged: left.children.unchanged + right.children.unchanged,
      deleted: left.children.deleted + right.children.deleted,
    },
    orphans: left.orphans + right.orphans,
    rejected: [...left.rejected, ...right.rejected],
    stamp: right.stamp,
  };
}
