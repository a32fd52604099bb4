import { DAY, dateText } from '../dates.ts';
import type { Random } from '../random.ts';
import type { Fields } from '../records.ts';
import type { Premises } from './premises.ts';

const NOTES = [
  'Photos booked for the first dry day.',
  'Flyers printed.',
  'Second viewing asked twice.',
  'Neighbour has a key.',
];

/** Values of the market's own fields (`custom-fields.ts`). */
export function customValues(premises: Premises, contract: number, random: Random): Fields {
  const { building, kind, neighborhood, waterfront } = premises;
  const lake = neighborhood.setting === 'lake';
  return {
    Winter_SnowRemoval:
      kind === 'flat' || kind === 'attached'
        ? 'Association'
        : random.pick(neighborhood.setting === 'rural' ? ['Owner', 'Private Road Fund'] : ['City', 'Owner']),
    Winter_GeneratorSwitchYN: building === undefined ? undefined : random.chance(0.15),
    Winter_HeatingCost:
      building === undefined ? undefined : Math.round(building.area * random.between(0.4, 1.1)),
    LakeLiving_DockType: waterfront ? random.pick(['Floating', 'Permanent', 'Roll-In', 'Shared']) : undefined,
    LakeLiving_AssnDues: lake ? random.integer(4, 40) * 12.5 : undefined,
    LakeLiving_Uses: lake
      ? random.some(['Fishing', 'Motor Boats', 'No Wake', 'Sailing', 'Swimming'], 3)
      : undefined,
    OfficeUse_KeySafe: random.chance(0.4) ? `KS-${random.integer(100, 999)}` : undefined,
    OfficeUse_SignOrdered: random.chance(0.5) ? dateText(contract + DAY) : undefined,
    OfficeUse_TeamNotes: random.chance(0.3) ? random.pick(NOTES) : undefined,
  };
}
