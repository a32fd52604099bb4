/**
 * The requests of the floor plan page: the systems that have floor plans, a page of records, and the listings that they belong to.
 */
import { get, pathSeenBy, Refused, type Viewer } from '../../app/api.ts';
import type { InContext } from '../../parts/files.tsx';
import { type Fields, quoted, textOf } from '../../parts/listing-record.ts';

/** The number of drawings on a page of the gallery. */
export const PAGE = 24;

export interface PlanPage extends InContext {
  readonly '@odata.count'?: number;
  readonly value: readonly Fields[];
}

const LISTING = 'OriginatingSystemResourceRecordKey';
const SYSTEM = 'OriginatingSystemResourceRecordSystemID';

export interface System {
  readonly id: string;
  /** The name of the organization in the store; absent if it has none or the role does not see it. */
  readonly name?: string;
}

/** The largest number of systems to offer. */
const MOST = 100;

const rows = async (
  viewer: Viewer,
  surface: 'api' | 'floorplans',
  path: string,
): Promise<readonly Fields[]> => (await get<PlanPage>(pathSeenBy(viewer, surface, path))).value;

/** The systems that have floor plans; each is found by a request for the next one. */
export async function systemsWithPlans(viewer: Viewer): Promise<readonly System[]> {
  const ids: string[] = [];
  let rest = `${SYSTEM} ne null`;
  while (ids.length < MOST) {
    const path = `/Reso/Media?$top=1&$select=${SYSTEM}&$orderby=${SYSTEM}&$filter=${encodeURIComponent(rest)}`;
    const [first] = await rows(viewer, 'floorplans', path);
    const id = first === undefined ? undefined : textOf(first, SYSTEM);
    if (id === undefined) break;
    ids.push(id);
    rest = `${SYSTEM} gt ${quoted(id)}`;
  }
  const names = await namesOf(viewer, 'OUID', 'OrganizationUniqueId', 'OrganizationName', ids);
  return ids.map((id) => {
    const name = names.get(id);
    return name === undefined ? { id } : { id, name };
  });
}

/** The addresses of listings, by key. */
export const addressesOf = (
  viewer: Viewer,
  listings: readonly string[],
): Promise<ReadonlyMap<string, string>> =>
  namesOf(viewer, 'Property', 'ListingKey', 'UnparsedAddress', listings);

/** The names of records, by key; none if the role does not see the resource. */
async function namesOf(
  viewer: Viewer,
  resource: string,
  key: string,
  name: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (keys.length === 0) return new Map();
  const filter = encodeURIComponent(`${key} in (${keys.map(quoted).join(',')})`);
  const path = `/Reso/OData/${resource}?$top=${keys.length}&$select=${key},${name}&$filter=${filter}`;
  try {
    const found = await rows(viewer, 'api', path);
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
  /** The number of records before the current page. */
  readonly from: number;
}

/** The address of a page of floor plans, on their interface. */
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
export const roomsPath = (viewer: Viewer, listing: string): string =>
  pathSeenBy(
    viewer,
    'api',
    `/Reso/OData/PropertyRooms?$filter=${encodeURIComponent(`ListingKey eq ${quoted(listing)}`)}&$orderby=RoomKey`,
  );
