import { hash } from 'node:crypto';
import { type AccessDefinition, BUILT_IN_ACCESS } from '../access/index.ts';
import type { Declarations } from '../dictionary/index.ts';
import { Damage } from './damage.ts';
import { isTimeZone } from './local-time.ts';
import { storedJson } from './stored-json.ts';

/** Where an authority stamps records itself; a replica keeps them as its source sent them. */
export type Owner = 'authority' | 'replica';

/** What a store knows of itself, kept in the store so that every process agrees. */
export interface StoreSettings {
  readonly owner: Owner;
  readonly declarations: Declarations;
  readonly access: AccessDefinition;
  /**
   * Counts the changes of `access`. A consumer learns by it that it may see something else, also where a change was taken
   * back before it looked: what changed out of its sight meanwhile bears no newer stamp.
   */
  readonly accessRevision?: number;
  /**
   * `records`: agent and office fields of listings come from Member and Office at request time.
   * `payload`: from the listing as it came, for a replica that holds no members and offices.
   */
  readonly agentsFrom: 'records' | 'payload';
  /**
   * In a replica, what consumers of it get as ModificationTimestamp: `source`, what its source sent, with the replica's
   * own beside it; `own`, the replica's, with the source's as SourceModificationTimestamp.
   */
  readonly onwardTimestamps?: 'source' | 'own';
  /** The IANA time zone in which the native interface gives times of day. */
  readonly timeZone: string;
  /** The market that was made here, if one was: its drawings are made again from these. */
  readonly market?: {
    readonly seed: number;
    readonly listings: number;
    /** The moment that its dates lead up to; absent in markets that were made before there was a choice. */
    readonly date?: string;
  };
}

/** Whether a replica gives its own stamp under the name of ModificationTimestamp. */
export const stampsAsOwn = ({
  owner,
  onwardTimestamps,
}: Pick<StoreSettings, 'owner' | 'onwardTimestamps'>): boolean =>
  owner === 'replica' && onwardTimestamps === 'own';

/** Settings after a change; the same object when nothing changed. */
export function changeSettings(
  before: StoreSettings,
  change: (settings: StoreSettings) => StoreSettings,
): StoreSettings {
  const after = change(before);
  if (JSON.stringify(after) === JSON.stringify(before)) return before;
  const sameAccess = JSON.stringify(after.access) === JSON.stringify(before.access);
  return sameAccess ? after : { ...after, accessRevision: (before.accessRevision ?? 0) + 1 };
}

export const DEFAULT_SETTINGS: StoreSettings = {
  owner: 'authority',
  declarations: {},
  access: BUILT_IN_ACCESS,
  agentsFrom: 'records',
  timeZone: 'UTC',
};

/** Settings that somebody still has, by a hash of their text: whatever follows from them is made once for all who read them. */
const inUse = new Map<string, WeakRef<StoreSettings>>();
const left = new FinalizationRegistry<string>((id) => {
  if (inUse.get(id)?.deref() === undefined) inUse.delete(id);
});

/**
 * Settings as a store keeps them; the same object for the same text, as long as somebody has it.
 * @throws Damage when they are not what plat writes there
 */
export function readSettings(text: string): StoreSettings {
  const id = hash('sha256', text, 'base64url');
  const known = inUse.get(id)?.deref();
  if (known !== undefined) return known;
  const settings = parseSettings(text);
  inUse.set(id, new WeakRef(settings));
  left.register(settings, id);
  return settings;
}

function parseSettings(text: string): StoreSettings {
  const settings = storedJson(text, 'its settings');
  if (!isSettings(settings)) throw new Damage('its settings lack what every store has');
  const wrong = Object.entries(settings).find(
    ([name, value]) => !(BESIDE.get(name)?.(value) ?? REQUIRED.has(name)),
  );
  if (wrong !== undefined)
    throw new Damage(`its settings have a ${JSON.stringify(wrong[0])} that plat never writes`);
  return settings;
}

const REQUIRED = new Set(['owner', 'declarations', 'access', 'agentsFrom']);

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** What a store may have beside, and what has to be looked up. */
const BESIDE = new Map<string, (value: unknown) => boolean>([
  ['accessRevision', isCount],
  ['onwardTimestamps', (value) => value === 'source' || value === 'own'],
  ['timeZone', (value) => typeof value === 'string' && isTimeZone(value)],
  ['market', isMarket],
]);

function isMarket(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('seed' in value) || !('listings' in value))
    return false;
  if ('date' in value && (typeof value.date !== 'string' || Number.isNaN(Date.parse(value.date))))
    return false;
  return Number.isFinite(value.seed) && isCount(value.listings);
}

function isSettings(value: unknown): value is StoreSettings {
  if (typeof value !== 'object' || value === null) return false;
  if (!('owner' in value) || (value.owner !== 'authority' && value.owner !== 'replica')) return false;
  if (!('agentsFrom' in value) || (value.agentsFrom !== 'records' && value.agentsFrom !== 'payload'))
    return false;
  if (!('timeZone' in value) || typeof value.timeZone !== 'string') return false;
  if (!('declarations' in value) || typeof value.declarations !== 'object' || value.declarations === null)
    return false;
  if (!('access' in value) || typeof value.access !== 'object' || value.access === null) return false;
  return (
    'roles' in value.access &&
    Array.isArray(value.access.roles) &&
    'withheld' in value.access &&
    Array.isArray(value.access.withheld)
  );
}

/** A model of what a store keeps. @throws Damage when that cannot be one */
export function readable<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    if (cause instanceof Damage) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Damage(`its settings cannot be used (${why})`, { cause });
  }
}
