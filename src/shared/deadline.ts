/** The moment at which a computation must end, in memory that threads share, so that another thread can end it. */
export class Deadline {
  readonly memory: SharedArrayBuffer;
  readonly #moment: DataView;

  /** @param memory of a deadline of another thread; absent: a new one, which never comes */
  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
    this.#moment = new DataView(this.memory);
    if (memory === undefined) this.set(Number.POSITIVE_INFINITY);
  }

  /** @param moment on the clock of `performance.now()` of the thread that computes */
  set(moment: number): void {
    this.#moment.setFloat64(0, moment);
  }

  get isOver(): boolean {
    return performance.now() > this.#moment.getFloat64(0);
  }
}
