/**
 * What a source has told of and is not in the copy yet: while one part is applied the next comes, and is taken together. What
 * waits is bounded: beyond that the source waits, too.
 */
import { RequestFailure } from '../http/failure.ts';
import type { Told, ToldChange } from '../source/source.ts';

/** Changes that wait before the source does. */
const MOST = 2000;

/** What was told of, put together. */
export interface Batch {
  readonly changes: readonly ToldChange[];
  /** The last position; undefined while a commit is on its way whose end has not come. */
  readonly position: string | undefined;
  readonly isLevel: boolean;
  /** The sequence was broken behind all of this. */
  readonly gone: { readonly position: string | undefined } | undefined;
}

export class Inbox {
  #changes: ToldChange[] = [];
  #position: string | undefined;
  #isLevel = false;
  #gone: Batch['gone'];
  #failure: { readonly error: unknown } | undefined;
  #arrival = Promise.withResolvers<void>();
  #room = Promise.withResolvers<void>();

  /** Takes in all that a source tells. Resolves at its end, whatever that is. */
  async fill(told: AsyncIterable<Told>): Promise<void> {
    try {
      for await (const each of told) {
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

  /** Ends the wait of whoever fills it and has no room. */
  close(): void {
    this.#room.resolve();
  }

  /** Resolves when there is something to take. */
  get arrival(): Promise<void> {
    return this.#arrival.promise;
  }

  /** @throws what ended the source, once all before it was taken */
  take(): Batch | undefined {
    const isEmpty = this.#changes.length === 0 && this.#position === undefined && this.#gone === undefined;
    if (isEmpty) {
      if (this.#failure !== undefined) throw this.#failure.error;
      return undefined;
    }
    const batch = {
      changes: this.#changes,
      position: this.#position,
      isLevel: this.#isLevel,
      gone: this.#gone,
    };
    this.#changes = [];
    this.#position = undefined;
    this.#gone = undefined;
    if (this.#failure === undefined) this.#arrival = Promise.withResolvers();
    this.#room.resolve();
    this.#room = Promise.withResolvers();
    return batch;
  }

  #put(told: Told): void {
    switch (told.kind) {
      case 'changes':
        this.#changes.push(...told.changes);
        // They come before the next position: the one before them is not theirs.
        this.#position = undefined;
        this.#isLevel = false;
        return;
      case 'position':
        this.#position = told.position;
        this.#isLevel = told.isLevel;
        return;
      case 'gone':
        this.#gone = { position: told.position };
    }
  }
}
