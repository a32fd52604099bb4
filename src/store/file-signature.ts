import { hash } from 'node:crypto';

/**
 * The signature of a served file: role, expiry (seconds since 1970) and a keyed hash of both and the path. The secret
 * is at both ends of the hashed text, which prevents length extension.
 */
export function fileSignature(secret: string, role: string, expires: number, path: string): string {
  const digest = hash('sha256', `${secret}\n${role}\n${expires}\n${path}\n${secret}`, 'hex').slice(0, 32);
  return `${role}.${expires}.${digest}`;
}
