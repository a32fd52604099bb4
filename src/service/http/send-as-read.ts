import { finished, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Rest } from '../../compile/read.ts';
import { isRest, type Part } from '../exchange.ts';
import type { Encoding } from './accept.ts';
import { compressor } from './compress.ts';
import type { Sender } from './pace.ts';

/** What a body that is being sent is counted by, and what watches how its client takes it. */
export interface Taking {
  /** Sets how many bytes wait in memory for the client. */
  holds(bytes: number): void;
  /** Whether so many bytes wait for this client's key that no more may. */
  isOver(): boolean;
  readonly sender: Sender;
  /** Ends the connection. */
  cut(): void;
}

/** Milliseconds that a client may keep the store waiting in all; then the rest waits for it in memory. */
const PATIENCE = 2000;

/** Bytes that are written at a time: so it is seen how quickly a client takes them. */
export const SLICE = 128 * 1024;

/**
 * Writes a body while it is read, so that no more of it is held than what is on its way. Resolves when all is written,
 * or the client is gone.
 * @param compressed absent: it is sent as it is
 * @returns bytes that were sent
 * @throws what reading fails with
 */
export async function sendAsRead(
  response: Writable,
  parts: readonly Part[],
  compressed: { readonly encoding: Encoding; readonly size: number } | undefined,
  by: Taking,
): Promise<number> {
  const taking = takingBy(response, by);
  try {
    if (compressed === undefined) await taking.all(read(parts));
    else await pipeline(read(parts), compressor(compressed.encoding, compressed.size), taking.all);
    if (!taking.isGone()) response.end();
    return await taking.taken();
  } catch (error) {
    // Nobody is there to be told.
    if (taking.isGone()) return taking.taken();
    throw error;
  }
}

/** @throws when the store gives more or less than it said: a part of an answer must not look like all of it */
async function* read(parts: readonly Part[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (isRest(part)) yield* announced(part);
    else yield typeof part === 'string' ? Buffer.from(part) : part;
  }
}

async function* announced(rest: Rest): AsyncGenerator<Uint8Array> {
  let given = 0;
  for await (const piece of rest) {
    given += piece.length;
    if (given > rest.length) break;
    yield piece;
  }
  if (given !== rest.length)
    throw new Error(`The store gave ${given} bytes of the ${rest.length} that it said`);
}

/** How a client takes what is written to it. */
function takingBy(response: Writable, by: Taking) {
  let gone = false;
  let patience = PATIENCE;
  let bytes = 0;
  let waiting = 0;
  const end = new Promise<void>((resolve) => {
    finished(response, { readable: false }, () => {
      gone = true;
      waiting = 0;
      by.holds(0);
      resolve();
    });
  });
  const give = (piece: Uint8Array): boolean => {
    bytes += piece.length;
    waiting += piece.length;
    by.holds(waiting);
    by.sender.waits();
    return response.write(piece, () => {
      if (gone) return;
      waiting -= piece.length;
      by.holds(waiting);
      by.sender.took(piece.length, waiting > 0);
    });
  };
  const drained = async (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const began = performance.now();
    const timer = setTimeout(resolve, patience);
    response.once('drain', resolve);
    await Promise.race([promise, end]);
    response.off('drain', resolve);
    clearTimeout(timer);
    patience -= performance.now() - began;
  };
  return {
    isGone: () => gone,
    async all(pieces: AsyncIterable<Uint8Array>): Promise<void> {
      for await (const piece of pieces) {
        for (let at = 0; at < piece.length; at += SLICE) {
          if (gone) return;
          const isTaken = give(piece.subarray(at, at + SLICE));
          if (!isTaken && patience > 0) await drained();
          // What the store waited for long enough would now fill the memory, where its key has filled it already.
          else if (!isTaken && by.isOver()) by.cut();
        }
      }
    },
    /** @returns bytes, once they are taken or never will be */
    async taken(): Promise<number> {
      await end;
      return bytes;
    },
  };
}
