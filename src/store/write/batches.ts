import type { Field } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { isStored, type StoreModel } from '../model.ts';
import type { ParsedRecord } from '../record/parsed-record.ts';
import { deleteRecords } from './delete-records.ts';
import { paceOf, slowDown, speedUp } from './pace.ts';
import { type PreparedRecord, prepareRecord } from './prepare.ts';
import { emptyTally, type WriteReport } from './report.ts';
import type { WriteTransaction } from './transaction.ts';
import { writeChildren } from './write-children.ts';
import { writeRecords } from './write-records.ts';

/** What came of a try to write. */
export type Attempt<T> =
  | { readonly kind: 'done'; readonly result: T }
  /** Another process changed settings or profile meanwhile; what was prepared is out of date. */
  | { readonly kind: 'outdated' }
  /** It was rolled back, so that no stamp is old when it is first seen (I2). */
  | { readonly kind: 'too-long' };

/** The part of an engine that writes. */
export interface BatchWriter {
  /** Records and children that one transaction takes in well below the time that it may last. */
  readonly largestWeight?: number;
  readModel(): StoreModel | Promise<StoreModel>;
  /** Brings fields into use. */
  learn(fields: readonly Field[]): Promise<StoreModel>;
  attempt<T>(
    model: StoreModel,
    work: (transaction: WriteTransaction) => Promise<T>,
    source?: string | null,
  ): Promise<Attempt<T>>;
}

/** Records of one transaction at the most; a transaction holds the lock for a fraction of a second. */
const LARGEST_BATCH = 1000;
/** Records and children of one transaction at the most, where an engine does not say otherwise. */
const LARGEST_WEIGHT = 20_000;

/** Times that one record is tried: a machine that stood still for a moment makes no record too heavy. */
const TRIES = 3;

/** What a write of batches came to. */
export interface Written {
  readonly report: WriteReport;
  readonly model: StoreModel;
}

/** What may go with the records. */
export interface BatchOptions {
  /** The source that they are replicated from. */
  readonly source?: string;
  /** Runs at the beginning of every transaction; an error undoes it. */
  readonly begin?: (transaction: WriteTransaction) => Promise<void>;
  /** Runs in the transaction of the last batch, and by itself when there is no record. */
  readonly finish?: (transaction: WriteTransaction, soFar: WriteReport) => Promise<void>;
}

/** Stores any number of records in transactions of bounded size. */
export async function writeInBatches(
  writer: BatchWriter,
  current: StoreModel,
  resource: string,
  records: readonly ParsedRecord[],
  { source, begin, finish }: BatchOptions = {},
): Promise<Written> {
  let model = current;
  let report: WriteReport = emptyTally('');
  const waiting = split(records, paceOf(writer, writer.largestWeight ?? LARGEST_WEIGHT));
  if (waiting.length === 0 && finish !== undefined) waiting.push([]);
  let tries = 0;
  for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
    if (unknownFields(model, batch).length > 0) {
      // With those of the batches that follow: to bring fields into use takes longer than to store a batch.
      model = await writer.learn(unknownFields(model, [batch, ...waiting].flat()));
    }
    const prepared = batch.map((record) => prepareRecord(record, model));
    const isLast = waiting.length === 0;
    const work = async (transaction: WriteTransaction): Promise<WriteReport> => {
      await begin?.(transaction);
      const written = await write(transaction, resource, prepared);
      if (isLast) await finish?.(transaction, addReports(report, written));
      return written;
    };
    const attempt = await writer.attempt(model, work, source ?? null);
    switch (attempt.kind) {
      case 'done':
        report = addReports(report, attempt.result);
        tries = 0;
        speedUp(writer);
        break;
      case 'outdated':
        model = await writer.readModel();
        waiting.unshift(batch);
        break;
      case 'too-long':
        slowDown(
          writer,
          batch.reduce((sum, record) => sum + weightOf(record), 0),
        );
        waiting.unshift(...smaller(batch, ++tries, ({ key }) => `store the record ${key} with its children`));
        break;
    }
  }
  return { report, model };
}

/** Deletes any number of records in transactions of bounded size. */
export async function removeInBatches(
  writer: BatchWriter,
  current: StoreModel,
  resource: string,
  keys: readonly string[],
  { begin }: Pick<BatchOptions, 'begin'> = {},
): Promise<Written> {
  let model = current;
  let report: WriteReport = emptyTally('');
  const waiting: string[][] = [];
  for (let at = 0; at < keys.length; at += LARGEST_BATCH) waiting.push(keys.slice(at, at + LARGEST_BATCH));
  let tries = 0;
  for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
    const now = batch;
    const attempt = await writer.attempt(model, async (transaction) => {
      await begin?.(transaction);
      return deleteRecords(transaction, resource, now);
    });
    switch (attempt.kind) {
      case 'done':
        report = addReports(report, attempt.result);
        tries = 0;
        break;
      case 'outdated':
        model = await writer.readModel();
        waiting.unshift(batch);
        break;
      case 'too-long':
        waiting.unshift(...smaller(batch, ++tries, (key) => `delete the record ${key} with its children`));
        break;
    }
  }
  return { report, model };
}

function write(
  transaction: WriteTransaction,
  resource: string,
  batch: readonly PreparedRecord[],
): Promise<WriteReport> {
  if (batch.length === 0) return Promise.resolve(emptyTally(transaction.stamp));
  const isPart = transaction.model.resource(resource).parent !== undefined;
  return isPart ? writeChildren(transaction, resource, batch) : writeRecords(transaction, resource, batch);
}

const weightOf = ({ children }: ParsedRecord): number =>
  1 + [...children.values()].reduce((sum, members) => sum + members.length, 0);

function split(records: readonly ParsedRecord[], largestWeight: number): ParsedRecord[][] {
  const batches: ParsedRecord[][] = [];
  let batch: ParsedRecord[] = [];
  let weight = 0;
  for (const record of records) {
    if (batch.length >= LARGEST_BATCH || weight >= largestWeight) {
      batches.push(batch);
      batch = [];
      weight = 0;
    }
    batch.push(record);
    weight += weightOf(record);
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

function smaller<T>(batch: readonly T[], tries: number, task: (only: T) => string): T[][] {
  const [first] = batch;
  if (batch.length < 2 && first !== undefined) {
    if (tries < TRIES) return [[first]];
    throw platError('failed', { reason: `To ${task(first)} takes longer than a transaction may.` });
  }
  const middle = batch.length >> 1;
  return [batch.slice(0, middle), batch.slice(middle)];
}

/** Fields that carry a value here for the first time. */
function unknownFields(model: StoreModel, batch: readonly ParsedRecord[]): Field[] {
  const found = new Set<Field>();
  const look = ({ resource, values, children }: ParsedRecord): void => {
    const known = model.profile.since.get(resource.name);
    const lookAt = (name: string): void => {
      const field = known?.has(name) ? undefined : resource.fields.get(name);
      if (field !== undefined && isStored(field, model.settings)) found.add(field);
    };
    lookAt('ModificationTimestamp');
    Object.keys(values).forEach(lookAt);
    for (const records of children.values()) records.forEach(look);
  };
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
