/**
 * Cuts clients that take their answers too slowly, or not at all: what waits for them would fill the memory and hold a
 * connection of the store. This module sees bytes and times only, no requests.
 */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

export interface PaceLimits {
  /** A client that takes fewer bytes a second than this, over so many seconds, is cut. */
  readonly bytesPerSecond: number;
  readonly seconds: number;
}

/** How many bytes that were written to a socket the system has not taken; undefined once the socket is closed. */
export type Queued = () => number | undefined;

/** One answer on its way. */
export interface Sender {
  /** Bytes wait for the client from now on. @param left how many; absent: `took` is called as they are taken */
  waits(left?: Queued): void;
  /** The client took bytes. @param waits whether more wait */
  took(bytes: number, waits: boolean): void;
  end(): void;
}

interface Sending {
  taken: number;
  /** What waits for the client, and how much of it did at the last look. */
  left: Queued | undefined;
  waited: number;
  /** When the client began to let bytes wait, or was last found quick enough; undefined while none wait. */
  since: number | undefined;
  readonly cut: () => void;
}

/** How often each window is looked at. */
const LOOKS = 4;

export class Pace {
  readonly #limits: PaceLimits;
  readonly #now: () => number;
  readonly #sending = new Set<Sending>();
  readonly #timer: NodeJS.Timeout;

  /** @param now milliseconds of a clock that only runs forward */
  constructor(limits: PaceLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#timer = setInterval(() => this.look(), (limits.seconds * 1000) / LOOKS).unref();
  }

  /** @param cut ends the connection; called at most once */
  watch(cut: () => void): Sender {
    const sending: Sending = { taken: 0, left: undefined, waited: 0, since: undefined, cut };
    this.#sending.add(sending);
    return {
      waits: (left) => {
        sending.left = left;
        sending.waited = left?.() ?? 0;
        sending.since ??= this.#now();
      },
      took: (bytes, waits) => {
        sending.taken = waits ? sending.taken + bytes : 0;
        if (!waits) sending.since = undefined;
      },
      end: () => void this.#sending.delete(sending),
    };
  }

  /** Cuts the clients that are too slow. */
  look(): void {
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
 * The queue of a socket. Node counts it for its own timeouts and shows it only at the handle of a socket; where it is not
 * found, a body is written slice by slice, which costs more.
 * @returns undefined where it cannot be seen: over TLS, what waits is not what was written
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
