/**
 * The problems with a source in the last day, including retries, kept in the store so that other processes can show
 * them. A problem that cannot be written is omitted: the log of the process has it, and the copy continues.
 */
import type { Clock } from '../../shared/clock.ts';
import { PromiseQueue } from '../../shared/promise-queue.ts';
import type { Store } from '../../store/store.ts';
import type { ReplicaEvent } from '../events.ts';
import { readableNote, readNote, type TroubleEntry } from './notes.ts';

const DAY = 24 * 3_600_000;
const MOST = 200;
/** Milliseconds within which repetitions of a problem are one entry. */
const TOGETHER = 10 * 60_000;
/** Characters of a reason that are kept. */
const KEPT = 300;

type Trouble = Pick<TroubleEntry, 'kind' | 'reason' | 'of'>;

/** The problem that an event reports; undefined if none. */
function troubleIn(event: ReplicaEvent): Trouble | undefined {
  switch (event.kind) {
    case 'retry':
    case 'refresh':
    case 'doubt':
      return { kind: event.kind, reason: event.reason };
    case 'failed':
      return {
        kind: 'failed',
        reason: event.reason,
        ...(event.step === undefined ? {} : { of: event.step }),
      };
    case 'recovered':
      return {
        kind: 'recovered',
        reason: `It succeeded at attempt ${event.attempts}`,
        ...(event.step === undefined ? {} : { of: event.step }),
      };
    case 'again':
    case 'unsure':
      return { kind: event.kind, reason: event.reason, of: event.resource };
    case 'clock':
      return { kind: 'clock', reason: `The source's clock says ${event.sourceClock}` };
    default:
      return undefined;
  }
}

/** The entries with one more problem, limited to those of the last day. */
function withTrouble(entries: readonly TroubleEntry[], trouble: Trouble, now: number): TroubleEntry[] {
  const reason = trouble.reason.slice(0, KEPT);
  const kept = entries.filter(({ last }) => last > now - DAY);
  const at = kept.findLastIndex(
    (each) =>
      each.kind === trouble.kind &&
      each.reason === reason &&
      each.of === trouble.of &&
      Math.abs(now - each.last) < TOGETHER,
  );
  const same = kept[at];
  if (same !== undefined) return kept.with(at, { ...same, last: now, times: same.times + 1 });
  return [...kept, { ...trouble, reason, since: now, last: now, times: 1 }].slice(-MOST);
}

/** Records what a listener receives, in order. */
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

  note(event: ReplicaEvent): void {
    const trouble = troubleIn(event);
    if (trouble === undefined) return;
    const now = this.#clock.now();
    void this.#writing.run(() => this.#write(trouble, now)).catch(() => undefined);
  }

  /** Resolves when everything recorded has been written, as far as possible. */
  idle(): Promise<void> {
    return this.#writing.idle();
  }

  async #write(trouble: Trouble, now: number): Promise<void> {
    const { checkpoints } = this.#store;
    // A name belongs to a source that has responded, not to one that was only configured.
    this.#isKnown ||= readNote(await checkpoints.state(this.#source), 'identity') !== undefined;
    if (!this.#isKnown) return;
    await checkpoints.exchange(this.#source, 'lately', (current) =>
      withTrouble(readableNote({ lately: current }, 'lately') ?? [], trouble, now),
    );
  }
}
