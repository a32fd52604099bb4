import type { Neighborhood, Setting, Town } from '../data/places.ts';
import { TOWNS } from '../data/places.ts';
import type { Random } from '../random.ts';
import { type Building, drawBuilding, type Kind } from './building.ts';

export interface Premises {
  readonly propertyType: string;
  readonly subType: string;
  readonly kind: Kind;
  readonly lease: boolean;
  readonly town: Town;
  readonly neighborhood: Neighborhood;
  /** Square feet; 0 for a flat, which has no lot of its own. */
  readonly lot: number;
  readonly waterfront: boolean;
  /** Absent on bare land. */
  readonly building?: Building;
}

interface SubType {
  readonly type: string;
  readonly name: string;
  readonly kind: Kind;
  readonly weight: number;
  /** How often it stands where: urban, suburban, rural, lake. */
  readonly settings: readonly [number, number, number, number];
}

const row = (
  type: string,
  name: string,
  kind: Kind,
  weight: number,
  settings: readonly [number, number, number, number],
): SubType => ({ type, name, kind, weight, settings });

const SUBTYPES: readonly SubType[] = [
  row('Residential', 'Single Family Residence', 'house', 50, [24, 51, 11, 14]),
  row('Residential', 'Condominium', 'flat', 11, [50, 24, 0, 26]),
  row('Residential', 'Townhouse', 'attached', 9, [40, 55, 0, 5]),
  row('Residential', 'Cabin', 'house', 2.5, [0, 0, 40, 60]),
  row('Residential', 'Manufactured On Land', 'house', 3, [0, 35, 65, 0]),
  row('Residential Income', 'Duplex', 'income', 4, [70, 30, 0, 0]),
  row('Residential Income', 'Triplex', 'income', 1.6, [80, 20, 0, 0]),
  row('Residential Income', 'Quadruplex', 'income', 1.2, [70, 30, 0, 0]),
  row('Residential Income', 'Multi Family', 'income', 1.2, [80, 20, 0, 0]),
  row('Residential Lease', 'Apartment', 'flat', 3.2, [62, 30, 0, 8]),
  row('Residential Lease', 'Single Family Residence', 'house', 1.6, [30, 60, 0, 10]),
  row('Residential Lease', 'Townhouse', 'attached', 1.2, [45, 55, 0, 0]),
  row('Land', 'Unimproved Land', 'land', 5.5, [0, 25, 50, 25]),
  row('Commercial Sale', 'Office', 'commercial', 1.2, [60, 40, 0, 0]),
  row('Commercial Sale', 'Warehouse', 'commercial', 0.8, [20, 80, 0, 0]),
  row('Commercial Sale', 'Mixed Use', 'commercial', 1, [100, 0, 0, 0]),
  row('Farm', 'Farm', 'house', 2, [0, 0, 100, 0]),
];

const withWeight = (list: readonly SubType[]) => list.map((entry) => [entry, entry.weight] as const);
const ALL = withWeight(SUBTYPES);
const BUILT = withWeight(SUBTYPES.filter(({ kind }) => kind !== 'land'));

const SETTINGS: readonly Setting[] = ['urban', 'suburban', 'rural', 'lake'];
const PLACES = new Map(
  SETTINGS.map((setting) => [
    setting,
    TOWNS.flatMap((town) =>
      town.neighborhoods
        .filter((neighborhood) => neighborhood.setting === setting)
        .map((neighborhood) => [{ town, neighborhood }, town.weight] as const),
    ),
  ]),
);

const ACRE = 43_560;

function drawLot(kind: Kind, name: string, setting: Setting, random: Random): number {
  if (kind === 'flat') return 0;
  if (name === 'Farm') return random.integer(20, 160) * ACRE;
  if (kind === 'attached') return random.integer(1600, 3800);
  if (kind === 'commercial') return random.integer(6000, 60_000);
  switch (setting) {
    case 'urban':
      return random.integer(35, 82) * 100;
    case 'suburban':
      return random.integer(80, kind === 'land' ? 600 : 240) * 100;
    case 'lake':
      return random.integer(90, 430) * 100;
    case 'rural':
      return Math.round(random.between(1, kind === 'land' ? 40 : 12) * 10) * (ACRE / 10);
  }
}

/** Draws what is sold and where it stands. `withRooms` rules out bare land; nothing in it is younger than `year`. */
export function drawPremises(random: Random, year: number, withRooms: boolean): Premises {
  const { type, name, kind, settings } = random.weighted(withRooms ? BUILT : ALL);
  const setting = random.weighted(SETTINGS.map((entry, index) => [entry, settings[index] ?? 0] as const));
  const { town, neighborhood } = random.weighted(PLACES.get(setting) ?? []);
  const lot = drawLot(kind, name, setting, random);
  const waterfront = setting === 'lake' && random.chance(kind === 'flat' ? 0.3 : 0.55);
  return {
    propertyType: type,
    subType: name,
    kind,
    lease: type === 'Residential Lease',
    town,
    neighborhood,
    lot,
    waterfront,
    ...(kind === 'land' ? {} : { building: drawBuilding({ kind, name, neighborhood, lot, year }, random) }),
  };
}
