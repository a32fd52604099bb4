import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
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

/** A request line that is right but for a method that the parser does not know. */
const OTHER_METHOD = /^([A-Z][A-Z-]{0,40}) \S+ HTTP\/1\.[01]\r?\n/;

/** Answers requests that are no HTTP, too large in their head or too slow as any other (RFC 9112). */
export function refuse(error: ClientError, socket: Socket, common: Common): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const told = whatIsWrong(error);
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

function whatIsWrong({ code, rawPacket }: ClientError): PlatError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return platError('headersTooLarge', {});
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return platError('requestTimedOut', {});
    case 'HPE_INVALID_METHOD': {
      const text = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : '';
      const method = OTHER_METHOD.exec(text)?.[1];
      if (method !== undefined) return platError('methodNotAllowed', { method });
      break;
    }
  }
  return platError('requestMalformed', { reason: 'it is not HTTP/1.1' });
}
