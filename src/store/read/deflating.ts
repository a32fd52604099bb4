/**
 * Compresses blocks of records: immediately on a thread that has nothing else to do, or a few at a time next to the
 * thread that answers requests. It does not know their content.
 */
import { type Deflated, deflatePart, deflatePartNow } from '../../shared/gzip-member.ts';
import { PromiseQueue } from '../../shared/promise-queue.ts';

export type Deflate = (text: Uint8Array) => Deflated | Promise<Deflated>;

/**
 * The same level as for pages that are compressed when they are sent: the first client to walk a collection waits for
 * it.
 */
const LEVEL = 2;
/** The number of texts that are compressed at once, each of which needs memory of its own. */
const AT_ONCE = 4;

export const deflateNow = (text: Uint8Array): Deflated => deflatePartNow(text, LEVEL);

export function makeQueuedDeflate(): Deflate {
  const queues = Array.from({ length: AT_ONCE }, () => new PromiseQueue());
  let next = 0;
  return (text) => {
    const queue = queues[next++ % AT_ONCE] ?? new PromiseQueue();
    return queue.run(() => deflatePart(text, LEVEL));
  };
}
