/** Text functions that count characters: one beyond the basic plane counts once. */

export const characters = (text: string): readonly string[] => [...text];

export const lengthOf = (text: string): number => characters(text).length;

/** From 0; -1 if it is not found. An empty text is found at the beginning. */
export function indexOf(text: string, wanted: string): number {
  const [all, part] = [characters(text), characters(wanted)];
  for (let start = 0; start + part.length <= all.length; start++) {
    if (part.every((character, index) => all[start + index] === character)) return start;
  }
  return -1;
}

/** A negative start counts from the end, but not beyond the beginning. */
export function substringOf(text: string, start: number, count: number | undefined): string {
  const all = characters(text);
  const from = start < 0 ? Math.max(0, all.length + start) : start;
  return all.slice(from, count === undefined ? undefined : from + count).join('');
}

/** White space is defined by Unicode's property White_Space. */
export const trimmed = (text: string): string =>
  text.replace(/^\p{White_Space}+/u, '').replace(/\p{White_Space}+$/u, '');

/** Matches a wildcard pattern by trying every length for each `*`. */
export function matchesWildcards(text: string, pattern: readonly string[]): boolean {
  const all = characters(text);
  const match = (at: number, part: number): boolean => {
    const wanted = pattern[part];
    if (wanted === undefined) return at === all.length;
    if (wanted === ANY) {
      for (let next = at; next <= all.length; next++) if (match(next, part + 1)) return true;
      return false;
    }
    if (at === all.length) return false;
    return (wanted === ONE || all[at] === wanted) && match(at + 1, part + 1);
  };
  return match(0, 0);
}

/** The two wildcards; every other member of a pattern is a literal character. */
export const ANY = 'any';
export const ONE = 'one';
