/**
 * The current problems of a watch, or the reason why the last run failed, and the problems with a source in the last day, including
 * retries. They are kept in the store so that other processes (`plat status`, probes, the console) can show them. This module does
 * not know how a watch continues.
 */
import type { Clock } from '../../shared/clock.ts';
import { operatorMessage } from '../../shared/error-code.ts';
import { PromiseQueue } from '../../shared/promise-queue.ts';
import type { Store } from '../../store/store.ts';
import type { ReplicaEvent } from '../events.ts';
import { RequestFailure } from '../http/failure.ts';
import { readNote, readNoteIfValid, type TroubleEntry, type Troubles } from './notes.ts';

/** The maximum number of characters of a reason: of a current problem, and of one of the last day. */
const LONGEST_REASON = 500;
const LONGEST_REASON_OF_DAY = 300;

/** Whether a failure is expected to resolve by itself. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof RequestFailure && (error.kind === 'transient' || error.kind === 'stopped');

export function recordTrouble(
  store: Store,
  source: string,
  step: string,
  error: unknown,
  now: number,
): Promise<void> {
  const reason = operatorMessage(error).slice(0, LONGEST_REASON);
  return store.checkpoints.exchange(source, 'troubles', (current): Troubles => {
    const troubles = readNote({ troubles: current }, 'troubles') ?? {};
    const { since = now, attempts = 0 } = troubles[step] ?? {};
    const lasting = !isTemporary(error);
    return { ...troubles, [step]: { since, last: now, attempts: attempts + 1, reason, lasting } };
  });
}

/** Clears the problem of a step that has succeeded; without `step`, those of all steps. */
export function clearTrouble(store: Store, source: string, step?: string): Promise<void> {
  return store.checkpoints.exchange(source, 'troubles', (current): Troubles => {
    if (step === undefined) return {};
    const { [step]: _, ...others } = readNote({ troubles: current }, 'troubles') ?? {};
    return others;
  });
}

const DAY = 24 * 3_600_000;
const MAX_ENTRIES = 200;
/** Milliseconds within which repetitions of a problem are one entry. */
const MERGE_WINDOW = 10 * 60_000;

type Trouble = Pick<TroubleEntry, 'kind' | 'reason' | 'of'>;

/** The problem that an event reports; undefined if it reports none. */
function troubleIn(event: ReplicaEvent): Trouble | undefined {
  switch (event.kind) {
    case 'retry':
    case 'refresh':
    case 'doubt':
      return { kind: event.kind, reason: event.reason };
    case 'failed':
      return { kind: 'failed', reason: event.reason, of: event.step };
    case 'recovered':
      return { kind: 'recovered', reason: `It succeeded at attempt ${event.attempts}`, of: event.step };
    case 'again':
    case 'unsure':
      return { kind: event.kind, reason: event.reason, of: event.resource };
    case 'clock':
      return { kind: 'clock', reason: `The source's clock says ${event.sourceClock}` };
    default:
      return undefined;
  }
}

/** The entries of the last day with one more problem. */
function withTrouble(entries: readonly TroubleEntry[], trouble: Trouble, now: number): TroubleEntry[] {
  const reason = trouble.reason.slice(0, LONGEST_REASON_OF_DAY);
  const kept = entries.filter(({ last }) => last > now - DAY);
  const at = kept.findLastIndex(
    (each) =>
      each.kind === trouble.kind &&
      each.reason === reason &&
      each.of === trouble.of &&
      Math.abs(now - each.last) < MERGE_WINDOW,
  );
  const same = kept[at];
  if (same !== undefined) return kept.with(at, { ...same, last: now, times: same.times + 1 });
  return [...kept, { ...trouble, reason, since: now, last: now, times: 1 }].slice(-MAX_ENTRIES);
}

/**
 * Stores the problems among the events that it receives, in order. A problem that cannot be stored is dropped: it is also in the
 * log of the process, and the copy continues.
 */
export class TroubleLog {
  readonly #store: Pick<Store, 'checkpoints'>;
  readonly #clock: Clock;
  readonly #source: string;
  readonly #writing = new PromiseQueue();
  #isKnown = false;

  constructor(store: Pick<Store, 'checkpoints'>, source: string, clock: Clock) {
    this.#store = store;
    this.#source = source;
    this.#clock = clock;
  }

  record(event: ReplicaEvent): void {
    const trouble = troubleIn(event);
    if (trouble === undefined) return;
    const now = this.#clock.now();
    void this.#writing.run(() => this.#write(trouble, now)).catch(() => undefined);
  }

  /** Resolves when every problem received so far has been stored or dropped. */
  idle(): Promise<void> {
    return this.#writing.idle();
  }

  async #write(trouble: Trouble, now: number): Promise<void> {
    const { checkpoints } = this.#store;
    // A source is in the store as soon as it has responded once; a source that is only configured, such as a mistyped one, is not.
    this.#isKnown ||= readNote(await checkpoints.state(this.#source), 'identity') !== undefined;
    if (!this.#isKnown) return;
    await checkpoints.exchange(this.#source, 'lately', (current) =>
      withTrouble(readNoteIfValid({ lately: current }, 'lately') ?? [], trouble, now),
    );
  }
}
