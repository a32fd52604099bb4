/**
 * The targets of the comparison, as ratios of CPU time to what the same run measures beside plat: the floor, and the plain
 * server on the same engine. A larger ratio misses its target.
 */
import type { WorkName } from './works.ts';

export interface Target {
  /** At most so many times the floor. */
  readonly floor?: number;
  /** At most so many times the plain server. */
  readonly plain?: number;
}

export type Targets = Readonly<Partial<Record<WorkName, Target>>>;

/**
 * What SAP CAP 10 on SQLite uses, in times of the plain server. The targets on SQLite are parts of it, and it is not here to
 * be measured: this is the ratio of plat to the plain server, times that of CAP to plat in the comparison of
 * docs/performance.md, both of the same commit (6b0d8d4).
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

/** The plain server stands for Fastify + pg. */
export const POSTGRES_TARGETS: Targets = {
  page: { plain: 0.5 },
  window: { plain: 0.5 },
  'filter-fresh': { plain: 1.2 },
  expand: { plain: 0.6 },
  key: { plain: 1.2 },
  keys: { plain: 1.2 },
};

/** Megabytes of `plat serve` at most. */
export const MEMORY = 400;
