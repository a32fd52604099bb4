/**
 * Reads the body of a request: bounded in size and time, and only once the key is known. It must not know what is in it.
 */
import { finished, type Readable } from 'node:stream';
import { type PlatError, platError } from '../../errors/index.ts';

/** Reads a body, of at most so many bytes. @throws PlatError 413 for a larger one, 408 for one that does not come */
export type ReadBody = (most: number) => Promise<Buffer>;

/** A body that is on its way, in whose place something may come that is no HTTP. */
export class ComingBody {
  #fault: PlatError | undefined;
  #failed: ((fault: PlatError) => void) | undefined;

  get isBroken(): boolean {
    return this.#fault !== undefined;
  }

  /** The body does not come any more. */
  break(fault: PlatError): void {
    this.#fault ??= fault;
    this.#failed?.(this.#fault);
  }

  /** Tells who reads it of a fault, also of one that was found before. */
  read(failed: (fault: PlatError) => void): void {
    this.#failed = failed;
    if (this.#fault !== undefined) failed(this.#fault);
  }
}

/**
 * @param milliseconds for the whole body
 * @param coming absent where none can break: HTTP/2 ends the stream
 */
export function bodyReader(
  request: Readable & { readonly headers: Readonly<Record<string, unknown>> },
  milliseconds: number,
  coming?: ComingBody,
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
      const watch = finished(request, { writable: false }, (error) => {
        end();
        if (error) reject(platError('clientGone', {}, { cause: error }));
        else resolve(Buffer.concat(parts));
      });
      const end = (): void => {
        clearTimeout(timer);
        watch();
        request.off('data', take);
        request.resume(); // what follows is dropped
      };
      if (Number(request.headers['content-length'] ?? 0) > most) tooLarge();
      else request.on('data', take);
      coming?.read(fail);
    });
}
