/** Measures the service: the steps of each request, and metrics in the text format of Prometheus. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The steps of a request, for the header `Server-Timing` and the metrics. */
type Step = 'auth' | 'parse' | 'plan' | 'store' | 'encode';

export class Timings {
  readonly #spent: [Step, number][] = [];
  #current: Step | undefined;
  #since = 0;

  /** Ends the running step and begins another. */
  start(step: Step): void {
    const moment = performance.now();
    this.#stopAt(moment);
    this.#current = step;
    this.#since = moment;
  }

  /** Milliseconds of each step. */
  list(): readonly (readonly [Step, number])[] {
    if (this.#current !== undefined) this.#stopAt(performance.now());
    return this.#spent;
  }

  header(): string {
    return this.list()
      .map(([step, milliseconds]) => `${step};dur=${milliseconds.toFixed(2)}`)
      .join(', ');
  }

  #stopAt(moment: number): void {
    const current = this.#current;
    if (current === undefined) return;
    const known = this.#spent.find(([step]) => step === current);
    if (known !== undefined) known[1] += moment - this.#since;
    else this.#spent.push([current, moment - this.#since]);
    this.#current = undefined;
  }
}

export const makeTimings = (): Timings => new Timings();

export type Metrics = ReturnType<typeof makeMetrics>;

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * The number of durations that are collected before prom-client observes them together: observing a single one takes a tenth of the
 * time of a small request, and much less per duration if there are many.
 */
const MOST_WAITING = 200;

let ofProcess: Registry | undefined;

/**
 * The default metrics of the process. All services in the process share them, because collecting them costs a timer of ten
 * milliseconds and an observer of garbage collection that run until the process ends.
 */
function processMetrics(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}

/** Makes a counter of one label or two. @returns a function that adds to the count of their values, in the order of their names */
function batchedCounter(register: Registry, name: string, help: string, ...labelNames: string[]) {
  const sums = new Map<string, { readonly values: readonly string[]; sum: number }>();
  const counter = new Counter({
    ...{ name, help, labelNames, registers: [register] },
    collect() {
      for (const each of sums.values()) {
        counter.labels(...each.values).inc(each.sum);
        each.sum = 0;
      }
    },
  });
  return (more: number, value: string, second?: string): void => {
    const key = second === undefined ? value : `${value} ${second}`;
    const fresh = () => ({ values: second === undefined ? [value] : [value, second], sum: 0 });
    sums.getOrInsertComputed(key, fresh).sum += more;
  };
}

/** Makes a histogram of durations by one label. @returns a function that observes one, in seconds */
function batchedHistogram(register: Registry, name: string, help: string, label: string) {
  const waiting = new Map<string, number[]>();
  const observe = (value: string, durations: number[]): void => {
    const { observe: observeOne } = histogram.labels(value);
    for (const seconds of durations.splice(0)) observeOne(seconds);
  };
  const histogram = new Histogram({
    ...{ name, help, labelNames: [label], buckets: BUCKETS, registers: [register] },
    collect() {
      for (const [value, durations] of waiting) observe(value, durations);
    },
  });
  return (value: string, seconds: number): void => {
    const durations = waiting.getOrInsertComputed(value, () => []);
    if (durations.push(seconds) >= MOST_WAITING) observe(value, durations);
  };
}

export function makeMetrics() {
  const registry = new Registry();
  const shared = processMetrics();
  /** All metrics, read at the moment of the call. */
  const allMetrics = (): Registry => Registry.merge([shared, registry]);
  const registers = [registry];
  const requests = batchedCounter(
    registry,
    'plat_requests_total',
    'Requests by surface and status',
    'surface',
    'status',
  );
  const rows = batchedCounter(registry, 'plat_rows_total', 'Records returned', 'surface');
  const bytes = batchedCounter(registry, 'plat_bytes_total', 'Bytes of response bodies sent', 'surface');
  const pagesHelp =
    'Pages by the filter index that they were read from: built for this request (fresh), from the cache (cached), or none';
  const pages = batchedCounter(registry, 'plat_filter_index_pages_total', pagesHelp, 'index');
  const secondsHelp = 'Time from the start of a request to the end of its response';
  const seconds = batchedHistogram(registry, 'plat_request_seconds', secondsHelp, 'surface');
  const steps = batchedHistogram(registry, 'plat_step_seconds', 'Duration of each step of a request', 'step');
  return {
    /** @param request the index is the state of the filter's list, if the request read a page: `fresh`, `cached` or `none` */
    observe(request: {
      readonly surface: string;
      readonly status: number;
      readonly rows: number;
      readonly bytes: number;
      readonly seconds: number;
      readonly timings: Timings;
      readonly index?: string | undefined;
    }): void {
      const { surface, status, rows: given, bytes: sent, seconds: taken, timings, index } = request;
      requests(1, surface, String(status));
      if (index !== undefined) pages(1, index);
      rows(given, surface);
      bytes(sent, surface);
      seconds(surface, taken);
      for (const [step, milliseconds] of timings.list()) steps(step, milliseconds / 1000);
    },
    /** A value that is read when the metrics are requested. */
    gauge(name: string, help: string, read: () => number | Promise<number>): void {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          this.set(await read());
        },
      });
    },
    /** Several values that are read when the metrics are requested, each with its own value of one label. */
    gauges(name: string, help: string, label: string, read: () => Iterable<readonly [string, number]>): void {
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers,
        collect() {
          this.reset();
          for (const [value, amount] of read()) this.set({ [label]: value }, amount);
        },
      });
    },
    /** Counts events since the start of the process, by one label. @returns a function that adds one, or `more`, to the count */
    counter(name: string, help: string, label: string) {
      const add = batchedCounter(registry, name, help, label);
      return (value: string, more = 1): void => add(more, value);
    },
    /** A duration in seconds. */
    histogram(name: string, help: string) {
      const histogram = new Histogram({ name, help, buckets: BUCKETS, registers });
      return (seconds: number): void => histogram.observe(seconds);
    },
    text: (): Promise<string> => allMetrics().metrics(),
    /** The content of `text`, as data: each metric with its values, one for each combination of its labels. */
    async figures(): Promise<readonly object[]> {
      const metrics = await allMetrics().getMetricsAsJSON();
      return metrics.map(({ name, help, type, values }) => ({
        ...{ name, help, type: String(type) },
        values: values.map((each) => {
          const { labels, value } = each;
          // In a histogram, the name of the series (`…_bucket`, `…_sum`, `…_count`).
          const part = 'metricName' in each && typeof each.metricName === 'string' ? each.metricName : name;
          return { name: part, labels, value };
        }),
      }));
    },
    contentType: registry.contentType,
  };
}
