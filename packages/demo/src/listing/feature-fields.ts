import type { Random } from '../random.ts';
import type { Fields } from '../records.ts';
import type { Building } from './building.ts';
import type { Premises } from './premises.ts';

const SIDINGS = ['Vinyl Siding', 'Brick', 'Fiber Cement', 'Wood Siding', 'Aluminum Siding', 'Stone Veneer'];
const APPLIANCES = ['Dishwasher', 'Disposal', 'Dryer', 'Microwave', 'Range', 'Refrigerator', 'Washer'];
const UPDATED_APPLIANCES = ['Gas Cooktop', 'Range Hood', 'Stainless Steel Appliance(s)', 'Wine Refrigerator'];
const INTERIORS = [
  'Breakfast Bar',
  'Built-in Features',
  'Ceiling Fan(s)',
  'Eat-in Kitchen',
  'Natural Woodwork',
  'Pantry',
];
const UPDATED_INTERIORS = [
  'Granite Counters',
  'High Ceilings',
  'Kitchen Island',
  'Open Floorplan',
  'Smart Thermostat',
];
const PORCHES = ['Covered', 'Deck', 'Front Porch', 'Patio', 'Rear Porch', 'Screened'];
const LOTS = [
  'Back Yard',
  'Corner Lot',
  'Cul-De-Sac',
  'Few Trees',
  'Garden',
  'Landscaped',
  'Level',
  'Many Trees',
];
const RURAL_LOTS = ['Meadow', 'Pasture', 'Rolling Slope', 'Secluded', 'Views', 'Wooded'];
const COMMUNITY = ['Curbs', 'Park', 'Playground', 'Sidewalks', 'Street Lights', 'Suburban'];

/** What stands in the building: heating, kitchen, floors, windows. */
export function interiorFields(premises: Premises, random: Random): Fields {
  const { building, kind, neighborhood } = premises;
  if (building === undefined) return {};
  const fresh = building.condition === 'new' || building.condition === 'updated';
  const rural = neighborhood.setting === 'rural';
  const cooled = building.yearBuilt > 1975 || fresh || random.chance(0.4);
  const dwelling = kind !== 'commercial';
  const below = building.basement === 'finished' || building.basement === 'unfinished';
  return {
    Heating: [
      'Forced Air',
      rural ? 'Propane' : 'Natural Gas',
      ...(building.fireplaces > 1 ? ['Fireplace(s)'] : []),
    ],
    HeatingYN: true,
    Cooling: cooled
      ? [random.chance(0.85) ? 'Central Air' : 'Ductless']
      : [random.pick(['Ceiling Fan(s)', 'Window Unit(s)'])],
    CoolingYN: cooled,
    Appliances: dwelling
      ? [
          ...random.some(APPLIANCES, random.integer(3, 6)),
          ...(fresh ? random.some(UPDATED_APPLIANCES, 2) : []),
        ]
      : undefined,
    InteriorFeatures: [
      ...random.some(
        dwelling ? INTERIORS : ['High Speed Internet', 'Storage', 'Wired for Data'],
        random.integer(2, 4),
      ),
      ...(fresh ? random.some(UPDATED_INTERIORS, 2) : []),
    ],
    Flooring: random.some(
      building.yearBuilt < 1960
        ? ['Carpet', 'Hardwood', 'Linoleum', 'Tile']
        : ['Carpet', 'Engineered Hardwood', 'Luxury Vinyl', 'Tile'],
      random.integer(2, 3),
    ),
    FireplaceYN: dwelling ? building.fireplaces > 0 : undefined,
    FireplacesTotal: building.fireplaces > 0 ? building.fireplaces : undefined,
    FireplaceFeatures:
      building.fireplaces > 0
        ? [random.pick(['Gas Log', 'Wood Burning']), random.pick(['Living Room', 'Family Room'])]
        : undefined,
    LaundryFeatures: dwelling
      ? [
          kind === 'flat'
            ? 'In Unit'
            : random.pick(['Main Level', 'Laundry Room', below ? 'In Basement' : 'Inside']),
        ]
      : undefined,
    AccessibilityFeatures: random.chance(0.12) ? ['Accessible Entrance', 'Accessible Full Bath'] : undefined,
  };
}

/** What stands around it: walls, roof, yard, supply lines. */
export function exteriorFields(premises: Premises, random: Random): Fields {
  const { building, kind, neighborhood } = premises;
  const rural = neighborhood.setting === 'rural';
  const utilities = rural
    ? ['Cable Not Available', 'Electricity Available', 'Phone Available', 'Propane']
    : [
        'Cable Available',
        'Electricity Connected',
        'Natural Gas Connected',
        'Sewer Connected',
        'Water Connected',
      ];
  return {
    ...(building === undefined
      ? { PossibleUse: [rural ? 'Recreational' : 'Residential'] }
      : shell(building, kind, random)),
    LotFeatures: kind === 'flat' ? undefined : random.some(rural ? RURAL_LOTS : LOTS, random.integer(2, 4)),
    Fencing:
      kind === 'house' && random.chance(0.45)
        ? [random.pick(['Back Yard', 'Chain Link', 'Privacy', 'Wood'])]
        : undefined,
    CommunityFeatures: rural ? undefined : random.some(COMMUNITY, random.integer(2, 4)),
    WaterSource: [rural ? 'Well' : 'Public'],
    Sewer: [rural ? 'Septic Tank' : 'Public Sewer'],
    Utilities: random.some(utilities, building === undefined ? 2 : 4),
    ...surroundings(premises, random),
  };
}

function shell(building: Building, kind: Premises['kind'], random: Random): Fields {
  const other = random.chance(0.3) ? [random.pick(['Shed(s)', 'Workshop', 'Gazebo', 'Storage'])] : undefined;
  return {
    ConstructionMaterials: random.some(SIDINGS, random.integer(1, 2)),
    Roof: [
      kind === 'commercial' || kind === 'flat'
        ? 'Membrane'
        : random.pick(['Asphalt', 'Composition', 'Metal', 'Shingle']),
    ],
    ExteriorFeatures:
      kind === 'flat'
        ? ['Balcony']
        : random.some(['Fire Pit', 'Garden', 'Lighting', 'Private Yard', 'Rain Gutters'], 2),
    PatioAndPorchFeatures: kind === 'commercial' ? undefined : random.some(PORCHES, random.integer(1, 2)),
    DirectionFaces: random.pick(['East', 'North', 'South', 'West', 'Southeast', 'Southwest']),
    PoolPrivateYN: kind === 'house' ? building.pool : undefined,
    PoolFeatures: building.pool ? ['In Ground', random.pick(['Heated', 'Fenced', 'Liner'])] : undefined,
    OtherStructures: kind === 'house' ? other : undefined,
  };
}

function surroundings({ town, neighborhood, waterfront, subType }: Premises, random: Random): Fields {
  const lake = neighborhood.setting === 'lake';
  const water = town.name === 'Sable Lake' ? 'Sable Lake' : 'Lake Michigan';
  const view = lake
    ? ['Lake', 'Water']
    : random.some(
        neighborhood.setting === 'rural'
          ? ['Pasture', 'Rural', 'Trees/Woods']
          : ['City', 'Garden', 'Neighborhood', 'Park/Greenbelt'],
        1,
      );
  return {
    ViewYN: lake || random.chance(0.5),
    View: view,
    WaterfrontYN: waterfront,
    WaterfrontFeatures: waterfront
      ? random.some(['Beach Access', 'Lake Front', 'Lake Privileges'], 2)
      : undefined,
    WaterBodyName: waterfront ? water : undefined,
    HorseYN: subType === 'Farm' ? random.chance(0.6) : undefined,
    WalkScore: neighborhood.setting === 'urban' ? random.integer(62, 93) : undefined,
  };
}
