/**
 * Changes that a source has reported and that are not in the copy yet: while one batch is applied, the next arrives.
 * The number of waiting changes is bounded: beyond that, the source has to wait.
 */
import { RequestFailure } from '../http/failure.ts';
import type { FeedReport, ReportedChange } from '../source/source.ts';

/** The number of waiting changes beyond which the source has to wait. */
const MOST = 2000;

/** The combined reports. */
export interface Batch {
  readonly changes: readonly ReportedChange[];
  /** The last position; undefined while the end of a commit has not arrived. */
  readonly position: string | undefined;
  readonly isLevel: boolean;
  /** The sequence was broken after these changes. */
  readonly expired: { readonly position: string | undefined } | undefined;
}

export class Inbox {
  #changes: ReportedChange[] = [];
  #position: string | undefined;
  #isLevel = false;
  #expired: Batch['expired'];
  #failure: { readonly error: unknown } | undefined;
  #arrival = Promise.withResolvers<void>();
  #room = Promise.withResolvers<void>();

  /** Receives everything that a source reports. Resolves at its end, for any reason. */
  async fill(reports: AsyncIterable<FeedReport>): Promise<void> {
    try {
      for await (const each of reports) {
        this.#put(each);
        this.#arrival.resolve();
        if (this.#changes.length >= MOST) await this.#room.promise;
      }
      this.#failure = {
        error: new RequestFailure('transient', 'The source ended the stream of its changes'),
      };
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#arrival.resolve();
    }
  }

  /** Ends the wait of a producer that has no room. */
  close(): void {
    this.#room.resolve();
  }

  /** Resolves when there is something to take. */
  get arrival(): Promise<void> {
    return this.#arrival.promise;
  }

  /** @throws what ended the source, once everything before it was taken */
  take(): Batch | undefined {
    const isEmpty = this.#changes.length === 0 && this.#position === undefined && this.#expired === undefined;
    if (isEmpty) {
      if (this.#failure !== undefined) throw this.#failure.error;
      return undefined;
    }
    const batch = {
      changes: this.#changes,
      position: this.#position,
      isLevel: this.#isLevel,
      expired: this.#expired,
    };
    this.#changes = [];
    this.#position = undefined;
    this.#expired = undefined;
    if (this.#failure === undefined) this.#arrival = Promise.withResolvers();
    this.#room.resolve();
    this.#room = Promise.withResolvers();
    return batch;
  }

  #put(report: FeedReport): void {
    switch (report.kind) {
      case 'changes':
        this.#changes.push(...report.changes);
        // They precede the next position: the previous one is not theirs.
        this.#position = undefined;
        this.#isLevel = false;
        return;
      case 'position':
        this.#position = report.position;
        this.#isLevel = report.isLevel;
        return;
      case 'expired':
        this.#expired = { position: report.position };
    }
  }
}
