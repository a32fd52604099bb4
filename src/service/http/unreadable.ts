/** Responses to requests that Node could not parse. It must not know which paths exist. */
import type { Duplex } from 'node:stream';
import { malformedError, type PlatError, platError } from '../../errors/index.ts';
import { isNativePath, nativeError, resoError } from '../reply/errors.ts';
import { type CommonHeaderValues, commonHeaders } from '../reply/send.ts';
import { ALLOWED, methodNotAllowed } from './methods.ts';
import { ODATA_VERSION } from './negotiation.ts';
import { METHODS, STATUS_CODES } from './node-http.ts';

/** Node's error for a connection whose request it could not read. */
interface ClientError extends Error {
  readonly code?: string;
  /** The packet in which the parser found the fault. */
  readonly rawPacket?: unknown;
}

/** Match the target with which a packet begins, and its complete request line, even if the URL contains spaces. */
const TARGET = /^[A-Z][A-Z-]{0,40} ([^ \r\n]+)/;
const REQUEST_LINE = /^([A-Z][A-Z-]{0,40}) (.+) HTTP\/1\.[01]\r?\n/;
/** A character that a URL cannot contain, such as a space. */
const NOT_OF_URL = /[^\x21-\x7e]/;
const UNENCODED =
  'its URL contains a space or another character that must be percent-encoded, such as %20 for a space';

/** Why a request could not be parsed, and its path; empty if the received part does not contain the path. */
export interface UnreadableRequest {
  readonly error: PlatError;
  readonly path: string;
}

/**
 * Sends an error in the same envelope as any other response, and ends the connection (RFC 9112). If the path is not known, the
 * client may use either interface, so the response has the members of both envelopes.
 */
export function refuseUnreadable(
  { error, path }: UnreadableRequest,
  socket: Duplex,
  common: CommonHeaderValues,
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const extra: Record<string, string> = error.code === 'methodNotAllowed' ? { allow: ALLOWED } : {};
  const native = nativeError(error, extra);
  const reso = resoError(error, { ...ODATA_VERSION, ...extra });
  const both = { ...reso, body: [`${reso.body.join('').slice(0, -1)},${native.body.join('').slice(1)}`] };
  const { headers, body } = path === '' ? both : isNativePath(path) ? native : reso;
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
export const isParseError = ({ code = '' }: ClientError): boolean => /^(?:HPE|ERR_HTTP)_/.test(code);

/** The error to report: the request is not valid HTTP, its head is too large, or it arrived too slowly. */
export function unreadableRequestFrom({ code, rawPacket }: ClientError): UnreadableRequest {
  const text = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : '';
  const [, method, path = TARGET.exec(text)?.[1] ?? ''] = REQUEST_LINE.exec(text) ?? [];
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { error: platError('headersTooLarge', {}), path };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { error: platError('requestTimedOut', {}), path };
  }
  const isUnencoded = NOT_OF_URL.test(path);
  if (code === 'HPE_INVALID_METHOD' && method !== undefined && !METHODS.includes(method) && !isUnencoded) {
    return { error: methodNotAllowed(method), path };
  }
  if ((code === 'HPE_INVALID_URL' || code === 'HPE_INVALID_CONSTANT') && isUnencoded) {
    return { error: malformedError(UNENCODED), path };
  }
  return { error: malformedError('it is not HTTP/1.1'), path };
}
