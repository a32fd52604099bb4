/**
 * How many changes the primary server has shown to this process, which every server that is read from must show, too.
 * Answers may come out of order, so a smaller number is old news; unless it was queried for after the larger one was
 * known: then another server has taken over that had not yet got the last changes.
 */
export class ChangePosition {
  #changes = 0;
  #knownAt = Number.NEGATIVE_INFINITY;

  get changes(): number {
    return this.#changes;
  }

  /**
   * @param asked and @param now: when the question was sent and the response came, on a clock that only runs forward
   */
  told(changes: number, asked: number, now: number): void {
    if (changes === this.#changes || (changes < this.#changes && asked <= this.#knownAt)) return;
    this.#changes = changes;
    this.#knownAt = now;
  }
}
