/** Sends one kind of request to a server for a while, and measures the CPU time per request. */
import type { Asking, Client } from '../support/client.ts';
import { median } from '../support/measure.ts';

/** The load on one server. */
export interface Load {
  /** CPU time so far in milliseconds, for each process that works for the server. */
  used(): Promise<readonly number[]>;
  readonly asking: Asking;
  /** Concurrent requests; absent: one. */
  readonly connections?: number;
  /** The address of the next request. */
  next(): string;
}

export interface Figures {
  /** Milliseconds of CPU time per request, for each process. */
  readonly cpu: readonly number[];
  /** The median duration of a request in milliseconds. */
  readonly wall: number;
  /** Requests per second. */
  readonly rate: number;
}

export const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, number) => total + number, 0);

/** The minimum number of requests, however long they take. */
const LEAST = 4;
/** Milliseconds between two checks whether the server is still busy after its last response. */
const PAUSE = 50;
/** The CPU time in milliseconds that an idle server may use in a pause. */
const IDLE = 5;
const LOOKS = 20;

/** First sends requests for half the time without measuring, so that connections are open, plans exist and code is compiled. */
export async function measureLoad(load: Load, client: Client, milliseconds: number): Promise<Figures> {
  await askAll(load, client, milliseconds / 2);
  await settle(load);
  const before = await load.used();
  const start = performance.now();
  const walls = await askAll(load, client, milliseconds);
  const spent = performance.now() - start;
  await settle(load);
  const after = await load.used();
  const cpu = after.map((used, index) => (used - (before[index] ?? 0)) / walls.length);
  return { cpu, wall: median(walls), rate: (walls.length * 1000) / spent };
}

async function askAll(load: Load, client: Client, milliseconds: number): Promise<number[]> {
  const { connections = 1 } = load;
  const each = Array.from({ length: connections }, () => ask(load, client, milliseconds));
  return (await Promise.all(each)).flat();
}

async function ask({ next, asking }: Load, client: Client, milliseconds: number): Promise<number[]> {
  const walls: number[] = [];
  const start = performance.now();
  while (walls.length < LEAST || performance.now() - start < milliseconds) {
    const from = performance.now();
    await client.get(next(), asking);
    walls.push(performance.now() - from);
  }
  return walls;
}

async function settle({ used }: Load): Promise<void> {
  let before = sum(await used());
  for (let look = 0; look < LOOKS; look++) {
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, PAUSE);
    await promise;
    const now = sum(await used());
    if (now - before < IDLE) return;
    before = now;
  }
}
