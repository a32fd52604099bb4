/** The profile of a store: which fields are in use, and since which version. */
import { CHILD_COUNTS, type Declarations, type Dictionary, type Field } from '../dictionary/index.ts';
import { usageError } from '../errors/index.ts';
import { Damage } from './damage.ts';
import { COUNTING_RESOURCE } from './media.ts';
import type { Owner } from './settings.ts';
import { isAssignedTimestamp } from './timestamps.ts';

/**
 * The fields in use of a store: those for which a record has had a value, that an operator declared, or that the specification
 * names. Each has the version of the profile in which it came into use, so that texts of older versions can be completed with its
 * null.
 */
export interface Profile {
  readonly version: number;
  /** By resource and field name: the version in which the field came into use. */
  readonly since: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

export const EMPTY_PROFILE: Profile = { version: 0, since: new Map() };

/** The syntax of resource and field names. */
const NAME = /^[A-Za-z][A-Za-z0-9_]{0,127}$/;

/** Reads the profile from its rows. @throws Damage for a row that plat does not write */
export function readProfile(rows: Iterable<Readonly<Record<string, unknown>>>): Profile {
  const since = new Map<string, Map<string, number>>();
  let version = 0;
  for (const row of rows) {
    const [resource, field, first] = [String(row.resource), String(row.field), Number(row.since)];
    if (!NAME.test(resource) || !NAME.test(field)) {
      throw new Damage(
        `the list of fields in use has ${JSON.stringify(`${resource}.${field}`)}, which is not a name`,
      );
    }
    if (!Number.isInteger(first) || first < 1) {
      throw new Damage(`${resource}.${field} is in use since an unknown version of its profile`);
    }
    since.getOrInsertComputed(resource, () => new Map()).set(field, first);
    version = Math.max(version, first);
  }
  return { version, since };
}

/** Fields that the specification names (2.1, 2.2), in addition to keys, parents, timestamps and systems. */
const SPECIFIED_FIELDS: Readonly<Record<string, readonly string[]>> = {
  Media: [
    'FloplanKey',
    'FloplanImageType',
    'MediaCategory',
    'MediaType',
    'MediaURL',
    'OriginatingSystemResourceRecordKey',
    'OriginatingSystemResourceRecordSystemID',
    'Permission',
  ],
  Member: ['MemberPreferredPhone', 'MemberStatus'],
  Office: ['OfficeStatus'],
  Property: ['StandardStatus'],
};

/** The fields of a new store: the initial ones, and the counts that the store maintains, so that no record lacks them. */
export function fieldsOfNewStore({
  dictionary,
  settings,
}: {
  readonly dictionary: Dictionary;
  readonly settings: { readonly owner: Owner };
}): Field[] {
  const counting = settings.owner === 'authority' ? dictionary.resources.get(COUNTING_RESOURCE) : undefined;
  const counts = CHILD_COUNTS.flatMap((name) => counting?.fields.get(name) ?? []);
  return [...fieldsOfEveryStore(dictionary), ...counts];
}

/** The fields that every store has: those of always-published resources, and those that the specification names. */
export function fieldsOfEveryStore(dictionary: Dictionary): Field[] {
  return [...dictionary.resources.values()].flatMap((resource) => {
    if (!resource.always || resource.fromChanges) return [];
    const { key, parent, fields } = resource;
    const all = [...fields.values()];
    const first = new Set([key, 'OriginatingSystemID', ...(SPECIFIED_FIELDS[resource.name] ?? [])]);
    if (parent !== undefined) first.add(parent.keyField);
    if (parent?.kind === 'named') first.add(parent.resourceField);
    for (const { joined } of all) if (joined !== undefined) first.add(joined.link);
    const whole = resource.name === 'Lookup' || resource.name === 'Field';
    return all.filter(
      (field) => field.joined === undefined && (whole || first.has(field.name) || isAssignedTimestamp(field)),
    );
  });
}

/** Adds fields that came into use later, under a new version. */
export function extendProfile(profile: Profile, added: readonly Field[]): Profile {
  const fresh = added.filter((field) => !profile.since.get(field.resource)?.has(field.name));
  if (fresh.length === 0) return profile;
  const version = profile.version + 1;
  const since = new Map(profile.since);
  for (const [resource, fields] of Map.groupBy(fresh, (field) => field.resource)) {
    const known = new Map(since.get(resource));
    for (const field of fields) known.set(field.name, version);
    since.set(resource, known);
  }
  return { version, since };
}

/** Fields that are in use because an operator declared them: custom fields, and those in `fieldsInUse`. */
export function declaredFields(dictionary: Dictionary, declarations: Declarations): Field[] {
  const custom = (declarations.customFields ?? []).map(({ resource, name }) => `${resource}.${name}`);
  return [...custom, ...(declarations.fieldsInUse ?? [])].flatMap((path) => {
    const [resource = '', name = ''] = path.split('.');
    const of = dictionary.resources.get(resource);
    const field = of?.fields.get(name);
    if (field === undefined) throw usageError(`fieldsInUse: there is no field ${path}.`);
    // A resource that is filled from changes has exactly the fields of its entries.
    return of?.fromChanges ? [] : [field];
  });
}
