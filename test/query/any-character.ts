/**
 * Any Unicode character, for texts in property tests. The same as `unit: 'binary'` of fast-check, which first builds a table of all
 * million characters, for a second.
 */
import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };
const LAST = 0x10ffff;

const characterAt = (index: number): string =>
  String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count);

/** The reverse, which fast-check needs to shrink texts of its own. */
function indexOf(value: unknown): number {
  const code = typeof value === 'string' && [...value].length === 1 ? value.codePointAt(0) : undefined;
  if (code === undefined) throw new Error('no character');
  if (code < SURROGATES.first) return code;
  if (code < SURROGATES.first + SURROGATES.count) throw new Error('half a character');
  return code - SURROGATES.count;
}

export const anyCharacter = fc.integer({ min: 0, max: LAST - SURROGATES.count }).map(characterAt, indexOf);
