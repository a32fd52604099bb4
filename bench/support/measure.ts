/** What one case took, in milliseconds per call. */
export interface Measurement {
  readonly name: string;
  readonly wall: number;
  /** Of the whole process, its threads included. */
  readonly cpu: number;
  /** Of the server whose store it is; 0 for a file. */
  readonly server: number;
  /** What it gave, such as `1000 rows, 4.7 MB`. */
  readonly gave: string;
}

/** Milliseconds to spend on a case at least. */
const TIME = 400;
/** Calls of a case at least; the first of them is not counted. */
const CALLS = 6;

/**
 * Calls again and again; the wall time is the median, the CPU time the mean.
 * @param used what a server has used so far
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
