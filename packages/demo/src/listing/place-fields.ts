import { type Setting, STATE, TIME_ZONE } from '../data/places.ts';
import { STREETS } from '../data/streets.ts';
import { hashText, type Random } from '../random.ts';
import type { Fields } from '../records.ts';
import type { Premises } from './premises.ts';

/** How many streets a neighborhood has. */
const STREETS_EACH = 9;

function streetOf(neighborhood: string, offset: number): readonly [string, string] {
  return STREETS[(hashText(neighborhood) + offset * 7) % STREETS.length] ?? ['Main', 'Street'];
}

const DIRECTIONS = { N: 'north', S: 'south', E: 'east', W: 'west' } as const;

/** Degrees to six places, a tenth of a metre. */
const degrees = (value: number): number => Math.round(value * 1e6) / 1e6;

/** How far, in degrees, a listing lies at most from the middle of its neighborhood. */
export const spreadOf = (setting: Setting): number => (setting === 'rural' ? 0.016 : 0.006);

/** Address, schools, parcel and position: all of one neighborhood. */
export function placeFields({ town, neighborhood, kind, subType, lot }: Premises, random: Random): Fields {
  const [street, suffix] = streetOf(neighborhood.name, random.integer(0, STREETS_EACH - 1));
  const [cross, crossSuffix] = streetOf(neighborhood.name, STREETS_EACH + random.integer(0, 3));
  const number = random.integer(1, neighborhood.setting === 'rural' ? 9400 : 1180);
  const prefix = random.chance(0.25) ? random.pick(['N', 'S', 'E', 'W'] as const) : undefined;
  const unit =
    kind === 'flat'
      ? `${random.integer(1, 6)}${random.integer(1, 12).toString().padStart(2, '0')}`
      : undefined;
  const line = [number, prefix, street, suffix].filter((part) => part !== undefined).join(' ');
  const whole = unit === undefined ? line : `${line}, Unit ${unit}`;
  const rural = neighborhood.setting === 'rural';
  const parcel = [
    random.integer(11, 47),
    random.integer(1, 36).toString().padStart(2, '0'),
    random.integer(100, 499),
    random.integer(1, 120).toString().padStart(3, '0'),
  ].join('-');
  const spread = spreadOf(neighborhood.setting);
  const subdivision = subType === 'Farm' ? undefined : neighborhood.name;
  const towards = random.pick(['N', 'S', 'E', 'W'] as const);
  return {
    UnparsedAddress: `${whole}, ${town.name}, ${STATE} ${neighborhood.postalCode}`,
    StreetNumber: number.toString(),
    StreetDirPrefix: prefix,
    StreetName: street,
    StreetSuffix: suffix,
    UnitNumber: unit,
    City: town.name,
    StateOrProvince: STATE,
    PostalCode: neighborhood.postalCode,
    PostalCodePlus4: random.chance(0.4) ? random.integer(1001, 9899).toString() : undefined,
    CountyOrParish: town.county,
    Country: 'US',
    Directions: `From ${cross} ${crossSuffix} go ${DIRECTIONS[towards]} on ${street} ${suffix} to number ${number}.`,
    SubdivisionName: subdivision,
    MLSAreaMajor: town.area,
    Latitude: degrees(random.near(neighborhood.latitude, spread)),
    // Towards the shore the ground ends.
    Longitude: degrees(neighborhood.longitude + Math.abs(random.near(0, spread)) - spread / 4),
    PropertyTimeZoneName: TIME_ZONE,
    ElementarySchool: random.pick(town.elementary),
    MiddleOrJuniorSchool: town.middle,
    HighSchool: town.high,
    HighSchoolDistrict: town.district,
    ParcelNumber: parcel,
    TaxLegalDescription: random.chance(0.5)
      ? undefined
      : lot === 0 || rural
        ? `Part of section ${random.integer(1, 36)}, ${town.township}, ${town.county} County`
        : `Lot ${random.integer(1, 96)}, ${neighborhood.name} plat, ${town.township}`,
    Zoning: zoning(kind, rural),
  };
}

function zoning(kind: Premises['kind'], rural: boolean): string {
  switch (kind) {
    case 'commercial':
      return 'B-2';
    case 'flat':
    case 'income':
      return 'R-M';
    case 'attached':
      return 'R-2';
    case 'house':
    case 'land':
      return rural ? 'AG-1' : 'R-1';
  }
}
