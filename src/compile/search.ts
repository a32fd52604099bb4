/** Compiles `$search`: whole words in the texts of a record, with the engine's word index if there is one. */
import type { View } from '../access/index.ts';
import type { Field } from '../dictionary/index.ts';
import type { Search } from '../query/tree.ts';
import { chunked } from '../shared/chunked.ts';
import { type Context, recordOf, withheldBit } from './context.ts';
import type { WordQuery } from './dialect.ts';
import { fieldValue } from './expression.ts';
import { all, bind, column, join, joinConditions, name, type Sql, sql } from './fragment.ts';
import { ownColumn, type ResourceLayout } from './layout/index.ts';
import { recordColumn } from './record-rows.ts';

const WORD_CHARACTERS = String.raw`\p{L}\p{M}\p{N}`;
const WORDS = new RegExp(`[${WORD_CHARACTERS}]+`, 'gu');

/** The words of a text in lower case. Letters, marks and digits form words. */
export const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(WORDS) ?? [];

/**
 * A word that no text has, which an index has for one record in `MARKED_IDS`. An engine that looks for a phrase in one go, as FTS5
 * does, finds such a record at the latest after this number of records if it also looks for the mark.
 */
export const MARK = '§';
/** A statement looks at the clock and at its memory for one row in so many: a call takes longer than the conditions of a scan. */
export const ROWS_PER_LOOK = 61;
/** A multiple of it, so that a statement that comes to a mark looks at the clock. */
export const MARKED_IDS = 16 * ROWS_PER_LOOK;

/** What an index of words receives for a record: the words of its texts, separated by spaces, or the texts, if they are ASCII. */
export function indexedWords(texts: string, isMarked: boolean): string {
  const words = Buffer.byteLength(texts) === texts.length ? texts : wordsOf(texts).join(' ');
  return isMarked ? `${words} ${MARK}` : words;
}

/** No text contains this separator, so a phrase cannot span two fields. */
const SEPARATOR = '\u001f';
const BETWEEN = bind(SEPARATOR);

/** Makes the function that tells whether texts in lower case, with separators between them, satisfy a search. */
export function searchTest(search: Search): (texts: string) => boolean {
  switch (search.kind) {
    case 'word':
    case 'phrase': {
      const words = wordsOf(search.text);
      const side = words.join(`[^${WORD_CHARACTERS}${SEPARATOR}]+`);
      const pattern = new RegExp(`(?<![${WORD_CHARACTERS}])${side}(?![${WORD_CHARACTERS}])`, 'u');
      return (texts) => words.length > 0 && pattern.test(texts);
    }
    case 'search-and': {
      const tests = search.terms.map(searchTest);
      return (texts) => tests.every((test) => test(texts));
    }
    case 'search-or': {
      const tests = search.terms.map(searchTest);
      return (texts) => tests.some((test) => test(texts));
    }
    case 'search-not': {
      const test = searchTest(search.operand);
      return (texts) => !test(texts);
    }
  }
}

/** PostgreSQL's functions take at most 100 arguments. */
const MOST_TEXTS = 90;
/** The word index is used for at most this many words; a search with more words scans. */
const MOST_WORDS = 100;

/**
 * The conditions that a record contains the words, each in one of the record's own texts that the role may see,
 * ignoring case (OData 4.01 protocol, 11.2.6.6, lets the service define what matches). The word index contains all
 * texts, so it only selects candidates; the texts that the role may see decide (I4). They need not be read if the role may see all
 * of them, or if the others have none of the words: reading them takes twenty times as long as the index.
 */
export function searchConditions(
  context: Context,
  view: View,
  layout: ResourceLayout,
  search: Search,
): readonly Sql[] {
  const texts = layout.fields.filter((field) => field.type.kind === 'string');
  const isSeen = (field: Field): boolean => view.role.seesField(field);
  const indexed = candidateCondition(context, layout, search);
  const words = indexed === undefined ? undefined : singleWords(search);
  const isWhole = (field: Field): boolean => isSeen(field) && withheldBit(context.rows, layout, field) === 0;
  const others = texts.filter((field) => !isWhole(field));
  if (indexed !== undefined && words !== undefined && others.length === 0) return [indexed];
  const seen = texts.filter(isSeen).map((field) => fieldValue(context, 0, [], field));
  const found = inTexts(context, seen, (joined) => containsSearch(context, joined, search));
  if (indexed === undefined) return [found];
  if (words === undefined) return [indexed, found];
  const { alias } = recordOf(context, 0);
  const columns = others.map((field) =>
    recordColumn(context, layout, alias, ownColumn(layout.resource, field) ?? field.name),
  );
  const decided = inTexts(context, columns, (joined) => containsNone(context, joined, words));
  return [indexed, sql`CASE WHEN ${decided} THEN TRUE ELSE ${found} END`];
}

/** A condition on the concatenated texts of a record, which are concatenated once, however often the condition names them. */
function inTexts(context: Context, texts: readonly Sql[], condition: (texts: Sql) => Sql): Sql {
  const alias = context.alias();
  const rows = sql`WITH ${name(alias)}(texts) AS MATERIALIZED (SELECT ${joinTexts(texts, BETWEEN)})`;
  return sql`EXISTS (${rows} SELECT 1 FROM ${name(alias)} WHERE ${condition(column(alias, 'texts'))})`;
}

/** The words of a search that the index decides, since it consists of nothing but single words; undefined for any other. */
function singleWords(search: Search): readonly string[] | undefined {
  switch (search.kind) {
    case 'word':
    case 'phrase': {
      const words = wordsOf(search.text);
      return words.length === 1 ? words : undefined;
    }
    case 'search-and':
    case 'search-or': {
      const words = search.terms.map(singleWords);
      return words.every((each) => each !== undefined) ? words.flat() : undefined;
    }
    case 'search-not':
      return undefined;
  }
}

/** Whether none of the words is part of a text. */
function containsNone({ dialect }: Context, texts: Sql, words: readonly string[]): Sql {
  const lower = dialect.call('tolower', [texts], ['string']);
  return all(
    words.map((word) => sql`NOT ${dialect.call('contains', [lower, bind(word)], ['string', 'string'])}`),
  );
}

/** Texts, some of which may be null, with a separator between them. */
export function joinTexts(texts: readonly Sql[], separator: Sql): Sql {
  const joined = (some: readonly Sql[]): Sql => sql`concat_ws(${join([separator, ...some], ', ')})`;
  return joined([...chunked(texts, MOST_TEXTS).map(joined)]);
}

function candidateCondition(context: Context, layout: ResourceLayout, search: Search): Sql | undefined {
  const query = wordQuery(search);
  if (query === undefined || wordCount(query) > MOST_WORDS) return undefined;
  const ids = context.dialect.idsWithWords?.(layout, query);
  if (ids === undefined) return undefined;
  const { alias } = recordOf(context, 0);
  return context.narrow.has(alias)
    ? sql`${column(alias, '_id')} IN (${ids})`
    : sql`${column(alias, '_key')} IN (SELECT t._key FROM ${name(layout.textsTable)} t WHERE t._id IN (${ids}))`;
}

/** A query that every matching record satisfies; undefined if there is none. */
function wordQuery(search: Search): WordQuery | undefined {
  switch (search.kind) {
    case 'word':
    case 'phrase': {
      const words = wordsOf(search.text);
      return words.length === 0 ? undefined : { kind: 'phrase', words };
    }
    case 'search-and': {
      const terms = search.terms.map(wordQuery).filter((term) => term !== undefined);
      return terms.length === 0 ? undefined : { kind: 'and', terms };
    }
    case 'search-or': {
      const terms = search.terms.map(wordQuery).filter((term) => term !== undefined);
      return terms.length < search.terms.length ? undefined : { kind: 'or', terms };
    }
    case 'search-not':
      return undefined;
  }
}

const wordCount = (query: WordQuery): number =>
  query.kind === 'phrase'
    ? query.words.length
    : query.terms.reduce((count, term) => count + wordCount(term), 0);

function containsSearch(context: Context, texts: Sql, search: Search): Sql {
  if (context.dialect.satisfies !== undefined) return context.dialect.satisfies(texts, search);
  switch (search.kind) {
    case 'word':
    case 'phrase':
      return containsWords(context, texts, wordsOf(search.text));
    case 'search-and':
      return all(search.terms.map((term) => containsSearch(context, texts, term)));
    case 'search-or':
      return joinConditions(
        search.terms.map((term) => containsSearch(context, texts, term)),
        ' OR ',
      );
    case 'search-not':
      return sql`NOT ${containsSearch(context, texts, search.operand)}`;
  }
}

/** The characters of a word, in the syntax of the engines' patterns (RE2). */
const WORD_CHARACTERS_IN_SQL = String.raw`\pL\pM\pN`;

/** Whether one text contains these adjacent whole words. Testing for the longest word first rejects most texts cheaply. */
function containsWords({ dialect }: Context, texts: Sql, words: readonly string[]): Sql {
  const [longest] = words.toSorted((one, other) => other.length - one.length);
  if (longest === undefined) return sql`FALSE`;
  const side = words.join(String.raw`[^${WORD_CHARACTERS_IN_SQL}\x1f]+`);
  const pattern = `(?:^|[^${WORD_CHARACTERS_IN_SQL}])${side}(?:$|[^${WORD_CHARACTERS_IN_SQL}])`;
  const lower = dialect.call('tolower', [texts], ['string']);
  const contained = dialect.call('contains', [lower, bind(longest)], ['string', 'string']);
  return sql`(${contained} AND ${dialect.matches(lower, pattern, false)})`;
}
