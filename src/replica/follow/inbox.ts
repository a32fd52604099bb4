/** Reported changes that are not in the copy yet: the next batch arrives while one is applied, up to a limit. */
import { RequestFailure } from '../http/failure.ts';
import type { FeedReport, ReportedChange } from '../source/source.ts';

/** The number of waiting changes beyond which the source has to wait. */
const MOST = 2000;

/** The reports that have arrived since the last batch, combined. */
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

  /** Receives everything that a source reports. Resolves when the reports end, for any reason. */
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

  /** Ends the wait of a source for room in the buffer. */
  close(): void {
    this.#room.resolve();
  }

  /** Resolves when `take` has a batch to return, or an error to throw. */
  get arrival(): Promise<void> {
    return this.#arrival.promise;
  }

  /** @throws the error that ended the reports, after everything before it has been taken */
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
        // These changes end at the next position. The previous position does not cover them.
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
