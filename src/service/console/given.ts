/** What a body of the admin port gives, as JSON. It must not know what it is for. */
import { platError } from '../../errors/index.ts';

/** The object that a body is. @throws PlatError `requestMalformed` */
export function objectIn(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const given: unknown = JSON.parse(body.toString());
    if (typeof given === 'object' && given !== null && !Array.isArray(given)) return { ...given };
  } catch {
    // The same answer as for JSON that is no object.
  }
  throw platError('requestMalformed', { reason: 'the body is no JSON object' });
}

/** A member that must be a text with something in it. @throws PlatError `requestMalformed` */
export function textIn(given: Readonly<Record<string, unknown>>, name: string): string {
  const value = given[name];
  if (typeof value === 'string' && value.trim() !== '') return value.trim();
  throw platError('requestMalformed', { reason: `the body has no text ${name}` });
}
