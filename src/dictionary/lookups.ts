/**
 * The values of lookups: the texts that mean the same value, and the names that values have where a lookup is an enumeration
 * type of OData (RESO Data Dictionary 2.0, enumerations). An enumeration member has the name that the dictionary gives its
 * value, or else its value. What is no simple identifier (CSDL 17.2) is written as one from which it can be read again, each
 * other character as `_x0020_`, so that names need no table.
 */
import { createHash } from 'node:crypto';
import type { Lookup } from './types.ts';

/**
 * The texts that stand for the same value of a lookup: the given one first, then the others that records may contain
 * for it (the standard value, the name of older servers). A text that is not a value of the lookup stands for itself.
 */
export function spellingsOf(lookup: Lookup | undefined, text: string): readonly string[] {
  const value = lookup?.spellings.get(text);
  if (lookup === undefined || value === undefined) return [text];
  const legacy = lookup.values.get(value)?.legacy;
  const isLegacy = legacy !== undefined && lookup.spellings.get(legacy) === value;
  return [...new Set(isLegacy ? [text, value, legacy] : [text, value])];
}

const LONGEST = 128;
const ESCAPE = /_x([\dA-F]{4})_/g;
const HAS_ESCAPE = /_x[\dA-F]{4}_/;
/** An underscore that would be read as the beginning of an escape, and every character that a name cannot contain. */
const STRANGE = /_(?=x[\dA-F]{4}_)|[^\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]/gu;
const STRANGE_FIRST = /^[^\p{L}\p{Nl}_]/u;

const escaped = (text: string): string =>
  Array.from({ length: text.length }, (_, at) =>
    text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0'),
  )
    .map((code) => `_x${code}_`)
    .join('');

/** Any text as a simple identifier. One that would be too long ends in a hash, from which the text cannot be read again. */
export function identifierOf(text: string): string {
  const name = text.replace(STRANGE, escaped).replace(STRANGE_FIRST, escaped);
  if (name.length <= LONGEST && name !== '') return name;
  return `${name.slice(0, 90)}_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}

/** The text that an identifier was made of. */
const textOfIdentifier = (name: string): string =>
  name.replace(ESCAPE, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** The texts from which an identifier may have been derived: itself, and its unescaped form. */
export const textsOfIdentifier = (name: string): readonly string[] =>
  HAS_ESCAPE.test(name) ? [name, textOfIdentifier(name)] : [name];

/** The name of a value among the members of its enumeration. */
export const memberName = (lookup: Lookup | undefined, value: string): string =>
  lookup?.values.get(value)?.legacy ?? identifierOf(value);
