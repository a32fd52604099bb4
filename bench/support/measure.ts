/** The time of one case, in milliseconds per call. */
export interface Measurement {
  readonly name: string;
  readonly wall: number;
  /** Of the whole process, including its threads. */
  readonly cpu: number;
  /** Of the database server; 0 for a file. */
  readonly server: number;
  /** A description of the result, such as `1000 rows, 4.7 MB`. */
  readonly gave: string;
}

/** The minimum time for a case in milliseconds. */
const TIME = 400;
/** The minimum number of calls of a case; the first one is not measured. */
const CALLS = 6;

/**
 * Calls a function repeatedly. The wall time is the median, the CPU time the mean.
 *
 * @param used the CPU time that a server has used so far
 */
export async function measure(
  name: string,
  call: () => Promise<string> | string,
  used: () => number = () => 0,
): Promise<Measurement> {
  let gave = await call();
  const walls: number[] = [];
  const cpu = process.cpuUsage();
  const server = used();
  const start = performance.now();
  while (walls.length < CALLS - 1 || performance.now() - start < TIME) {
    const before = performance.now();
    gave = await call();
    walls.push(performance.now() - before);
  }
  const { user, system } = process.cpuUsage(cpu);
  const own = (user + system) / 1000 / walls.length;
  return { name, wall: median(walls), cpu: own, server: (used() - server) / walls.length, gave };
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((left, right) => left - right);
  return sorted[sorted.length >> 1] ?? 0;
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(2)} MB`;
