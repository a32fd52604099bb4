/** Conditional requests and byte ranges (RFC 9110, 13 and 14). This module must not know what the bytes are. */
import { hash } from 'node:crypto';
import { platError } from '../../errors/index.ts';
import type { Reply } from '../exchange.ts';

type RequestHeaders = Readonly<Record<string, string | undefined>>;

/** A weak entity tag: the same content has the same tag in every encoding (RFC 9110, 8.8.3). */
export function weakTag(content: string | Uint8Array): string {
  return `W/"${hash('sha256', content, 'base64url').slice(0, 22)}"`;
}

/** Whether a header names a tag (weak comparison). */
function hasTag(header: string, tag: string): boolean {
  if (header.trim() === '*') return true;
  const strip = (each: string): string => each.trim().replace(/^W\//, '');
  return header.split(',').some((each) => strip(each) === strip(tag));
}

/**
 * Whether the client already has the content with this tag (`If-None-Match`).
 * @throws PlatError `preconditionFailed` if `If-Match`, which OData compares weakly, too, names another version
 */
export function clientHasVersion(
  { 'if-match': wanted, 'if-none-match': known }: RequestHeaders,
  etag: string,
): boolean {
  if (wanted !== undefined && !hasTag(wanted, etag)) throw platError('preconditionFailed', {});
  return known !== undefined && hasTag(known, etag);
}

/**
 * The reply, or 304 with its headers except the type if the client already has the content.
 * @throws PlatError as in `clientHasVersion`
 */
export function replyOrNotModified(asked: RequestHeaders, reply: Reply): Reply {
  const { etag } = reply.headers;
  if (etag === undefined || !clientHasVersion(asked, etag)) return reply;
  const { 'content-type': _, ...headers } = reply.headers;
  return { status: 304, headers, body: [] };
}

/** The part of a file that is requested. A server may ignore `Range`; plat does so for several ranges at once. */
type RequestedRange =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly first: number; readonly last: number }
  /** The range lies outside the file. */
  | { readonly kind: 'outside' };

const RANGE = /^\s*bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i;
const WHOLE: RequestedRange = { kind: 'whole' };

/**
 * @param size the size of the file in bytes
 * @param tag the tag of the file
 */
export function rangeOf(headers: RequestHeaders, size: number, tag: string): RequestedRange {
  const { range, 'if-range': condition } = headers;
  const [, from = '', to = ''] = RANGE.exec(range ?? '') ?? [];
  if ((from === '' && to === '') || !satisfiesIfRange(condition, tag)) return WHOLE;
  const [first, last] =
    from === ''
      ? [Math.max(0, size - Number(to)), size - 1]
      : [Number(from), Math.min(size - 1, Number(to || size))];
  if (from !== '' && to !== '' && Number(to) < Number(from)) return WHOLE; // not a valid range
  return first >= size || (from === '' && Number(to) === 0)
    ? { kind: 'outside' }
    : { kind: 'part', first, last };
}

/**
 * Whether `If-Range` is satisfied. A client may join a range to the part that it has only if the file is identical byte by byte,
 * which a weak tag does not assert.
 */
const satisfiesIfRange = (condition: string | undefined, tag: string): boolean =>
  condition === undefined || (condition.trim() === tag && !tag.startsWith('W/'));
