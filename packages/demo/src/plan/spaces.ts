/**
 * The spaces of one floor: the rooms that a listing names, and the entry, stairs, closets and baths that a listing
 * omits but a floor plan needs. Areas are square feet.
 */

/** How a space is used, which decides where it lies and what it opens to. */
export type Zone =
  | 'living'
  | 'bedroom'
  | 'study'
  | 'service'
  | 'bath'
  | 'ensuite'
  | 'closet'
  | 'entry'
  | 'stairs'
  | 'hall';

/** A room of a listing, with the floor that it is on. */
export interface PlanRoom {
  readonly key: string;
  /** The dictionary's RoomType. */
  readonly type: string;
  readonly level: string;
  readonly area: number;
}

export interface Space {
  readonly name: string;
  readonly zone: Zone;
  readonly area: number;
  /** Of a room that the listing names. */
  readonly key?: string;
  /** The bedroom that a closet or bath belongs to. */
  readonly of?: string;
}

/** Spaces that lie in parallel, such as a bedroom, its closet and its bath. */
export interface SpaceGroup {
  /** The order from the public side of the house to the private one. */
  readonly rank: number;
  readonly spaces: readonly Space[];
}

/** What a floor has besides its listed rooms. */
export interface FloorNeeds {
  readonly entry: boolean;
  readonly stairs: boolean;
  /** Baths that the listing counts but does not describe. */
  readonly baths: number;
}

const LIVING_RANKS: ReadonlyMap<string, number> = new Map([
  ['Living Room', 0],
  ['Great Room', 0],
  ['Dining Room', 1],
  ['Kitchen', 2],
  ['Family Room', 3],
]);

const SERVICE = new Set(['Laundry', 'Utility Room', 'Sauna']);

export function zoneOf(type: string): Zone {
  if (LIVING_RANKS.has(type)) return 'living';
  if (type === 'Master Bathroom') return 'ensuite';
  if (type.startsWith('Bathroom')) return 'bath';
  if (type === 'Master Bedroom' || type.startsWith('Bedroom')) return 'bedroom';
  return SERVICE.has(type) ? 'service' : 'study';
}

function rankOf(type: string, zone: Zone): number {
  const living = LIVING_RANKS.get(type);
  if (living !== undefined) return living;
  if (type === 'Master Bedroom') return 10;
  const ranks: Partial<Record<Zone, number>> = { study: 6, service: 7, bath: 8, ensuite: 8, bedroom: 9 };
  return ranks[zone] ?? 9;
}

/** The closet that a bedroom of this size has. */
function closetArea(bedroom: number): number {
  return Math.min(34, Math.max(10, bedroom * 0.1));
}

export const ENTRY_AREA = 46;
export const STAIRS_AREA = 44;
export const BATH_AREA = 44;
/** The width of a hall, feet. */
export const HALL_WIDTH = 3.5;

/** Groups the spaces of one floor. The order of the rooms decides ties, never their size. */
export function groupSpaces(rooms: readonly PlanRoom[], needs: FloorNeeds): SpaceGroup[] {
  const groups: SpaceGroup[] = [];
  const ensuite = rooms.find(({ type }) => type === 'Master Bathroom');
  const master = rooms.find(({ type }) => type === 'Master Bedroom');
  for (const { key, type, area } of rooms) {
    const zone = zoneOf(type);
    const spaces: Space[] = [{ name: type, zone, area, key }];
    if (zone === 'bedroom')
      spaces.unshift({ name: 'Closet', zone: 'closet', area: closetArea(area), of: key });
    if (type === 'Master Bathroom' && master !== undefined) continue;
    if (type === 'Master Bedroom' && ensuite !== undefined) {
      spaces.unshift({
        name: ensuite.type,
        zone: 'ensuite',
        area: ensuite.area,
        key: ensuite.key,
        of: key,
      });
    }
    groups.push({ rank: rankOf(type, zone), spaces });
  }
  for (let bath = 0; bath < needs.baths; bath++) {
    groups.push({ rank: 8, spaces: [{ name: 'Bath', zone: 'bath', area: BATH_AREA }] });
  }
  if (needs.entry) groups.push({ rank: 4, spaces: [{ name: 'Entry', zone: 'entry', area: ENTRY_AREA }] });
  if (needs.stairs) groups.push({ rank: 5, spaces: [{ name: 'Stairs', zone: 'stairs', area: STAIRS_AREA }] });
  return groups;
}
