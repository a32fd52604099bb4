import type { Random } from '../random.ts';
import { filled } from '../records.ts';
import type { FieldValues } from '../values.ts';
import type { Building } from './building.ts';

const TYPES = ['Studio', '1 Bedroom', '2 Bedroom', '3 Bedroom', '4 Bedroom Or More'];

interface UnitSet {
  readonly records: readonly FieldValues[];
  /** The rent of all units in a month, dollars. */
  readonly rent: number;
}

/** Two kinds of units in a large building, one record for each unit of a small one. */
function splitUnits(units: number): number[] {
  return units > 4 ? [Math.ceil(units / 2), Math.floor(units / 2)] : Array.from({ length: units }, () => 1);
}

/** Draws the PropertyUnitTypes records of a building that is let by the unit. */
export function drawUnits(
  listing: string,
  building: Building,
  pricePerFoot: number,
  random: Random,
): UnitSet {
  if (building.units < 2) return { records: [], rent: 0 };
  const fair = 380 + (building.area / building.units) * pricePerFoot * 0.0048;
  let rent = 0;
  const records = splitUnits(building.units).map((count, index) => {
    const each = Math.round(random.near(fair, fair * 0.08) / 25) * 25;
    rent += each * count;
    return filled({
      UnitTypeKey: `${listing}-U${(index + 1).toString().padStart(2, '0')}`,
      ListingKey: listing,
      UnitTypeType: TYPES[Math.min(building.bedrooms, 4)],
      UnitTypeUnitsTotal: count,
      UnitTypeBedsTotal: building.bedrooms,
      UnitTypeBathsTotal: building.fullBaths + building.halfBaths,
      UnitTypeActualRent: each,
      UnitTypeTotalRent: each * count,
      UnitTypeProForma: Math.round((each * 1.06) / 25) * 25,
      UnitTypeFurnished: 'Unfurnished',
      UnitTypeGarageSpaces: building.garage > index ? 1 : 0,
      UnitTypeDescription: random.pick([
        'Tenant in place, lease to the end of the year.',
        'Month to month.',
        'Vacant and painted.',
        'Laundry hook-ups in the unit.',
      ]),
    });
  });
  return { records, rent };
}
