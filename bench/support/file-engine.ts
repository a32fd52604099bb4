import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../../src/engines/sqlite/store.ts';
import { type BenchEngine, batchesOf, keyOf } from './engine.ts';

const PAGE_SIZE = 32_768;

/** Stores in files in a folder. */
export function fileEngine(folder: string): BenchEngine {
  return {
    name: 'file',
    newStore: async (name) => join(folder, `${name}.db`),
    open: (path, clock) => openSqliteStore({ path, clock, pageReaders: 1, searchReaders: 1 }),
    settle: async () => undefined,
    size: async (path) => statSync(path).size,
    used: () => 0,
    async storeLines(lines, batch) {
      const database = new DatabaseSync(join(folder, 'lines.db'));
      database.exec(`PRAGMA page_size = ${PAGE_SIZE}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
        CREATE TABLE lines (key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;`);
      const insert = database.prepare('INSERT INTO lines VALUES (?, ?)');
      const start = performance.now();
      for (const some of batchesOf(lines, batch)) {
        database.exec('BEGIN IMMEDIATE');
        for (const line of some) insert.run(keyOf(line), line);
        database.exec('COMMIT');
      }
      const wall = performance.now() - start;
      database.close();
      return wall;
    },
    dispose: async () => undefined,
  };
}
