/** Allocates the space of a file. This module does not know the content of the file. */

interface Free {
  readonly start: number;
  readonly end: number;
}

export class FileSpace {
  /** The free parts, in order and not adjacent to one another. The last one has no end. */
  #free: Free[] = [{ start: 0, end: Number.POSITIVE_INFINITY }];

  /** The end of the last part that is in use. */
  get end(): number {
    return this.#free.at(-1)?.start ?? 0;
  }

  /**
   * Allocates a part of the file, in the first gap that is large enough.
   * @param limit the maximum end of the part
   * @returns the start of the part; undefined if there is no room
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

  /** Frees an allocated part, or a piece of one. */
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
