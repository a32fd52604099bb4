import { type FloorLayout, layoutFloor } from './layout.ts';
import { type FloorNeeds, groupSpaces, type PlanRoom, zoneOf } from './spaces.ts';

/** What a floor plan needs to know of a listing besides its rooms. */
export interface PlanFacts {
  /** All baths of the household, also those that no room describes. */
  readonly baths: number;
  /** Between party walls. */
  readonly narrow: boolean;
}

export interface Floor {
  readonly level: string;
  readonly layout: FloorLayout;
}

/** The dictionary's RoomLevel values from the ground up. */
const LEVELS = ['Basement', 'Lower', 'Main', 'First', 'Second', 'Upper', 'Third'];
const ENTRY_LEVELS = ['Main', 'First'];

/** The floors that rooms are on, lowest first. */
function levelsOf(rooms: readonly Pick<PlanRoom, 'level'>[]): string[] {
  const rank = (level: string): number => LEVELS.indexOf(level);
  return [...new Set(rooms.map(({ level }) => level))].sort((a, b) => rank(a) - rank(b));
}

/** What each floor has besides the listed rooms: the way in, the way up, and the baths not described. */
export function floorNeeds(
  rooms: readonly Pick<PlanRoom, 'level' | 'type'>[],
  facts: PlanFacts,
): ReadonlyMap<string, FloorNeeds> {
  const levels = levelsOf(rooms);
  const entry = levels.find((level) => ENTRY_LEVELS.includes(level)) ?? levels[0];
  const described = rooms.filter(({ type }) => ['bath', 'ensuite'].includes(zoneOf(type))).length;
  const baths = Math.max(0, facts.baths - described);
  return new Map(
    levels.map((level) => [
      level,
      { entry: level === entry, stairs: levels.length > 1, baths: level === entry ? baths : 0 },
    ]),
  );
}

/** Lays out every floor of a listing, lowest first. */
export function layoutFloors(rooms: readonly PlanRoom[], facts: PlanFacts): Floor[] {
  return [...floorNeeds(rooms, facts)].map(([level, needs]) => {
    const groups = groupSpaces(
      rooms.filter((room) => room.level === level),
      needs,
    );
    return { level, layout: layoutFloor(groups, { narrow: facts.narrow }) };
  });
}
