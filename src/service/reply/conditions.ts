/** Conditional requests and ranges of bytes (RFC 9110, 13 and 14). This module must not know what the bytes are. */
import { hash } from 'node:crypto';
import type { Reply } from '../exchange.ts';

type Asked = Readonly<Record<string, string | undefined>>;

/** A weak tag of a content: the same text has the same tag, in whatever encoding it is sent (RFC 9110, 8.8.3). */
export function weakTag(content: string | Uint8Array): string {
  return `W/"${hash('sha256', content, 'base64url').slice(0, 22)}"`;
}

/** Whether the client has this content already (`If-None-Match`, weak comparison). */
export function hasTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  const strip = (each: string): string => each.trim().replace(/^W\//, '');
  return header.split(',').some((each) => strip(each) === strip(tag));
}

/** The reply, or 304 with the headers of its content but its type where the client has that content already. */
export function unlessKnown(asked: Asked, reply: Reply): Reply {
  const { etag } = reply.headers;
  if (etag === undefined || !hasTag(asked['if-none-match'], etag)) return reply;
  const { 'content-type': _, ...headers } = reply.headers;
  return { status: 304, headers, body: [] };
}

/** Which part of a file is requested. A server may ignore `Range`, so several ranges at once get the whole file. */
type RangeWish =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly first: number; readonly last: number }
  /** None of it is in the file. */
  | { readonly kind: 'outside' };

const RANGE = /^\s*bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i;
const WHOLE: RangeWish = { kind: 'whole' };

/**
 * @param size bytes of the file
 * @param tag of the file
 */
export function rangeOf(headers: Asked, size: number, tag: string): RangeWish {
  const { range, 'if-range': condition } = headers;
  const [, from = '', to = ''] = RANGE.exec(range ?? '') ?? [];
  if ((from === '' && to === '') || !isSame(condition, tag)) return WHOLE;
  const [first, last] =
    from === ''
      ? [Math.max(0, size - Number(to)), size - 1]
      : [Number(from), Math.min(size - 1, Number(to || size))];
  if (from !== '' && to !== '' && Number(to) < Number(from)) return WHOLE; // no range at all
  return first >= size || (from === '' && Number(to) === 0)
    ? { kind: 'outside' }
    : { kind: 'part', first, last };
}

/** A part is joined to what the client has only if that is the same, byte by byte: a weak tag does not say so. */
const isSame = (condition: string | undefined, tag: string): boolean =>
  condition === undefined || (condition.trim() === tag && !tag.startsWith('W/'));
