/**
 * Disconnects clients that read their responses too slowly or not at all: unread bytes would fill the memory and occupy a
 * connection to the store. This module sees only bytes and times, no requests.
 */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

export interface PaceLimits {
  /** A client that reads fewer bytes per second than this, for `seconds` seconds, is disconnected. */
  readonly bytesPerSecond: number;
  readonly seconds: number;
}

/**
 * The number of bytes that were written to a socket and that the system has not accepted yet; undefined once the socket is closed.
 */
export type Queued = () => number | undefined;

/** One response that is being sent. */
export interface Sender {
  /**
   * Reports that bytes now wait for the client.
   * @param left returns how many; absent: `reportRead` reports the bytes that the client reads
   */
  reportWaiting(left?: Queued): void;
  /** Reports that the client has read bytes. @param hasMore whether more are waiting */
  reportRead(bytes: number, hasMore: boolean): void;
  end(): void;
}

interface Sending {
  taken: number;
  /** Returns the number of waiting bytes; `waited` is their number at the last check. */
  left: Queued | undefined;
  waited: number;
  /** When bytes began to wait, or when the client was last found to be fast enough; undefined while no bytes wait. */
  since: number | undefined;
  readonly cut: () => void;
}

/** The number of checks of each client within `seconds`. */
const LOOKS = 4;

export class Pace {
  readonly #limits: PaceLimits;
  readonly #now: () => number;
  readonly #sending = new Set<Sending>();
  readonly #timer: NodeJS.Timeout;

  /** @param now milliseconds of a monotonic clock */
  constructor(limits: PaceLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#timer = setInterval(() => this.checkClients(), (limits.seconds * 1000) / LOOKS).unref();
  }

  /** Watches a response. @param cut ends the connection; called at most once */
  watch(cut: () => void): Sender {
    const sending: Sending = { taken: 0, left: undefined, waited: 0, since: undefined, cut };
    this.#sending.add(sending);
    return {
      reportWaiting: (left) => {
        sending.left = left;
        sending.waited = left?.() ?? 0;
        sending.since ??= this.#now();
      },
      reportRead: (bytes, hasMore) => {
        sending.taken = hasMore ? sending.taken + bytes : 0;
        if (!hasMore) sending.since = undefined;
      },
      end: () => void this.#sending.delete(sending),
    };
  }

  /** Disconnects the clients that are too slow. */
  checkClients(): void {
    const now = this.#now();
    const { bytesPerSecond, seconds } = this.#limits;
    for (const sending of this.#sending) {
      if (sending.since === undefined || now - sending.since < seconds * 1000) continue;
      const waits = sending.left?.() ?? 0;
      sending.taken += sending.waited - waits;
      sending.waited = waits;
      if (sending.taken < (bytesPerSecond * (now - sending.since)) / 1000) {
        this.#sending.delete(sending);
        sending.cut();
      } else {
        sending.since = now;
        sending.taken = 0;
      }
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/**
 * The length of a socket's write queue. Node counts it for its own timeouts, but exposes it only on the internal handle of a
 * socket. Where it is not available, bodies are written in slices, which costs more.
 *
 * @returns undefined if the queue cannot be observed: over TLS, its bytes are not those that were written
 */
export function queueOf(socket: Socket | null): Queued | undefined {
  if (socket === null || socket instanceof TLSSocket) return undefined;
  const queue: Queued = () => {
    const handle: unknown = Reflect.get(socket, '_handle');
    if (typeof handle !== 'object' || handle === null) return undefined;
    const size: unknown = Reflect.get(handle, 'writeQueueSize');
    return typeof size === 'number' ? size : undefined;
  };
  return queue() === undefined ? undefined : queue;
}
