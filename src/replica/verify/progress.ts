/**
 * The progress of a verification: the rows of each collection of the source that were compared, and of each resource of the copy that
 * were checked. Both happen at the same time.
 */

/** Receives the number of compared rows of a part, such as a resource, and of all parts. */
export type OnVerified = (
  part: string,
  rows: number,
  all: { readonly done: number; readonly total: number },
) => void;

/** Adds up the rows of the parts. */
export class VerifyProgress {
  readonly #parts = new Map<string, { done: number; total: number }>();
  readonly #onProgress: OnVerified;

  constructor(onProgress: OnVerified) {
    this.#onProgress = onProgress;
  }

  /** @param total the number of rows that the part is expected to have */
  expect(part: string, total: number): void {
    this.#parts.set(part, { done: 0, total });
  }

  /** @param total the number of rows of the part, if it is known better now */
  report(part: string, done: number, total = this.#parts.get(part)?.total ?? 0): void {
    this.#parts.set(part, { done, total: Math.max(done, total) });
    const all = { done: 0, total: 0 };
    for (const each of this.#parts.values()) {
      all.done += each.done;
      all.total += each.total;
    }
    this.#onProgress(part, done, all);
  }

  /** The part has no more rows than it was found to have. */
  end(part: string): void {
    const done = this.#parts.get(part)?.done ?? 0;
    this.report(part, done, done);
  }
}
