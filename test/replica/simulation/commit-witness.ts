import { isDeepStrictEqual } from 'node:util';
import type { ParsedRecord } from '../../../src/records/parsed-record.ts';
import { readNote } from '../../../src/replica/checkpoint/notes.ts';
import type { LoadState, SweepState } from '../../../src/replica/machine/states.ts';
import { ACCOUNTS, collectionOf } from '../../../src/replica/source/source.ts';
import type {
  ChangeSource,
  CheckpointChange,
  Checkpoints,
  Lease,
} from '../../../src/store/checkpoint/checkpoints.ts';
import type { Store } from '../../../src/store/store.ts';
import type { WriteReport } from '../../../src/store/write/report.ts';
import { KEY_FIELDS } from './market.ts';
import type { Plan } from './plan.ts';
import type { Source } from './source.ts';
import type { VirtualTime } from './time.ts';
import type { Accuse } from './violation.ts';

export interface CommitWitnessOptions {
  readonly plan: Plan;
  readonly source: Source;
  /** The replica, as a process reads it that takes no part in the history. */
  readonly observer: Store;
  readonly time: VirtualTime;
  readonly accuse: Accuse;
  readonly log: (line: string) => void;
}

type Json = Readonly<Record<string, unknown>>;

const MASK = '********';
const MINUTE = 60_000;
/** The delay with which a follower may apply a deletion of a record that has returned meanwhile: it may have been suspended, or the network down. */
const RETURNED = 3 * 60 * MINUTE;
/** Resources whose windows contain every change. */
const KINDS = ['Property', 'Member', 'Office'] as const;

/** Observes commits to the replica, and checks invariants after each of them. */
export class CommitWitness {
  readonly #options: CommitWitnessOptions;
  /** The states as they were last committed. */
  #state: Json = {};
  /** Records, and collections of listings, as they were last committed. */
  readonly #contents = new Map<string, string>();
  readonly #children = new Map<string, ReadonlySet<string>>();

  constructor(options: CommitWitnessOptions) {
    this.#options = options;
  }

  /** The fingerprint of the source's fields that a consumer has last stored. */
  get fingerprint(): string | undefined {
    return readNote(this.#state, 'fingerprint');
  }

  /** Whether the source was restored to an earlier state, and no consumer has noticed that yet. */
  get #isBehind(): boolean {
    const { epoch, isGoingBack } = this.#options.source;
    return isGoingBack || (epoch !== undefined && readNote(this.#state, 'epoch') !== epoch);
  }

  /** @param force whether the process may delete any share of the records */
  watch(checkpoints: Checkpoints, process: string, force: boolean): Checkpoints {
    /** Checks the changes of a transaction, and the states after it. */
    const observe = async (
      source: string,
      lease: Lease | undefined,
      begun: readonly CheckpointChange[],
      transaction: () => Promise<WriteReport>,
      reports: (whole: WriteReport) => readonly WriteReport[],
    ): Promise<WriteReport> => {
      let whole: WriteReport;
      try {
        whole = await transaction();
      } catch (error) {
        for (const change of begun) this.#forget(change);
        await this.#lookAgain(source, force);
        throw error;
      }
      // Without changes, there was no transaction.
      if (begun.length === 0) return whole;
      await this.#options.source.lookAtClock();
      const before = this.#state;
      for (const [index, report] of reports(whole).entries()) {
        const change = begun[index] ?? {};
        this.#options.log(
          `${process}: ${summary(change, report)}${index > 0 ? ' (in the same transaction)' : ''}`,
        );
        this.#checkValues(change, report);
        this.#checkChildren(change);
        this.#checkRemoved(change);
        this.#state = { ...this.#state, ...change.state };
      }
      await this.#checkLease(source, lease);
      await this.#checkStates(source, before, force);
      return whole;
    };
    return {
      ...checkpoints,
      commit: (source, change) =>
        observe(
          source,
          change.lease,
          [change],
          () => checkpoints.commit(source, change),
          (whole) => [whole],
        ),
      commitTogether: (source, lease, changes) => {
        const begun: CheckpointChange[] = [];
        const reports: WriteReport[] = [];
        const watched: ChangeSource = {
          next: async (...given) => {
            const change = await changes.next(...given);
            if (change !== undefined) begun.push(change);
            return change;
          },
          written: (report) => {
            reports.push(report);
            changes.written(report);
          },
        };
        return observe(
          source,
          lease,
          begun,
          () => checkpoints.commitTogether(source, lease, watched),
          () => reports,
        );
      },
    };
  }

  /** A process that dies during a commit does not learn whether it succeeded. */
  async #lookAgain(source: string, force: boolean): Promise<void> {
    const before = this.#state;
    this.#state = await this.#options.observer.checkpoints.state(source);
    await this.#checkStates(source, before, force);
  }

  /** A commit that failed may have been applied in part. */
  #forget({ records = [], remove = [] }: CheckpointChange): void {
    for (const { resource, keys } of remove) for (const key of keys) this.#forgetRecord(resource, key);
    for (const { resource, records: group } of records)
      for (const { key } of group) this.#forgetRecord(resource, key);
  }

  #forgetRecord(resource: string, key: string): void {
    const prefix = `${resource} ${key} `;
    for (const map of [this.#contents, this.#children]) {
      for (const name of map.keys()) if (name.startsWith(prefix)) map.delete(name);
    }
  }

  /** Masks are never stored; storing equal content again moves no timestamp. */
  #checkValues({ records = [], remove = [] }: CheckpointChange, report: WriteReport): void {
    for (const { resource, keys } of remove) for (const key of keys) this.#forgetRecord(resource, key);
    let news = remove.some(({ keys }) => keys.length > 0);
    for (const { resource, records: group } of records) {
      for (const record of group) {
        const parts = partsOf(record);
        if (JSON.stringify(parts).includes(MASK))
          this.#options.accuse('masks are never stored', `${resource} ${record.key}`);
        for (const [name, text] of parts) {
          const place = `${resource} ${record.key} ${name}`;
          if (this.#contents.get(place) !== text) news = true;
          this.#contents.set(place, text);
        }
      }
    }
    const { inserted, changed, restamped, children } = report;
    const moved = inserted + changed + restamped + children.stored + children.deleted;
    if (!news && moved > 0) this.#options.accuse('what did not change moves nothing', JSON.stringify(report));
  }

  /** A collection that the source did not send is not changed. */
  #checkChildren({ records = [] }: CheckpointChange): void {
    const { source, time, accuse } = this.#options;
    const mayDiffer = time.now - source.roleSince < 10 * MINUTE || this.#isBehind;
    for (const { resource, records: group } of records) {
      for (const { key, children } of group) {
        for (const [collection, members] of children) {
          const place = `${resource} ${key} ${collection}`;
          const before = this.#children.get(place) ?? new Set();
          const after = new Set(members.map((member) => member.key));
          this.#children.set(place, after);
          for (const child of before) {
            if (after.has(child) || mayDiffer || !source.showsChild(key, collection, child)) continue;
            accuse('no child that the source shows is deleted', `${collection} ${child} of ${key}`);
          }
        }
      }
    }
  }

  /** A sweep deletes no key that the source has shown since before it began; one shown later is covered by a later window. */
  #checkRemoved({ remove = [], state = {} }: CheckpointChange): void {
    const { source, accuse } = this.#options;
    for (const { resource, keys } of remove) {
      if ('chain' in state) {
        this.#checkReported(resource, keys);
        continue;
      }
      const collection = this.#collection(resource);
      const sweep = readNote(this.#state, `sweep ${collection}`);
      if (sweep?.kind !== 'deleting') {
        accuse('only a whole sweep deletes', `${resource} ${keys.join(' ')} while ${sweep?.kind}`);
        continue;
      }
      // A record that a consumer deletes may have returned with the backup; the consumer reads everything again.
      if (this.#isBehind) continue;
      for (const key of keys) {
        const shown = source.shown.get(resource, key);
        if (shown?.since === undefined) continue;
        const facts = `${resource} ${key}, sweep begun ${sweep.begun}, shown since ${new Date(shown.since).toISOString()}`;
        if (shown.since < Date.parse(sweep.begun)) accuse('no key that the source shows is deleted', facts);
        const cursor = cursorOf(readNote(this.#state, `load ${resource}`));
        const isPassed = collection !== ACCOUNTS && cursor !== undefined && shown.stamp < cursor;
        if (isPassed && !shown.quietly) accuse('what came after a sweep began is not deleted', facts);
      }
    }
  }

  /** A key that the source reports as deleted is not shown, or was shown again recently: then the source reports that as well. */
  #checkReported(resource: string, keys: readonly string[]): void {
    const { source, time, accuse } = this.#options;
    if (this.#isBehind) return;
    for (const key of keys) {
      const since = source.shown.get(resource, key)?.since;
      if (since === undefined || time.now - since < RETURNED) continue;
      const facts = `${resource} ${key}, shown since ${new Date(since).toISOString()}`;
      accuse('no key that the source shows is deleted', facts);
    }
  }

  #collection(resource: string): string {
    const capabilities = readNote(this.#state, 'capabilities');
    return capabilities === undefined ? resource : collectionOf(capabilities, resource);
  }

  /** Only one process runs at a time. */
  async #checkLease(source: string, lease: Lease | undefined): Promise<void> {
    const { observer, accuse } = this.#options;
    const holder = await observer.checkpoints.leaseHolder(source);
    if (lease === undefined || holder?.holder !== lease.holder)
      accuse('only the holder of the lease commits', `${lease?.holder} while ${holder?.holder} holds it`);
  }

  async #checkStates(source: string, before: Json, force: boolean): Promise<void> {
    for (const resource of KINDS) {
      const [from, to] = [readNote(before, `load ${resource}`), readNote(this.#state, `load ${resource}`)];
      if (isDeepStrictEqual(from, to) || to === undefined) continue;
      this.#checkChain(resource, from, to, this.#state.chain !== undefined);
      const cursor = cursorOf(to);
      if (cursor !== undefined && cursor !== cursorOf(from) && !this.#isBehind)
        await this.#checkCursor(resource, cursor);
    }
    for (const collection of [...KINDS, ACCOUNTS]) {
      const [from, to] = [
        readNote(before, `sweep ${collection}`),
        readNote(this.#state, `sweep ${collection}`),
      ];
      if (from?.kind === 'deleting' && to?.kind === 'fetching' && !force)
        await this.#checkShare(source, collection, to);
    }
  }

  /** The upper bound of a window is the lower bound of the next one. */
  #checkChain(resource: string, from: LoadState | undefined, to: LoadState, isFollowing: boolean): void {
    const { accuse } = this.#options;
    const facts = `${resource}: ${JSON.stringify(from)}, then ${JSON.stringify(to)}`;
    const broken = 'the upper bound of one window is the lower bound of the next';
    if (from?.kind === 'updating' && to.kind === 'current') {
      const isDone = to.cursor === from.upper;
      const isLost = to.cursor === from.cursor && to.lastUpper === from.upper;
      if (!isDone && !isLost) accuse(broken, facts);
    } else if (from?.kind === 'current' && to.kind === 'updating') {
      if (from.cursor !== to.cursor || from.lastUpper === to.upper) accuse(broken, facts);
      if (Date.parse(to.upper) <= Date.parse(to.cursor)) accuse('a window ends after it begins', facts);
    } else if (from?.kind === 'current' && to.kind === 'current') {
      // Changes were applied in another way; the stored records are compared below.
      if (!isFollowing || from.lastUpper !== to.lastUpper) accuse(broken, facts);
      if (Date.parse(to.cursor) <= Date.parse(from.cursor)) accuse('a cursor does not go back', facts);
    } else if (from?.kind === 'updating' && to.kind === 'updating') {
      if (from.cursor !== to.cursor || from.upper !== to.upper) accuse(broken, facts);
    } else if ((from?.kind === 'initial' || from?.kind === 'filling') && 'cursor' in to) {
      if (from.since !== to.cursor) accuse(broken, facts);
    } else if ('cursor' in to) accuse(broken, facts);
  }

  /** The cursor is never ahead of what is stored or quarantined: quarantined records are requested until the quarantine is empty. */
  async #checkCursor(resource: string, cursor: number): Promise<void> {
    const { source, observer, accuse } = this.#options;
    const key = KEY_FIELDS[resource] ?? '';
    const passed = [...source.shown.of(resource)].filter(
      ({ since, quietly, stamp }) => since !== undefined && !quietly && stamp < cursor,
    );
    if (passed.length === 0) return;
    const stored = await observer.checkpoints.timestamps(
      resource,
      passed.map((shown) => shown.key),
    );
    const entries = await observer.checkpoints.quarantined();
    const known = new Set(entries.filter((entry) => entry.resource === resource).map((entry) => entry.key));
    for (const shown of passed) {
      if (known.has(shown.key)) continue;
      const stamp = Date.parse(stored.get(shown.key)?.ModificationTimestamp ?? '');
      if (stamp >= shown.stamp) continue;
      const has = Number.isNaN(stamp) ? 'is not stored' : `is stored as of ${new Date(stamp).toISOString()}`;
      accuse(
        'the cursor is never ahead of what is stored',
        `${key} ${shown.key} of ${new Date(shown.stamp).toISOString()} ${has}, the cursor is ${new Date(cursor).toISOString()}`,
      );
    }
  }

  /** One sweep does not delete more than the share that is allowed, except one or two records that are not the last ones. */
  async #checkShare(source: string, collection: string, to: SweepState): Promise<void> {
    if (to.kind !== 'fetching' || to.deleted === 0) return;
    const { observer, plan, accuse } = this.#options;
    let stored = 0;
    for (const resource of collection === ACCOUNTS ? ['Member', 'Office'] : [collection])
      stored += await observer.checkpoints.stored(source, resource);
    const isFew = to.deleted <= 2 && stored > 0;
    if (!isFew && to.deleted > plan.purgeShare * (stored + to.deleted))
      accuse('the guard stops a purge', `${to.deleted} of ${stored + to.deleted} ${collection}`);
  }
}

/** A record in the form in which it is compared: its own values, and each of its collections. */
function partsOf(record: ParsedRecord): [string, string][] {
  const collections = [...record.children].map(([name, members]): [string, string] => [
    name,
    JSON.stringify(members.map((member) => [member.key, partsOf(member)])),
  ]);
  return record.onlyChildren ? collections : [['own', JSON.stringify(record.values)], ...collections];
}

function cursorOf(state: LoadState | undefined): number | undefined {
  return state !== undefined && 'cursor' in state ? Date.parse(state.cursor) : undefined;
}

function summary(
  { records = [], remove = [], state = {}, quarantine = [] }: CheckpointChange,
  report: WriteReport,
): string {
  const parts = [
    ...records.map(({ resource, records: group }) => `${resource} ${group.map(({ key }) => key).join(' ')}`),
    ...remove.map(({ resource, keys }) => `without ${resource} ${keys.join(' ')}`),
    ...quarantine.map(({ resource, key, reason }) => `quarantined ${resource} ${key}: ${reason}`),
    ...Object.entries(state)
      .filter(([name]) => /^(?:load|sweep|fingerprint|schedule)/.test(name))
      .map(([name, value]) => `${name} ${JSON.stringify(value)}`),
  ];
  const { inserted, changed, unchanged, restamped, children } = report;
  const counts = [inserted, changed, unchanged, restamped, children.stored, children.deleted];
  const numbers = isDeepStrictEqual(counts, [0, 0, 0, 0, 0, 0]) ? '' : ` = ${counts.join('/')}`;
  return `commits ${parts.join('; ')}${numbers}`;
}
