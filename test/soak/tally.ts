/** What a soak saw: answers by kind and status, failures in full, memory over time. */

/** Minutes at the beginning in which memory may still grow: caches fill, the engine warms up. */
const WARMING = 5;
/** Share by which memory may grow after that. */
const GROWTH = 0.1;
/** Failures that are told in full. */
const TOLD = 20;

/** What a process holds at a moment, in bytes: of the system, and of it what the engine of JavaScript tells. */
export interface Held {
  readonly bytes: number;
  readonly heap: number;
  readonly heapUsed: number;
  readonly external: number;
}

interface Sample extends Held {
  readonly minute: number;
}

export class Tally {
  readonly #answers = new Map<string, number>();
  readonly #counts = new Map<string, number>();
  readonly #failures: string[] = [];
  readonly #memory: Sample[] = [];

  /** Counts an answer; any error but a 429, and a 503 that says when to come again, is a failure. */
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

  memory(minute: number, held: Held): void {
    this.#memory.push({ minute, ...held });
  }

  get failed(): number {
    return this.#failures.length;
  }

  /** Compares the medians of single minutes with that of the first one after the warming. */
  judgeMemory(minutes: number): void {
    const warming = Math.min(WARMING, minutes / 4);
    const after = this.#memory.filter(({ minute }) => minute >= warming);
    const byMinute = Map.groupBy(after, ({ minute }) => Math.floor(minute - warming));
    const medians = [...byMinute.values()].map((samples) => median(samples.map(({ bytes }) => bytes)));
    const [first = 0, ...later] = medians;
    const most = Math.max(first, ...later);
    const text = `memory ${megabytes(first)} after ${warming} min, at most ${megabytes(most)} in any minute since`;
    this.#counts.set(text, later.length);
    if (later.length > 0 && most > first * (1 + GROWTH)) this.fail(`${text}: more than 10 % of growth`);
    if (minutes > WARMING && later.length < minutes - warming - 2)
      this.fail('the service was not there to be measured');
  }

  /** What was held in each minute: all, the heap, what of it is used, what lies beside it. */
  #course(): string[] {
    const byMinute = Map.groupBy(this.#memory, ({ minute }) => Math.floor(minute));
    return [...byMinute].map(([minute, samples]) => {
      const of = (pick: (held: Held) => number): string => megabytes(median(samples.map(pick)));
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
      'besides:',
      ...table(this.#counts),
      `failures: ${this.#failures.length}`,
      ...this.#failures.slice(0, TOLD).map((each) => `  ${each}`),
    ];
  }
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
