/** Asks a server the same kind of thing for a while, and says what it used of a processor for each request. */
import type { Asking, Client } from '../support/client.ts';
import { median } from '../support/measure.ts';

/** What is asked of one server. */
export interface Load {
  /** CPU time so far in milliseconds, of each of the processes that work for it. */
  used(): Promise<readonly number[]>;
  readonly asking: Asking;
  /** Requests at once; absent: one. */
  readonly connections?: number;
  /** The address of the next request. */
  next(): string;
}

export interface Figures {
  /** Milliseconds of CPU for a request, of each of the processes. */
  readonly cpu: readonly number[];
  /** Milliseconds that a request takes, the median. */
  readonly wall: number;
  /** Requests in a second. */
  readonly rate: number;
}

export const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, number) => total + number, 0);

/** Requests at least, however long they take. */
const LEAST = 4;
/** Milliseconds between two looks at a server that may still be busy with what follows its last answer. */
const PAUSE = 50;
/** What an idle server may use in a pause. */
const IDLE = 5;
const LOOKS = 20;

/** Runs for half the time without measuring, so that connections, plans and compiled code are there. */
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
