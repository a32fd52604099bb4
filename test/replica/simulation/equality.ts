import { isDeepStrictEqual } from 'node:util';
import type { Store } from '../../../src/store/store.ts';
import { type Json, operations } from '../../support/world.ts';
import { COLLECTION_NAMES, COLLECTIONS, KEY_FIELDS } from './market.ts';
import type { Plan, RoleName } from './plan.ts';

export interface Sides {
  readonly source: Store;
  readonly replica: Store;
  readonly role: RoleName;
  readonly plan: Plan;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The timestamp that the replica adds. */
const OWN = 'ReplicaModificationTimestamp';
/** Fields that a listing gets from Member and Office when it is returned. */
const JOINED = /^(?:List|CoList|Buyer|CoBuyer)(Agent|Office)(?!Key$)/;
/** What the native interface omits (docs/replication.md). */
const NOT_NATIVE: Readonly<Record<string, RegExp>> = {
  Property: /^(?:OriginatingSystem.*)$/,
  Media: /^(?:Order|Permission|ModificationTimestamp)$/,
  Rooms: /^ModificationTimestamp$/,
  UnitTypes: /^ModificationTimestamp$/,
  OpenHouses: /^ModificationTimestamp$/,
};

/** The differences between the replica and what the key may see at the source. */
export async function differences(sides: Sides): Promise<string[]> {
  const found: string[] = [];
  for (const resource of sides.plan.resources) found.push(...(await compareResource(sides, resource)));
  return [...found, ...(await compareNames(sides))];
}

/** A renamed field, which has its new name here as well. */
async function compareNames({ source, replica, plan }: Sides): Promise<string[]> {
  if (!plan.resources.includes('Property') || (plan.interface === 'native' && !plan.customFields)) return [];
  const here = (await replica.model()).settings.declarations.customFields ?? [];
  const there = (await source.model()).settings.declarations.customFields ?? [];
  return there
    .filter(({ class: visibility }) => visibility === 'idx')
    .flatMap(({ name, group, label }) => {
      const copy = here.find((field) => field.name === name);
      return copy?.group === group && copy.label === label ? [] : [`${name} is ${copy?.label}, not ${label}`];
    });
}

async function compareResource(
  { source, replica, role, plan, now }: Sides,
  resource: string,
): Promise<string[]> {
  const clock = { text: () => new Date(now).toISOString() };
  const expand = resource === 'Property' ? `$expand=${COLLECTION_NAMES.join(',')}` : '';
  const there = await operations(source, clock).rows(resource, expand, { viewer: { role } });
  const here = await operations(replica, clock).rows(resource, expand);
  const seen = async (kind: string): Promise<ReadonlySet<string>> =>
    new Set(
      plan.resources.includes(kind)
        ? await operations(source, clock).keys(kind, '', { viewer: { role } })
        : [],
    );
  const [members, offices] = [await seen('Member'), await seen('Office')];
  const names = plan.interface === 'native' ? await customNames(source, replica) : new Map<string, string>();
  // An account has the current name of its office, if the key sees that.
  const officeNames =
    resource === 'Member'
      ? await operations(source, clock)
          .rows('Office', '', { viewer: { role } })
          .then((found) => new Map(found.map(({ OfficeKey, OfficeName }) => [OfficeKey, OfficeName])))
      : new Map<unknown, unknown>();
  const expected = (row: Json): Json => {
    const kept = Object.entries(row).filter(([name]) => {
      if (!JOINED.test(name)) return true;
      const [, kind = ''] = JOINED.exec(name) ?? [];
      const link = name.slice(0, name.indexOf(kind) + kind.length);
      return (kind === 'Agent' ? members : offices).has(String(row[`${link}Key`]));
    });
    const named = Object.fromEntries(kept.map(([name, value]) => [names.get(name) ?? name, value]));
    if (plan.interface !== 'native') return named;
    if (resource === 'Member')
      return { ...named, OfficeName: officeNames.get(named.OfficeKey) ?? named.OfficeName };
    return Array.isArray(named.Media) ? { ...named, Media: withPrimary(rows(named.Media)) } : named;
  };
  const ignored = (name: string): boolean => {
    if (name === OWN) return true;
    if (JOINED.test(name) && !plan.resources.includes('Member')) return true;
    if (names.has(name) && !plan.customFields) return true;
    return plan.interface === 'native' && (NOT_NATIVE[resource]?.test(name) ?? false);
  };
  const keyField = KEY_FIELDS[resource] ?? '';
  return compareSets(resource, keyField, there.map(expected), here, plan, ignored);
}

/** The native interface identifies custom fields by group and label, without their names. */
async function customNames(source: Store, replica: Store): Promise<ReadonlyMap<string, string>> {
  const here = (await replica.model()).settings.declarations.customFields ?? [];
  const there = (await source.model()).settings.declarations.customFields ?? [];
  return new Map(
    there.map(({ name, group, label }) => {
      const same = here.find((field) => field.group === group && field.label === label);
      return [name, same?.name ?? name];
    }),
  );
}

function compareSets(
  what: string,
  keyField: string,
  there: readonly Json[],
  here: readonly Json[],
  plan: Plan,
  ignored: (name: string) => boolean,
): string[] {
  const stored = new Map(here.map((row) => [row[keyField], row]));
  const wanted = new Map(there.map((row) => [row[keyField], row]));
  const found: string[] = [];
  if (stored.size !== here.length) found.push(`${what}: a key is stored twice`);
  for (const [key, row] of wanted) {
    const copy = stored.get(key);
    if (copy === undefined) found.push(`${what} ${key} is missing`);
    else found.push(...compareRows(`${what} ${key}`, row, copy, plan, ignored));
  }
  for (const key of stored.keys()) if (!wanted.has(key)) found.push(`${what} ${key} should not be there`);
  return found;
}

function compareRows(
  what: string,
  there: Json,
  here: Json,
  plan: Plan,
  ignored: (name: string) => boolean,
): string[] {
  return [...new Set([...Object.keys(there), ...Object.keys(here)])].flatMap((name) => {
    const collection = COLLECTION_NAMES.find((each) => each === name);
    if (collection !== undefined) {
      const isLost = (each: string): boolean =>
        each === OWN || (plan.interface === 'native' && (NOT_NATIVE[collection]?.test(each) ?? false));
      return compareSets(
        `${what} ${name}`,
        COLLECTIONS[collection],
        rows(there[name]),
        rows(here[name]),
        plan,
        isLost,
      );
    }
    if (name.startsWith('@') || ignored(name)) return [];
    const [left, right] = [plain(there[name]), plain(here[name])];
    if (isDeepStrictEqual(left, right)) return [];
    return [`${what}.${name} is ${JSON.stringify(right)}, at the source ${JSON.stringify(left)}`];
  });
}

/** The native interface returns a primary photo even if none is preferred: the first one, with photos before floor plans. */
function withPrimary(media: readonly Json[]): Json[] {
  const isPlan = ({ MediaCategory: category }: Json): boolean => category === 'Floor Plan';
  const place = ({ Order: order }: Json): number => (typeof order === 'number' ? order : -1);
  const keyOf = ({ MediaKey: key }: Json): Buffer => Buffer.from(String(key));
  const isPreferred = (each: Json): boolean => each.PreferredPhotoYN === true;
  const photos = media
    .filter(
      ({ MediaCategory: category }) => category === null || category === 'Photo' || category === 'Floor Plan',
    )
    .toSorted(
      (left, right) =>
        Number(isPreferred(right)) - Number(isPreferred(left)) ||
        Number(isPlan(left)) - Number(isPlan(right)) ||
        place(left) - place(right) ||
        keyOf(left).compare(keyOf(right)),
    );
  return media.map((each) => ({ ...each, PreferredPhotoYN: each === photos[0] ? true : null }));
}

/** A collection without members equals an absent one. */
const plain = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 0 ? null : (value ?? null);

const rows = (value: unknown): Json[] => (Array.isArray(value) ? value : []);
