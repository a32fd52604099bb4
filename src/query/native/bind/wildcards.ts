/** `*` stands for any characters and `?` for one; behind a backslash they stand for themselves. */
import type { LikePart } from '../../tree.ts';

export const MOST_WILDCARDS = 3;

const PART = /\\([*?])|[*?]|(?:[^\\*?]|\\(?![*?]))+/g;

function partOf(part: string, escaped: string | undefined): LikePart {
  if (escaped !== undefined) return { kind: 'text', text: escaped };
  if (part === '*') return { kind: 'any' };
  return part === '?' ? { kind: 'one' } : { kind: 'text', text: part };
}

/** The parts of a text, neighbouring plain ones joined. A text without wildcards is at most one part. */
export function readWildcards(text: string): readonly LikePart[] {
  const parts: LikePart[] = [];
  for (const [found, escaped] of text.matchAll(PART)) {
    const part = partOf(found, escaped);
    const last = parts.at(-1);
    if (part.kind === 'text' && last?.kind === 'text') {
      parts[parts.length - 1] = { kind: 'text', text: last.text + part.text };
    } else {
      parts.push(part);
    }
  }
  return parts;
}

export const wildcardCount = (parts: readonly LikePart[]): number =>
  parts.filter((part) => part.kind !== 'text').length;
