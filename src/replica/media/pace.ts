import type { Clock } from '../../store/clock.ts';
import { asFailure, RequestFailure } from '../http/failure.ts';

/** Milliseconds in which a file has to come whole, or bring the least that is worth waiting for. */
const WINDOW = 60_000;
const LEAST = 256 * 1024;
/** Milliseconds after which no file is waited for. */
const LONGEST = 30 * 60_000;

/** How fast one file comes, watched. */
export interface Pace {
  /** Comes with the outer one, and when the file is too slow; its reason says so. */
  readonly signal: AbortSignal;
  /** The same content, counted. @throws RequestFailure for whatever the network throws */
  counted(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** Why it was given up, if it was. */
  tooSlow(): RequestFailure | undefined;
  end(): void;
}

/**
 * Watches from the request to the last byte, redirects included: a host that sends a byte now and then keeps a
 * connection busy as long as it likes, and no limit on the gap between two bytes ends that.
 */
export function watchPace(clock: Clock, outer: AbortSignal): Pace {
  const ended = new AbortController();
  const slow = new AbortController();
  let bytes = 0;
  let failure: RequestFailure | undefined;

  const watch = async (): Promise<void> => {
    for (let before = 0, elapsed = WINDOW; ; before = bytes, elapsed += WINDOW) {
      await clock.sleep(WINDOW, ended.signal);
      if (ended.signal.aborted) return;
      if (bytes - before >= LEAST && elapsed < LONGEST) continue;
      failure = new RequestFailure('transient', `It came too slowly: ${bytes} bytes in ${elapsed / 1000} s`);
      slow.abort(failure);
      return;
    }
  };
  void watch();

  return {
    signal: AbortSignal.any([outer, slow.signal]),
    async *counted(content) {
      try {
        for await (const chunk of content) {
          if (failure !== undefined) throw failure;
          bytes += chunk.length;
          yield chunk;
        }
      } catch (error) {
        throw asFailure(error);
      } finally {
        // The time that the disk takes is not the host's.
        ended.abort();
      }
    },
    tooSlow: () => failure,
    end: () => ended.abort(),
  };
}
