import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What the service counts of itself, in the text form of Prometheus. */
export interface Metrics {
  observe(request: ObservedRequest): void;
  /** Values that are read when the metrics are asked for. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  /** Such values of several things, told apart by a label. */
  gauges(name: string, help: string, label: string, read: () => readonly (readonly [string, number])[]): void;
  /** What happened so often since the start; the label tells apart what. @returns notes one more */
  counter(name: string, help: string, label: string): (value: string) => void;
  text(): Promise<string>;
  readonly contentType: string;
}

export interface ObservedRequest {
  readonly surface: string;
  readonly status: number;
  readonly rows: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly timings: Timings;
}

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function makeMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const requests = new Counter({
    name: 'plat_requests_total',
    help: 'Requests by surface and status',
    labelNames: ['surface', 'status'],
    registers,
  });
  const rows = new Counter({
    name: 'plat_rows_total',
    help: 'Records given',
    labelNames: ['surface'],
    registers,
  });
  const bytes = new Counter({
    name: 'plat_bytes_total',
    help: 'Bytes of bodies',
    labelNames: ['surface'],
    registers,
  });
  const seconds = new Histogram({
    name: 'plat_request_seconds',
    help: 'Time from a request to the end of its answer',
    labelNames: ['surface'],
    buckets: BUCKETS,
    registers,
  });
  const steps = new Histogram({
    name: 'plat_step_seconds',
    help: 'Time of each step of a request',
    labelNames: ['step'],
    buckets: BUCKETS,
    registers,
  });
  return {
    observe({ surface, status, rows: given, bytes: sent, seconds: taken, timings }) {
      requests.inc({ surface, status: String(status) });
      rows.inc({ surface }, given);
      bytes.inc({ surface }, sent);
      seconds.observe({ surface }, taken);
      for (const [step, milliseconds] of timings.list()) steps.observe({ step }, milliseconds / 1000);
    },
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          this.set(await read());
        },
      });
    },
    gauges(name, help, label, read) {
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
    counter(name, help, label) {
      const counter = new Counter({ name, help, labelNames: [label], registers });
      return (value) => counter.inc({ [label]: value });
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** The steps of a request, for the header `Server-Timing` and the metrics. */
export type Step = 'auth' | 'parse' | 'plan' | 'store' | 'encode';

export interface Timings {
  /** Ends the running step and begins another. */
  start(step: Step): void;
  /** Milliseconds of each step. */
  list(): readonly (readonly [Step, number])[];
  header(): string;
}

/** @param now milliseconds of a clock that only runs forward */
export function makeTimings(now: () => number = () => performance.now()): Timings {
  const spent = new Map<Step, number>();
  let current: { step: Step; since: number } | undefined;
  const stop = (): void => {
    if (current === undefined) return;
    spent.set(current.step, (spent.get(current.step) ?? 0) + now() - current.since);
    current = undefined;
  };
  return {
    start(step) {
      stop();
      current = { step, since: now() };
    },
    list() {
      stop();
      return [...spent];
    },
    header() {
      stop();
      return [...spent].map(([step, milliseconds]) => `${step};dur=${milliseconds.toFixed(2)}`).join(', ');
    },
  };
}
