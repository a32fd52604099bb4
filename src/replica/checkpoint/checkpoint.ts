/**
 * The checkpoint of one source's copy: its progress and its quarantine. A commit changes it in the same transaction as the records,
 * and its states change only as the tables in machine/ allow. This module does not know how pages are read.
 */
import type { Dictionary } from '../../dictionary/index.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';
import { type RecordName, recordName } from '../../records/record-name.ts';
import { PromiseQueue } from '../../shared/promise-queue.ts';
import type {
  ChangeSource,
  CheckpointChange,
  Fits,
  Keys,
  Lease,
  QuarantineEntry,
} from '../../store/checkpoint/checkpoints.ts';
import type { Store } from '../../store/store.ts';
import type { WriteReport } from '../../store/write/report.ts';
import { pendingReason, type Subject, subjectOf } from '../copy/quarantine-entry.ts';
import {
  advance,
  advanceSweep,
  type LoadEvent,
  type LoadState,
  type SweepEvent,
  type SweepState,
} from '../machine/states.ts';
import {
  type Notes,
  readNote,
  readNoteIfValid,
  type Schedule,
  unreadableNotes,
  type Witness,
} from './notes.ts';
import { afterLoad, afterSweep, type WorkLog } from './work-log.ts';

/** A change of the copy: records, pending fetches, quarantine entries, and events for the states. */
export interface CopyChange extends Omit<CheckpointChange, 'lease' | 'state' | 'ignoresHashes'> {
  readonly load?: { readonly resource: string; readonly event: LoadEvent };
  readonly sweep?: { readonly collection: string; readonly event: SweepEvent };
  readonly witnesses?: { readonly resource: string; readonly newest: readonly Witness[] };
  readonly state?: { readonly [N in keyof Notes]?: Notes[N] };
}

export interface QuarantinedRecord extends RecordName {
  /** The source record that the entry concerns. */
  readonly subject: Subject;
  /** The reason of the request if the source could not return the data; undefined for received data that could not be stored. */
  readonly pending: string | undefined;
}

/** Commits a change. No other commit of this process can run in between. */
type Commit = (change: CopyChange) => Promise<WriteReport>;

/** As in `ChangeSource`, but returns what makes a change. */
type NextChange = (fits: Fits, awaited: Promise<void>) => Promise<(() => CopyChange) | undefined>;

interface CheckpointOptions {
  readonly store: Store;
  readonly source: string;
  /** The lease, which every commit renews. Absent for a reader. */
  readonly lease?: () => Lease;
}

export class Checkpoint {
  readonly #options: CheckpointOptions;
  #notes: Readonly<Record<string, unknown>>;
  #quarantined: Map<string, QuarantinedRecord>;
  readonly #commits = new PromiseQueue();
  readonly #resources = new Map<string, PromiseQueue>();
  #reads = 0;

  private constructor(
    options: CheckpointOptions,
    notes: Readonly<Record<string, unknown>>,
    quarantined: Map<string, QuarantinedRecord>,
  ) {
    this.#options = options;
    this.#notes = notes;
    this.#quarantined = quarantined;
  }

  static async open(options: CheckpointOptions): Promise<Checkpoint> {
    const { checkpoints } = options.store;
    const { dictionary } = await options.store.model();
    const entries = await checkpoints.quarantined(options.source);
    const quarantined = entries.map(
      (entry) => [recordName(entry), toQuarantinedRecord(dictionary, entry)] as const,
    );
    return new Checkpoint(options, await checkpoints.state(options.source), new Map(quarantined));
  }

  /** Whether the quarantine has entries. */
  get hasQuarantined(): boolean {
    return this.#quarantined.size > 0;
  }

  /** Whether the quarantine has an entry with this resource and key. */
  isQuarantined(resource: string, key: string): boolean {
    return this.#quarantined.has(recordName({ resource, key }));
  }

  findQuarantined(resource: string, key: string): QuarantinedRecord | undefined {
    return this.#quarantined.get(recordName({ resource, key }));
  }

  /** The entries of the quarantine that concern certain records. */
  quarantined(isWanted: (subject: Subject) => boolean): readonly QuarantinedRecord[] {
    return [...this.#quarantined.values()].filter(({ subject }) => isWanted(subject));
  }

  load(resource: string): LoadState {
    return readNote(this.#notes, `load ${resource}`) ?? { kind: 'new' };
  }

  sweep(collection: string): SweepState {
    return readNote(this.#notes, `sweep ${collection}`) ?? { kind: 'idle', sweep: 0 };
  }

  witnesses(resource: string): readonly Witness[] {
    return readNote(this.#notes, `witnesses ${resource}`) ?? [];
  }

  /** Keys of records that the source has returned. */
  knownKeys(resource: string): readonly string[] {
    return this.witnesses(resource).map(({ key }) => key);
  }

  get<N extends keyof Notes>(name: N): Notes[N] | undefined {
    return readNote(this.#notes, name);
  }

  commit(change: CopyChange): Promise<WriteReport> {
    return this.runExclusively((commit) => commit(change));
  }

  /** Runs work that no other commit of this process may interrupt. */
  runExclusively<T>(work: (commit: Commit) => Promise<T>): Promise<T> {
    return this.#commits.run(() => work((change) => this.#commit(change)));
  }

  /**
   * Commits changes in one transaction, while it has room and no other commit of this process waits.
   * @returns the records of each change that the store rejected
   * @throws ChangesRolledBack
   */
  commitTogether(next: NextChange): Promise<readonly WriteReport['rejected'][]> {
    return this.#commits.run(() => this.#commitTogether(next));
  }

  /**
   * Runs work that changes the progress of a resource. Calls for one resource run one after the other: otherwise, a page of a walk
   * that began before a refresh could be mistaken for a page of the new walk.
   */
  fetchInTurn<T>(resource: string, work: () => Promise<T>): Promise<T> {
    return this.applyInTurn(resource, () => work().finally(() => this.countRead()));
  }

  /**
   * Like `fetchInTurn`, for work that stores data received earlier. The work itself calls `countRead` if it has requested anything.
   */
  applyInTurn<T>(resource: string, work: () => Promise<T>): Promise<T> {
    return this.#resources.getOrInsertComputed(resource, () => new PromiseQueue()).run(work);
  }

  /**
   * Counts how often requested data has been stored. Data that was requested at a lower count may be older than the data that is
   * stored now.
   */
  get reads(): number {
    return this.#reads;
  }

  countRead(): void {
    this.#reads++;
  }

  /** Stores when the last completed run of a step began. */
  async recordStepDone(step: keyof Schedule, begun: number): Promise<void> {
    await this.runExclusively((commit) =>
      commit({ state: { schedule: { ...this.get('schedule'), [step]: begun } } }),
    );
  }

  /** Makes the next purge due now, by removing the times of the last purge and of the last download. */
  async requestPurge(): Promise<void> {
    await this.runExclusively((commit) => {
      const { purge: _, downloaded: __, ...schedule } = this.get('schedule') ?? {};
      return commit({ state: { schedule } });
    });
  }

  async #commit(change: CopyChange): Promise<WriteReport> {
    const { store, source, lease } = this.#options;
    const held = lease?.();
    const stored = this.#storedForm(change, held);
    const report = await store.checkpoints.commit(source, { ...stored, lease: held });
    await this.#apply(outcomeOf(stored, report));
    return report;
  }

  async #commitTogether(next: NextChange): Promise<readonly WriteReport['rejected'][]> {
    const { store, source, lease } = this.#options;
    const held = lease?.();
    const [notes, quarantined] = [this.#notes, new Map(this.#quarantined)];
    const rejected: WriteReport['rejected'][] = [];
    let writing: CheckpointChange = {};
    let last: Outcome | undefined;
    const changes: ChangeSource = {
      next: async (fits, awaited) => {
        // The model, which a quarantined record needs, may be unavailable until the transaction ends.
        if (last !== undefined && (last.entries.length > 0 || this.#commits.isAwaited)) return undefined;
        const make = await next(fits, Promise.race([awaited, this.#commits.awaited]));
        if (make === undefined) return undefined;
        // The next change begins where this one ends.
        if (last !== undefined) await this.#apply(last);
        writing = this.#storedForm(make(), held);
        return writing;
      },
      written: (report) => {
        rejected.push(report.rejected);
        last = outcomeOf(writing, report);
        writing = {};
      },
    };
    try {
      await store.checkpoints.commitTogether(source, held, changes);
      if (last !== undefined) await this.#apply(last);
      return rejected;
    } catch (error) {
      this.#notes = notes;
      this.#quarantined = quarantined;
      throw error;
    }
  }

  /** A change as the store takes it. */
  #storedForm(
    { load, sweep, witnesses, state, ...change }: CopyChange,
    held: Lease | undefined,
  ): CheckpointChange {
    const next: Record<string, unknown> = { ...state };
    const log = (collection: string, after: (log: WorkLog, now: number) => WorkLog): void => {
      const name = `log ${collection}` as const;
      const before = readNoteIfValid({ ...this.#notes, ...next }, name) ?? [];
      const now = held === undefined ? before : after(before, held.now);
      if (now !== before) next[name] = now;
    };
    if (load !== undefined) {
      const before = this.load(load.resource);
      next[`load ${load.resource}`] = advance(before, load.event);
      log(load.resource, (entries, now) => afterLoad(entries, before, load.event, now));
    }
    if (sweep !== undefined) {
      const before = this.sweep(sweep.collection);
      next[`sweep ${sweep.collection}`] = advanceSweep(before, sweep.event);
      const { remove } = change;
      log(sweep.collection, (entries, now) => afterSweep(entries, before, sweep.event, { now, remove }));
    }
    if (witnesses !== undefined) next[`witnesses ${witnesses.resource}`] = witnesses.newest;
    const isDoubted = change.records !== undefined && (this.get('doubted') ?? []).length > 0;
    return { ...change, ...(isDoubted ? { ignoresHashes: true } : {}), state: next };
  }

  async #apply({ state, release, entries }: Outcome): Promise<void> {
    this.#notes = { ...this.#notes, ...state };
    for (const { resource, keys } of release) {
      for (const key of keys) this.#quarantined.delete(recordName({ resource, key }));
    }
    if (entries.length === 0) return;
    const { dictionary } = await this.#options.store.model();
    for (const entry of entries)
      this.#quarantined.set(recordName(entry), toQuarantinedRecord(dictionary, entry));
  }
}

/** What a stored change does to the checkpoint of this process. */
interface Outcome {
  readonly state: Readonly<Record<string, unknown>>;
  readonly release: readonly Keys[];
  /** The new entries of the quarantine. */
  readonly entries: readonly QuarantineEntry[];
}

const outcomeOf = (change: CheckpointChange, report: WriteReport): Outcome => ({
  state: change.state ?? {},
  release: change.release ?? [],
  entries: [...(change.quarantine ?? []), ...rejectedOf(change, report)],
});

const toQuarantinedRecord = (dictionary: Dictionary, entry: QuarantineEntry): QuarantinedRecord => {
  const { resource, key } = entry;
  return { resource, key, subject: subjectOf(dictionary, entry), pending: pendingReason(entry) };
};

/** The records that the store rejected, as quarantine entries. */
function rejectedOf(
  { records = [] }: CheckpointChange,
  { rejected }: WriteReport,
): readonly QuarantineEntry[] {
  if (rejected.length === 0) return [];
  const payloads = new Map<string, string>();
  const names = new Set(rejected.map(recordName));
  const note = ({ resource, key, values, children }: ParsedRecord): void => {
    const name = recordName({ resource: resource.name, key });
    if (names.has(name)) payloads.set(name, JSON.stringify(values));
    for (const nested of children.values()) nested.forEach(note);
  };
  for (const group of records) group.records.forEach(note);
  return rejected.map((each) => ({ payload: payloads.get(recordName(each)) ?? 'null', ...each }));
}

/** When a periodic step is due: now, if it is unknown when it was last done, or if that time is in the future. */
export function dueAt(last: number | undefined, every: number, now: number): number {
  return last === undefined || last > now ? now : last + every;
}

/** The sources of a replica, without the usage of tokens. */
export async function replicaSources(store: Store): Promise<readonly string[]> {
  return (await store.checkpoints.sources()).filter((name) => !name.includes(':'));
}

/** Larger than the number of any sweep. */
const ANY_SWEEP = 2_147_483_647;

/** Deletes the marks of the sweeps before a given one; by default, all marks. */
export async function deleteMarks(
  { checkpoints }: Pick<Store, 'checkpoints'>,
  source: string,
  resource: string,
  before = ANY_SWEEP,
): Promise<void> {
  while ((await checkpoints.deleteMarks(source, resource, before)) > 0);
}

/** The number of keys per read of a walk over stored records. */
const STORED_KEYS = 1000;

/** The keys of all records that are stored from a source, in ascending order, in groups. */
export async function* storedKeys(
  { name, store }: { readonly name: string; readonly store: Store },
  resource: string,
  { after = '', size = STORED_KEYS }: { readonly after?: string; readonly size?: number } = {},
): AsyncGenerator<readonly string[]> {
  for (let from = after; ; ) {
    const keys = await store.checkpoints.storedKeys(name, resource, from, size);
    const last = keys.at(-1);
    if (last === undefined) return;
    yield keys;
    from = last;
  }
}

/** Deletes the unreadable notes on a source. */
export async function deleteUnreadableNotes(store: Store, source: string, lease: () => Lease): Promise<void> {
  const names = [...unreadableNotes(await store.checkpoints.state(source)).keys()];
  if (names.length === 0) return;
  for (const name of names) {
    const [word, collection = ''] = name.split(' ');
    // Sweeps are numbered from the start, and a mark with a later number would keep a deleted record.
    if (word === 'sweep') await deleteMarks(store, source, collection);
  }
  const state = Object.fromEntries(names.map((name) => [name, null]));
  await store.checkpoints.commit(source, { lease: lease(), state });
}

/** A sentence for each unreadable note on any source. */
export async function describeUnreadableNotes(store: Store): Promise<readonly string[]> {
  const found: string[] = [];
  for (const source of await replicaSources(store)) {
    const notes = unreadableNotes(await store.checkpoints.state(source));
    for (const words of notes.values()) found.push(`${source}: ${words}`);
  }
  return found;
}
