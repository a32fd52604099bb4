/** Responses to requests that Node could not parse. It must not know which paths exist. */
import { METHODS, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type PlatError, platError } from '../../errors/index.ts';
import { isNativePath, nativeError, resoError } from '../reply/errors.ts';
import { type Common, commonHeaders } from '../reply/send.ts';
import { ALLOWED, methodNotAllowed } from './methods.ts';
import { ODATA_VERSION } from './negotiation.ts';

/** Node's error for a connection whose request it could not read. */
interface ClientError extends Error {
  readonly code?: string;
  /** The packet in which the parser found the fault. */
  readonly rawPacket?: unknown;
}

/** A request line that is valid except that the parser does not know its method. */
const OTHER_METHOD = /^([A-Z][A-Z-]{0,40}) (\S+) HTTP\/1\.[01]\r?\n/;

/** Why a request could not be parsed, and its path if it is known. */
export interface Unread {
  readonly error: PlatError;
  readonly path: string;
}

/** Sends an error in the same envelope as any other response, and ends the connection (RFC 9112). */
export function refuse({ error, path }: Unread, socket: Duplex, common: Common): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const extra: Record<string, string> = error.code === 'methodNotAllowed' ? { allow: ALLOWED } : {};
  const { headers, body } = isNativePath(path)
    ? nativeError(error, extra)
    : resoError(error, { ...ODATA_VERSION, ...extra });
  const text = body.join('');
  const all = {
    ...commonHeaders(common),
    ...headers,
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}\r\n${lines.join('')}\r\n${text}`);
}

/** Whether the error is about the content of the request, and not about its connection. */
export const isOfHttp = ({ code = '' }: ClientError): boolean => /^(?:HPE|ERR_HTTP)_/.test(code);

/** The error to report: the request is not valid HTTP, its head is too large, or it arrived too slowly. */
export function whatIsWrong({ code, rawPacket }: ClientError): Unread {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { error: platError('headersTooLarge', {}), path: '' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { error: platError('requestTimedOut', {}), path: '' };
    case 'HPE_INVALID_METHOD': {
      const text = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : '';
      const [, method, path = ''] = OTHER_METHOD.exec(text) ?? [];
      if (method === undefined || METHODS.includes(method)) break;
      return { error: methodNotAllowed(method), path };
    }
  }
  return { error: platError('requestMalformed', { reason: 'it is not HTTP/1.1' }), path: '' };
}
