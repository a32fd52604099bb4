import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore, type SqliteStoreOptions } from '../../src/engines/sqlite/store.ts';
import type { StoreSettings } from '../../src/records/settings.ts';
import { LAYOUT_VERSION } from '../../src/store/state/meta.ts';
import type { ClockTrust } from '../../src/store/time/store-clock.ts';
import { type Prepared, preparedFor, prepareStore } from './clock.ts';
import type { Engine, StorePart } from './engine.ts';
import { removeTemporary, temporaryFile } from './temporary.ts';

const KINDS: readonly StorePart['kind'][] = ['table', 'index', 'trigger', 'view'];

const prepared = new Map<string, Promise<string>>();

/** An empty store of these settings, to be copied: creating a store takes longer than most tests. */
function preparedStore(create: StoreSettings, state: Prepared): Promise<string> {
  const id = JSON.stringify([create, state]);
  const known = prepared.get(id);
  if (known !== undefined) return known;
  const path = temporaryFile();
  const made = prepareStore(state, (clock, limits) =>
    openSqliteStore({ path, create, clock, ...(limits === undefined ? {} : { limits }) }),
  ).then(() => path);
  prepared.set(id, made);
  return made;
}

/** A copy of the prepared store of these settings. */
export async function emptyStoreFile(settings: StoreSettings, state: Prepared = 'created'): Promise<string> {
  const path = temporaryFile();
  copyFileSync(await preparedStore(settings, state), path);
  return path;
}

/** @param readers the threads that read pages and searches; none: the calling thread */
export function sqliteEngine(
  readers: Pick<SqliteStoreOptions, 'pageReaders' | 'searchReaders' | 'checkers'> = {},
): Engine {
  return {
    layout: LAYOUT_VERSION,
    name: readers.pageReaders === undefined ? 'sqlite' : 'sqlite with reader threads',
    async open(scope, { settings, clock, limits, machine, hasUsualFields }) {
      const path = await emptyStoreFile(settings, preparedFor(clock, machine, hasUsualFields));
      const open = async (file: string, on = clock, trust: ClockTrust = {}) => {
        const store = await openSqliteStore({
          path: file,
          clock: on,
          machine,
          ...trust,
          ...readers,
          ...(limits === undefined ? {} : { limits }),
        });
        scope.after(() => store.close());
        return store;
      };
      const hold = async () => {
        const other = new DatabaseSync(path);
        other.exec('BEGIN IMMEDIATE');
        return async () => other.close();
      };
      const damage = async (...statements: readonly string[]): Promise<void> => {
        const database = new DatabaseSync(path);
        for (const statement of statements) database.exec(statement);
        database.close();
      };
      const parts = async (): Promise<StorePart[]> => {
        using database = new DatabaseSync(path);
        // Tables of FTS5 cannot be dropped by themselves.
        const found = database.prepare(`SELECT name, type FROM sqlite_schema
          WHERE name NOT LIKE 'sqlite_%' AND name NOT LIKE '%\\_words\\__%' ESCAPE '\\' OR type = 'trigger' ORDER BY name`);
        return found.all().map((row) => {
          const kind = KINDS.find((each) => each === row.type) ?? assert.fail(String(row.type));
          return { name: String(row.name), kind, drop: `DROP ${kind} "${row.name}"` };
        });
      };
      const store = await open(path);
      scope.after(() => removeTemporary(path));
      return {
        store,
        again: (on, trust) => open(path, on, trust),
        hold,
        copy: (file) => open(file),
        damage,
        parts,
      };
    },
  };
}
