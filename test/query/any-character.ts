/**
 * Any character of Unicode, for texts of properties: as `unit: 'binary'` of fast-check, which makes a table of all million of
 * them first and takes a second for that.
 */
import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };
const LAST = 0x10ffff;

const characterAt = (index: number): string =>
  String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count);

/** The other way, for texts that fast-check tries of its own. */
function indexOf(value: unknown): number {
  const code = typeof value === 'string' && [...value].length === 1 ? value.codePointAt(0) : undefined;
  if (code === undefined) throw new Error('no character');
  if (code < SURROGATES.first) return code;
  if (code < SURROGATES.first + SURROGATES.count) throw new Error('half a character');
  return code - SURROGATES.count;
}

export const anyCharacter = fc.integer({ min: 0, max: LAST - SURROGATES.count }).map(characterAt, indexOf);
