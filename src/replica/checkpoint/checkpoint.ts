import type { Dictionary } from '../../dictionary/index.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';
import type { Lease, LedgerChange, QuarantineEntry } from '../../store/ledger.ts';
import type { Store } from '../../store/store.ts';
import type { WriteReport } from '../../store/write/report.ts';
import { reasonWanted, type Subject, subjectOf } from '../copy/subject.ts';
import { advance, type LoadEvent, type LoadState } from '../machine/load.ts';
import { advanceSweep, type SweepEvent, type SweepState } from '../machine/sweep.ts';
import { readState, type StateShapes, type Witness } from './notes.ts';

/** A change of the copy: records, the account of them, and what happened to the states. */
export interface BookChange extends Omit<LedgerChange, 'lease' | 'state' | 'anew'> {
  readonly load?: { readonly resource: string; readonly event: LoadEvent };
  readonly sweep?: { readonly collection: string; readonly event: SweepEvent };
  readonly witnesses?: { readonly resource: string; readonly newest: readonly Witness[] };
  readonly state?: { readonly [N in keyof StateShapes]?: StateShapes[N] };
}

/** What is in the quarantine, and the record of the source that it is of. */
export interface Kept {
  readonly resource: string;
  readonly key: string;
  readonly subject: Subject;
  /** What the source was asked for and could not give; undefined for what came and could not be stored. */
  readonly wanted: string | undefined;
}

/** Commits, one after the other, with nothing in between. */
export type Commit = (change: BookChange) => Promise<WriteReport>;

export interface BookOptions {
  readonly store: Store;
  readonly source: string;
  /** The lease from now on; every commit renews it. Absent for one who only reads. */
  readonly lease?: () => Lease;
}

/**
 * The account of one source's copy. States change only with a commit, in its transaction, and by the tables of the
 * machine.
 */
export class Book {
  readonly #options: BookOptions;
  #state: Readonly<Record<string, unknown>>;
  readonly #quarantined: Map<string, Kept>;
  #last: Promise<unknown> = Promise.resolve();
  readonly #turns = new Map<string, Promise<unknown>>();

  private constructor(
    options: BookOptions,
    state: Readonly<Record<string, unknown>>,
    quarantined: Map<string, Kept>,
  ) {
    this.#options = options;
    this.#state = state;
    this.#quarantined = quarantined;
  }

  static async open(options: BookOptions): Promise<Book> {
    const { ledger } = options.store;
    const { dictionary } = await options.store.model();
    const quarantined = await ledger.quarantined(options.source);
    const kept = quarantined.map((entry) => [nameOf(entry), keptOf(dictionary, entry)] as const);
    return new Book(options, await ledger.state(options.source), new Map(kept));
  }

  /** Whether a record could not be stored the last time. */
  isQuarantined(resource: string, key: string): boolean {
    return this.#quarantined.has(nameOf({ resource, key }));
  }

  /** What is in the quarantine, as far as a condition on the record that it is of holds. */
  quarantined(isWanted: (subject: Subject) => boolean): readonly Kept[] {
    return [...this.#quarantined.values()].filter(({ subject }) => isWanted(subject));
  }

  load(resource: string): LoadState {
    return readState(this.#state, `load ${resource}`) ?? { kind: 'new' };
  }

  sweep(collection: string): SweepState {
    return readState(this.#state, `sweep ${collection}`) ?? { kind: 'idle', sweep: 0 };
  }

  witnesses(resource: string): readonly Witness[] {
    return readState(this.#state, `witnesses ${resource}`) ?? [];
  }

  get<N extends keyof StateShapes>(name: N): StateShapes[N] | undefined {
    return readState(this.#state, name);
  }

  commit(change: BookChange): Promise<WriteReport> {
    return this.alone((commit) => commit(change));
  }

  /** Runs work that no other commit of this process may come between. */
  alone<T>(work: (commit: Commit) => Promise<T>): Promise<T> {
    const run = this.#last.then(() => work((change) => this.#commit(change)));
    this.#last = run.catch(() => undefined);
    return run;
  }

  /**
   * Runs work on how far a resource is. One after the other: a page of a walk that was begun before everything is to be
   * read again would be taken for a page of the new one.
   */
  inTurn<T>(resource: string, work: () => Promise<T>): Promise<T> {
    const run = (this.#turns.get(resource) ?? Promise.resolve()).then(work);
    this.#turns.set(
      resource,
      run.catch(() => undefined),
    );
    return run;
  }

  async #note(entries: readonly QuarantineEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const { dictionary } = await this.#options.store.model();
    for (const entry of entries) this.#quarantined.set(nameOf(entry), keptOf(dictionary, entry));
  }

  async #commit({ load, sweep, witnesses, state, ...change }: BookChange): Promise<WriteReport> {
    const next: Record<string, unknown> = { ...state };
    if (load !== undefined) next[`load ${load.resource}`] = advance(this.load(load.resource), load.event);
    if (sweep !== undefined) {
      next[`sweep ${sweep.collection}`] = advanceSweep(this.sweep(sweep.collection), sweep.event);
    }
    if (witnesses !== undefined) next[`witnesses ${witnesses.resource}`] = witnesses.newest;
    const { store, source, lease } = this.#options;
    const isDoubted = change.records !== undefined && (this.get('doubted') ?? []).length > 0;
    const report = await store.ledger.commit(source, {
      ...change,
      ...(isDoubted ? { anew: true } : {}),
      state: next,
      ...(lease === undefined ? {} : { lease: lease() }),
    });
    this.#state = { ...this.#state, ...next };
    for (const { resource, keys } of change.release ?? []) {
      for (const key of keys) this.#quarantined.delete(nameOf({ resource, key }));
    }
    await this.#note([...(change.quarantine ?? []), ...rejectedOf(change, report)]);
    return report;
  }
}

const keptOf = (dictionary: Dictionary, entry: QuarantineEntry): Kept => {
  const { resource, key } = entry;
  return { resource, key, subject: subjectOf(dictionary, entry), wanted: reasonWanted(entry) };
};

/** What was refused when it was to be stored, with the names of its parent. */
function rejectedOf({ records = [] }: BookChange, { rejected }: WriteReport): readonly QuarantineEntry[] {
  if (rejected.length === 0) return [];
  const entries = new Map(rejected.map((each) => [nameOf(each), { ...each, payload: 'null' }]));
  const note = ({ resource, key, values, children }: ParsedRecord): void => {
    const entry = entries.get(nameOf({ resource: resource.name, key }));
    if (entry !== undefined) entry.payload = JSON.stringify(values);
    for (const nested of children.values()) nested.forEach(note);
  };
  for (const group of records) group.records.forEach(note);
  return [...entries.values()];
}

const nameOf = ({ resource, key }: { readonly resource: string; readonly key: string }): string =>
  `${resource} ${key}`;
