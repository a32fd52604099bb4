import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isRest, type Part } from '../exchange.ts';
import type { Encoding } from './accept.ts';
import { compressor } from './compress.ts';

/** Counts the bytes that wait until their clients take them. */
export interface Held {
  heldBytes: number;
}

/** Milliseconds that a client may keep the store waiting in all; then the rest waits for it in memory. */
const PATIENCE = 2000;

/**
 * Writes a body while it is read, so that no more of it is held than what is on its way. Resolves when all is written,
 * or the client is gone.
 * @param compressed absent: it is sent as it is
 * @returns bytes that were sent
 * @throws what reading fails with
 */
export async function sendAsRead(
  response: ServerResponse,
  parts: readonly Part[],
  compressed: { readonly encoding: Encoding; readonly size: number } | undefined,
  held: Held,
): Promise<number> {
  const taking = takingBy(response, held);
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

async function* read(parts: readonly Part[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (isRest(part)) yield* part;
    else yield typeof part === 'string' ? Buffer.from(part) : part;
  }
}

/** How a client takes what is written to it. */
function takingBy(response: ServerResponse, held: Held) {
  let gone = false;
  let patience = PATIENCE;
  let bytes = 0;
  let waiting = 0;
  const end = new Promise<void>((resolve) => {
    finished(response, () => {
      gone = true;
      resolve();
    });
  }).finally(() => {
    held.heldBytes -= waiting;
    waiting = 0;
  });
  const give = (piece: Uint8Array): boolean => {
    bytes += piece.length;
    waiting += piece.length;
    held.heldBytes += piece.length;
    return response.write(piece, () => {
      if (gone) return;
      waiting -= piece.length;
      held.heldBytes -= piece.length;
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
        if (gone) return;
        const isTaken = give(piece);
        if (!isTaken && patience > 0) await drained();
      }
    },
    /** @returns bytes, once they are taken or never will be */
    async taken(): Promise<number> {
      await end;
      return bytes;
    },
  };
}
