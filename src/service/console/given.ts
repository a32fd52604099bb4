/** Reads JSON bodies of the admin port. It must not know their purpose. */
import { platError } from '../../errors/index.ts';

/** The object in a body. @throws PlatError `requestMalformed` */
export function objectIn(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const given: unknown = JSON.parse(body.toString());
    if (typeof given === 'object' && given !== null && !Array.isArray(given)) return { ...given };
  } catch {
    // The same error as for JSON that is not an object.
  }
  throw platError('requestMalformed', { reason: 'the body is not a JSON object' });
}

/** A member that must be a non-empty string. @throws PlatError `requestMalformed` */
export function textIn(given: Readonly<Record<string, unknown>>, name: string): string {
  const value = given[name];
  if (typeof value === 'string' && value.trim() !== '') return value.trim();
  throw platError('requestMalformed', { reason: `the body has no string ${name}` });
}
