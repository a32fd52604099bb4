import type { Lookup } from './types.ts';

/**
 * The texts that stand for the same value of a lookup: the given one first, then the others that records may hold
 * for it (the standard value, the name of older servers). A text that is no value of the lookup stands for itself.
 */
export function spellingsOf(lookup: Lookup | undefined, text: string): readonly string[] {
  const value = lookup?.spellings.get(text);
  if (lookup === undefined || value === undefined) return [text];
  const legacy = lookup.values.get(value)?.legacy;
  const isLegacy = legacy !== undefined && lookup.spellings.get(legacy) === value;
  return [...new Set(isLegacy ? [text, value, legacy] : [text, value])];
}
