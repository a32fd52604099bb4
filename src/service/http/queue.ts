/**
 * How much of what was written to a socket the system has not taken. Node counts it for its own timeouts and shows it at
 * the handle of a socket alone, so where it is not found a body is written slice by slice, which costs more. It must not
 * know what is written.
 */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Bytes that wait; undefined once the socket is closed. */
export type Queue = () => number | undefined;

/** The queue of a socket; undefined where it cannot be seen: over TLS, what waits is not what was written. */
export function queueOf(socket: Socket | null): Queue | undefined {
  if (socket === null || socket instanceof TLSSocket) return undefined;
  const queue: Queue = () => sizeOf(Reflect.get(socket, '_handle'));
  return queue() === undefined ? undefined : queue;
}

function sizeOf(handle: unknown): number | undefined {
  if (typeof handle !== 'object' || handle === null) return undefined;
  const size: unknown = Reflect.get(handle, 'writeQueueSize');
  return typeof size === 'number' ? size : undefined;
}
