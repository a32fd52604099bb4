/** What a store records about itself: texts in `plat_meta`, fields in use in `plat_profile`. Anything else is damage. */
import type { Dialect } from '../../compile/dialect.ts';
import { bind, join, type Sql, sql } from '../../compile/fragment.ts';
import { makeModel, type StoreModel } from '../../compile/model.ts';
import { Damage } from '../../records/damage.ts';
import { type Profile, readProfile } from '../../records/profile.ts';
import { makeFromStored, readSettings } from '../../records/settings.ts';
import type { Row, Session } from '../session.ts';
import { firstEpoch } from '../time/epoch.ts';
import { parseReading, type StoreClock } from '../time/store-clock.ts';
import type { CommitTimestamps } from '../write/commit-timestamps.ts';
import { ownColumns } from './own-tables.ts';

/**
 * The rows of `plat_meta`, as `metaRows` selects them. Each member is parsed when it is read. It is a class because accessors of a
 * class are created once, and every request reads some of them.
 * @throws Damage when a row is missing or is not as plat writes it
 */
export class Meta {
  readonly #values = new Map<string, string>();
  /** Parsed once: requests read it again until the next commit. */
  #newest: number | undefined;

  constructor(rows: Iterable<Row>) {
    for (const { name, value } of rows) this.#values.set(String(name), String(value));
  }

  #found(name: StoredName): string | undefined {
    return this.#values.get(NAMES[name]);
  }

  #text(name: StoredName): string {
    const value = this.#found(name);
    if (value === undefined) throw new Damage(`it has no ${NAMES[name]}`);
    return value;
  }

  /** The version of the tables, and the oldest plat that may still use them. A file has them in its header. */
  get layout() {
    return Number(this.#text('layout'));
  }

  get oldestReader() {
    return Number(this.#found('oldestReader') ?? 1);
  }

  get oldestWriter() {
    return Number(this.#found('oldestWriter') ?? 1);
  }

  /** The version of plat's SQL functions on a server. */
  get functions() {
    return this.#found('functions') ?? '';
  }

  /** The number of changes of settings and profile. */
  get generation() {
    return parseNumber(this.#text('generation'), 'the count of its settings');
  }

  /** Empty if the secret was not read, until the first epoch has begun. */
  get epoch() {
    const secret = this.#found('secret');
    return this.#found('epoch') ?? (secret === undefined ? '' : firstEpoch(secret));
  }

  get settings() {
    return readSettings(this.#text('settings'));
  }

  /** The UTC day for which visibility was last evaluated. */
  get day() {
    return parseDay(this.#found('day'));
  }

  get secret() {
    return this.#text('secret');
  }

  /** The newest timestamp that was ever committed; timestamps never go backwards (I2). */
  get lastStamp() {
    return parseTimestamp(this.#found('lastStamp'), 'its last timestamp');
  }

  /** The last timestamp of each resource (write/commit-timestamps.ts). */
  get given() {
    return this.#found('given');
  }

  /** The number of transactions that changed records or settings. Two snapshots with the same number have the same content. */
  get changes() {
    return parseNumber(this.#found('changes') ?? '0', 'the count of its changes');
  }

  /** No later commit may use an earlier timestamp: readers were promised a closed window. Milliseconds since 1970. */
  get settled() {
    return parseNumber(this.#found('settled') ?? '0', 'the moment up to which it is settled');
  }

  /** How many times a write found that another server has taken over. */
  get takeovers() {
    return parseNumber(this.#found('takeovers') ?? '0', 'the count of its takeovers');
  }

  /** Whether timestamps that are ahead of the clock still have to be brought back (write/restamp-store.ts). */
  get restamping() {
    return this.#found('restamping') === 'true';
  }

  /** The last stored clock reading. */
  get clockReading() {
    return parseReading(this.#found('clockReading'));
  }

  /** The position before which the changes are incomplete: entries removed, or a change not recorded by key. */
  get changesHorizon() {
    return parseNumber(this.#found('changesHorizon') ?? '0', 'the horizon of its changes');
  }

  /** The version of the rules by which values in use were counted (values-in-use.ts); absent if they never were. */
  get countingRules() {
    return this.#found('countingRules');
  }

  /** The partition key of the large tables; absent where they are not partitioned. */
  get partitions(): 'OriginatingSystemID' | undefined {
    return this.#found('partitions') === undefined ? undefined : 'OriginatingSystemID';
  }

  /** The newest timestamp or promise; milliseconds since 1970. */
  get newest() {
    this.#newest ??= Math.max(Date.parse(this.lastStamp), this.settled);
    return this.#newest;
  }
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
  changesHorizon: 'changes_horizon',
  /** The timeline of the server on which the store was last written; absent for a file. */
  timeline: 'timeline',
  /** The start time of that server, if it does not report its timeline; seconds since 1970. */
  serverStart: 'server_start',
  takeovers: 'takeovers',
  countingRules: 'counting_rules',
  partitions: 'partitions',
  /** The id by which a backup file is distinguished from its original. */
  file: 'file',
} as const;

type StoredName = keyof typeof NAMES;

/** The names of rows of `plat_meta`. */
export const namesOf = (...names: readonly StoredName[]): readonly string[] =>
  names.map((each) => NAMES[each]);

/** Selects all rows of `plat_meta`, or those with the given names. */
export const metaRows = (...names: readonly StoredName[]): Sql =>
  names.length === 0
    ? sql`SELECT name, value FROM plat_meta`
    : sql`SELECT name, value FROM plat_meta WHERE name IN (${join(namesOf(...names).map(bind), ', ')})`;

/** What must be known about time before a timestamp is assigned or a promise is made. */
export const TIMES = ['lastStamp', 'settled', 'epoch', 'restamping', 'clockReading'] as const;

/** What a process must know about a store before it reads or writes. */
export const STATE = ['generation', 'day', 'changes', 'takeovers', ...TIMES] as const;

export type StoredState = Pick<Meta, Exclude<(typeof STATE)[number], 'clockReading'> | 'newest'>;

export interface TimeState extends StoredState {
  /** According to the clock that sets timestamps; milliseconds since 1970. */
  readonly moment: number;
  /** Milliseconds by which the clock was set ahead; `moment` excludes them. */
  readonly jump: number;
}

export const storedStateOf = (meta: Meta): StoredState => {
  const { generation, day, changes, takeovers, lastStamp, settled, newest, epoch, restamping } = meta;
  return { generation, day, changes, takeovers, lastStamp, settled, newest, epoch, restamping };
};

/** @param rows the result of `metaRows` */
export const readMeta = async (session: Session, ...names: readonly StoredName[]): Promise<Meta> =>
  new Meta(await session.rows(metaRows(...names)));

/** Reads the current time of a store whose clock is that of this machine. The clock learns the epoch of the store. */
export async function readTimeState(session: Session, clock: StoreClock): Promise<TimeState> {
  const state = storedStateOf(await readMeta(session, ...STATE));
  clock.inEpoch(state.epoch);
  return { ...state, moment: clock.now(), jump: clock.jump() };
}

/** The values that can be written; a clock reading is already a text (time/store-clock.ts). */
export type MetaChange = {
  readonly [Name in StoredName]?: Name extends Exclude<keyof Meta, 'clockReading'> ? Meta[Name] : string;
};

const PAIR = ownColumns('plat_meta');

/**
 * A copy of the number of changes. Every writer that appends to the sequence of changes and writes search tables stores it before
 * the number itself; a file rejects the change of a writer that does not (engines/sqlite/tables.ts).
 */
export const LOGGED_CHANGES = 'logged';

/** The members of a change that are not undefined, as they are stored. */
function rowsOfChange(change: MetaChange): { readonly name: string; readonly value: string }[] {
  const rows = Object.entries(NAMES).flatMap(([each, name]) => {
    const value: unknown = Reflect.get(change, each);
    if (value === undefined) return [];
    return [{ name, value: typeof value === 'object' ? JSON.stringify(value) : String(value) }];
  });
  return change.changes === undefined
    ? rows
    : [{ name: LOGGED_CHANGES, value: String(change.changes) }, ...rows];
}

/** The statement that stores a change. */
export function metaUpdate({ objectTable: rowsOf }: Dialect, change: MetaChange): Sql {
  const given = rowsOf(bind(JSON.stringify(rowsOfChange(change))), 'v', PAIR);
  return sql`INSERT INTO plat_meta (name, value) SELECT v.name, v.value FROM ${given} WHERE TRUE
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
}

export async function writeMeta(session: Session, change: MetaChange): Promise<void> {
  await session.run(metaUpdate(session.dialect, change));
}

/** The values that the store records about the timestamps of a commit. */
export const timestampMeta = ({
  lastStamp,
  kept,
}: Pick<CommitTimestamps, 'lastStamp' | 'kept'>): Pick<Meta, 'lastStamp' | 'given'> => ({
  lastStamp,
  given: kept,
});

const PROFILE_COLUMNS = ownColumns('plat_profile');

export async function writeProfile(session: Session, profile: Profile): Promise<void> {
  const rows = [...profile.since].flatMap(([resource, fields]) =>
    [...fields].map(([field, since]) => ({ resource, field, since })),
  );
  const given = session.dialect.objectTable(bind(JSON.stringify(rows)), 'v', PROFILE_COLUMNS);
  await session.run(sql`INSERT INTO plat_profile (resource, field, since)
    SELECT v.resource, v.field, v.since FROM ${given} WHERE TRUE ON CONFLICT DO NOTHING`);
}

/** One statement, so that all of it is from one snapshot. */
const MODEL = sql`SELECT name, value, NULL AS resource, NULL AS field, NULL AS since FROM plat_meta
  UNION ALL SELECT NULL, NULL, resource, field, since FROM plat_profile`;

/** @throws LayoutTooNew if a newer plat has changed the tables so that this version cannot read them */
export function mustBeReadable(meta: Meta): void {
  if (meta.oldestReader > LAYOUT_VERSION) throw new LayoutTooNew(meta.layout);
}

/**
 * Reads the stored model.
 * @throws LayoutTooNew
 * @throws PlatError `storeDamaged` for a profile that does not fit the settings
 */
export async function readModel({ rows }: Pick<Session, 'rows'>): Promise<StoreModel> {
  const found = await rows(MODEL);
  const meta = new Meta(found.filter(({ name }) => name !== null));
  mustBeReadable(meta);
  const profile = readProfile(found.filter(({ name }) => name === null));
  const { generation, epoch, settings, day } = meta;
  return makeFromStored(() => makeModel({ generation, epoch, settings, profile, day }));
}

const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

function parseTimestamp(text: unknown, what: string): string {
  if (typeof text === 'string' && STAMP.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new Damage(`${what} is not a timestamp`);
}

/** A count, or a moment in milliseconds since 1970. */
function parseNumber(text: string, what: string): number {
  const value = text === '' ? Number.NaN : Number(text);
  if (Number.isFinite(value) && value >= 0) return value;
  throw new Damage(`${what} is not a number`);
}

/** Earlier than any day of a store. */
const NEVER = '1970-01-01';

/** A day that cannot be read counts as long past, so that visibility is evaluated again, as on any new day. */
const parseDay = (text: string | undefined): string =>
  text !== undefined && DAY.test(text) && !Number.isNaN(Date.parse(text)) ? text : NEVER;

/** The version of a store's tables, for every engine. An older store is migrated; a newer one says which plat may use it. */
export const LAYOUT_VERSION = 4;

/** A newer version of plat has changed the tables in a way that this version does not know. */
export class LayoutTooNew extends Error {
  readonly found: number;

  constructor(found: number) {
    super(`The tables have layout ${found}`);
    this.found = found;
  }
}
