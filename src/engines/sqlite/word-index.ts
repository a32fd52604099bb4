/** The index of words for `$search`, in SQLite's FTS5. */
import type { DatabaseSync } from 'node:sqlite';
import type { WordQuery } from '../../compile/dialect.ts';
import { bind, column, integer, name, type Sql, sql } from '../../compile/fragment.ts';
import { isOneTable, type ResourceLayout, typedFields } from '../../compile/layout/index.ts';
import { indexedWords, joinTexts, MARK, MARKED_IDS, ROWS_PER_LOOK } from '../../compile/search.ts';
import type { WordSource } from '../../store/check/word-faults.ts';
import type { RecordTexts } from '../../store/session.ts';
import type { Connection } from './connection.ts';

/** Resources with a table of texts have many, long records, so their words are indexed (FTS5); others are scanned. */
const isIndexed = (layout: ResourceLayout): boolean => !isOneTable(layout);

const IS_MARKED = `r._id % ${MARKED_IDS} = 0`;

const tableOf = (layout: ResourceLayout): string => `${layout.columnsTable}_words`;

/** Selects the ids of the records whose mark an index lacks, since an earlier version of plat wrote their words. */
const unmarkedIds = (index: string): string => `WITH RECURSIVE
    marked(id) AS (SELECT 0 UNION ALL SELECT id + ${MARKED_IDS} FROM marked WHERE id < (SELECT max(id) FROM "${index}_docsize"))
  SELECT id FROM marked JOIN "${index}_docsize" USING (id)
  WHERE id NOT IN (SELECT rowid FROM "${index}" WHERE "${index}" MATCH '"${MARK}"')`;

const hasUnmarked = (database: DatabaseSync, index: string): boolean =>
  database.prepare(unmarkedIds(index)).get() !== undefined;

/** Whether an index of words lacks marks. This takes milliseconds, since every opening of a store asks it. */
export const lacksMarks = (database: DatabaseSync): boolean =>
  database
    .prepare("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE % USING fts5(words%'")
    .all()
    .some(({ name }) => hasUnmarked(database, String(name)));

/**
 * Creates the index with the words of the stored records if it does not exist, marks one of an earlier version, and creates the trigger
 * that removes the words of a deleted record. (A table that is recreated loses the trigger.)
 */
export function ensureWordIndex(database: DatabaseSync, layout: ResourceLayout): void {
  if (!isIndexed(layout)) return;
  const index = tableOf(layout);
  if (database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(index) === undefined) {
    database.exec(
      `CREATE VIRTUAL TABLE "${index}" USING fts5(words, content = '', contentless_delete = 1, tokenize = 'ascii')`,
    );
    fill(database, layout, 'TRUE');
  } else addMarks(database, [layout]);
  database.exec(`CREATE TRIGGER IF NOT EXISTS "${index}_gone" AFTER DELETE ON "${layout.textsTable}"
    BEGIN DELETE FROM "${index}" WHERE rowid = old._id; END`);
}

/** Adds the marks that existing indexes lack. */
export function addMarks(database: DatabaseSync, layouts: readonly ResourceLayout[]): void {
  for (const layout of layouts.filter((each) => isIndexed(each) && hasUnmarked(database, tableOf(each))))
    fill(database, layout, `r._id IN (${unmarkedIds(tableOf(layout))})`);
}

/** Indexes records one by one, since what a statement passes to a function stays in memory until it returns a row. */
function fill(database: DatabaseSync, layout: ResourceLayout, condition: string): void {
  const insert = database.prepare(`INSERT OR REPLACE INTO "${tableOf(layout)}"(rowid, words) VALUES (?, ?)`);
  const records = database.prepare(`${wordsFrom(layout)} WHERE ${condition}`);
  records.setReadBigInts(true);
  for (const { id = null, words = null } of records.iterate()) insert.get(id, words);
}

/** Selects the `id` of records and what the index receives as their `words`, from their columns under alias `r`. */
const wordsFrom = (layout: ResourceLayout): string =>
  `SELECT r._id AS id, plat_indexed(${textsOfRow(layout)}, ${IS_MARKED}) AS words FROM "${layout.columnsTable}" r`;

/** The texts of a record, separated by line ends, from its columns under alias `r`. */
function textsOfRow(layout: ResourceLayout): string {
  const fields = typedFields(layout).filter(({ type }) => type.kind === 'string');
  const texts = ['_key', ...fields.map((field) => field.name)].map((each) => column('r', each));
  return joinTexts(texts, sql`char(10)`).parts.join('');
}

/** The statements that find, and repair, records without an entry in the index and entries of the index without a record. */
export function wordIndex(
  layout: ResourceLayout,
): { readonly find: Sql; readonly mend: readonly Sql[] } | undefined {
  if (!isIndexed(layout)) return undefined;
  const records = name(layout.columnsTable);
  const index = name(tableOf(layout));
  const entries = name(`${tableOf(layout)}_docsize`);
  const isMissing = sql`NOT EXISTS (SELECT 1 FROM ${entries} d WHERE d.id = r._id)`;
  const isStale = sql`d.id NOT IN (SELECT r._id FROM ${records} r)`;
  const words: Sql = { parts: [wordsFrom(layout)] };
  return {
    find: sql`SELECT r._key AS key FROM ${records} r WHERE ${isMissing}
      UNION ALL SELECT concat('(id ', d.id, ')') FROM ${entries} d WHERE ${isStale}`,
    mend: [
      sql`INSERT OR REPLACE INTO ${index}(rowid, words) ${words} WHERE ${isMissing}`,
      sql`DELETE FROM ${index} WHERE rowid IN (SELECT d.id FROM ${entries} d WHERE ${isStale})`,
    ],
  };
}

/** The ids of the records whose texts contain these words. */
export function idsWithWords(layout: ResourceLayout, query: WordQuery): Sql | undefined {
  if (!isIndexed(layout)) return undefined;
  const table = name(tableOf(layout));
  return sql`SELECT rowid FROM ${table} WHERE ${table} MATCH ${bind(expression(query))} AND (rowid % ${integer(ROWS_PER_LOOK)} <> 0 OR plat_deadline())`;
}

/** The number of words of a phrase that the index compares; the texts decide about further ones. */
const COMPARED_WORDS = 8;

/** The query in FTS5 syntax. A word has only letters, marks and digits, so nothing needs escaping. */
function expression(query: WordQuery): string {
  switch (query.kind) {
    case 'phrase': {
      const words = `"${query.words.slice(0, COMPARED_WORDS).join(' ')}"`;
      return query.words.length === 1 ? words : `(${words} OR "${MARK}")`;
    }
    case 'and':
    case 'or':
      return `(${query.terms.map(expression).join(` ${query.kind.toUpperCase()} `)})`;
  }
}

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
    const joined = texts.join('\n');
    // Replacing words takes five times as long as reading the texts that contain them.
    if (isStored && stored.get(texts[0] ?? '', id)?.texts === joined) continue;
    insert.get(id, indexedWords(joined, id % MARKED_IDS === 0));
  }
}

/** What the index and the columns contain; undefined if the resource has no index. */
export function wordSourceOf({ database }: Connection, layout: ResourceLayout): WordSource | undefined {
  if (!isIndexed(layout)) return undefined;
  const index = tableOf(layout);
  database.exec(
    `CREATE VIRTUAL TABLE IF NOT EXISTS temp."${index}_read" USING fts5vocab(main, "${index}", instance)`,
  );
  const resource = layout.resource.name;
  const given = database.prepare('SELECT next FROM plat_sequence WHERE resource = ?').get(resource);
  const records = database.prepare(
    `SELECT r._id AS id, plat_words(${textsOfRow(layout)}) AS words FROM "${layout.columnsTable}" r`,
  );
  const entries = database.prepare(
    `SELECT doc AS id, term AS word, "offset" AS place FROM temp."${index}_read" WHERE term <> '${MARK}'`,
  );
  for (const statement of [records, entries]) statement.setReadBigInts(true);
  const key = database.prepare(`SELECT _key FROM "${layout.textsTable}" WHERE _id = ?`);
  return {
    ...{ resource, next: Number(given?.next ?? 0) },
    ...{ records: records.iterate(), entries: entries.iterate() },
    keyOf: (id) => key.get(id)?._key,
  };
}

/** Recreates the index. */
export function rebuildWordIndex(database: DatabaseSync, layout: ResourceLayout): void {
  if (!isIndexed(layout)) return;
  const index = tableOf(layout);
  database.exec(
    `DROP TABLE IF EXISTS temp."${index}_read"; DROP TRIGGER IF EXISTS "${index}_gone"; DROP TABLE IF EXISTS "${index}"`,
  );
  ensureWordIndex(database, layout);
}
