import type { Pool } from 'pg';
import { makeModel, type StoreModel } from '../../compile/model.ts';
import { Damage } from '../../records/damage.ts';
import { type Profile, profileOf } from '../../records/profile.ts';
import { readable, readSettings, type StoreSettings } from '../../records/settings.ts';
import { firstEpoch } from '../../store/epoch.ts';
import type { PartitionField } from '../../store/store.ts';
import { storedDay, storedNumber, storedStamp } from '../../store/stored-meta.ts';
import type { CommitTimestamps } from '../../store/write/commit-timestamps.ts';
import { type ServerSession, withSession } from './connection/session.ts';
import { mustKnow, type StoredLayout } from './making/layout-version.ts';

/** What a store tells of itself in one row each. */
export interface Meta extends StoredLayout {
  /** Which functions of plat the server has. */
  readonly functions: string;
  readonly generation: number;
  readonly epoch: string;
  readonly settings: StoreSettings;
  /** The UTC day whose rules the stored visibility follows. */
  readonly day: string;
  readonly secret: string;
  readonly createdAt: string;
  /** The youngest stamp that was ever committed; stamps never run backwards (I2). */
  readonly lastStamp: string;
  /** The last timestamp of each resource (write/commit-timestamps.ts). */
  readonly given: string | undefined;
  /** How many transactions have changed records or settings: what counts as many, shows the same. */
  readonly changes: number;
  /** Before this moment no stamp may fall any more, since a reader was told so; milliseconds since 1970. */
  readonly settled: number;
  /** Whether timestamps lie ahead that are still to be brought back (write/bring-back.ts). */
  readonly restamping: boolean;
  /** The last look at the clock (clock-jump.ts). */
  readonly clockReading: string | undefined;
  /** The rules by which values in use were counted (values-in-use.ts); absent: they never were. */
  readonly countingRules: string | undefined;
  /** By what the large tables are laid apart; absent where they are whole. */
  readonly partitions: PartitionField | undefined;
}

const NAMES = {
  layout: 'layout',
  oldestReader: 'oldest_reader',
  oldestWriter: 'oldest_writer',
  functions: 'functions',
  generation: 'generation',
  epoch: 'epoch',
  settings: 'settings',
  day: 'day',
  secret: 'secret',
  createdAt: 'created_at',
  lastStamp: 'last_stamp',
  given: 'last_stamps',
  changes: 'changes',
  settled: 'settled',
  restamping: 'restamping',
  clockReading: 'clock_reading',
  countingRules: 'counting_rules',
  partitions: 'partitions',
} as const satisfies Readonly<Record<keyof Meta, string>>;

export async function readMeta(session: ServerSession): Promise<Meta> {
  return metaOf(await session.rows('SELECT name, value FROM plat_meta'));
}

export function metaOf(rows: readonly Readonly<Record<string, unknown>>[]): Meta {
  const values = new Map(rows.map((row) => [String(row.name), String(row.value)]));
  const text = (name: keyof Meta): string => {
    const value = values.get(NAMES[name]);
    if (value === undefined) throw new Damage(`it has no ${NAMES[name]}`);
    return value;
  };
  return {
    layout: Number(text('layout')),
    oldestReader: Number(values.get(NAMES.oldestReader) ?? 1),
    oldestWriter: Number(values.get(NAMES.oldestWriter) ?? 1),
    functions: values.get(NAMES.functions) ?? '',
    generation: storedNumber(text('generation'), 'the count of its settings'),
    epoch: values.get(NAMES.epoch) ?? firstEpoch(text('secret')),
    settings: readSettings(text('settings')),
    day: storedDay(values.get(NAMES.day)),
    secret: text('secret'),
    createdAt: storedStamp(text('createdAt'), 'the timestamp of its creation'),
    lastStamp: storedStamp(text('lastStamp'), 'its last timestamp'),
    given: values.get(NAMES.given),
    changes: storedNumber(values.get(NAMES.changes) ?? '0', 'the count of its changes'),
    settled: storedNumber(values.get(NAMES.settled) ?? '0', 'the moment up to which it is settled'),
    restamping: values.get(NAMES.restamping) === 'true',
    clockReading: values.get(NAMES.clockReading),
    countingRules: values.get(NAMES.countingRules),
    partitions: values.has(NAMES.partitions) ? 'OriginatingSystemID' : undefined,
  };
}

export async function writeMeta(session: ServerSession, values: Partial<Meta>): Promise<void> {
  const rows: [string, string][] = [];
  for (const [name, value] of Object.entries(values)) {
    const stored = Object.entries(NAMES).find(([known]) => known === name)?.[1] ?? name;
    rows.push([stored, typeof value === 'object' ? JSON.stringify(value) : String(value)]);
  }
  await session.run(
    `INSERT INTO plat_meta SELECT * FROM unnest($1::text[], $2::text[])
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [rows.map(([name]) => name), rows.map(([, value]) => value)],
  );
}

/** Where a reader has asked since the last promise (`plat_promise`): nobody stamps before this commit any more (I2). */
const KEEP_PROMISE = `INSERT INTO plat_meta
  SELECT 'settled', $1 FROM plat_meta asked
  WHERE asked.name = 'asked' AND asked.value::bigint > coalesce(
    (SELECT value::bigint FROM plat_meta WHERE name = 'settled'), 0)
  ON CONFLICT (name) DO UPDATE SET value = greatest(plat_meta.value::bigint, excluded.value::bigint)::text`;

/**
 * Makes the promise that a reader waits for, at the end of a transaction: where one writer follows another, no reader ever
 * finds the lock free.
 * @param lastStamp of the store, with the transaction's own. Canonical
 */
export async function keepPromise(session: ServerSession, lastStamp: string): Promise<void> {
  await session.run(KEEP_PROMISE, [String(Date.parse(lastStamp))]);
}

export async function readGiven(session: ServerSession): Promise<string | undefined> {
  const [row] = await session.rows('SELECT value FROM plat_meta WHERE name = $1', [NAMES.given]);
  return typeof row?.value === 'string' ? row.value : undefined;
}

/** What the store keeps of the timestamps of a commit. */
export const givenIn = ({
  lastStamp,
  kept,
}: Pick<CommitTimestamps, 'lastStamp' | 'kept'>): Pick<Meta, 'lastStamp' | 'given'> => ({
  lastStamp,
  given: kept,
});

export async function readProfile(session: ServerSession): Promise<Profile> {
  return profileOf(await session.rows('SELECT resource, field, since FROM plat_profile'));
}

export async function writeProfile(session: ServerSession, profile: Profile): Promise<void> {
  const rows = [...profile.since].flatMap(([resource, fields]) =>
    [...fields].map(([field, version]) => [resource, field, version] as const),
  );
  await session.run(
    'INSERT INTO plat_profile SELECT * FROM unnest($1::text[], $2::text[], $3::integer[]) ON CONFLICT DO NOTHING',
    [
      rows.map(([resource]) => resource),
      rows.map(([, field]) => field),
      rows.map(([, , version]) => version),
    ],
  );
}

/**
 * The model as it is stored, all of one moment if the session is in a transaction that sees one.
 * @throws LayoutTooNew
 */
export async function readModel(session: ServerSession): Promise<StoreModel> {
  const { layout, oldestReader, generation, epoch, settings, day } = await readMeta(session);
  mustKnow(layout, oldestReader);
  const profile = await readProfile(session);
  return readable(() => makeModel({ generation, epoch, settings, profile, day }));
}

/** The model as it is stored, on a connection of the pool. */
export function readStoredModel(pool: Pool): Promise<StoreModel> {
  return withSession(pool, async (session) => {
    await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    try {
      return await readModel(session);
    } finally {
      await session.run('COMMIT');
    }
  });
}
