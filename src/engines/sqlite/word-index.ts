import type { DatabaseSync } from 'node:sqlite';
import type { WordQuery } from '../../compile/dialect.ts';
import { bind, name, type Sql, sql } from '../../compile/fragment.ts';
import { isOneTable, type ResourceLayout, typedFields } from '../../compile/layout/index.ts';
import { wordsOf } from '../../compile/search.ts';
import { chunked } from '../../shared/chunked.ts';
import type { RecordTexts } from '../../store/write-session.ts';
import type { Connection } from './connection.ts';

/** Resources with a table of texts have many, long records, so their words are indexed (FTS5); others are scanned. */
const isIndexed = (layout: ResourceLayout): boolean => !isOneTable(layout);

const tableOf = (layout: ResourceLayout): string => `${layout.columnsTable}_words`;

/**
 * The index stores no text: it receives words separated by spaces, or a whole text in ASCII. A trigger removes the words of a
 * deleted record, because a deletion outside of a trigger leaves an internal number of the index as the connection's last row id,
 * which JavaScript cannot represent.
 */
const creation = (layout: ResourceLayout): string =>
  `CREATE VIRTUAL TABLE "${tableOf(layout)}" USING fts5(words, content = '', contentless_delete = 1, tokenize = 'ascii')`;

const trigger = (layout: ResourceLayout): string =>
  `CREATE TRIGGER IF NOT EXISTS "${tableOf(layout)}_gone" AFTER DELETE ON "${layout.textsTable}"
  BEGIN DELETE FROM "${tableOf(layout)}" WHERE rowid = old._id; END`;

/**
 * Creates the index if it does not exist, with the words of the stored records, and the trigger, which is dropped with a table that
 * is recreated.
 */
export function extendWords(database: DatabaseSync, layout: ResourceLayout): void {
  if (!isIndexed(layout)) return;
  const found = database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(tableOf(layout));
  if (found === undefined) {
    database.exec(creation(layout));
    writeAllWords(database, layout);
  }
  database.exec(trigger(layout));
}

/** A function takes at most 127 arguments. */
const MOST_TEXTS = 100;
const joined = (texts: readonly string[]): string => `concat_ws(char(10), ${texts.join(', ')})`;

/** Writes the words of all records, for example after their tables were copied. The connection has plat's functions. */
export function writeAllWords(database: DatabaseSync, layout: ResourceLayout): void {
  if (isIndexed(layout)) database.exec(wordsFrom(layout));
}

/** Writes the words of records, from their columns under alias `r`. */
const wordsFrom = (
  layout: ResourceLayout,
): string => `INSERT OR REPLACE INTO "${tableOf(layout)}"(rowid, words)
     SELECT r._id, ${wordsOfRow(layout)} FROM "${layout.columnsTable}" r`;

/** The words of a record, from its columns under alias `r`. */
const wordsOfRow = (layout: ResourceLayout): string => `plat_words(${textsOfRow(layout)})`;

/** The texts of a record, separated by line ends, from its columns under alias `r`. */
function textsOfRow(layout: ResourceLayout): string {
  const texts = typedFields(layout)
    .filter(({ type }) => type.kind === 'string')
    .map((field) => `r."${field.name}"`);
  return joined(['r._key', ...chunked(texts, MOST_TEXTS).map(joined)]);
}

/**
 * Sets another last row id for the connection after a deletion from a word index outside of its trigger. JavaScript cannot
 * represent the index's own, and the next write without a row id would throw.
 */
const FORGET_LAST_ROW = [
  sql`CREATE TEMP TABLE IF NOT EXISTS plat_last_row (id INTEGER PRIMARY KEY)`,
  sql`INSERT OR REPLACE INTO temp.plat_last_row VALUES (1)`,
];

/** Finds records that are missing from the index and ids in it without records, and repairs both. */
export function wordIndex(
  layout: ResourceLayout,
): { readonly find: Sql; readonly mend: readonly Sql[] } | undefined {
  if (!isIndexed(layout)) return undefined;
  const records = name(layout.columnsTable);
  const index = name(tableOf(layout));
  const entries = name(`${tableOf(layout)}_docsize`);
  const isMissing = sql`NOT EXISTS (SELECT 1 FROM ${entries} d WHERE d.id = r._id)`;
  const isStale = sql`d.id NOT IN (SELECT r._id FROM ${records} r)`;
  return {
    find: sql`SELECT r._key AS key FROM ${records} r WHERE ${isMissing}
      UNION ALL SELECT concat('(id ', d.id, ')') FROM ${entries} d WHERE ${isStale}`,
    mend: [
      { parts: [`${wordsFrom(layout)} WHERE `, ...isMissing.parts] },
      sql`DELETE FROM ${index} WHERE rowid IN (SELECT d.id FROM ${entries} d WHERE ${isStale})`,
      ...FORGET_LAST_ROW,
    ],
  };
}

/** The ids of the records whose texts contain these words. */
export function idsWithWords(layout: ResourceLayout, query: WordQuery): Sql | undefined {
  if (!isIndexed(layout)) return undefined;
  const table = name(tableOf(layout));
  return sql`SELECT rowid FROM ${table} WHERE ${table} MATCH ${bind(expression(query))}`;
}

/** The query in FTS5 syntax. A word has only letters, marks and digits, so nothing needs escaping. */
function expression(query: WordQuery): string {
  switch (query.kind) {
    case 'phrase':
      return `"${query.words.join(' ')}"`;
    case 'and':
    case 'or':
      return `(${query.terms.map(expression).join(` ${query.kind.toUpperCase()} `)})`;
  }
}

/** The index finds the words of such a text itself: it separates them as `wordsOf` does, and ignores their case. */
const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** Writes the words of records, in the transaction that stores them. */
export function indexWords(
  { prepare }: Connection,
  layout: ResourceLayout,
  records: Iterable<RecordTexts>,
): void {
  if (!isIndexed(layout)) return;
  const insert = prepare(`INSERT OR REPLACE INTO "${tableOf(layout)}"(rowid, words) VALUES (?, ?)`);
  const stored = prepare(
    `SELECT ${textsOfRow(layout)} AS texts FROM "${layout.columnsTable}" r WHERE r._key = ? AND r._id = ?`,
  );
  for (const { id, texts, isStored } of records) {
    const [key = ''] = texts;
    const joined = texts.join('\n');
    // Replacing words takes five times as long as reading the texts that they come from.
    if (isStored && stored.get(key, id)?.texts === joined) continue;
    insert.run(id, isAscii(joined) ? joined : wordsOf(joined).join(' '));
  }
}

/** Hashes of words whose sum, in any order, is unlikely to be equal for two different lists. */
function markOf(term: string, offset: number): number {
  let mark = 0x811c9dc5 ^ offset;
  for (let index = 0; index < term.length; index++)
    mark = Math.imul(mark ^ term.charCodeAt(index), 0x01000193);
  return mark >>> 0;
}

/** The largest number of record ids in one array (800 MB). */
const MOST_GIVEN = 100_000_000;

/** The keys of records whose words in the index differ from those of their columns, and ids in the index without records. */
export function findWordFaults({ database }: Connection, layout: ResourceLayout): string[] {
  if (!isIndexed(layout)) return [];
  const index = tableOf(layout);
  database.exec(
    `CREATE VIRTUAL TABLE IF NOT EXISTS temp."${index}_read" USING fts5vocab(main, "${index}", instance)`,
  );
  const given = database.prepare('SELECT next FROM plat_sequence WHERE resource = ?');
  // One number per record: the hash of its words in the index minus that of its columns. Few ids are unused.
  const sums = new Float64Array(Math.min(Number(given.get(layout.resource.name)?.next ?? 0), MOST_GIVEN));
  const others = new Map<number, number>();
  const add = (id: unknown, mark: number): void => {
    const at = Number(id);
    const sum = sums[at];
    if (sum === undefined) others.set(at, (others.get(at) ?? 0) + mark);
    else sums[at] = sum + mark;
  };
  const records = database.prepare(
    `SELECT r._id AS id, ${wordsOfRow(layout)} AS words FROM "${layout.columnsTable}" r`,
  );
  records.setReadBigInts(true);
  for (const { id, words } of records.iterate()) {
    const list = typeof words === 'string' && words !== '' ? words.split(' ') : [];
    add(id, -list.reduce((sum, term, offset) => sum + markOf(term, offset), 0));
  }
  const entries = database.prepare(`SELECT term, doc, "offset" AS place FROM temp."${index}_read"`);
  entries.setReadBigInts(true);
  for (const { term, doc, place } of entries.iterate()) add(doc, markOf(String(term), Number(place)));
  const keyOf = database.prepare(`SELECT _key FROM "${layout.textsTable}" WHERE _id = ?`);
  const isWrong = ([, sum]: readonly [number, number]): boolean => sum !== 0;
  const wrong = [...sums.entries().filter(isWrong), ...others.entries().filter(isWrong)];
  return wrong.map(([id]) => String(keyOf.get(id)?._key ?? `(id ${id})`));
}

/** Recreates the index. */
export function rebuildWords(database: DatabaseSync, layout: ResourceLayout): void {
  if (!isIndexed(layout)) return;
  const index = tableOf(layout);
  database.exec(`DROP TABLE IF EXISTS temp."${index}_read"`);
  database.exec(`DROP TRIGGER IF EXISTS "${index}_gone"; DROP TABLE IF EXISTS "${index}";`);
  extendWords(database, layout);
}
