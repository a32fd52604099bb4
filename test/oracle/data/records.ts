/** All records of a store: the demo market and the odd records, in the form of an import. */
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS, marketRecords, REFERENCE_DATE } from 'plat-demo';
import {
  type Declarations,
  type Dictionary,
  declare,
  type FieldValue,
  type FieldValues,
  standardDictionary,
} from '../../../src/dictionary/index.ts';
import { makeRandom } from '../random.ts';
import { timestampText } from '../values.ts';
import { makeOddRecords } from './odd-records.ts';

export const DECLARATIONS: Declarations = { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS };
export const NOW = REFERENCE_DATE.getTime();
const LISTINGS = 500;

export interface Records {
  readonly dictionary: Dictionary;
  /** Records of every resource; children are not nested. */
  readonly byResource: ReadonlyMap<string, readonly FieldValues[]>;
}

/** A child with the fields in which it refers to its listing. */
function placed(child: FieldValues, kind: string, listing: FieldValues): FieldValues {
  const key = listing.ListingKey ?? null;
  if (kind !== 'Media') return { ...child, ListingKey: key };
  return {
    ...child,
    ResourceName: 'Property',
    ResourceRecordKey: key,
    OriginatingSystemResourceRecordKey: key,
    ...(typeof listing.OriginatingSystemID === 'string'
      ? { OriginatingSystemResourceRecordSystemID: listing.OriginatingSystemID }
      : {}),
  };
}

const CHILDREN = {
  Media: 'Media',
  Rooms: 'PropertyRooms',
  UnitTypes: 'PropertyUnitTypes',
  OpenHouses: 'OpenHouse',
} as const;
type ChildKind = keyof typeof CHILDREN;
const CHILD_KINDS: readonly ChildKind[] = ['Media', 'Rooms', 'UnitTypes', 'OpenHouses'];

const isRecord = (value: FieldValue | FieldValues): value is FieldValues =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The market's members, offices and listings; the timestamps of the listings are a few milliseconds apart. */
export function makeRecords(): Records {
  const byResource = new Map<string, FieldValues[]>();
  const add = (resource: string, record: FieldValues): void => {
    const list = byResource.get(resource);
    if (list === undefined) byResource.set(resource, [record]);
    else list.push(record);
  };
  const random = makeRandom(412);
  let stamp = NOW - 40 * 86_400_000;
  for (const { resource, record } of marketRecords({ seed: 7, listings: LISTINGS })) {
    const values: Record<string, FieldValue> = {};
    stamp += random.pick([1, 1, 2, 999, 1000, 60_000, 3_600_000]);
    const nested: [ChildKind, FieldValues][] = [];
    for (const [name, value] of Object.entries(record)) {
      const kind = CHILD_KINDS.find((child) => child === name);
      if (kind === undefined) values[name] = asValue(value);
      else if (Array.isArray(value))
        for (const child of value) if (isRecord(child)) nested.push([kind, child]);
    }
    if (resource !== 'OUID') values.ModificationTimestamp = timestampText(stamp);
    add(resource, values);
    for (const [kind, child] of nested) add(CHILDREN[kind], placed(child, kind, values));
  }
  const agents = (byResource.get('Member') ?? []).slice(0, 20).map(({ MemberKey }) => String(MemberKey));
  const odd = makeOddRecords(agents);
  for (const member of odd.members) add('Member', member);
  for (const office of odd.offices) add('Office', office);
  for (const { values, children } of odd.listings) {
    add('Property', values);
    for (const kind of CHILD_KINDS) {
      for (const child of children[kind] ?? []) add(CHILDREN[kind], placed(child, kind, values));
    }
  }
  for (const media of odd.media) add('Media', media);
  return { dictionary: declare(standardDictionary(), DECLARATIONS), byResource };
}

function asValue(value: FieldValue | readonly FieldValues[]): FieldValue {
  if (!Array.isArray(value)) return isScalar(value) ? value : null;
  return value.filter((item) => typeof item === 'string');
}

const isScalar = (value: FieldValue | readonly FieldValues[]): value is string | number | boolean | null =>
  typeof value !== 'object' || value === null;
