/** Reads JSON bodies of the admin port. It must not know their purpose. */
import { platError } from '../../errors/index.ts';
import { isObject, parsedJson } from '../../shared/json.ts';

/** The object in a body. @throws PlatError `requestMalformed` */
export function objectIn(body: Buffer): Readonly<Record<string, unknown>> {
  const given = parsedJson(body.toString());
  if (isObject(given)) return given;
  throw platError('requestMalformed', { reason: 'the body is not a JSON object' });
}

/** A member that must be a non-empty string. @throws PlatError `requestMalformed` */
export function textIn(given: Readonly<Record<string, unknown>>, name: string): string {
  const value = given[name];
  if (typeof value === 'string' && value.trim() !== '') return value.trim();
  throw platError('requestMalformed', { reason: `the body has no string ${name}` });
}
