/** Asks a server the same kind of thing for a while, and says what it used of a processor for each request. */
import type { Asking, Client } from '../support/client.ts';
import { median } from '../support/measure.ts';

/** What is asked of one server. */
export interface Load {
  /** CPU time so far in milliseconds, of all processes that work for the server. */
  used(): Promise<number>;
  readonly asking: Asking;
  /** The address of the next request. */
  next(): string;
}

export interface Figures {
  /** Milliseconds of CPU for a request. */
  readonly cpu: number;
  /** Milliseconds that a request takes, the median. */
  readonly wall: number;
}

/** Requests at least, however long they take. */
const LEAST = 4;
/** Milliseconds between two looks at a server that may still be busy with what follows its last answer. */
const PAUSE = 50;
/** What an idle server may use in a pause. */
const IDLE = 5;
const LOOKS = 20;

/** Runs for half the time without measuring, so that connections, plans and compiled code are there. */
export async function measureLoad(load: Load, client: Client, milliseconds: number): Promise<Figures> {
  await ask(load, client, milliseconds / 2);
  await settle(load);
  const before = await load.used();
  const walls = await ask(load, client, milliseconds);
  await settle(load);
  const cpu = ((await load.used()) - before) / walls.length;
  return { cpu, wall: median(walls) };
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
  let before = await used();
  for (let look = 0; look < LOOKS; look++) {
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, PAUSE);
    await promise;
    const now = await used();
    if (now - before < IDLE) return;
    before = now;
  }
}
