import { hash } from 'node:crypto';

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
