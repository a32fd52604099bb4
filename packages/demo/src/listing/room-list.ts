import type { Random } from '../random.ts';
import type { Building } from './building.ts';
import type { Premises } from './premises.ts';

/** A room before it has a size. */
export interface RoomPlan {
  readonly type: string;
  readonly level: string;
}

const MOST_ROOMS = 11;

type Draw = (premises: Premises, building: Building, random: Random) => RoomPlan[];

const at = (level: string, ...types: readonly string[]): RoomPlan[] => types.map((type) => ({ type, level }));

const offices: Draw = (_, building, random) => {
  const count = Math.min(6, Math.max(3, Math.floor(building.area / 600)));
  const rest = at('Main', 'Bathroom', 'Utility Room', ...(random.chance(0.5) ? ['Library'] : []));
  return [...at('Main', ...Array.from({ length: count }, () => 'Office')), ...rest];
};

const commercial: Draw = (premises, building, random) => {
  switch (premises.subType) {
    case 'Warehouse':
      return at('Main', 'Workshop', 'Office', 'Office', 'Bathroom', 'Utility Room');
    case 'Mixed Use':
      return [
        ...at('Main', 'Office', 'Office', 'Bathroom', 'Utility Room'),
        ...at('Second', 'Living Room', 'Kitchen', 'Master Bedroom', 'Bathroom 1'),
      ];
    default:
      return offices(premises, building, random);
  }
};

/** The most telling rooms come first, so that cutting the list short loses the least. */
const dwelling: Draw = ({ kind }, building, random) => {
  const { levels, bedrooms, fullBaths, halfBaths, basement, area, units } = building;
  const size = area / units;
  const top = levels === 1 ? 'Main' : levels === 2 ? 'Second' : 'Third';
  const living = levels === 3 ? 'Second' : 'Main';
  const masterDown = kind === 'house' && levels === 2 && bedrooms > 2 && random.chance(0.25);
  const master = masterDown ? 'Main' : top;
  const rooms = at(living, 'Living Room', 'Kitchen');
  rooms.push(...at(master, 'Master Bedroom'));
  for (let bedroom = 2; bedroom <= bedrooms; bedroom++) rooms.push(...at(top, `Bedroom ${bedroom}`));
  const recreation = random.pick(['Family Room', 'Game Room', 'Media Room']);
  if (basement === 'finished') rooms.push(...at('Basement', recreation));
  if (levels === 3) rooms.push(...at('Main', random.pick(['Office', 'Bonus Room', 'Den'])));
  rooms.push(...(fullBaths > 1 ? at(master, 'Master Bathroom') : at(top, 'Bathroom 1')));
  rooms.push(...at(living, 'Dining Room'));
  if (fullBaths > 1) rooms.push(...at(top, 'Bathroom 2'));
  rooms.push(...at(basement === 'finished' && random.chance(0.4) ? 'Basement' : 'Main', 'Laundry'));
  if (size > 2000 && recreation !== 'Family Room') rooms.push(...at(living, 'Family Room'));
  if (halfBaths > 0) rooms.push(...at(levels === 3 ? 'Second' : 'Main', 'Bathroom'));
  if (size > 1500 && levels < 3 && random.chance(0.55))
    rooms.push(...at('Main', random.pick(['Office', 'Den'])));
  if (fullBaths > 2) rooms.push(...at(basement === 'finished' ? 'Basement' : top, 'Bathroom 3'));
  if (size > 2500 && levels === 2) rooms.push(...at('Second', random.pick(['Bonus Room', 'Loft'])));
  return rooms.slice(0, MOST_ROOMS);
};

/** The rooms that a listing describes: 5 to 11 of a building, none of bare land. */
export function drawRoomList(premises: Premises, random: Random): RoomPlan[] {
  if (premises.building === undefined) return [];
  const draw = premises.kind === 'commercial' ? commercial : dwelling;
  return draw(premises, premises.building, random);
}
