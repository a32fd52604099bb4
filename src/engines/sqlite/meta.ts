import type { DatabaseSync } from 'node:sqlite';
import { makeModel, type StoreModel } from '../../compile/model.ts';
import { Damage } from '../../records/damage.ts';
import { type Profile, profileOf } from '../../records/profile.ts';
import { readable, readSettings, type StoreSettings } from '../../records/settings.ts';
import { type ClockReading, parseReading } from '../../store/clock-jump.ts';
import { firstEpoch } from '../../store/epoch.ts';
import { storedDay, storedNumber, storedStamp } from '../../store/stored-meta.ts';
import type { CommitTimestamps } from '../../store/write/commit-timestamps.ts';
import { begin } from './begin.ts';
import type { Connection } from './connection.ts';

/** What a store tells of itself in one row each. */
export interface MetaValues {
  readonly generation: number;
  readonly epoch: string;
  readonly settings: StoreSettings;
  /** The UTC day whose rules the stored visibility follows. */
  readonly day: string;
  readonly secret: string;
  readonly createdAt: string;
}

function findText(database: DatabaseSync, name: string): string | undefined {
  const row = database.prepare('SELECT value FROM plat_meta WHERE name = ?').get(name);
  return typeof row?.value === 'string' ? row.value : undefined;
}

function readText(database: DatabaseSync, name: string): string {
  const text = findText(database, name);
  if (text === undefined) throw new Damage(`it has no ${name}`);
  return text;
}

export function readMeta(database: DatabaseSync): MetaValues {
  const secret = readText(database, 'secret');
  return {
    generation: storedNumber(readText(database, 'generation'), 'the count of its settings'),
    epoch: findText(database, 'epoch') ?? firstEpoch(secret),
    settings: readSettings(readText(database, 'settings')),
    day: storedDay(findText(database, 'day')),
    secret,
    createdAt: storedStamp(readText(database, 'created_at'), 'the timestamp of its creation'),
  };
}

export function writeMeta(database: DatabaseSync, values: Partial<MetaValues>): void {
  const put = database.prepare(
    'INSERT INTO plat_meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  if (values.generation !== undefined) put.run('generation', String(values.generation));
  if (values.epoch !== undefined) put.run('epoch', values.epoch);
  if (values.settings !== undefined) put.run('settings', JSON.stringify(values.settings));
  if (values.day !== undefined) put.run('day', values.day);
  if (values.secret !== undefined) put.run('secret', values.secret);
  if (values.createdAt !== undefined) put.run('created_at', values.createdAt);
}

export function readProfile(database: DatabaseSync): Profile {
  return profileOf(database.prepare('SELECT resource, field, since FROM plat_profile').iterate());
}

export function writeProfile(database: DatabaseSync, profile: Profile): void {
  const put = database.prepare('INSERT OR IGNORE INTO plat_profile VALUES (?, ?, ?)');
  for (const [resource, fields] of profile.since) {
    for (const [field, version] of fields) put.run(resource, field, version);
  }
}

export function readModel(database: DatabaseSync): StoreModel {
  const { generation, epoch, settings, day } = readMeta(database);
  return readable(() => makeModel({ generation, epoch, settings, profile: readProfile(database), day }));
}

/** The model as it is stored, all of one moment; not to be called inside a transaction. */
export function readSnapshotModel(database: DatabaseSync): StoreModel {
  using _ = begin(database, 'read');
  return readModel(database);
}

export const writeSettled = (database: DatabaseSync, moment: number): void =>
  putText(database, 'settled', String(moment));

const READ_TIMES = `SELECT (SELECT value FROM plat_meta WHERE name = 'last_stamp') AS stamp,
  (SELECT value FROM plat_meta WHERE name = 'settled') AS settled,
  (SELECT value FROM plat_meta WHERE name = 'epoch') AS epoch,
  (SELECT value FROM plat_meta WHERE name = 'restamping') AS restamping`;

/** Where the store stands in time. */
export interface StoredTimes {
  /** The youngest stamp that was ever committed; stamps never run backwards (I2). */
  readonly lastStamp: string;
  /** Before this moment no stamp may fall any more, since a reader was told so; milliseconds since 1970. */
  readonly settled: number;
  /** The newer of the two. */
  readonly newest: number;
  /** Empty until a first one has begun. */
  readonly epoch: string;
  readonly isRestamping: boolean;
}

export function readTimes(connection: Connection): StoredTimes {
  const row = connection.prepare(READ_TIMES).get();
  const lastStamp = storedStamp(row?.stamp, 'its last timestamp');
  const settled = storedNumber(row?.settled ?? '0', 'the moment up to which it is settled');
  return {
    lastStamp,
    settled,
    newest: Math.max(Date.parse(lastStamp), settled),
    epoch: String(row?.epoch ?? ''),
    isRestamping: row?.restamping === 'true',
  };
}

/** @param isRestamping whether timestamps lie ahead that are still to be brought back (write/bring-back.ts) */
export function writeRestamping(database: DatabaseSync, isRestamping: boolean): void {
  putText(database, 'restamping', String(isRestamping));
}

/** The last look at the clock (clock-jump.ts). */
export const readClockReading = (connection: Connection): ClockReading | undefined =>
  parseReading(findText(connection.database, 'clock_reading'));

export const writeClockReading = (database: DatabaseSync, reading: string): void =>
  putText(database, 'clock_reading', reading);

/** The rules by which values in use were counted (values-in-use.ts); absent: they never were. */
export const readCountingRules = (database: DatabaseSync): string | undefined =>
  findText(database, 'counting_rules');

export const writeCountingRules = (database: DatabaseSync, rules: string): void =>
  putText(database, 'counting_rules', rules);

function putText(database: DatabaseSync, name: string, value: string): void {
  database
    .prepare('INSERT INTO plat_meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value')
    .run(name, value);
}

export function writeLastStamp(database: DatabaseSync, stamp: string): void {
  database.prepare("UPDATE plat_meta SET value = ? WHERE name = 'last_stamp'").run(stamp);
}

/** The last timestamp of each resource (write/commit-timestamps.ts). */
export const readGiven = (connection: Connection): string | undefined => {
  const row = connection.prepare("SELECT value FROM plat_meta WHERE name = 'last_stamps'").get();
  return typeof row?.value === 'string' ? row.value : undefined;
};

export function writeTimestamps(
  database: DatabaseSync,
  { lastStamp, kept }: Pick<CommitTimestamps, 'lastStamp' | 'kept'>,
): void {
  writeLastStamp(database, lastStamp);
  writeGiven(database, kept);
}

export const writeGiven = (database: DatabaseSync, text: string): void =>
  putText(database, 'last_stamps', text);
