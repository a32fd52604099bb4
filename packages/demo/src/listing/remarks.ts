import type { Random } from '../random.ts';
import type { Building, Condition } from './building.ts';
import type { Premises } from './premises.ts';
import type { Room } from './rooms.ts';

/** The facts that a sentence may use. */
interface Told {
  readonly premises: Premises;
  readonly building: Building;
  readonly rooms: readonly Room[];
  readonly random: Random;
}

const NUMBERS = [
  'no',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
];
const word = (count: number): string => NUMBERS[count] ?? count.toString();
const many = (count: number, thing: string): string => `${word(count)} ${thing}${count === 1 ? '' : 's'}`;
const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const feet = (area: number): string => area.toString().replace(/(?<=\d)(?=(?:\d{3})+$)/g, ',');

/** Styles that are words for a house by themselves. */
const HOUSE_NOUNS = new Map([
  ['Bungalow', 'bungalow'],
  ['Farmhouse', 'farmhouse'],
  ['Craftsman', 'Craftsman house'],
]);

function nounOf({ kind, subType }: Premises, { style, levels }: Building): string {
  switch (kind) {
    case 'house':
      if (subType === 'Cabin') return 'cabin';
      if (subType === 'Farm') return 'farmhouse';
      if (subType === 'Manufactured On Land') return 'manufactured home';
      return `${HOUSE_NOUNS.get(style) ?? `${style} home`}${levels === 1 ? ' on one level' : ''}`;
    case 'attached':
      return `${word(levels)}-level town house`;
    case 'flat':
      return subType === 'Apartment' ? 'apartment' : 'condominium';
    case 'income':
      return subType === 'Multi Family' ? 'apartment building' : subType.toLowerCase();
    case 'commercial':
      return subType === 'Mixed Use' ? 'mixed-use building' : `${subType.toLowerCase()} building`;
    case 'land':
      return 'lot';
  }
}

/** Years of the eighteen-hundreds and words that begin with a vowel take `an`. */
const withArticle = (words: string): string => `${/^(?:18|[aeio])/i.test(words) ? 'an' : 'a'} ${words}`;

const STATES: Readonly<Record<Condition, readonly [short: string, sentence: string]>> = {
  new: ['Newly built', 'Never lived in.'],
  updated: ['Thoughtfully updated', 'Thoughtfully updated throughout.'],
  kept: ['Well kept', 'Well kept inside and out.'],
  dated: ['Solid and honest', 'Solid, and ready for your own ideas.'],
};

function opening({ premises, building, random }: Told): string {
  const noun = nounOf(premises, building);
  const place = premises.neighborhood.name;
  const [short, sentence] = STATES[building.condition];
  const water = premises.waterfront ? ', right on the water' : '';
  const size = `${feet(building.area + building.basementArea)} square feet`;
  return random.pick([
    `${short}: ${withArticle(`${building.yearBuilt} ${noun}`)} in ${place}${water}.`,
    `${capital(noun)} in ${place}${water}, built in ${building.yearBuilt}. ${sentence}`,
    `${place}: ${withArticle(noun)} of ${size}${water}. ${sentence}`,
  ]);
}

function sizes({ premises, building, rooms, random }: Told): string {
  const { bedrooms, fullBaths, halfBaths, units } = building;
  if (premises.kind === 'income') {
    return `The ${many(units, 'unit')} each have ${many(bedrooms, 'bedroom')} and ${many(fullBaths, 'bath')}, with separate meters.`;
  }
  if (premises.kind === 'commercial') {
    return `${feet(building.area)} square feet with ${many(rooms.filter(({ type }) => type === 'Office').length, 'office')} and parking at the door.`;
  }
  const beds = many(bedrooms, 'bedroom');
  const baths =
    halfBaths > 0 ? `, ${many(fullBaths, 'full bath')} and a half bath` : ` and ${many(fullBaths, 'bath')}`;
  return random.pick([`${capital(beds)}${baths}.`, `It offers ${beds}${baths}.`]);
}

function largestRooms({ premises, rooms }: Told): string | undefined {
  const living = rooms.find(({ type }) => type === 'Living Room');
  const master = rooms.find(({ type }) => type === 'Master Bedroom');
  if (living === undefined || master === undefined) return undefined;
  const sides = `living room measures ${living.length} by ${living.width} feet, the main bedroom ${master.length} by ${master.width}`;
  return premises.kind === 'income' ? `In the first unit the ${sides}.` : `The ${sides}.`;
}

function kitchen({ premises, building, random }: Told): string | undefined {
  if (premises.kind === 'commercial' || premises.kind === 'income') return undefined;
  switch (building.condition) {
    case 'new':
      return random.pick([
        'The kitchen has stone counters, an island and appliances under warranty.',
        'A kitchen for cooks, with a deep sink and good light.',
      ]);
    case 'updated':
      return random.pick([
        'The kitchen has stone counters, an island and new appliances.',
        'Cook with gas in a kitchen that was redone from the studs.',
        'A deep sink, new cabinets and good light make the kitchen the heart of the house.',
      ]);
    case 'kept':
      return random.pick([
        'The eat-in kitchen opens to the dining room.',
        'All kitchen appliances stay.',
        'There is a pantry off the kitchen and room for a table.',
      ]);
    case 'dated':
      return random.pick(['Kitchen and baths are original.', 'Bring paint and a plan for the kitchen.']);
  }
}

function below({ building }: Told): string | undefined {
  if (building.basement === 'finished') {
    return `The finished basement adds ${feet(building.basementArea)} square feet.`;
  }
  return building.basement === 'unfinished' ? 'The full basement is dry and open for storage.' : undefined;
}

function outside({ premises, building, random }: Told): string | undefined {
  if (premises.subType === 'Farm') {
    return `${Math.round(premises.lot / 43_560)} acres of tillable ground and woods come with it.`;
  }
  if (building.pool) return 'A fenced in-ground pool waits for summer.';
  if (building.garage > 0) {
    const kind = building.garageAttached ? 'attached' : 'detached';
    return random.pick([
      `The ${kind} garage holds ${many(building.garage, 'car')}.`,
      `Parking for ${many(building.garage, 'car')} in the ${kind} garage.`,
    ]);
  }
  return premises.lot > 6000 && premises.kind !== 'commercial' ? 'The yard is level and sunny.' : undefined;
}

function around({ town, neighborhood, kind }: Premises, random: Random): string {
  if (kind === 'commercial')
    return random.pick([`Easy to reach from all of ${town.name}.`, 'Signs may face the road.']);
  switch (neighborhood.setting) {
    case 'urban':
      return random.pick([
        `Walk to the shops of ${town.name}.`,
        `Buses, cafes and the library of ${town.name} are a few blocks away.`,
      ]);
    case 'suburban':
      return random.pick([`${town.district}.`, `Minutes to parks and to ${random.pick(town.elementary)}.`]);
    case 'lake':
      return random.pick([
        'Evenings end with the sun over the water.',
        'The public beach is around the corner.',
      ]);
    case 'rural':
      return random.pick([
        'Quiet, dark skies, and town is a short drive.',
        `Fifteen minutes to ${town.name}.`,
      ]);
  }
}

/** Public remarks, written from the facts of the listing. */
export function writeRemarks(premises: Premises, rooms: readonly Room[], random: Random): string {
  const { building, lot, neighborhood, lease } = premises;
  if (building === undefined) {
    const acres = (lot / 43_560).toFixed(2);
    const water = premises.waterfront ? ' with frontage on the lake' : '';
    const ground = random.pick([
      'Mostly level with mature trees at the back.',
      'Gently sloping with a high building site.',
    ]);
    return `${acres} acres in ${neighborhood.name}${water}. ${ground} ${random.pick(['Surveyed, corners marked.', 'Electricity is at the road.'])} ${around(premises, random)} Build now or hold.`;
  }
  const told: Told = { premises, building, rooms, random };
  const sentences = [
    opening(told),
    sizes(told),
    largestRooms(told),
    kitchen(told),
    below(told),
    outside(told),
  ];
  const close = lease
    ? 'Twelve month lease preferred; application and references required.'
    : random.pick([
        'See it soon.',
        'Easy to show.',
        'Come and see it for yourself.',
        'Immediate possession is possible.',
      ]);
  return [...sentences, around(premises, random), close]
    .filter((sentence) => sentence !== undefined)
    .join(' ');
}
