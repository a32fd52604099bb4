import { METHODS, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type PlatError, platError } from '../../errors/index.ts';
import { resoError } from '../envelope/reso-error.ts';
import { ALLOWED } from './methods.ts';
import { type Common, commonHeaders } from './send.ts';

/** What Node says of a connection whose request it could not read. */
export interface ClientError extends Error {
  readonly code?: string;
  /** The bytes in which the fault was found. */
  readonly rawPacket?: unknown;
}

/** A request line that is right but for a method that the parser does not know */
const OTHER_METHOD = /^([A-Z][A-Z-]{0,40}) \S+ HTTP\/1\.[01]\r?\n/;

/** Answers a request that did not become one, as any other is answered, and ends the connection (RFC 9112). */
export function refuse(told: PlatError, socket: Duplex, common: Common): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const extra: Record<string, string> = told.code === 'methodNotAllowed' ? { allow: ALLOWED } : {};
  const { headers, body } = resoError(told, extra);
  const text = body.join('');
  const all = {
    ...commonHeaders(common),
    ...headers,
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${told.status} ${STATUS_CODES[told.status] ?? ''}\r\n${lines.join('')}\r\n${text}`);
}

/** Why a request is no HTTP, too large in its head, or too slow. */
export function whatIsWrong({ code, rawPacket }: ClientError): PlatError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return platError('headersTooLarge', {});
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return platError('requestTimedOut', {});
    case 'HPE_INVALID_METHOD': {
      const text = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : '';
      const method = OTHER_METHOD.exec(text)?.[1];
      if (method !== undefined && !METHODS.includes(method)) return platError('methodNotAllowed', { method });
      break;
    }
  }
  return platError('requestMalformed', { reason: 'it is not HTTP/1.1' });
}
