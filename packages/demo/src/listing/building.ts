import type { Neighborhood } from '../data/places.ts';
import type { Random } from '../random.ts';

/** What kind of thing is sold or let, which decides everything else. */
export type Kind = 'house' | 'attached' | 'flat' | 'income' | 'commercial' | 'land';

export type Condition = 'new' | 'updated' | 'kept' | 'dated';

export interface Building {
  readonly yearBuilt: number;
  readonly style: string;
  readonly condition: Condition;
  /** Finished square feet above ground; of all units together. */
  readonly area: number;
  readonly levels: 1 | 2 | 3;
  readonly basement: 'none' | 'crawl' | 'unfinished' | 'finished';
  /** Finished square feet below ground. */
  readonly basementArea: number;
  /** Of one unit, where there are several. */
  readonly bedrooms: number;
  readonly fullBaths: number;
  readonly halfBaths: number;
  readonly garage: number;
  readonly garageAttached: boolean;
  readonly fireplaces: number;
  readonly pool: boolean;
  readonly units: number;
}

interface Site {
  readonly kind: Kind;
  readonly name: string;
  readonly neighborhood: Neighborhood;
  readonly lot: number;
  readonly year: number;
}

function drawUnits(name: string, random: Random): number {
  switch (name) {
    case 'Duplex':
      return 2;
    case 'Triplex':
      return 3;
    case 'Quadruplex':
      return 4;
    case 'Multi Family':
      return random.integer(5, 12);
    default:
      return 1;
  }
}

function drawBedrooms({ kind, name }: Site, random: Random): number {
  switch (kind) {
    case 'house':
      if (name === 'Cabin') return random.integer(1, 3);
      if (name === 'Manufactured On Land') return random.integer(2, 3);
      return random.weighted([
        [2, 11],
        [3, 44],
        [4, 34],
        [5, 11],
      ]);
    case 'attached':
      return random.integer(2, 3);
    case 'flat':
    case 'income':
      return random.weighted([
        [1, 28],
        [2, 52],
        [3, 20],
      ]);
    case 'commercial':
      return name === 'Mixed Use' ? 1 : 0;
    case 'land':
      return 0;
  }
}

function drawArea({ kind, name }: Site, bedrooms: number, random: Random): number {
  const round = (area: number): number => Math.round(random.near(area, area * 0.17));
  switch (kind) {
    case 'house':
      if (name === 'Cabin') return round(520 + bedrooms * 230);
      if (name === 'Manufactured On Land') return round(640 + bedrooms * 270);
      return round([900, 900, 1180, 1640, 2290, 3050][bedrooms] ?? 1800);
    case 'attached':
      return round(760 + bedrooms * 300);
    case 'flat':
    case 'income':
      return round(430 + bedrooms * 270);
    case 'commercial':
      return round(name === 'Warehouse' ? 7200 : name === 'Mixed Use' ? 2300 : 2700);
    case 'land':
      return 0;
  }
}

function drawStyle({ kind, name }: Site, yearBuilt: number, levels: number, random: Random): string {
  if (kind === 'house' && name === 'Cabin') return random.pick(['Cabin', 'A-Frame', 'Rustic']);
  if (name === 'Farm') return 'Farmhouse';
  if (kind === 'commercial' || kind === 'flat') return yearBuilt < 1945 ? 'Traditional' : 'Contemporary';
  if (yearBuilt < 1925) return random.pick(['Victorian', 'Craftsman', 'Queen Anne', 'Colonial']);
  if (yearBuilt < 1950) return random.pick(['Bungalow', 'Cape Cod', 'Tudor', 'Craftsman']);
  if (yearBuilt < 1980) {
    return levels === 1
      ? random.pick(['Ranch', 'Mid-Century Modern'])
      : random.pick(['Colonial', 'Split Level']);
  }
  return levels === 1
    ? random.pick(['Ranch', 'Traditional', 'Contemporary'])
    : random.pick(['Traditional', 'Colonial', 'Craftsman', 'Contemporary', 'Farmhouse']);
}

function drawLevels({ kind, name }: Site, area: number, random: Random): 1 | 2 | 3 {
  switch (kind) {
    case 'attached':
      return random.chance(0.35) ? 3 : 2;
    case 'house':
      if (name === 'Cabin' || name === 'Manufactured On Land') return 1;
      return random.chance(area > 1900 ? 0.78 : 0.3) ? 2 : 1;
    case 'commercial':
      return name === 'Mixed Use' ? 2 : 1;
    default:
      return 1;
  }
}

function drawBasement({ kind, name }: Site, levels: number, random: Random): Building['basement'] {
  if (kind === 'flat' || kind === 'commercial' || levels === 3) return 'none';
  if (name === 'Manufactured On Land') return 'crawl';
  return random.weighted([
    ['none', 18],
    ['crawl', 17],
    ['unfinished', 33],
    // Rooms below ground are listed only for a house of one household.
    ['finished', kind === 'income' ? 0 : 32],
  ]);
}

/** Draws a building that suits its kind and the age of its neighborhood. */
export function drawBuilding(site: Site, random: Random): Building {
  const [from, to] = site.neighborhood.built;
  const fresh = site.kind !== 'income' && random.chance(0.06);
  const yearBuilt = Math.min(site.year, fresh ? site.year - random.integer(0, 1) : random.integer(from, to));
  const bedrooms = drawBedrooms(site, random);
  const units = drawUnits(site.name, random);
  const unitArea = drawArea(site, bedrooms, random);
  const levels = drawLevels(site, unitArea, random);
  const basement = drawBasement(site, levels, random);
  const fullBaths =
    bedrooms === 0
      ? 0
      : Math.min(3, 1 + (unitArea > 1150 && bedrooms > 1 ? 1 : 0) + (unitArea > 2500 ? 1 : 0));
  const garage = drawGarage(site, unitArea, random);
  return {
    yearBuilt,
    style: drawStyle(site, yearBuilt, levels, random),
    condition:
      yearBuilt >= site.year - 2
        ? 'new'
        : random.weighted([
            ['updated', 34],
            ['kept', 48],
            ['dated', yearBuilt < 2005 ? 18 : 3],
          ]),
    area: unitArea * units,
    levels,
    basement,
    basementArea: basement === 'finished' ? Math.round((unitArea / levels) * random.between(0.34, 0.6)) : 0,
    bedrooms,
    fullBaths,
    halfBaths: bedrooms === 0 ? 2 : levels > 1 && random.chance(0.75) ? 1 : 0,
    garage,
    garageAttached: garage > 0 && (yearBuilt > 1955 || random.chance(0.2)),
    fireplaces: site.kind === 'income' || site.kind === 'commercial' ? 0 : random.pick([0, 0, 0, 1, 1, 1, 2]),
    pool: site.kind === 'house' && site.lot > 9000 && random.chance(0.08),
    units,
  };
}

function drawGarage({ kind, name, neighborhood }: Site, area: number, random: Random): number {
  switch (kind) {
    case 'house':
      if (name === 'Cabin') return random.pick([0, 0, 1]);
      if (neighborhood.setting === 'urban') return random.pick([0, 1, 1, 2]);
      return area > 2600 ? random.pick([2, 2, 3]) : random.pick([0, 1, 2, 2, 2]);
    case 'attached':
      return random.pick([0, 1, 1, 2]);
    case 'flat':
      return random.pick([0, 0, 1]);
    case 'income':
      return random.pick([0, 0, 1, 2]);
    default:
      return 0;
  }
}
