/** The settings of a store, and their validation when they are read. */
import { hash } from 'node:crypto';
import {
  type AccessDefinition,
  assignBits,
  BUILT_IN_ACCESS,
  MOST_BITS,
  type RoleBits,
} from '../access/index.ts';
import { type Declarations, SOURCE_TIMESTAMP } from '../dictionary/index.ts';
import { messageOf } from '../shared/error-code.ts';
import { isObject } from '../shared/json.ts';
import { Damage, parseStoredJson } from './damage.ts';
import { isTimeZone } from './local-time.ts';

/** An authority assigns timestamps; a replica keeps those of its source. */
export type Owner = 'authority' | 'replica';

/** The settings of a store, stored in it so that all processes agree. */
export interface StoreSettings {
  readonly owner: Owner;
  readonly declarations: Declarations;
  readonly access: AccessDefinition;
  /**
   * The number of changes of `access`. It tells a consumer that its view may have changed, even if a change was reverted before the
   * consumer noticed: records that changed while they were hidden have no newer timestamp.
   */
  readonly accessRevision?: number;
  /** The bits of the roles in rows and in the sequence of changes. Absent: in the order of the roles. */
  readonly roleBits?: RoleBits;
  /**
   * `records`: agent and office fields of listings come from Member and Office at request time. `payload`: they come
   * from the listing as received, for a replica without members and offices.
   */
  readonly agentsFrom: 'records' | 'payload';
  /**
   * In a replica, the ModificationTimestamp that its consumers receive. `source`: the source's, with the replica's own in a
   * separate field. `own`: the replica's, with the source's as SourceModificationTimestamp.
   */
  readonly onwardTimestamps?: 'source' | 'own';
  /**
   * How long entries of the sequence of changes are kept; afterwards, only the last entry of each record is kept. Absent:
   * `DEFAULT_CHANGE_RETENTION`.
   */
  readonly changesKept?: { readonly days?: number; readonly entries?: number };
  /** The IANA time zone for times of day in the native interface. */
  readonly timeZone: string;
  /** The demonstration market in the store, if any. Its drawings are made from these values. */
  readonly market?: {
    readonly seed: number;
    readonly listings: number;
    /** The date at which the market ends; absent in markets of versions without this option. */
    readonly date?: string;
  };
}

/** How long all entries of the sequence of changes are kept, unless the settings say otherwise. */
export const DEFAULT_CHANGE_RETENTION = { days: 90, entries: 20_000_000 } as const;

/** Whether a replica returns its own timestamp as ModificationTimestamp. */
export const returnsOwnTimestamps = ({
  owner,
  onwardTimestamps,
}: Pick<StoreSettings, 'owner' | 'onwardTimestamps'>): boolean =>
  owner === 'replica' && onwardTimestamps === 'own';

/** The field with the timestamp that the source of a replica gave a record. */
export const sourceTimestampField = (settings: Pick<StoreSettings, 'owner' | 'onwardTimestamps'>): string =>
  returnsOwnTimestamps(settings) ? SOURCE_TIMESTAMP : 'ModificationTimestamp';

/** Applies a change to settings; returns the same object if nothing changed. */
export function changeSettings(
  before: StoreSettings,
  change: (settings: StoreSettings) => StoreSettings,
): StoreSettings {
  const after = change(before);
  if (JSON.stringify(after) === JSON.stringify(before)) return before;
  const sameAccess = JSON.stringify(after.access) === JSON.stringify(before.access);
  const { roleBits: _, ...others } = after;
  if (sameAccess) return { ...others, ...withBits(after.access, roleBitsOf(before)) };
  const bits = assignBits(roleBitsOf(before), namesIn(after.access));
  return { ...others, accessRevision: (before.accessRevision ?? 0) + 1, ...withBits(after.access, bits) };
}

const namesIn = ({ roles }: AccessDefinition): string[] => roles.map(({ name }) => name);

/** The bits of the roles; a store does not record them if they have the order of the roles. */
export const roleBitsOf = ({ access, roleBits }: Pick<StoreSettings, 'access' | 'roleBits'>): RoleBits =>
  roleBits ?? namesIn(access);

/** The member of the stored settings that records the bits. */
const withBits = (access: AccessDefinition, roleBits: RoleBits): Pick<StoreSettings, 'roleBits'> =>
  JSON.stringify(roleBits) === JSON.stringify(namesIn(access)) ? {} : { roleBits };

export const DEFAULT_SETTINGS: StoreSettings = {
  owner: 'authority',
  declarations: {},
  access: BUILT_IN_ACCESS,
  agentsFrom: 'records',
  timeZone: 'UTC',
};

/** The settings in use, by a hash of their text, so that everything derived from them is computed only once. */
const inUse = new Map<string, WeakRef<StoreSettings>>();
const collected = new FinalizationRegistry<string>((id) => {
  if (inUse.get(id)?.deref() === undefined) inUse.delete(id);
});

/**
 * Reads stored settings; returns the same object for the same text while it is in use.
 * @throws Damage if they are not settings that plat writes
 */
export function readSettings(text: string): StoreSettings {
  const id = hash('sha256', text, 'base64url');
  const known = inUse.get(id)?.deref();
  if (known !== undefined) return known;
  const settings = parseSettings(text);
  inUse.set(id, new WeakRef(settings));
  collected.register(settings, id);
  return settings;
}

function parseSettings(text: string): StoreSettings {
  const settings = parseStoredJson(text, 'its settings');
  if (!isSettings(settings)) throw new Damage('its settings lack what every store has');
  const wrong = Object.entries(settings).find(
    ([name, value]) => !(SETTING_VALIDATORS.get(name)?.(value) ?? REQUIRED.has(name)),
  );
  if (wrong !== undefined)
    throw new Damage(`its settings have a ${JSON.stringify(wrong[0])} that plat never writes`);
  return settings;
}

const REQUIRED = new Set(['owner', 'declarations', 'access', 'agentsFrom']);

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** Optional settings, and settings with a validation of their own. */
const SETTING_VALIDATORS = new Map<string, (value: unknown) => boolean>([
  ['accessRevision', isCount],
  ['changesKept', isRetention],
  ['roleBits', isRoleBits],
  ['onwardTimestamps', (value) => value === 'source' || value === 'own'],
  ['timeZone', (value) => typeof value === 'string' && isTimeZone(value)],
  ['market', isMarket],
]);

function isRetention(value: unknown): boolean {
  return (
    isObject(value) &&
    Object.entries(value).every(([name, each]) => ['days', 'entries'].includes(name) && isCount(each))
  );
}

function isRoleBits(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > MOST_BITS) return false;
  return value.every((each) => typeof each === 'string') && new Set(value).size === value.length;
}

function isMarket(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { seed, listings, date } = value;
  const isDate = date === undefined || (typeof date === 'string' && !Number.isNaN(Date.parse(date)));
  return isDate && Number.isFinite(seed) && isCount(listings);
}

function isSettings(value: unknown): value is StoreSettings {
  if (!isObject(value) || !isObject(value.declarations) || !isObject(value.access)) return false;
  return (
    (value.owner === 'authority' || value.owner === 'replica') &&
    (value.agentsFrom === 'records' || value.agentsFrom === 'payload') &&
    typeof value.timeZone === 'string' &&
    Array.isArray(value.access.roles) &&
    Array.isArray(value.access.withheld)
  );
}

/** Makes a model from stored values. @throws Damage if the values are invalid */
export function makeFromStored<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    if (cause instanceof Damage) throw cause;
    const why = messageOf(cause);
    throw new Damage(`its settings cannot be used (${why})`, { cause });
  }
}
