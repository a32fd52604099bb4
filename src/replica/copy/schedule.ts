import type { Schedule } from '../checkpoint/notes.ts';
import type { Copy } from './copy.ts';

/** Notes that a step was done whole, begun at a moment. */
export async function noteDone({ book }: Copy, step: keyof Schedule, begun: number): Promise<void> {
  await book.alone((commit) => commit({ state: { schedule: { ...book.get('schedule'), [step]: begun } } }));
}

/**
 * When something is due that was done before and is done again after a while: now, where nobody knows when it was done. A
 * `last` that lies in the future says nothing: it is of a clock that has been set back since.
 */
export function dueAt(last: number | undefined, every: number, now: number): number {
  return last === undefined || last > now ? now : last + every;
}
