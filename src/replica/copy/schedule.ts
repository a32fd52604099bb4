import type { Copy } from './copy.ts';
import type { Schedule } from './states.ts';

/** Notes that a step was done whole, begun at a moment. */
export async function noteDone({ book }: Copy, step: keyof Schedule, begun: number): Promise<void> {
  await book.alone((commit) => commit({ state: { schedule: { ...book.get('schedule'), [step]: begun } } }));
}
