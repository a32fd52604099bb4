import { type Measurement, median } from './measure.ts';
import type { Running } from './process.ts';

/** One of several cases that are measured in turn, so that a drift in the speed of the machine affects all of them. */
export interface Case {
  readonly name: string;
  /** The process that does the work; absent: this one. */
  readonly by?: Running;
  /** Runs the case once. @param round from 0 */
  call(round: number): Promise<Outcome>;
}

export interface Outcome {
  /** A description of the result, such as `1000 rows, 4.7 MB`. */
  readonly gave: string;
  /** The number of operations in a call; results are per operation. */
  readonly done?: number;
}

/** Rounds that are not measured: connections are opened, statements prepared, code compiled. */
const WARM_UP = 2;

/**
 * Runs all cases in each round. Wall times are medians over the rounds, CPU times are means.
 *
 * @param used the CPU time that a server has used so far
 */
export async function interleave(
  cases: readonly Case[],
  rounds: number,
  used: () => number,
): Promise<Measurement[]> {
  const figures = cases.map(() => ({ walls: [0].slice(1), cpu: 0, server: 0, gave: '' }));
  for (let round = 0; round < rounds + WARM_UP; round++) {
    for (const [index, { by, call }] of cases.entries()) {
      const figure = figures[index];
      if (figure === undefined) continue;
      const before = await cpuOf(by);
      const server = used();
      const start = performance.now();
      const { gave, done = 1 } = await call(round);
      const wall = performance.now() - start;
      const cpu = (await cpuOf(by)) - before;
      figure.gave = gave;
      if (round < WARM_UP) continue;
      figure.walls.push(wall / done);
      figure.cpu += cpu / done;
      figure.server += (used() - server) / done;
    }
  }
  return cases.map(({ name }, index) => {
    const { walls = [], cpu = 0, server = 0, gave = '' } = figures[index] ?? {};
    return { name, wall: median(walls), cpu: cpu / rounds, server: server / rounds, gave };
  });
}

async function cpuOf(process: Running | undefined): Promise<number> {
  if (process !== undefined) return (await process.used()).cpu;
  const { user, system } = globalThis.process.cpuUsage();
  return (user + system) / 1000;
}
