/** The results of a soak test: responses by kind and status, failures, memory over time. */

/** The first minutes, in which memory may still grow: caches fill, code is compiled. */
const WARM_UP = 5;
/** The proportion by which memory may grow afterwards. */
const GROWTH = 0.1;
/** The maximum number of failures in the report. */
const REPORTED = 20;

/** The memory of a process at a moment, in bytes: that of the process, and the parts that the JavaScript engine reports. */
export interface Memory {
  readonly bytes: number;
  readonly heap: number;
  readonly heapUsed: number;
  readonly external: number;
}

interface Sample extends Memory {
  readonly minute: number;
}

export class Tally {
  readonly #answers = new Map<string, number>();
  readonly #counts = new Map<string, number>();
  readonly #failures: string[] = [];
  readonly #memory: Sample[] = [];

  /** Counts a response. Any error other than 429, or 503 with a time to retry, is a failure. */
  answer(kind: string, status: number, retryAfter: string | null): void {
    const id = `${kind} ${status}`;
    this.#answers.set(id, (this.#answers.get(id) ?? 0) + 1);
    const isAllowed = status < 400 || ((status === 429 || status === 503) && retryAfter !== null);
    if (!isAllowed) this.fail(`${kind}: status ${status}, Retry-After ${retryAfter ?? 'absent'}`);
  }

  count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  fail(what: string): void {
    this.#failures.push(what);
  }

  memory(minute: number, memory: Memory): void {
    this.#memory.push({ minute, ...memory });
  }

  get failed(): number {
    return this.#failures.length;
  }

  /** Compares the medians of single minutes with that of the first minute after warm-up. */
  checkMemory(minutes: number): void {
    const warmUp = Math.min(WARM_UP, minutes / 4);
    const after = this.#memory.filter(({ minute }) => minute >= warmUp);
    const byMinute = Map.groupBy(after, ({ minute }) => Math.floor(minute - warmUp));
    const medians = [...byMinute.values()].map((samples) => median(samples.map(({ bytes }) => bytes)));
    const [first = 0, ...later] = medians;
    const most = Math.max(first, ...later);
    const text = `memory ${megabytes(first)} after ${warmUp} min, at most ${megabytes(most)} in any minute since`;
    this.#counts.set(text, later.length);
    if (later.length > 0 && most > first * (1 + GROWTH)) this.fail(`${text}: it grew by more than 10 %`);
    if (minutes > WARM_UP && later.length < minutes - warmUp - 2)
      this.fail('the memory of the service could not be measured');
  }

  /** The memory in each minute: total, heap, used heap, outside of the heap. */
  #course(): string[] {
    const byMinute = Map.groupBy(this.#memory, ({ minute }) => Math.floor(minute));
    return [...byMinute].map(([minute, samples]) => {
      const of = (pick: (memory: Memory) => number): string => megabytes(median(samples.map(pick)));
      const parts = [of((each) => each.heap), of((each) => each.heapUsed), of((each) => each.external)];
      return `  minute ${minute}: ${of((each) => each.bytes)} (heap ${parts[0]}, used ${parts[1]}, external ${parts[2]})`;
    });
  }

  lines(): string[] {
    const table = (rows: ReadonlyMap<string, number>): string[] =>
      [...rows]
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([id, count]) => `  ${id}: ${count}`);
    return [
      'memory:',
      ...this.#course(),
      'answers:',
      ...table(this.#answers),
      'other counts:',
      ...table(this.#counts),
      `failures: ${this.#failures.length}`,
      ...this.#failures.slice(0, REPORTED).map((each) => `  ${each}`),
    ];
  }
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
