/**
 * The database of the plain server: one table for each resource, a column for each field, and the indexes that a careful owner
 * would create.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parsePostgresAddress } from '../../src/engines/postgres/connection/address.ts';
import { StorePool } from '../../src/engines/postgres/connection/connect.ts';
import { withSession } from '../../src/engines/postgres/connection/session.ts';
import { copyIn } from '../../src/engines/postgres/writing/copy-in.ts';
import { runOn } from '../../test/support/postgres-server.ts';
import type { BenchEngine } from '../support/engine.ts';

export type PlainRecord = Readonly<Record<string, unknown>>;

export interface PlainTable {
  readonly name: string;
  readonly key: string;
  readonly records: readonly PlainRecord[];
  /** The fields of each additional index. */
  readonly indexes: readonly (readonly string[])[];
}

type Cell = string | number | null;

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** Fields in which at least one record has a value. */
const fieldsOf = ({ records }: PlainTable): string[] => [
  ...new Set(records.flatMap((record) => Object.keys(record).filter((name) => record[name] !== null))),
];

function cell(value: unknown): Cell {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'number') return value;
  return Array.isArray(value) ? value.join(',') : JSON.stringify(value);
}

const rowsOf = ({ records }: PlainTable, fields: readonly string[]): Cell[][] =>
  records.map((record) => fields.map((name) => cell(record[name])));

/**
 * @param numbers the type of numeric columns
 * @param texts the type of text columns
 */
function createTable(table: PlainTable, fields: readonly string[], numbers: string, texts: string): string {
  const columns = fields.map((name) => {
    const isNumber = table.records.some((record) => typeof record[name] === 'number');
    return `"${name}" ${isNumber ? numbers : texts}${name === table.key ? ' PRIMARY KEY' : ''}`;
  });
  return `CREATE TABLE "${table.name}" (${columns.join(', ')})`;
}

const createIndexes = ({ name, indexes }: PlainTable): string[] =>
  indexes.map((fields) => `CREATE INDEX ON "${name}" (${quoted(fields)})`);

/** @returns the address of the database */
export async function writePlainMarket(
  engine: BenchEngine,
  folder: string,
  tables: readonly PlainTable[],
): Promise<string> {
  return engine.name === 'file' ? onFile(folder, tables) : onServer(await engine.newStore('plain'), tables);
}

function onFile(folder: string, tables: readonly PlainTable[]): string {
  const path = join(folder, 'plain.db');
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; BEGIN');
  for (const table of tables) {
    const fields = fieldsOf(table);
    database.exec(createTable(table, fields, 'REAL', 'TEXT'));
    const insert = database.prepare(
      `INSERT INTO "${table.name}" (${quoted(fields)}) VALUES (${fields.map(() => '?').join(', ')})`,
    );
    for (const row of rowsOf(table, fields)) insert.run(...row);
    for (const [index, text] of createIndexes(table).entries()) {
      database.exec(text.replace('INDEX', `INDEX "${table.name}_${index}"`));
    }
  }
  database.exec('COMMIT; ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  return path;
}

async function onServer(address: string, tables: readonly PlainTable[]): Promise<string> {
  const pool = new StorePool(parsePostgresAddress(`${address}&schema=public`));
  for (const table of tables) {
    const fields = fieldsOf(table);
    await runOn(address, createTable(table, fields, 'double precision', 'text COLLATE "C"'));
    await withSession(pool, (session) => copyIn(session, table.name, fields, rowsOf(table, fields)));
    await runOn(address, ...createIndexes(table));
  }
  await pool.end();
  await runOn(address, 'VACUUM ANALYZE');
  return address;
}
