/** Which parts of a file are free. It does not know what is in the others. */

interface Free {
  readonly start: number;
  readonly end: number;
}

export class FileSpace {
  /** In order and without neighbors; the last one has no end. */
  #free: Free[] = [{ start: 0, end: Number.POSITIVE_INFINITY }];

  /** Where the last part that is in use ends. */
  get end(): number {
    return this.#free.at(-1)?.start ?? 0;
  }

  /**
   * Allocates a part of the file, in the first gap that is large enough.
   * @param limit where the part must end at the latest
   * @returns where it starts; undefined without room
   */
  allocate(length: number, limit: number): number | undefined {
    const index = this.#free.findIndex(({ start, end }) => end - start >= length);
    const found = this.#free[index];
    if (found === undefined || found.start + length > limit) return undefined;
    const { start, end } = found;
    const rest = { start: start + length, end };
    this.#free.splice(index, 1, ...(rest.start < end ? [rest] : []));
    return start;
  }

  /** Frees a part, or a piece of one. */
  free(start: number, length: number): void {
    const end = start + length;
    const found = this.#free.findIndex((free) => free.start >= end);
    const index = found < 0 ? this.#free.length : found;
    const [before, after] = [this.#free[index - 1], this.#free[index]];
    const joinsBefore = before?.end === start;
    const joinsAfter = after?.start === end;
    const joined = {
      start: joinsBefore ? before.start : start,
      end: joinsAfter ? after.end : end,
    };
    this.#free.splice(joinsBefore ? index - 1 : index, Number(joinsBefore) + Number(joinsAfter), joined);
  }
}
