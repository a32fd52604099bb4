import { hash } from 'node:crypto';
import type { Value } from '../../compile/functions.ts';

/**
 * The signature of a served file: role, expiry (seconds since 1970) and a keyed hash of both and the path. The secret
 * is at both ends of the hashed text, which prevents length extension.
 */
export function fileSignature(secret: string, role: string, expires: number, path: string): string {
  const digest = hash('sha256', `${secret}\n${role}\n${expires}\n${path}\n${secret}`, 'hex').slice(0, 32);
  return `${role}.${expires}.${digest}`;
}

/** Makes the URL of a served file; null without a path. Only a holder of the secret can make it. */
export const fileUrl =
  (secret: string) =>
  (path: Value, role: Value, expires: Value, base: Value): Value => {
    if (typeof path !== 'string') return null;
    return `${base}/media/${fileSignature(secret, String(role), Number(expires), path)}/${encodeURI(path)}`;
  };
