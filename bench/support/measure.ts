/** What one case took, in milliseconds per call. */
export interface Measurement {
  readonly name: string;
  readonly wall: number;
  /** Of the whole process, its threads included. */
  readonly cpu: number;
  /** What it gave, such as `1000 rows, 4.7 MB`. */
  readonly gave: string;
}

export interface Effort {
  /** Milliseconds to spend on a case at least. */
  readonly time: number;
  /** Calls of a case at least; the first of them is not counted. */
  readonly calls: number;
}

export const USUAL: Effort = { time: 400, calls: 6 };

/** Calls again and again; the wall time is the median, the CPU time the mean. */
export async function measure(
  name: string,
  call: () => Promise<string> | string,
  { time, calls }: Effort = USUAL,
): Promise<Measurement> {
  let gave = await call();
  const walls: number[] = [];
  const cpu = process.cpuUsage();
  const start = performance.now();
  while (walls.length < calls - 1 || performance.now() - start < time) {
    const before = performance.now();
    gave = await call();
    walls.push(performance.now() - before);
  }
  const { user, system } = process.cpuUsage(cpu);
  return { name, wall: median(walls), cpu: (user + system) / 1000 / walls.length, gave };
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((left, right) => left - right);
  return sorted[sorted.length >> 1] ?? 0;
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(2)} MB`;
