/**
 * Reads the body of a request, with limits on its size and time, and only after the key is known. It must not know what is in it.
 */
import { finished, type Readable } from 'node:stream';
import { type PlatError, platError } from '../../errors/index.ts';

/** Reads a body of at most `most` bytes. @throws PlatError 413 for a larger one, 408 for one that does not arrive in time */
export type ReadBody = (most: number) => Promise<Buffer>;

/** A body that is still arriving on an HTTP/1.1 connection, on which the parser may meet bytes that are not valid HTTP. */
export class IncomingBody {
  #fault: PlatError | undefined;
  #failed: ((fault: PlatError) => void) | undefined;

  get isBroken(): boolean {
    return this.#fault !== undefined;
  }

  /** Reports that the rest of the body will not arrive. */
  fail(fault: PlatError): void {
    this.#fault ??= fault;
    this.#failed?.(this.#fault);
  }

  /** Registers a callback for such a fault; it is called at once if the fault has occurred already. */
  onFault(failed: (fault: PlatError) => void): void {
    this.#failed = failed;
    if (this.#fault !== undefined) failed(this.#fault);
  }
}

/**
 * @param milliseconds the time for the whole body
 * @param incoming absent for HTTP/2, where a fault ends the stream itself
 */
export function bodyReader(
  request: Readable & { readonly headers: Readonly<Record<string, unknown>> },
  milliseconds: number,
  incoming?: IncomingBody,
): ReadBody {
  return (most) =>
    new Promise((resolve, reject) => {
      const parts: Buffer[] = [];
      let size = 0;
      const fail = (error: PlatError): void => {
        end();
        reject(error);
      };
      const tooLarge = (): void => fail(platError('bodyTooLarge', { limit: most }));
      const take = (part: Buffer): void => {
        size += part.length;
        if (size > most) tooLarge();
        else parts.push(part);
      };
      const timer = setTimeout(() => fail(platError('requestTimedOut', {})), milliseconds);
      const stopWatching = finished(request, { writable: false }, (error) => {
        end();
        if (error) reject(platError('clientGone', {}, { cause: error }));
        else resolve(Buffer.concat(parts));
      });
      const end = (): void => {
        clearTimeout(timer);
        stopWatching();
        request.off('data', take);
        request.resume(); // discards the rest
      };
      if (Number(request.headers['content-length'] ?? 0) > most) tooLarge();
      else request.on('data', take);
      incoming?.onFault(fail);
    });
}
