/**
 * The targets of the comparison: ratios of CPU time to that of the floor, and of the plain server on the same engine, in the same
 * run. A larger ratio misses its target.
 */
import type { WorkName } from './works.ts';

export interface Target {
  /** The largest ratio to the floor. */
  readonly floor?: number;
  /** The largest ratio to the plain server. */
  readonly plain?: number;
}

export type Targets = Readonly<Partial<Record<WorkName, Target>>>;

/**
 * The CPU time of SAP CAP 10 on SQLite, relative to the plain server. The targets on SQLite are fractions of it, and CAP is not
 * available here to be measured: each number is the ratio of plat to the plain server, times that of CAP to plat in the comparison
 * in docs/performance.md, both at the same commit (6b0d8d4).
 */
const CAP = {
  page: 2.2,
  window: 2.7,
  'filter-fresh': 3.7,
  'filter-cached': 3.4,
  expand: 2.6,
  key: 18,
  keys: 6,
} as const satisfies Partial<Record<WorkName, number>>;

export const SQLITE_TARGETS: Targets = {
  page: { floor: 2.5, plain: CAP.page / 12 },
  'page-gzip-second': { floor: 0.15 },
  window: { plain: CAP.window / 10 },
  'filter-fresh': { plain: CAP['filter-fresh'] / 2 },
  'filter-cached': { plain: CAP['filter-cached'] / 5 },
  expand: { plain: CAP.expand / 8 },
  key: { floor: 2.5, plain: CAP.key / 10 },
  keys: { plain: CAP.keys / 6 },
};

/** The plain server represents Fastify + pg. */
export const POSTGRES_TARGETS: Targets = {
  page: { plain: 0.5 },
  window: { plain: 0.5 },
  'filter-fresh': { plain: 1.2 },
  expand: { plain: 0.6 },
  key: { plain: 1.2 },
  keys: { plain: 1.2 },
};

/** The largest memory of `plat serve` in megabytes. */
export const MEMORY = 400;
