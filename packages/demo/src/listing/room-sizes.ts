import { floorNeeds, type PlanFacts } from '../plan/floors.ts';
import {
  BATH_AREA,
  ENTRY_AREA,
  type FloorNeeds,
  type PlanRoom,
  STAIRS_AREA,
  zoneOf,
} from '../plan/spaces.ts';
import type { Random } from '../random.ts';
import type { Building } from './building.ts';
import type { RoomPlan } from './room-list.ts';

/** Rooms whose size a household does not choose, square feet. */
const FIXED_AREAS: ReadonlyMap<string, number> = new Map([
  ['Bathroom', 34],
  ['Bathroom 1', 48],
  ['Bathroom 2', 52],
  ['Bathroom 3', 46],
  ['Master Bathroom', 74],
  ['Laundry', 50],
  ['Utility Room', 52],
]);

/** How the rest of a floor is shared out. */
const SHARES: ReadonlyMap<string, number> = new Map([
  ['Living Room', 16],
  ['Kitchen', 12],
  ['Dining Room', 10],
  ['Family Room', 16],
  ['Master Bedroom', 15],
  ['Game Room', 16],
  ['Media Room', 14],
  ['Bonus Room', 13],
  ['Loft', 10],
  ['Office', 9],
  ['Den', 9],
  ['Library', 8],
  ['Workshop', 160],
]);
const BEDROOM_SHARE = 11;
/** A closet belongs to the share of its bedroom. */
const WITH_CLOSET = 1.1;
/** What halls take of a floor. */
const HALL_SHARE = 0.075;
/** What one share usually is, square feet. */
const USUAL_SHARE = 14;
/** The ground floor of a house of two is never the smaller one. */
const LEAST_GROUND_SHARE = 0.52;

interface Demand {
  readonly rooms: readonly (RoomPlan & { readonly share: number })[];
  readonly fixed: number;
  readonly weight: number;
}

function demandOf(rooms: readonly RoomPlan[], needs: FloorNeeds, random: Random): Demand {
  const shared = rooms.map((room) => ({
    ...room,
    share: FIXED_AREAS.has(room.type)
      ? 0
      : (SHARES.get(room.type) ?? BEDROOM_SHARE) * random.between(0.88, 1.14),
  }));
  const unlisted =
    (needs.entry ? ENTRY_AREA : 0) + (needs.stairs ? STAIRS_AREA : 0) + needs.baths * BATH_AREA;
  return {
    rooms: shared,
    fixed: rooms.reduce((sum, { type }) => sum + (FIXED_AREAS.get(type) ?? 0), unlisted),
    weight: shared.reduce(
      (sum, { type, share }) => sum + share * (zoneOf(type) === 'bedroom' ? WITH_CLOSET : 1),
      0,
    ),
  };
}

/** Shares the finished area out among floors as their rooms ask for it, then among the rooms of each. */
export function sizeRooms(
  list: readonly RoomPlan[],
  building: Building,
  facts: PlanFacts,
  random: Random,
): PlanRoom[] {
  const demands = new Map<string, Demand>();
  for (const [level, needs] of floorNeeds(list, facts)) {
    demands.set(
      level,
      demandOf(
        list.filter((room) => room.level === level),
        needs,
        random,
      ),
    );
  }
  const wish = ({ fixed, weight }: Demand): number => fixed + weight * USUAL_SHARE;
  const above = [...demands].filter(([level]) => level !== 'Basement');
  const whole = above.reduce((sum, [, demand]) => sum + wish(demand), 0);
  const floorShare = (level: string, demand: Demand): number => {
    const share = wish(demand) / whole;
    if (above.length !== 2) return share;
    return level === 'Main' ? Math.max(LEAST_GROUND_SHARE, share) : Math.min(1 - LEAST_GROUND_SHARE, share);
  };
  return [...demands].flatMap(([level, demand]) => {
    const area =
      level === 'Basement'
        ? building.basementArea
        : (building.area / building.units) * floorShare(level, demand);
    const unit = Math.max(6, (area * (1 - HALL_SHARE) - demand.fixed) / demand.weight);
    return demand.rooms.map(({ type, share }, index) => ({
      key: `${level} ${index}`,
      type,
      level,
      area: FIXED_AREAS.get(type) ?? share * unit,
    }));
  });
}
