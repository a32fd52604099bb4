import { zoneOf } from '../plan/spaces.ts';
import type { Random } from '../random.ts';
import type { Fields } from '../records.ts';
import type { Building } from './building.ts';
import type { Premises } from './premises.ts';
import type { Room } from './rooms.ts';

const ACRE = 43_560;
const LEVEL_NAMES = ['', 'One', 'Two', 'Three Or More'] as const;

const decimals = (value: number, places: number): number => Number(value.toFixed(places));

/** Size and sides of the lot. */
export function lotFields({ lot, neighborhood }: Premises, random: Random): Fields {
  if (lot === 0) return {};
  const acres = decimals(lot / ACRE, 2);
  const inAcres = lot >= ACRE;
  const front = Math.round(Math.sqrt(lot * random.between(0.38, 0.62)) / 5) * 5;
  return {
    LotSizeAcres: acres,
    LotSizeSquareFeet: Math.round(lot),
    LotSizeArea: inAcres ? acres : Math.round(lot),
    LotSizeUnits: inAcres ? 'Acres' : 'Square Feet',
    LotSizeDimensions:
      neighborhood.setting === 'rural' ? 'Irregular' : `${front} x ${Math.round(lot / front)}`,
  };
}

function garageFields(building: Building, random: Random): Fields {
  const { garage, garageAttached } = building;
  const open = random.integer(0, 3);
  const features = garage === 0 ? ['Off Street'] : [garageAttached ? 'Attached' : 'Detached', 'Garage'];
  return {
    GarageYN: garage > 0,
    GarageSpaces: garage > 0 ? garage : undefined,
    AttachedGarageYN: garage > 0 ? garageAttached : undefined,
    ParkingTotal: garage + open,
    ParkingFeatures: [
      ...features,
      ...random.some(['Concrete', 'Driveway', 'Garage Door Opener', 'Paved', 'Storage'], garage > 0 ? 2 : 1),
    ],
  };
}

function basementTerms({ basement }: Building, random: Random): string[] {
  switch (basement) {
    case 'none':
      return ['None'];
    case 'crawl':
      return ['Crawl Space'];
    case 'unfinished':
      return ['Full', ...random.some(['Interior Entry', 'Sump Pump', 'Exterior Entry'], 1), 'Unfinished'];
    case 'finished':
      return [...random.some(['Daylight', 'Interior Entry', 'Sump Pump', 'Walk-Out Access'], 2), 'Finished'];
  }
}

/** Rooms, areas, age and structure of a building. */
export function buildingFields(premises: Premises, rooms: readonly Room[], random: Random): Fields {
  const { building, kind } = premises;
  if (building === undefined) return {};
  const { area, basementArea, fullBaths, halfBaths, bedrooms, units, levels } = building;
  const dwelling = kind !== 'commercial';
  const isBath = ({ type }: Room): boolean => ['bath', 'ensuite'].includes(zoneOf(type));
  const onMain = rooms.filter(({ level }) => level === 'Main');
  // A bath that no room describes is on the main level, as in the floor plan.
  const elsewhere = rooms.filter((room) => room.level !== 'Main' && isBath(room)).length;
  const source = random.pick(['Assessor', 'Public Records', 'Appraiser']);
  return {
    BedroomsTotal: dwelling ? bedrooms * units : undefined,
    BathroomsFull: dwelling ? fullBaths * units : undefined,
    BathroomsHalf: (dwelling ? halfBaths : halfBaths + fullBaths) * units,
    BathroomsTotalInteger: (fullBaths + halfBaths) * units,
    MainLevelBedrooms: dwelling ? onMain.filter(({ type }) => zoneOf(type) === 'bedroom').length : undefined,
    MainLevelBathrooms: fullBaths + halfBaths - elsewhere,
    RoomsTotal: rooms.filter((room) => !isBath(room)).length,
    LivingArea: dwelling ? area + basementArea : undefined,
    LivingAreaUnits: dwelling ? 'Square Feet' : undefined,
    AboveGradeFinishedArea: dwelling ? area : undefined,
    BelowGradeFinishedArea: basementArea > 0 ? basementArea : undefined,
    LivingAreaSource: dwelling ? source : undefined,
    BuildingAreaTotal: dwelling && units === 1 ? undefined : area,
    BuildingAreaUnits: dwelling && units === 1 ? undefined : 'Square Feet',
    Levels: [LEVEL_NAMES[levels]],
    Stories: levels,
    YearBuilt: building.yearBuilt,
    NewConstructionYN: building.condition === 'new',
    PropertyCondition:
      building.condition === 'new'
        ? ['New Construction']
        : building.condition === 'updated'
          ? ['Updated/Remodeled']
          : undefined,
    ArchitecturalStyle: [building.style],
    PropertyAttachedYN: kind === 'attached' || kind === 'flat',
    CommonWalls:
      kind === 'attached'
        ? [random.pick(['2+ Common Walls', 'End Unit'])]
        : kind === 'flat'
          ? ['2+ Common Walls']
          : undefined,
    Basement: basementTerms(building, random),
    NumberOfUnitsTotal: kind === 'income' ? units : undefined,
    ...garageFields(building, random),
  };
}
