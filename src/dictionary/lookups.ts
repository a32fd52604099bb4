/**
 * The values of lookups: the texts that represent the same value, and the names that values have if the lookup is an OData
 * enumeration type (RESO Data Dictionary 2.0, enumerations). An enumeration member has the name that the dictionary defines for its
 * value; without one, it has the value itself. A value that is not a simple identifier (CSDL 17.2) is encoded as one: each other
 * character becomes an escape such as `_x0020_`, so that the value can be decoded without a table.
 */
import { createHash } from 'node:crypto';
import type { Lookup } from './types.ts';

/**
 * The texts that represent the same value of a lookup: first the given one, then the others that records may contain (the standard
 * value, the name in enumerations of older servers). A text that is not a value of the lookup represents only itself.
 */
export function spellingsOf(lookup: Lookup | undefined, text: string): readonly string[] {
  const value = lookup?.spellings.get(text);
  if (lookup === undefined || value === undefined) return [text];
  const legacy = lookup.values.get(value)?.legacy;
  const isLegacy = legacy !== undefined && lookup.spellings.get(legacy) === value;
  return [...new Set(isLegacy ? [text, value, legacy] : [text, value])];
}

const MAX_IDENTIFIER_LENGTH = 128;
const ESCAPE = /_x([\dA-F]{4})_/g;
const HAS_ESCAPE = /_x[\dA-F]{4}_/;
/**
 * An underscore that would be decoded as the beginning of an escape, also because an escape, which begins with an underscore, follows
 * it; and every character that an identifier must not contain.
 */
const INVALID_CHARACTER =
  /_(?=x[\dA-F]{4}(?:_|[^\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]))|[^\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]/gu;
const INVALID_FIRST_CHARACTER = /^[^\p{L}\p{Nl}_]/u;

const escaped = (text: string): string =>
  Array.from({ length: text.length }, (_, at) =>
    text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0'),
  )
    .map((code) => `_x${code}_`)
    .join('');

/** Encodes a text as a simple identifier. If that would be too long, it is truncated and ends in a hash, and cannot be decoded. */
export function identifierOf(text: string): string {
  const name = text.replace(INVALID_CHARACTER, escaped).replace(INVALID_FIRST_CHARACTER, escaped);
  if (name.length <= MAX_IDENTIFIER_LENGTH && name !== '') return name;
  return `${name.slice(0, 90)}_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}

/** Decodes an identifier. */
const textOfIdentifier = (name: string): string =>
  name.replace(ESCAPE, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** The texts from which an identifier may have been derived: itself, and its unescaped form. */
export const textsOfIdentifier = (name: string): readonly string[] =>
  HAS_ESCAPE.test(name) ? [name, textOfIdentifier(name)] : [name];

/** The name of a value as a member of its enumeration. */
export const memberName = (lookup: Lookup | undefined, value: string): string =>
  lookup?.values.get(value)?.legacy ?? identifierOf(value);
