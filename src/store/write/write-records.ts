/**
 * Writes a batch of records with the children that they contain: compares them with the stored ones, and writes what differs. Which
 * statements this takes is known only to the transaction.
 */
import { textOrNull } from '../../compile/column-value.ts';
import { changeTimestampOf, type FieldValues, type Navigation } from '../../dictionary/index.ts';
import { COUNTED_RESOURCE } from '../../records/media.ts';
import { type ParsedRecord, readValue } from '../../records/parsed-record.ts';
import { recordName } from '../../records/record-name.ts';
import type { RowToPut, RowToRestamp, StoredRow } from '../../records/rows.ts';
import { type ChildChange, FIELDS_WITH_TIMESTAMPS } from '../../records/timestamps.ts';
import { adoptOrphans, findOrphans } from './adopt.ts';
import { removeWithChildren } from './delete-records.ts';
import {
  type Claims,
  claimsOf,
  ownershipConflict,
  parentOfRow,
  systemConflict,
  takenChild,
} from './ownership.ts';
import { derivedCounts, type PreparedRecord } from './prepare.ts';
import { addReports, emptyTally, type TakenChild, type Tally, type WriteReport } from './report.ts';
import {
  type ChildCounts,
  compareCounts,
  countsAfterBatch,
  mergeTouchedParents,
  restampCounted,
  restampParents,
  type TouchedParent,
  touchedBy,
} from './restamp-parents.ts';
import {
  ownTimestamps,
  putWithTimestamps,
  type RowWithoutTimestamps,
  type WriteTransaction,
} from './transaction.ts';
import { hashUnderSystem, placeChild } from './write-children.ts';

/** The changes of the batch to one child resource. */
interface ChildBatch {
  /** By key: if two records contain the same child, the later record keeps it. */
  readonly put: Map<string, RowWithoutTimestamps>;
  readonly remove: StoredRow[];
  /** Children that two records contain, by key; if their takers are rejected, by key and taker. */
  readonly taken: Map<string, TakenChild>;
}

const newBatch = (): ChildBatch => ({ put: new Map(), remove: [], taken: new Map() });

/** The changes of the batch to one record and its children. */
interface Outcome {
  readonly prepared: PreparedRecord;
  readonly stored: StoredRow | undefined;
  readonly changes: Set<ChildChange>;
}

/** The records of a batch that contain a child of another record, by key, each with such a child. */
type Takers = Map<string, TakenChild>;

/**
 * Stores records of one resource without a parent, with the children that they contain, in one transaction. Parents are written
 * before children, because the visibility of a child may depend on that of its parent.
 * @param batch contains each key at most once
 * @param rejectsTaken whether records of an authority are rejected that contain a child of another record
 */
export async function writeRecords(
  transaction: WriteTransaction,
  resource: string,
  batch: readonly PreparedRecord[],
  rejectsTaken = false,
): Promise<WriteReport> {
  const takers: Takers = new Map();
  let report: WriteReport = emptyTally(transaction.timestamps.moment);
  // A record that was rejected because of its child is written again if the other record does not have the child either: that one may
  // have been rejected itself, or be without the child now. This ends when no record is stored, and no reason found, any more.
  for (let waiting = batch, fewest = batch.length + 1; waiting.length > 0 && waiting.length < fewest; ) {
    const before = waiting.length;
    for (const { record } of waiting) takers.delete(record.key);
    const [written, rejected] = await writeWithoutTakers(transaction, resource, waiting, rejectsTaken);
    report = addReports(report, written);
    for (const [key, taken] of rejected) takers.set(key, taken);
    fewest = rejected.size < before ? batch.length + 1 : before;
    const wrong = await keysOfWrongReasons(transaction, takers);
    waiting = batch.filter(({ record }) => wrong.has(record.key));
  }
  const rejections = [...takers].map(([key, { resource: target, key: child, by }]) => {
    const reason = `${target} ${child} is under ${by.resource} ${by.key}, and a record has one parent`;
    return { resource, key, reason };
  });
  return { ...report, rejected: [...report.rejected, ...rejections] };
}

/** The keys of the records whose child is not, or no longer, under the record that the reason names. */
async function keysOfWrongReasons(transaction: WriteTransaction, takers: Takers): Promise<Set<string>> {
  const wrong = new Set<string>();
  for (const [target, group] of Map.groupBy(takers, ([, { resource }]) => resource)) {
    const found = await transaction.find(target, [...new Set(group.map(([, { key }]) => key))]);
    for (const [taker, { key, by }] of group) {
      const parent = parentOfRow(found.get(key));
      if (parent === undefined || recordName(parent) !== recordName(by)) wrong.add(taker);
    }
  }
  return wrong;
}

/** Stores the records of a batch without those that contain a child of another record, if these are to be rejected. */
async function writeWithoutTakers(
  transaction: WriteTransaction,
  resource: string,
  batch: readonly PreparedRecord[],
  rejectsTaken: boolean,
): Promise<readonly [WriteReport, Takers]> {
  const tally = emptyTally(transaction.timestamps.moment);
  const found = await transaction.find(
    resource,
    batch.map(({ record }) => record.key),
  );
  const outcomes: Outcome[] = [];
  for (const prepared of batch) {
    const { key } = prepared.record;
    const stored = found.get(key);
    const conflict = ownershipConflict(
      transaction,
      stored,
      readValue(prepared.record, 'OriginatingSystemID'),
    );
    if (prepared.record.onlyChildren && stored === undefined) continue; // it was deleted in the meantime
    if (conflict === undefined) outcomes.push({ prepared, stored, changes: new Set() });
    else tally.rejected.push({ resource, key, reason: conflict });
  }
  const replaced: StoredChildren = new Map();
  const children = await compareChildren(transaction, outcomes, tally, { replaced, rejectsTaken });
  if (rejectsTaken && tally.taken.length > 0) {
    const takers = certainTakers(tally.taken);
    const others = batch.filter(({ record }) => !takers.has(record.key));
    const [report, further] = await writeWithoutTakers(transaction, resource, others, rejectsTaken);
    return [report, new Map([...takers, ...further])];
  }
  await addOrphans(transaction, resource, outcomes, children);
  const holders = outcomes.map(({ prepared: { record }, stored }) => {
    return { key: record.key, isNew: stored === undefined, replaced: replaced.get(record.key) };
  });
  const counts = countsAfterBatch(transaction, resource, holders, children.get(COUNTED_RESOURCE));
  await putParents(transaction, resource, outcomes, counts, tally);
  await storeChildren(transaction, children, tally);
  await storeGrandchildren(transaction, outcomes, tally);
  if (rejectsTaken || transaction.model.settings.owner === 'replica')
    tally.rejected.push(...tally.taken.splice(0));
  tally.stamp = transaction.timestamps.newest;
  return [tally, new Map()];
}

/**
 * The records to be rejected first because they contain a child of another one, by key, each with such a child: those whose child
 * remains under the other one. A record whose child would be under a record that is rejected itself may be valid without that one.
 */
function certainTakers(taken: readonly TakenChild[]): Takers {
  const takers = new Set(taken.map(({ taker }) => taker.key));
  const certain = taken.filter(({ by, wasStored }) => wasStored || !takers.has(by.key));
  return new Map((certain.length > 0 ? certain : taken.slice(0, 1)).map((each) => [each.taker.key, each]));
}

/** Stores children again that were waiting for these records, or that change their originating system with them. */
async function addOrphans(
  transaction: WriteTransaction,
  resource: string,
  outcomes: readonly Outcome[],
  batches: Map<string, ChildBatch>,
): Promise<void> {
  const parents = new Map(
    outcomes.filter(mustRewriteChildren).map((outcome) => [outcome.prepared.record.key, outcome]),
  );
  const found = await findOrphans(
    transaction,
    resource,
    [...parents].map(([key, { prepared }]) => ({ key, system: systemOf(prepared) })),
    (navigation, key) => parents.get(key)?.prepared.children.has(navigation) ?? false,
  );
  for (const [target, rows] of found) {
    const batch = batches.getOrInsert(target, newBatch());
    for (const orphan of rows) {
      const { row } = orphan;
      if (batch.put.has(row.key)) continue; // another record of the batch takes the child
      batch.put.set(row.key, orphan);
      parents.get(row.parent ?? '')?.changes.add(changeTimestampOf(target, row.kind));
    }
  }
}

async function storeChildren(
  transaction: WriteTransaction,
  batches: ReadonlyMap<string, ChildBatch>,
  tally: Tally,
): Promise<void> {
  const formerParents: TouchedParent[] = [];
  for (const [resource, { put, remove }] of batches) {
    // A child that moves to another record of the batch is not deleted.
    const gone = remove.filter(({ key }) => !put.has(key));
    await removeWithChildren(transaction, resource, gone, tally);
    tally.children.deleted += gone.length;
    const rows = await putWithTimestamps(transaction, resource, [...put.values()]);
    for (const row of rows) for (const each of formerParent(resource, row)) formerParents.push(each);
    tally.children.stored += rows.length;
    await adoptOrphans(transaction, resource, rows, tally);
  }
  await restampParents(transaction, mergeTouchedParents(formerParents), tally);
}

/** Children may contain children of their own, such as the media of an open house. */
async function storeGrandchildren(
  transaction: WriteTransaction,
  parents: readonly Outcome[],
  tally: Tally,
): Promise<void> {
  const holders = parents
    .flatMap(({ prepared }) => [...prepared.children.values()].flat())
    .filter(({ children }) => children.size > 0);
  for (const [resource, given] of Map.groupBy(holders, ({ record }) => record.resource.name)) {
    // If two records contain the same child, the later one keeps it.
    const group = [...new Map(given.map((prepared) => [prepared.record.key, prepared])).values()];
    const found = await transaction.find(
      resource,
      group.map(({ record }) => record.key),
    );
    const outcomes = group.map((prepared) => ({
      prepared,
      stored: found.get(prepared.record.key),
      changes: new Set<ChildChange>(),
    }));
    await storeChildren(transaction, await compareChildren(transaction, outcomes, tally), tally);
    const changed = outcomes.filter(({ changes }) => changes.size > 0);
    await restampParents(
      transaction,
      changed.map(({ prepared, changes }) => ({ resource, key: prepared.record.key, changes })),
      tally,
    );
    await storeGrandchildren(transaction, outcomes, tally);
  }
}

/** Whether readers see the children of a record under it for the first time, or its children change their originating system. */
const mustRewriteChildren = ({ prepared, stored }: Outcome): boolean =>
  stored === undefined ||
  (stored.parent === null && !prepared.record.onlyChildren && stored.system !== systemOf(prepared));

const systemOf = ({ record }: PreparedRecord): string | null =>
  textOrNull(readValue(record, 'OriginatingSystemID'));

/** The originating system of a record's children. The children of a part of another record are in the system of that record. */
const systemOfChildren = ({ prepared, stored }: Outcome): string | null | undefined =>
  prepared.record.resource.parent === undefined && !prepared.record.onlyChildren
    ? systemOf(prepared)
    : stored?.system;

function navigationsOf(outcomes: readonly Outcome[]): Navigation[] {
  const navigations = new Map<string, Navigation>();
  for (const { prepared } of outcomes) {
    for (const name of prepared.children.keys()) {
      const navigation = prepared.record.resource.navigations.get(name);
      if (navigation !== undefined) navigations.set(name, navigation);
    }
  }
  return [...navigations.values()];
}

/** Stored media by the keys of the records that replace them. */
type StoredChildren = Map<string, readonly StoredRow[]>;

/**
 * Finds which children are new, changed, deleted or unchanged, and what that means for their parents.
 * @param replaced receives the stored media of records that contain media
 */
async function compareChildren(
  transaction: WriteTransaction,
  outcomes: readonly Outcome[],
  tally: Tally,
  {
    replaced = new Map(),
    rejectsTaken = false,
  }: { readonly replaced?: StoredChildren; readonly rejectsTaken?: boolean } = {},
): Promise<Map<string, ChildBatch>> {
  const batches = new Map<string, ChildBatch>();
  for (const { name, target, resource } of navigationsOf(outcomes)) {
    const holders = outcomes.filter(({ prepared }) => prepared.children.has(name));
    const stored = await transaction.children(
      target,
      resource,
      holders.map(({ prepared }) => prepared.record.key),
    );
    const unknown = newOrMovedKeys(holders, name, stored);
    const elsewhere = await transaction.find(target, unknown);
    const areShared = new Set(unknown).size < unknown.length;
    const claims = await claimsOf(
      transaction,
      holders.map(({ prepared }) => prepared),
      name,
      {
        stored: elsewhere.values(),
        ...{ areShared, rejectsTaken },
      },
    );
    const batch = batches.getOrInsert(target, newBatch());
    for (const holder of holders) {
      const { key } = holder.prepared.record;
      if (target === COUNTED_RESOURCE) replaced.set(key, stored.get(key) ?? []);
      compareChildrenOf(transaction, holder, name, { stored, elsewhere, claims }, batch, tally);
    }
  }
  for (const { taken } of batches.values()) tally.taken.push(...taken.values());
  return batches;
}

/** Keys of given children that are not stored under their parent: they are new, or belonged to another record. */
function newOrMovedKeys(
  holders: readonly Outcome[],
  navigation: string,
  stored: ReadonlyMap<string, readonly StoredRow[]>,
): string[] {
  return holders.flatMap(({ prepared }) => {
    const known = new Set(stored.get(prepared.record.key)?.map((row) => row.key));
    const given = prepared.children.get(navigation) ?? [];
    return given.map(({ record }) => record.key).filter((key) => !known.has(key));
  });
}

/** What the store knows of the children of records that are being written. */
interface KnownChildren {
  /** Stored children, by the key of their parent. */
  readonly stored: ReadonlyMap<string, readonly StoredRow[]>;
  /** Children that are stored under another record. */
  readonly elsewhere: ReadonlyMap<string, StoredRow>;
  readonly claims: Claims;
}

function compareChildrenOf(
  transaction: WriteTransaction,
  holder: Outcome,
  navigation: string,
  { stored, elsewhere, claims }: KnownChildren,
  batch: ChildBatch,
  tally: Tally,
): void {
  const { prepared, changes } = holder;
  const { key, resource } = prepared.record;
  const before = new Map((stored.get(key) ?? []).map((row) => [row.key, row]));
  const system = systemOfChildren(holder);
  const { owner } = transaction.model.settings;
  for (const child of prepared.children.get(navigation) ?? []) {
    const target = child.record.resource;
    const row = before.get(child.record.key);
    before.delete(child.record.key);
    const inBatch = batch.put.get(child.record.key)?.row;
    const other = parentOfRow(inBatch);
    const isSame =
      row !== undefined && row.hash === hashUnderSystem(child, system, owner) && !mustRewriteChildren(holder);
    if (isSame && other === undefined) {
      tally.children.unchanged++;
      continue;
    }
    const previous = row ?? elsewhere.get(child.record.key);
    const parent = { resource: resource.name, key };
    const foreign = systemConflict(transaction, inBatch?.system, system);
    const placed =
      foreign === undefined
        ? placeChild(transaction, child, parent, system, previous, system)
        : { reason: foreign };
    if ('reason' in placed) {
      tally.rejected.push({ resource: target.name, key: child.record.key, ...placed });
      continue;
    }
    const rival = other ?? parentOfRow(previous);
    if (
      rival !== undefined &&
      recordName(rival) !== recordName(parent) &&
      !claims.hasLeft(rival, child.record.key)
    ) {
      const keeps = claims.keeps(parent, rival);
      const [from, by] = keeps ? [rival, parent] : [parent, rival];
      const taker = row === undefined ? parent : rival;
      const former = parentOfRow(previous);
      const wasStored = former !== undefined && recordName(former) === recordName(rival);
      const name = claims.rejectsTaken ? `${child.record.key}\u0000${key}` : child.record.key;
      batch.taken.set(name, takenChild(child.record, { from, by, taker, wasStored }));
      if (!keeps) continue;
    }
    const unstamped = { row: placed, before: previous?.values, after: child.record.values };
    batch.put.set(child.record.key, unstamped);
    changes.add(changeTimestampOf(target.name, child.kind));
    if (row !== undefined) changes.add(changeTimestampOf(target.name, row.kind));
  }
  for (const gone of before.values()) {
    const target = resource.navigations.get(navigation)?.target ?? '';
    batch.remove.push(gone);
    changes.add(changeTimestampOf(target, gone.kind));
  }
}

async function putParents(
  transaction: WriteTransaction,
  resource: string,
  outcomes: readonly Outcome[],
  counts: ReadonlyMap<string, ChildCounts>,
  tally: Tally,
): Promise<void> {
  const put: RowToPut[] = [];
  const restamp: RowToRestamp[] = [];
  const recounted: RowToRestamp[] = [];
  const { model } = transaction;
  const counted = derivedCounts(model, resource);
  const compared = new Map(
    outcomes.map((outcome) => {
      const { prepared, stored } = outcome;
      return [
        outcome,
        compareCounts(model, counted, prepared, stored, counts.get(prepared.record.key)),
      ] as const;
    }),
  );
  const isChanged = (outcome: Outcome): boolean => {
    const { stored, changes, prepared } = outcome;
    const content = compared.get(outcome);
    if (content?.isSame !== true && !prepared.record.onlyChildren) return true;
    return stored !== undefined && (changes.size > 0 || content?.moved !== undefined);
  };
  const changed = outcomes.filter(isChanged);
  const stampOf = transaction.timestamps.forRecords(
    resource,
    changed.map(({ prepared }) => prepared.record.key),
    changed.every(({ stored }) => stored === undefined),
  );
  for (const [outcome, content] of compared) {
    const { prepared, stored, changes } = outcome;
    const { record, kind } = prepared;
    const { fields } = record.resource;
    if (!isChanged(outcome)) {
      if (stored !== undefined) tally.unchanged++;
      continue;
    }
    const stamp = stampOf(record.key);
    if ((content.isSame || record.onlyChildren) && stored !== undefined) {
      const stamps = ownTimestamps(transaction, stamp, fields, stored.values, undefined, changes);
      if (content.moved !== undefined) recounted.push({ stored, derived: { ...content.moved, ...stamps } });
      else restamp.push({ stored, derived: stamps });
      tally.restamped++;
      continue;
    }
    const stamps = ownTimestamps(
      transaction,
      stamp,
      fields,
      stored?.values,
      valuesWithTimestamps(record),
      changes,
    );
    const { key } = record;
    const system = systemOf(prepared);
    const values = record.listed ?? record.values;
    const derived = { ...content.counts, ...stamps };
    const { hash } = content;
    const fixedTexts =
      record.prepared?.generation === model.generation ? record.prepared.fixedTexts : undefined;
    const place = { parent: null, parentResource: null, system, kind };
    put.push({ ...place, key, stored, hash, values, derived, fixedTexts });
    if (stored === undefined) tally.inserted++;
    else tally.changed++;
  }
  await transaction.put(resource, put);
  await transaction.restamp(resource, restamp);
  await restampCounted(transaction, resource, recounted);
}

/** A child that moves from another record also changes that record. */
function formerParent(childResource: string, { stored, parent, parentResource }: RowToPut): TouchedParent[] {
  if (stored === undefined) return [];
  const stays = stored.parent === parent && stored.parentResource === parentResource;
  return stays ? [] : touchedBy(childResource, stored);
}

/** The values that decide which timestamps move. */
const valuesWithTimestamps = (record: ParsedRecord): FieldValues =>
  record.listed === undefined
    ? record.values
    : Object.fromEntries(
        FIELDS_WITH_TIMESTAMPS.flatMap((name) => {
          const value = readValue(record, name);
          return value === undefined ? [] : [[name, value]];
        }),
      );
