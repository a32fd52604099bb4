/**
 * Compares an index of words with the records whose words it should list. The index is ordered by word, so the comparison keeps one
 * number for each record: the sum over its words in the index minus the sum over those of its columns. It knows no engine.
 */
import type { Row } from '../session.ts';

/** What an index and the records contain. */
export interface WordSource {
  readonly resource: string;
  /** The number after the last one that was given to a record; few smaller numbers are unused. */
  readonly next: number;
  /** The number `id` of each record, with its `words`, separated by spaces. */
  readonly records: Iterable<Row>;
  /** Each `word` in the index, with the number `id` of its record and its `place` among the words of that record. */
  readonly entries: Iterable<Row>;
  readonly keyOf: (id: number) => unknown;
}

/** The largest number of records in one array (800 MB). */
const MOST_GIVEN = 100_000_000;

/** UTF-16 code units of a word that are compared: an index may shorten longer words, SQLite's to 32 KB. */
const COMPARED = 10_000;

/**
 * Hashes a word at its place. The sum of these hashes does not depend on their order, and two different lists of words are unlikely
 * to have the same sum.
 */
function hashWord(word: string, place: number): number {
  let mark = 0x811c9dc5 ^ place;
  const length = Math.min(word.length, COMPARED);
  for (let index = 0; index < length; index++) mark = Math.imul(mark ^ word.charCodeAt(index), 0x01000193);
  return mark >>> 0;
}

/** Names a record whose words in the index differ from those of its columns, or a number in the index without a record. */
export function findWordFaults({ resource, next, records, entries, keyOf }: WordSource): string[] {
  const sums = new Float64Array(Math.min(next, MOST_GIVEN));
  const others = new Map<number, number>();
  const add = (id: unknown, mark: number): void => {
    const at = Number(id);
    const sum = sums[at];
    if (sum === undefined) others.set(at, (others.get(at) ?? 0) + mark);
    else sums[at] = sum + mark;
  };
  for (const { id, words } of records) {
    const list = typeof words === 'string' && words !== '' ? words.split(' ') : [];
    add(id, -list.reduce((sum, word, place) => sum + hashWord(word, place), 0));
  }
  for (const { id, word, place } of entries) add(id, hashWord(String(word), Number(place)));
  const isWrong = ([, sum]: readonly [number, number]): boolean => sum !== 0;
  const wrong = [...sums.entries().filter(isWrong), ...others.entries().filter(isWrong)];
  return wrong.slice(0, 1).map(([id]) => {
    const first = String(keyOf(id) ?? `(id ${id})`);
    return `the index of words does not have the words of ${wrong.length} ${resource}, such as ${first}`;
  });
}
