const OF_A_WORD = String.raw`\p{L}\p{M}\p{N}`;
const WORDS = new RegExp(`[${OF_A_WORD}]+`, 'gu');

/** The words of a text, in lower case: letters, marks and digits between anything else. */
export const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(WORDS) ?? [];

/**
 * Finds words that stand side by side, whole, in lower-case texts.
 * @param between texts are told apart by this character
 */
export function sideBySide(words: readonly string[], between: string): RegExp {
  const side = words.join(`[^${OF_A_WORD}${between}]+`);
  return new RegExp(`(?<![${OF_A_WORD}])${side}(?![${OF_A_WORD}])`, 'u');
}
