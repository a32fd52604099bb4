/** What the page of floor plans asks: the systems that have some, a page of their records, and the listings that they belong to. */
import { type Eyes, get, Refused, seenThrough } from '../../app/api.ts';
import type { InContext } from '../../parts/files.tsx';
import { type Fields, quoted, textOf } from '../../parts/listing-record.ts';

/** How many drawings a page of the gallery has. */
export const PAGE = 24;

export interface PlanPage extends InContext {
  readonly '@odata.count'?: number;
  readonly value: readonly Fields[];
}

const LISTING = 'OriginatingSystemResourceRecordKey';
const SYSTEM = 'OriginatingSystemResourceRecordSystemID';

export interface System {
  readonly id: string;
  /** The name that the organization has in the store; absent where it has none, or the role does not see it. */
  readonly name?: string;
}

/** More systems than a person chooses from. */
const MOST = 100;

const rows = async (eyes: Eyes, surface: 'api' | 'floorplans', path: string): Promise<readonly Fields[]> =>
  (await get<PlanPage>(seenThrough(eyes, surface, path))).value;

/** The systems that have floor plans, each found from the one before it. */
export async function systemsWithPlans(eyes: Eyes): Promise<readonly System[]> {
  const ids: string[] = [];
  let rest = `${SYSTEM} ne null`;
  while (ids.length < MOST) {
    const path = `/Reso/Media?$top=1&$select=${SYSTEM}&$orderby=${SYSTEM}&$filter=${encodeURIComponent(rest)}`;
    const [first] = await rows(eyes, 'floorplans', path);
    const id = first === undefined ? undefined : textOf(first, SYSTEM);
    if (id === undefined) break;
    ids.push(id);
    rest = `${SYSTEM} gt ${quoted(id)}`;
  }
  const names = await namesOf(eyes, 'OUID', 'OrganizationUniqueId', 'OrganizationName', ids);
  return ids.map((id) => {
    const name = names.get(id);
    return name === undefined ? { id } : { id, name };
  });
}

/** The addresses of listings, by their keys. */
export const addressesOf = (eyes: Eyes, listings: readonly string[]): Promise<ReadonlyMap<string, string>> =>
  namesOf(eyes, 'Property', 'ListingKey', 'UnparsedAddress', listings);

/** What records are called, by their keys; none for a resource that the role does not have. */
async function namesOf(
  eyes: Eyes,
  resource: string,
  key: string,
  name: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (keys.length === 0) return new Map();
  const filter = encodeURIComponent(`${key} in (${keys.map(quoted).join(',')})`);
  const path = `/Reso/OData/${resource}?$top=${keys.length}&$select=${key},${name}&$filter=${filter}`;
  try {
    const found = await rows(eyes, 'api', path);
    return new Map(
      found.flatMap((each) => {
        const [id, text] = [textOf(each, key), textOf(each, name)];
        return id === undefined || text === undefined ? [] : [[id, text] as const];
      }),
    );
  } catch (error) {
    if (error instanceof Refused && (error.status === 404 || error.status === 400)) return new Map();
    throw error;
  }
}

export interface PlanChoice {
  readonly system: string;
  readonly listing: string;
  /** How many are before those that are shown. */
  readonly from: number;
}

/** The address of a page of floor plans, on the interface for them. */
export function plansPath({ system, listing, from }: PlanChoice): string {
  const conditions = [
    system === '' ? [] : [`${SYSTEM} eq ${quoted(system)}`],
    listing === '' ? [] : [`${LISTING} eq ${quoted(listing)}`],
  ].flat();
  const filter = conditions.length === 0 ? '' : `&$filter=${encodeURIComponent(conditions.join(' and '))}`;
  return `/Reso/Media?$count=true&$top=${PAGE}&$skip=${from}${filter}`;
}

/** The key of the listing that a floor plan belongs to. */
export const listingOf = (plan: Fields): string => textOf(plan, LISTING) ?? '';

/** The address of the rooms of a listing. */
export const roomsPath = (eyes: Eyes, listing: string): string =>
  seenThrough(
    eyes,
    'api',
    `/Reso/OData/PropertyRooms?$filter=${encodeURIComponent(`ListingKey eq ${quoted(listing)}`)}&$orderby=RoomKey`,
  );
