/** Reads JSON bodies of the admin port. It must not know their purpose. */
import { malformedError } from '../../errors/index.ts';
import { isObject, tryParseJson } from '../../shared/json.ts';

export type BodyMembers = Readonly<Record<string, unknown>>;

/**
 * The object in a body. A member with a wrong name is not ignored: a key whose `systems` were misspelled would see every system.
 *
 * @param known the names of its members
 * @throws PlatError `requestMalformed`
 */
export function parseBody(body: Buffer, known: readonly string[]): BodyMembers {
  const given = tryParseJson(body.toString());
  if (!isObject(given)) throw malformedError('the body is not a JSON object');
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return given;
  const name = JSON.stringify(unknown.slice(0, 40));
  throw malformedError(`the body has an unknown member ${name}; its members are ${known.join(', ')}`);
}

/** A member that must be a non-empty string. @throws PlatError `requestMalformed` */
export function requireString(given: BodyMembers, name: string): string {
  const value = given[name];
  if (typeof value === 'string' && value.trim() !== '') return value.trim();
  throw malformedError(`the body has no string ${name}`);
}
