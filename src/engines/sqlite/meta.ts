/** What a file keeps of its store (store/meta.ts), where it is read and written in the middle of other work. */
import type { DatabaseSync } from 'node:sqlite';
import { render, type Sql } from '../../compile/fragment.ts';
import type { StoreModel } from '../../compile/model.ts';
import { type Profile, profileOf } from '../../records/profile.ts';
import {
  type Meta,
  type MetaChange,
  metaOf,
  metaRows,
  modelOf,
  PROFILE_ROWS,
  profileRows,
  storedRows,
  TIMES,
} from '../../store/meta.ts';
import { begin } from './begin.ts';
import { bindings, type Connection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';

const textOf = (statement: Sql): string => render(statement, sqliteDialect.placeholder).text;

const ALL = textOf(metaRows());
const OF_TIME = render(metaRows(...TIMES), sqliteDialect.placeholder);
const PROFILE = textOf(PROFILE_ROWS);

export const readMeta = (database: DatabaseSync): Meta => metaOf(database.prepare(ALL).iterate());

export const readTimes = (connection: Connection): Meta =>
  metaOf(connection.prepare(OF_TIME.text).all(...bindings(OF_TIME)));

export function writeMeta(database: DatabaseSync, change: MetaChange): void {
  const put = database.prepare(
    'INSERT INTO plat_meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  for (const { name, value } of storedRows(change)) put.run(name, value);
}

export function writeProfile(database: DatabaseSync, profile: Profile): void {
  const put = database.prepare('INSERT OR IGNORE INTO plat_profile VALUES (?, ?, ?)');
  for (const { resource, field, since } of profileRows(profile)) put.run(resource, field, since);
}

export const readProfile = (database: DatabaseSync): Profile =>
  profileOf(database.prepare(PROFILE).iterate());

export const readModel = (database: DatabaseSync): StoreModel =>
  modelOf(readMeta(database), readProfile(database));

/** The model as it is stored, all of one moment; not to be called inside a transaction. */
export function readSnapshotModel(database: DatabaseSync): StoreModel {
  using _ = begin(database, 'read');
  return readModel(database);
}
